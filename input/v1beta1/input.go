// Package v1beta1 is the Input of the function: what a platform team sets once
// in a Composition for every MarkdownView that is composed with it.
//
// +kubebuilder:object:generate=true
// +groupName=markdownview.fn.crossplane.io
// +versionName=v1beta1
package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Input of the function. Every field is optional, and so is the Input.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:categories=crossplane
type Input struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// ViewerImage is the mdBook image of a MarkdownView that names none.
	// Defaults to the release of mdBook that the function names.
	// +optional
	ViewerImage string `json:"viewerImage,omitempty"`

	// AllowedImages are patterns, one of which spec.viewerImage must match.
	// Absent allows any image, an empty list none. A pattern is compared with
	// the fully qualified reference, which is then what the pod names, so it
	// starts with a registry ("docker.io/peaceiris/mdbook"); "*" matches any
	// text without "/". A
	// pattern without tag or digest allows any; one with a tag allows only that
	// tag, and no digest beside it. The default image is not judged.
	// +optional
	AllowedImages []string `json:"allowedImages,omitempty"`

	// ListenAddress is the address at which mdBook listens: "0.0.0.0" serves IPv4,
	// "::" serves IPv6 and IPv4. Defaults to "::" where the Service has an IPv6
	// address, and to "0.0.0.0" elsewhere. mdBook does not start with "::" on a
	// node whose kernel was booted without IPv6. Beside server it is an error:
	// mdBook does not listen then.
	// +optional
	// +kubebuilder:validation:Enum="0.0.0.0";"::"
	ListenAddress string `json:"listenAddress,omitempty"`

	// Resources are the default requests and limits of the mdBook container,
	// key by key: those of the MarkdownView win over these, these over the
	// function's own. A default that contradicts what is asked (a limit below
	// an asked request) gives way.
	// +optional
	Resources *Resources `json:"resources,omitempty"`

	// ImagePullPolicy of all containers. Defaults to that of Kubernetes.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// ImagePullSecrets of the viewer pod.
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Server has mdBook build the book once, in an init container, and a web
	// server serve the result. By default "mdbook serve" does both, which mdBook's
	// maintainers do not mean for deployment: it holds the search index in memory
	// and ignores SIGTERM. {} is a web server with the defaults below. With it,
	// the mdBook container is an init container, for templates too.
	// +optional
	Server *Server `json:"server,omitempty"`

	// Service sets how the viewers are reached.
	// +optional
	Service Service `json:"service,omitempty"`

	// ImmutableConfigMaps gives each text of a book an immutable ConfigMap of its
	// own, named markdowns-NAME.HASH after its content. The one that serves stays
	// until the Deployment has rolled out, so a viewer that is rescheduled during
	// a change, broken or not, starts on the text that it served before. Then it
	// is deleted: there are never more than two. By default one ConfigMap changes
	// with the text, and every viewer reads it. A MarkdownView may change between
	// the two ways at any time; that is a rollout.
	// +optional
	ImmutableConfigMaps bool `json:"immutableConfigMaps,omitempty"`

	// PodDisruptionBudget composes one for every MarkdownView of two replicas or
	// more, whoever sets their number. {} allows one pod at a time to be evicted.
	// +optional
	PodDisruptionBudget *PodDisruptionBudget `json:"podDisruptionBudget,omitempty"`

	// Route composes an HTTPRoute of Gateway API, through which the book is reached
	// from outside of the cluster; status.url is that address. The MarkdownView is
	// ready when every Gateway has accepted it. Crossplane needs a ClusterRole for
	// this, as for podDisruptionBudget and ingress: see example/production/rbac.yaml.
	// +optional
	Route *Route `json:"route,omitempty"`

	// Ingress composes an Ingress, in place of a route. The MarkdownView is ready
	// when the Ingress has an address.
	// +optional
	Ingress *Ingress `json:"ingress,omitempty"`

	// AllowedHosts are patterns, one of which spec.host must match, in place of the
	// host of the route or of the ingress. "*" matches any text without ".", and
	// {name} and {namespace} are those of the MarkdownView: "*.{namespace}.example.com"
	// keeps hosts of other namespaces safe. Absent or empty allows no spec.host.
	// +optional
	AllowedHosts []string `json:"allowedHosts,omitempty"`

	// Labels of all three composed resources. They never reach the selector,
	// and cannot replace a label that the selector uses.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of all three composed resources.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Namespace of the composed resources of a cluster-scoped XR. An XR that
	// has a namespace, or a claim that has one, is composed there instead.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// TTL is how long an answer may stand before Crossplane asks again. All
	// that the function reads is watched, so the default is 0: until something
	// changes.
	// +optional
	TTL *metav1.Duration `json:"ttl,omitempty"`

	// StatusFields are the status fields that the XRD declares. Crossplane
	// cannot apply a status field that is not declared. Absent means all for the
	// XRD of this project. For another XRD the function learns them from its
	// schema, which Crossplane 2.2 and later send; a Composition that lists the
	// schema under requirements.requiredSchemas of the step, with requirementName
	// xr, saves a second call. An older Crossplane sends no schema: then absent
	// means all.
	// +optional
	StatusFields []StatusField `json:"statusFields,omitempty"`

	// Templates are merged over what the function composes.
	// +optional
	Templates Templates `json:"templates,omitempty"`
}

// Resources are requests and limits of a container: quantities of cpu,
// memory and ephemeral-storage.
type Resources struct {
	// Requests of the container.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`

	// Limits of the container.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

// Server is an unprivileged web server that serves a directory. It runs as user
// 65532 with a read-only root file system and no capabilities, and can write below
// /tmp alone. It serves on for 5 seconds after its pod is deleted, until no reader
// is sent to it any more, so Kubernetes must know preStop sleep (1.30 or later).
type Server struct {
	// Image of the web server. Defaults to a release of nginx-unprivileged that
	// the function names. allowedImages is about spec.viewerImage alone.
	// +optional
	Image string `json:"image,omitempty"`

	// Port that the web server listens on. Defaults to 8080.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// DocumentRoot is the directory that the web server serves. The book is
	// mounted there, read-only. Defaults to /usr/share/nginx/html.
	// +optional
	DocumentRoot string `json:"documentRoot,omitempty"`

	// Command of the web server. Defaults to that of the image. It arrives as it
	// is written: Kubernetes replaces no $(…) in it.
	// +optional
	Command []string `json:"command,omitempty"`

	// Args of the web server. Defaults to those of the image. They arrive as they
	// are written, too.
	// +optional
	Args []string `json:"args,omitempty"`

	// Resources of the web server, key by key over its defaults: requests of 10m
	// of cpu and 16Mi of memory, and a limit of 256Mi of memory. Those of the
	// MarkdownView and of input.resources are for mdBook, which holds the whole
	// book in memory while it builds it.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}

// Service sets how the viewers are reached.
type Service struct {
	// Type of the Service. Defaults to ClusterIP.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`

	// Annotations of the Service alone.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PodDisruptionBudget limits how many pods are evicted at a time, such as by the
// drain of a node. At most one of its fields may be set.
type PodDisruptionBudget struct {
	// MaxUnavailable is how many pods may be missing: a number or a percentage.
	// Defaults to 1 where minAvailable is absent.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// MinAvailable is how many pods must stay: a number or a percentage.
	// +optional
	// +kubebuilder:validation:XIntOrString
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`
}

// Route is an HTTPRoute of Gateway API (gateway.networking.k8s.io/v1).
type Route struct {
	// ParentRefs are the Gateways that serve the books.
	// +kubebuilder:validation:MinItems=1
	ParentRefs []ParentRef `json:"parentRefs"`

	// Host of each book: a pattern with {name} and {namespace}, which are those of
	// the MarkdownView, such as "{name}.{namespace}.books.example.com". With a dot
	// between them no two MarkdownViews have the same host. Required without
	// allowedHosts; without it every MarkdownView must have spec.host.
	// +optional
	Host string `json:"host,omitempty"`

	// Scheme of status.url. TLS ends at the listener of the Gateway, so the
	// platform team knows it. Defaults to https.
	// +optional
	// +kubebuilder:validation:Enum=http;https
	Scheme string `json:"scheme,omitempty"`

	// Annotations of the HTTPRoute alone.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// A ParentRef names a Gateway.
type ParentRef struct {
	// Name of the Gateway.
	Name string `json:"name"`

	// Namespace of the Gateway. Defaults to that of the MarkdownView.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// SectionName is the listener of the Gateway. Defaults to all.
	// +optional
	SectionName string `json:"sectionName,omitempty"`

	// Port is that of the listeners of the Gateway. Defaults to all.
	// +optional
	Port int32 `json:"port,omitempty"`
}

// Ingress is an Ingress (networking.k8s.io/v1).
type Ingress struct {
	// ClassName is the class of the Ingress. Defaults to that of the cluster.
	// +optional
	ClassName string `json:"className,omitempty"`

	// Host of each book, as that of a route.
	// +optional
	Host string `json:"host,omitempty"`

	// TLS makes status.url https. {} leaves the certificate to the controller.
	// +optional
	TLS *IngressTLS `json:"tls,omitempty"`

	// Annotations of the Ingress alone.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// IngressTLS is where the certificate of an Ingress is.
type IngressTLS struct {
	// SecretName of the certificate, in the namespace of the MarkdownView: a
	// pattern as that of a host, such as "{name}-tls".
	// +optional
	SecretName string `json:"secretName,omitempty"`
}

// A StatusField is a field of the XR's status that the function writes.
//
// +kubebuilder:validation:Enum=status;replicas;readyReplicas;selector;observedGeneration;url
type StatusField string

// The status fields that the function writes.
const (
	StatusFieldStatus             StatusField = "status"
	StatusFieldReplicas           StatusField = "replicas"
	StatusFieldReadyReplicas      StatusField = "readyReplicas"
	StatusFieldSelector           StatusField = "selector"
	StatusFieldObservedGeneration StatusField = "observedGeneration"
	StatusFieldURL                StatusField = "url"
)

// Templates are partial objects that are merged over the composed ones by
// strategic merge patch, as kubectl patch does. They cannot change a name, a
// namespace, a selector or a label that the selector uses.
type Templates struct {
	// ConfigMap is merged over the ConfigMap.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	ConfigMap *runtime.RawExtension `json:"configMap,omitempty"`

	// Deployment is merged over the Deployment.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Deployment *runtime.RawExtension `json:"deployment,omitempty"`

	// Service is merged over the Service.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Service *runtime.RawExtension `json:"service,omitempty"`
}
