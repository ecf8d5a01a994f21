package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
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
	client kubernetes.Interface
	pods   listers.PodLister
	queue  workqueue.TypedRateLimitingInterface[cache.ObjectName]
	ips    atomic.Uint32

	// bound is the time when each pod was bound, by UID: the times in a status have a
	// resolution of a second.
	bound sync.Map
}

// startKubelet runs a simulated kubelet until background is done.
func (cp *ControlPlane) startKubelet(ctx, background context.Context) error {
	c, err := kubernetes.NewForConfig(cp.Config)
	if err != nil {
		return fmt.Errorf("cannot start kubelet: %w", err)
	}
	factory := informers.NewSharedInformerFactory(c, 0)
	k := &kubelet{
		client: c,
		pods:   factory.Core().V1().Pods().Lister(),
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
	}
	enqueue := func(obj any) {
		if p, ok := obj.(*corev1.Pod); ok {
			k.queue.Add(cache.MetaObjectToName(p))
		}
	}
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, obj any) { enqueue(obj) },
	}); err != nil {
		return fmt.Errorf("cannot start kubelet: %w", err)
	}
	if err := k.register(ctx); err != nil {
		return err
	}

	factory.Start(background.Done())
	factory.WaitForCacheSync(ctx.Done())
	context.AfterFunc(background, k.queue.ShutDown)
	for range 8 {
		go k.work(background)
	}

	return nil
}

// register creates a node that is ready and has enough resources for all pods.
func (k *kubelet) register(ctx context.Context) error {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{corev1.LabelHostname: nodeName}}}
	n, err := k.client.CoreV1().Nodes().Create(ctx, n, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("cannot register node: %w", err)
	}
	n.Spec.Taints = nil
	if n, err = k.client.CoreV1().Nodes().Update(ctx, n, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("cannot register node: %w", err)
	}
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1k"),
		corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods:   resource.MustParse("10k"),
	}
	n.Status.Capacity, n.Status.Allocatable = room, room
	n.Status.Conditions = []corev1.NodeCondition{{
		Type:               corev1.NodeReady,
		Status:             corev1.ConditionTrue,
		Reason:             "KubeletReady",
		LastHeartbeatTime:  metav1.Now(),
		LastTransitionTime: metav1.Now(),
	}}
	if _, err := k.client.CoreV1().Nodes().UpdateStatus(ctx, n, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("cannot register node: %w", err)
	}

	return nil
}

func (k *kubelet) work(ctx context.Context) {
	for {
		name, done := k.queue.Get()
		if done {
			return
		}
		again, err := k.sync(ctx, name)
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			k.queue.AddRateLimited(name)
		case again > 0:
			k.queue.Forget(name)
			k.queue.AddAfter(name, again)
		default:
			k.queue.Forget(name)
		}
		k.queue.Done(name)
	}
}

// sync does the next step for a pod, and returns how long to wait before the one after it,
// or 0 to wait for an event.
func (k *kubelet) sync(ctx context.Context, name cache.ObjectName) (time.Duration, error) {
	p, err := k.pods.Pods(name.Namespace).Get(name.Name)
	if err != nil {
		return 0, err
	}
	pods := k.client.CoreV1().Pods(p.Namespace)

	switch {
	case p.DeletionTimestamp != nil:
		k.bound.Delete(p.UID)
		now := int64(0)

		return 0, pods.Delete(ctx, p.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now,
			Preconditions:      &metav1.Preconditions{UID: &p.UID},
		})
	case p.Spec.NodeName == "":
		return 0, pods.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: p.Name, UID: p.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
		}, metav1.CreateOptions{})
	case p.Status.Phase == corev1.PodRunning:
		return 0, nil
	case p.Status.StartTime == nil:
		k.bound.Store(p.UID, time.Now())
		return 0, k.setStatus(ctx, p, waiting(p, "ContainerCreating", ""))
	case broken(p):
		if p.Status.ContainerStatuses[0].State.Waiting.Reason == "ImagePullBackOff" {
			return 0, nil
		}

		return 0, k.setStatus(ctx, p, waiting(p, "ImagePullBackOff", "Back-off pulling image"))
	}
	if since, ok := k.bound.Load(p.UID); ok {
		if wait := startup - time.Since(since.(time.Time)); wait > 0 {
			return wait, nil
		}
	}
	ip := k.ips.Add(1)

	return 0, k.setStatus(ctx, p, running(p, fmt.Sprintf("10.244.%d.%d", ip>>8&0xff, ip&0xff)))
}

func (k *kubelet) setStatus(ctx context.Context, p *corev1.Pod, s corev1.PodStatus) error {
	p = p.DeepCopy()
	p.Status = s
	_, err := k.client.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})

	return err
}

// broken returns whether a pod has an image that cannot be pulled.
func broken(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Spec.Containers, func(c corev1.Container) bool {
		return strings.Contains(c.Image, BrokenImage)
	})
}

// waiting returns the status of a pod whose containers are waiting.
func waiting(p *corev1.Pod, reason, message string) corev1.PodStatus {
	s := status(p, corev1.PodPending, corev1.ConditionFalse)
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name:    c.Name,
			Image:   c.Image,
			Started: new(bool),
			State:   corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		})
	}

	return s
}

// running returns the status of a pod whose containers are running and ready.
func running(p *corev1.Pod, ip string) corev1.PodStatus {
	s := status(p, corev1.PodRunning, corev1.ConditionTrue)
	s.PodIP, s.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	started := true
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name:    c.Name,
			Image:   c.Image,
			ImageID: c.Image,
			Ready:   true,
			Started: &started,
			State:   corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
		})
	}

	return s
}

func status(p *corev1.Pod, phase corev1.PodPhase, ready corev1.ConditionStatus) corev1.PodStatus {
	now := metav1.Now()
	s := corev1.PodStatus{Phase: phase, StartTime: p.Status.StartTime, HostIP: "10.0.0.1"}
	if s.StartTime == nil {
		s.StartTime = &now
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

	return s
}
