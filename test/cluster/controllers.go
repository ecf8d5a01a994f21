package cluster

import (
	"maps"
	"reflect"
	"slices"
)

// Step simulates one action of a controller, and returns whether there was one.
func (c *Cluster) Step() bool {
	return c.stepService() || c.stepDeployment() || c.StepOptional()
}

// StepOptional simulates the status that the controllers of a Gateway, an Ingress and a
// PodDisruptionBudget write.
func (c *Cluster) StepOptional() bool {
	for _, key := range []string{"httproute", "ingress", "poddisruptionbudget"} {
		o, ok := c.Objects[key]
		if !ok {
			continue
		}
		status := Object{"observedGeneration": Metadata(o)["generation"], "disruptionsAllowed": 1.0}
		switch key {
		case "ingress":
			status = Object{"loadBalancer": Object{"ingress": []any{Object{"ip": "192.0.2.1"}}}}
		case "httproute":
			status = Object{"parents": parents(o)}
		}
		if !reflect.DeepEqual(o["status"], status) {
			o["status"] = status
			c.touch(o)

			return true
		}
	}

	return false
}

// parents returns what the controller of a Gateway reports about a route: that it is
// accepted, and more conditions.
func parents(route Object, more ...any) []any {
	var parents []any
	for _, ref := range ListAt(route, "spec", "parentRefs") {
		ref := Clone(ref.(Object))
		setDefault(ref, Object{"namespace": Metadata(route)["namespace"]})
		conditions := append([]any{Condition("Accepted", "True", "Accepted", "")}, more...)
		for _, c := range conditions {
			c.(Object)["observedGeneration"] = Metadata(route)["generation"]
		}
		parents = append(parents, Object{"parentRef": ref, "controllerName": "example.com/gateway", "conditions": conditions})
	}

	return parents
}

// stepService gives a LoadBalancer its address.
func (c *Cluster) stepService() bool {
	s, ok := c.Objects["service"]
	if !ok || At(s, "spec", "type") != "LoadBalancer" || len(ListAt(s, "status", "loadBalancer", "ingress")) > 0 {
		return false
	}
	Child(s, "status")["loadBalancer"] = Object{"ingress": []any{Object{"ip": "192.0.2.1", "ipMode": "VIP"}}}
	c.touch(s)

	return true
}

// sum returns the number of all pods except those of a revision.
func (c *Cluster) sum(except string) Pods {
	all := Pods{}
	for revision, v := range c.Pods {
		if revision != except {
			all.Total += v.Total
			all.Available += v.Available
		}
	}

	return all
}

// setPods changes the pods of a revision. Those that become available read the files of
// their volume.
func (c *Cluster) setPods(revision string, p Pods) {
	for len(p.Read) < p.Available {
		files, err := c.read(c.Volumes[revision])
		if err != nil {
			c.t.Errorf("a pod of revision %s starts: %v", revision, err)
		}
		p.Read = append(p.Read, files)
	}
	p.Read = p.Read[len(p.Read)-p.Available:]
	c.Pods[revision] = p
}

// stepDeployment simulates the Deployment controller and the kubelet.
func (c *Cluster) stepDeployment() bool {
	d, ok := c.Objects["deployment"]
	if !ok {
		return false
	}
	replicas, revision := int(Number(At(d, "spec", "replicas"))), RevisionOf(d)
	c.Volumes[revision] = Clone(VolumeIn(d))
	c.roll(d, revision, replicas)

	return c.report(d, revision, replicas)
}

// roll continues a rollout with maxSurge 1 and maxUnavailable 0: a pod is added and becomes
// available, and then an old one is removed.
func (c *Cluster) roll(d Object, revision string, replicas int) {
	current, old := c.Pods[revision], c.sum(revision)

	switch {
	case At(d, "status", "observedGeneration") != At(d, "metadata", "generation"):
	case At(d, "spec", "paused") == true:
		// No pod is added or removed.
	case current.Total > replicas:
		current.Total--
		current.Available = min(current.Available, current.Total)
	case c.restart(revision):
	case old.Total > 0 && (old.Available+current.Available > replicas || old.Available < old.Total || replicas == 0):
		c.retire(revision)
	case current.Total < replicas && old.Total+current.Total < replicas+1 && !c.Quota:
		current.Total++
	case current.Available < current.Total && c.starts(revision):
		current.Available++
	}
	c.setPods(revision, current)
}

// starts returns whether a new pod of a revision becomes available: the revision must not
// be stuck, and its ConfigMap must exist, with all files of the volume.
func (c *Cluster) starts(revision string) bool {
	name := configMapOf(c.Volumes[revision])
	_, err := c.read(c.Volumes[revision])

	return !c.Stuck[revision] && err == nil && (name == "" || c.configMap(name) != nil)
}

// restart makes an unavailable pod of another revision available again, and returns
// whether there was one.
func (c *Cluster) restart(revision string) bool {
	for _, r := range slices.Sorted(maps.Keys(c.Pods)) {
		if v := c.Pods[r]; r != revision && v.Available < v.Total && c.starts(r) {
			v.Available++
			c.setPods(r, v)

			return true
		}
	}

	return false
}

// retire removes one pod of an old revision, if possible an unavailable one.
func (c *Cluster) retire(revision string) {
	gone := func(r string) bool { return r == revision || c.Pods[r].Total == 0 }
	old := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Pods)), gone)
	r := old[0]
	if i := slices.IndexFunc(old, func(r string) bool { return c.Pods[r].Available < c.Pods[r].Total }); i >= 0 {
		r = old[i]
	}
	v := c.Pods[r]
	v.Total--
	v.Available = min(v.Available, v.Total)
	c.setPods(r, v)
}

// complete returns whether a Deployment has rolled out.
func complete(d Object) bool {
	replicas := Number(At(d, "spec", "replicas"))
	for _, name := range []string{"replicas", "updatedReplicas", "availableReplicas"} {
		if Number(At(d, "status", name)) != replicas {
			return false
		}
	}

	return At(d, "status", "observedGeneration") == At(d, "metadata", "generation")
}

// report writes the status of the Deployment, and returns whether it changed.
func (c *Cluster) report(d Object, revision string, replicas int) bool {
	current, all := c.Pods[revision], c.sum("none")
	status := Object{"observedGeneration": Metadata(d)["generation"]}
	for name, n := range map[string]int{
		"replicas":            all.Total,
		"updatedReplicas":     current.Total,
		"readyReplicas":       all.Available,
		"availableReplicas":   all.Available,
		"unavailableReplicas": max(0, max(replicas, all.Total)-all.Available),
	} {
		// Kubernetes omits zeros.
		if n != 0 {
			status[name] = float64(n)
		}
	}
	status["conditions"] = append([]any{
		Condition("Available", statusOf(all.Available >= replicas), "MinimumReplicasAvailable", ""),
	}, c.progress(d, revision, replicas)...)
	if reflect.DeepEqual(d["status"], status) {
		return false
	}
	d["status"] = status
	Child(Metadata(d), "annotations")["deployment.kubernetes.io/revision"] = "1"
	c.touch(d)

	return true
}

// progress returns the conditions of a Deployment about its rollout.
func (c *Cluster) progress(d Object, revision string, replicas int) []any {
	current := c.Pods[revision]
	done := current.Total == replicas && current.Available == replicas && c.sum(revision).Total == 0
	// A rollout that timed out keeps that status until it makes progress.
	stuck := c.Stuck[revision] && !done && current.Total > 0 &&
		(c.expired == revision || At(d, "status", "observedGeneration") == At(d, "metadata", "generation"))
	c.expired = ""
	if stuck {
		c.expired = revision
	}
	progressing := Condition("Progressing", "True", "ReplicaSetUpdated", "ReplicaSet is progressing.")
	switch {
	case At(d, "spec", "paused") == true:
		return []any{Condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused")}
	case c.Quota && current.Total < replicas:
		const why = `pods "viewer" is forbidden: exceeded quota: pods.`

		return []any{Condition("ReplicaFailure", "True", "FailedCreate", why), progressing}
	case stuck:
		const why = `ReplicaSet "viewer-0a1b2c3" has timed out progressing.`

		return []any{Condition("Progressing", "False", "ProgressDeadlineExceeded", why)}
	case done:
		return []any{Condition("Progressing", "True", "NewReplicaSetAvailable", "ReplicaSet has successfully progressed.")}
	default:
		return []any{progressing}
	}
}
