package demo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// chat is a team's chat.
type chat struct {
	mu       sync.Mutex
	messages []message
	next     int
}

type message struct {
	ID        string   `json:"message_id"`
	Channel   string   `json:"channel"`
	Thread    string   `json:"thread,omitempty"`
	Author    string   `json:"author"`
	Text      string   `json:"text"`
	At        string   `json:"posted_at"`
	Reactions []string `json:"reactions,omitempty"`
}

func newChat() *chat {
	return &chat{next: 503, messages: []message{
		{ID: "m501", Channel: "#ops", Author: "@mira", Text: "Deploying 4.2 to eu-central now.", At: "2026-03-02T08:55:00Z"},
		{ID: "m502", Channel: "#ops", Author: "@jonas", Text: "Checkout latency is back to normal.", At: "2026-03-02T09:20:00Z", Reactions: []string{"tada"}},
	}}
}

type toChannel struct {
	Channel, Text, Emoji string
	ID                   string `json:"message_id"`
	At                   string `json:"post_at"`
}

func (c *chat) tools() map[string]tool {
	return map[string]tool{
		"list_channels": simple(&c.mu, func(struct{}) (any, error) {
			return object{"channels": []object{
				{"name": "#general", "members": 84, "purpose": "Everybody"},
				{"name": "#ops", "members": 12, "purpose": "Deployments and incidents"},
				{"name": "#checkout", "members": 9, "purpose": "The checkout team"},
			}}, nil
		}),
		"post_message": simple(&c.mu, func(a toChannel) (any, error) { return c.post(a.Channel, a.Text, ""), nil }),
		"reply_in_thread": simple(&c.mu, func(a toChannel) (any, error) {
			m, err := c.message(a.ID)
			if err != nil {
				return nil, err
			}
			return c.post(m.Channel, a.Text, or(m.Thread, m.ID)), nil
		}),
		"get_channel_history": simple(&c.mu, func(a toChannel) (any, error) {
			return c.those(func(m message) bool { return m.Channel == a.Channel }), nil
		}),
		"search_messages": simple(&c.mu, func(a struct{ Query string }) (any, error) {
			return c.those(func(m message) bool {
				return strings.Contains(strings.ToLower(m.Text), strings.ToLower(a.Query))
			}), nil
		}),
		"add_reaction": simple(&c.mu, func(a toChannel) (any, error) {
			m, err := c.message(a.ID)
			if err != nil {
				return nil, err
			}
			m.Reactions = append(m.Reactions, a.Emoji)
			return *m, nil
		}),
		"schedule_message": simple(&c.mu, func(a toChannel) (any, error) {
			return object{"scheduled": true, "channel": a.Channel, "post_at": a.At}, nil
		}),
		"get_user_profile": simple(&c.mu, func(a struct{ User string }) (any, error) {
			return object{"user": a.User, "name": "Mira Halvorsen", "role": "Site reliability", "time_zone": "Europe/Oslo", "presence": "active"}, nil
		}),
	}
}

func (c *chat) post(channel, text, thread string) message {
	m := message{ID: fmt.Sprintf("m%d", c.next), Channel: channel, Thread: thread, Author: "@you", Text: text, At: now()}
	c.next++
	c.messages = append(c.messages, m)
	return m
}

func (c *chat) message(id string) (*message, error) {
	for i := range c.messages {
		if c.messages[i].ID == id {
			return &c.messages[i], nil
		}
	}
	return nil, fmt.Errorf("there is no message %s", id)
}

// those returns the messages that fit, newest first.
func (c *chat) those(fits func(message) bool) any {
	found := []message{}
	for _, m := range slices.Backward(c.messages) {
		if fits(m) {
			found = append(found, m)
		}
	}
	return object{"messages": found}
}
