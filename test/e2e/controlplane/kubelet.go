package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	nodeName = "node-1"

	// BrokenImage is a part of the name of an image that cannot be pulled.
	BrokenImage = "broken"

	// startup is how long a container takes to become ready after its pod is bound, so
	// that a rollout has intermediate states.
	startup = 300 * time.Millisecond
)

// A kubelet simulates a node and the scheduler: it binds pods, sets their status, and
// removes them when they are deleted, but runs nothing. A pod becomes ready a moment
// after it was bound unless the name of its image contains BrokenImage.
type kubelet struct {
	client.Client
	ips atomic.Uint32

	// bound is the time when each pod was bound, by UID: the times in a status have a
	// resolution of a second.
	bound sync.Map
}

// startKubelet runs a simulated kubelet until background is done.
func (cp *ControlPlane) startKubelet(ctx, background context.Context) error {
	if err := cp.registerNode(ctx); err != nil {
		return fmt.Errorf("cannot register node: %w", err)
	}
	m, err := manager.New(cp.Config, manager.Options{Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return fmt.Errorf("cannot start kubelet: %w", err)
	}
	if err := builder.ControllerManagedBy(m).For(&corev1.Pod{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8, SkipNameValidation: new(true)}).
		Complete(&kubelet{Client: m.GetClient()}); err != nil {
		return fmt.Errorf("cannot start kubelet: %w", err)
	}
	go m.Start(background) //nolint:errcheck // It returns when background is done.

	return nil
}

// registerNode creates a node that is ready and has enough resources for all pods.
func (cp *ControlPlane) registerNode(ctx context.Context) error {
	room, now := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1k"),
		corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods:   resource.MustParse("10k"),
	}, metav1.Now()
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{corev1.LabelHostname: nodeName}},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: now, LastTransitionTime: now,
		}}},
	}
	if err := cp.Client.Create(ctx, n); err != nil {
		return err
	}
	n.Spec.Taints = nil // The API server has added one.

	return cp.Client.Update(ctx, n)
}

// Reconcile does the next step for a pod.
func (k *kubelet) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	p := &corev1.Pod{}
	if err := k.Get(ctx, r.NamespacedName, p); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	again, err := k.sync(ctx, p)

	return reconcile.Result{RequeueAfter: again}, client.IgnoreNotFound(err)
}

// sync does the next step for a pod, and returns how long to wait before the one after it,
// or 0 to wait for an event.
func (k *kubelet) sync(ctx context.Context, p *corev1.Pod) (time.Duration, error) {
	switch {
	case p.DeletionTimestamp != nil:
		k.bound.Delete(p.UID)
		return 0, k.Delete(ctx, p, client.GracePeriodSeconds(0), client.Preconditions{UID: &p.UID})
	case p.Spec.NodeName == "":
		return 0, k.SubResource("binding").Create(ctx, p, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
		})
	case p.Status.Phase == corev1.PodRunning:
		return 0, nil
	case p.Status.StartTime == nil:
		k.bound.Store(p.UID, time.Now())
		return 0, k.setStatus(ctx, p, corev1.PodPending, waiting("ContainerCreating"))
	case broken(p):
		if p.Status.ContainerStatuses[0].State.Waiting.Reason == "ImagePullBackOff" {
			return 0, nil
		}

		return 0, k.setStatus(ctx, p, corev1.PodPending, waiting("ImagePullBackOff"))
	}
	if since, ok := k.bound.Load(p.UID); ok {
		if wait := startup - time.Since(since.(time.Time)); wait > 0 {
			return wait, nil
		}
	}
	now := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}

	return 0, k.setStatus(ctx, p, corev1.PodRunning, now)
}

// broken returns whether a pod has an image that cannot be pulled.
func broken(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool {
		return strings.Contains(c.Image, BrokenImage)
	})
}

func waiting(reason string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}
}

// setStatus writes the status of a pod whose containers all have a state.
func (k *kubelet) setStatus(
	ctx context.Context, p *corev1.Pod, phase corev1.PodPhase, state corev1.ContainerState,
) error {
	now, runs, ready := metav1.Now(), phase == corev1.PodRunning, corev1.ConditionFalse
	s := corev1.PodStatus{Phase: phase, StartTime: cmp.Or(p.Status.StartTime, &now), HostIP: "10.0.0.1"}
	if runs {
		ip := k.ips.Add(1)
		ready, s.PodIP = corev1.ConditionTrue, fmt.Sprintf("10.244.%d.%d", ip>>8&0xff, ip&0xff)
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	}
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: runs, Started: &runs, State: state,
		})
	}
	for _, c := range []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue},
		{Type: corev1.ContainersReady, Status: ready},
		{Type: corev1.PodReady, Status: ready},
	} {
		c.LastTransitionTime = now
		s.Conditions = append(s.Conditions, c)
	}
	p = p.DeepCopy()
	p.Status = s

	return k.Status().Update(ctx, p)
}
