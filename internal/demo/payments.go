package demo

import (
	"fmt"
	"slices"
	"sync"
)

// payments takes money and gives it back.
type payments struct {
	mu        sync.Mutex
	customers []customer
	invoices  []invoice
	payments  []*payment
}

type customer struct {
	ID    string `json:"customer_id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	Since string `json:"created_at"`
}

type invoice struct {
	ID       string `json:"invoice_id"`
	Customer string `json:"customer_id"`
	Status   string `json:"status"`
	Currency string `json:"currency"`
	Total    int    `json:"total"`
	Due      string `json:"due_date"`
}

type payment struct {
	ID       string   `json:"payment_id"`
	Customer string   `json:"customer_id"`
	Amount   int      `json:"amount"`
	Currency string   `json:"currency"`
	Status   string   `json:"status"`
	Refunds  []refund `json:"refunds"`
}

type refund struct {
	ID     string `json:"refund_id"`
	Amount int    `json:"amount"`
	Reason string `json:"reason"`
	At     string `json:"created_at"`
}

func newPayments() *payments {
	return &payments{
		customers: []customer{{"cus_k3v9", "Nordlys Kaffe AS", "post@nordlys.example", "2025-06-11T10:02:00Z"}},
		invoices:  []invoice{{"inv_1041", "cus_k3v9", "paid", "eur", 48_900, "2026-02-14"}, {"inv_1042", "cus_k3v9", "open", "eur", 12_350, "2026-03-14"}},
		payments:  []*payment{{"pay_8c2d", "cus_k3v9", 48_900, "eur", "succeeded", []refund{}}},
	}
}

func (p *payments) tools() map[string]tool {
	return map[string]tool{
		"create_customer": simple(&p.mu, func(a struct{ Name, Email string }) (any, error) {
			c := customer{fmt.Sprintf("cus_n%d", len(p.customers)), a.Name, a.Email, now()}
			p.customers = append(p.customers, c)
			return c, nil
		}),
		"get_customer":   simple(&p.mu, p.customer),
		"create_invoice": simple(&p.mu, p.invoice),
		"list_invoices": simple(&p.mu, func(a struct{ Status string }) (any, error) {
			found := []invoice{}
			for _, i := range slices.Backward(p.invoices) {
				if a.Status == "" || i.Status == a.Status {
					found = append(found, i)
				}
			}
			return object{"invoices": found, "has_more": false}, nil
		}),
		"create_payment_link": simple(&p.mu, func(a struct {
			Amount   int
			Currency string
		}) (any, error) {
			return object{"url": "https://pay.example/l/7Qm2", "amount": a.Amount, "currency": a.Currency, "active": true}, nil
		}),
		"get_payment":   simple(&p.mu, func(a inPayment) (any, error) { return p.payment(a.ID) }),
		"create_refund": simple(&p.mu, p.refund),
		"list_disputes": simple(&p.mu, func(struct{}) (any, error) { return object{"disputes": []object{}, "has_more": false}, nil }),
		"get_balance": simple(&p.mu, func(struct{}) (any, error) {
			return object{"balances": []object{{"currency": "eur", "available": 1_204_415, "pending": 38_120, "reserved": 0}}}, nil
		}),
	}
}

type inPayment struct {
	ID     string `json:"payment_id"`
	Amount int
	Reason string
}

func (p *payments) customer(a struct {
	ID string `json:"customer_id"`
},
) (any, error) {
	for _, c := range p.customers {
		if c.ID == a.ID {
			return c, nil
		}
	}
	return nil, fmt.Errorf("there is no customer %s", a.ID)
}

func (p *payments) invoice(a struct {
	Customer string `json:"customer_id"`
	Currency string
	Lines    []struct {
		Quantity int
		Amount   int `json:"unit_amount"`
	}
	Due   string `json:"due_date"`
	Draft *bool
},
) (any, error) {
	i := invoice{ID: fmt.Sprintf("inv_%d", 1041+len(p.invoices)), Customer: a.Customer, Status: "draft", Currency: a.Currency, Due: a.Due}
	if a.Draft != nil && !*a.Draft {
		i.Status = "open"
	}
	for _, l := range a.Lines {
		i.Total += max(1, l.Quantity) * l.Amount
	}
	p.invoices = append(p.invoices, i)
	return i, nil
}

func (p *payments) payment(id string) (*payment, error) {
	for _, x := range p.payments {
		if x.ID == id {
			return x, nil
		}
	}
	return nil, fmt.Errorf("there is no payment %s", id)
}

func (p *payments) refund(a inPayment) (any, error) {
	x, err := p.payment(a.ID)
	if err != nil {
		return nil, err
	}
	left := x.Amount
	for _, r := range x.Refunds {
		left -= r.Amount
	}
	if a.Amount == 0 {
		a.Amount = left
	}
	if a.Amount > left || left == 0 {
		return nil, fmt.Errorf("only %d of payment %s are left to refund", left, x.ID)
	}
	r := refund{fmt.Sprintf("ref_%d", len(x.Refunds)+1), a.Amount, a.Reason, now()}
	x.Refunds = append(x.Refunds, r)
	return r, nil
}
