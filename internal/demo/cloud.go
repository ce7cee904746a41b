package demo

import (
	"fmt"
	"sync"
)

// cloud has virtual machines. It is the server that the demo sees fail.
type cloud struct {
	mu        sync.Mutex
	instances []*instance
	snapshots int
}

type instance struct {
	ID      string `json:"instance_id"`
	Name    string `json:"name"`
	Type    string `json:"type"`
	Region  string `json:"region"`
	State   string `json:"state"`
	Health  string `json:"health"`
	Address string `json:"address"`
}

func newCloud() *cloud {
	return &cloud{instances: []*instance{
		{"i-4c1f", "shop-web-1", "c2.large", "eu-central", "running", "2/2 checks passed", "10.4.0.11"},
		{"i-4c20", "shop-web-2", "c2.large", "eu-central", "running", "2/2 checks passed", "10.4.0.12"},
		{"i-90ab", "warehouse-batch", "m3.xlarge", "eu-north", "stopped", "none", "10.7.1.4"},
	}}
}

type inInstance struct {
	ID     string `json:"instance_id"`
	Region string
	State  string
	Type   string
	Disk   string
	Metric string
	Action string
	Port   int
	CIDR   string
}

func (c *cloud) tools() map[string]tool {
	return map[string]tool{
		"list_instances": simple(&c.mu, func(a inInstance) (any, error) {
			found := []*instance{}
			for _, i := range c.instances {
				if (a.Region == "" || a.Region == i.Region) && (a.State == "" || a.State == i.State) {
					found = append(found, i)
				}
			}
			return object{"instances": found}, nil
		}),
		"get_instance": c.on(func(i *instance, _ inInstance) any { return i }),
		"restart_instance": c.on(func(i *instance, _ inInstance) any {
			i.State = "running"
			return object{"instance_id": i.ID, "state": "restarting", "expected_seconds": 60}
		}),
		"resize_instance": c.on(func(i *instance, a inInstance) any {
			i.Type = a.Type
			return i
		}),
		"create_snapshot": c.on(func(i *instance, a inInstance) any {
			c.snapshots++
			return object{"snapshot_id": fmt.Sprintf("snap-%04d", c.snapshots), "instance_id": i.ID, "disk": or(a.Disk, "root"), "created_at": now()}
		}),
		"list_alarms": simple(&c.mu, func(struct{}) (any, error) {
			return object{"alarms": []object{{"name": "shop-web-1 cpu", "metric": "cpu_percent", "threshold": 85, "state": "ok", "severity": "warning"}}}, nil
		}),
		"get_metrics": c.on(func(i *instance, a inInstance) any {
			return object{"instance_id": i.ID, "metric": a.Metric, "step_seconds": 300, "points": []float64{31.2, 33.9, 38.4, 35.1, 32.7, 30.8}}
		}),
		"tail_logs": c.on(func(i *instance, _ inInstance) any {
			return object{"instance_id": i.ID, "lines": []string{"09:20:01 info listening on :8443", "09:20:04 info health check passed"}}
		}),
		"update_firewall_rule": c.on(func(i *instance, a inInstance) any {
			return object{"instance_id": i.ID, "action": a.Action, "port": a.Port, "cidr": a.CIDR, "applied_at": now()}
		}),
	}
}

// on is a tool that works on one instance.
func (c *cloud) on(f func(*instance, inInstance) any) tool {
	return simple(&c.mu, func(a inInstance) (any, error) {
		for _, i := range c.instances {
			if i.ID == a.ID {
				return f(i, a), nil
			}
		}
		return nil, fmt.Errorf("there is no instance %s", a.ID)
	})
}
