// Package v1beta1 has the Input of the function: what a platform team sets in a
// Composition for all of its MarkdownViews.
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
// +kubebuilder:validation:XValidation:rule="has(self.server) || !(has(self.route) && has(self.route.path)) && !(has(self.ingress) && has(self.ingress.path))",message="set server, or remove path: mdbook serve serves a book only at /"
// +kubebuilder:storageversion
// +kubebuilder:resource:categories=crossplane
type Input struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// ViewerImage is the mdBook image of MarkdownViews that set no viewerImage.
	// Defaults to "docker.io/peaceiris/mdbook:v0.5.0".
	// +optional
	ViewerImage string `json:"viewerImage,omitempty"`

	// AllowedImages are patterns for the viewerImage of a MarkdownView, which must match
	// one of them. By default, any tag or digest of the Input's viewerImage is allowed. An
	// empty list allows no image. A pattern is the full name of an image, with its
	// registry, such as "docker.io/peaceiris/mdbook". "*" matches any text without "/".
	// In the registry, it can stand for the whole name, the first label or the port.
	// Without a tag or digest, a pattern allows all of them. With a tag, it allows only
	// that tag, without a digest. The Input's viewerImage is always allowed.
	// +optional
	AllowedImages []string `json:"allowedImages,omitempty"`

	// AllowedBookImages are patterns like allowedImages; an image of
	// spec.markdownsFrom, or of its OCIRepository, must match one of them. The pods
	// pull it with their imagePullSecrets. If unset or empty, none is allowed.
	// +optional
	AllowedBookImages []string `json:"allowedBookImages,omitempty"`

	// ListenAddress is the address at which mdBook listens: "0.0.0.0" serves IPv4,
	// "::" serves IPv6 and IPv4. Defaults to "::" where the Service has an IPv6
	// address, and to "0.0.0.0" elsewhere. mdBook does not start with "::" on a
	// node whose kernel was booted without IPv6. It is an error together with
	// server, because mdBook then does not listen.
	// +optional
	// +kubebuilder:validation:Enum="0.0.0.0";"::"
	ListenAddress string `json:"listenAddress,omitempty"`

	// Resources are the default requests and limits of the mdBook container. Each
	// value of the MarkdownView takes precedence over these, and these over the
	// function's: requests of 10m cpu and 64Mi memory, and a limit of 256Mi memory.
	// A value that contradicts one of higher precedence is adjusted: a limit is
	// raised to the request, or a request lowered to the limit.
	// +optional
	Resources *Resources `json:"resources,omitempty"`

	// ImagePullPolicy of all containers. Defaults to that of Kubernetes.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// ImagePullSecrets of the pods, each as "name: SECRET".
	// +optional
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// Server is a web server that serves the book. mdBook then builds the book once,
	// in an init container, so in templates.deployment the container mdbook is one of
	// initContainers. "{}" means the defaults below. If unset, pods run "mdbook serve",
	// which keeps the search index in memory and ignores SIGTERM. The maintainers of
	// mdBook do not recommend it for deployment. With a web server, each version has an
	// immutable ConfigMap, as with immutableConfigMaps. It also holds copies of the
	// files of spec.markdownsFrom, if all files together have at most 1 MiB.
	// +optional
	Server *Server `json:"server,omitempty"`

	// Theme has text files of mdBook's theme by name, for all books of the
	// Composition, such as "head.hbs" (added to the head of each page), "header.hbs"
	// (above the menu bar), "css/variables.css" (colors) and "favicon.svg". A file
	// replaces that of mdBook, so a file that is not empty by default may need changes
	// for a new release of mdBook. The files have at most 128 KiB together, because
	// pods mount them from their annotations. A change starts a rollout.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.all(name, name in ['ayu-highlight.css', 'book.js', 'clipboard.min.js', 'css/chrome.css', 'css/general.css', 'css/print.css', 'css/variables.css', 'favicon.svg', 'fonts/fonts.css', 'head.hbs', 'header.hbs', 'highlight.css', 'highlight.js', 'index.hbs', 'redirect.hbs', 'toc.html.hbs', 'toc.js.hbs', 'tomorrow-night.css'])",message="use only the names of text files that mdBook reads from a theme, such as head.hbs"
	// +kubebuilder:validation:MaxProperties=18
	Theme map[string]string `json:"theme,omitempty"`

	// Service configures the Service.
	// +optional
	Service Service `json:"service,omitempty"`

	// ImmutableConfigMaps gives each version of a book an immutable ConfigMap of its
	// own, named markdowns-NAME.HASH. The ConfigMap that the running pods use is
	// kept until the Deployment has rolled out, so a pod that is replaced during a
	// change starts with the version that it served before, even if the change is
	// broken. There are at most two, unless somebody deletes the Deployment. By default
	// all pods of "mdbook serve" share one ConfigMap, which changes with the book. You
	// can switch at any time, which starts a rollout. It has no effect with server.
	// +optional
	ImmutableConfigMaps bool `json:"immutableConfigMaps,omitempty"`

	// PodDisruptionBudget composes a PodDisruptionBudget for each MarkdownView that
	// has two replicas or more, even if an autoscaler sets them. "{}" allows one pod
	// at a time to be evicted.
	// +optional
	PodDisruptionBudget *PodDisruptionBudget `json:"podDisruptionBudget,omitempty"`

	// Route composes an HTTPRoute of Gateway API, which publishes the book outside
	// of the cluster; status.url is that address. The MarkdownView is ready when
	// every Gateway has accepted the HTTPRoute. For route, ingress and
	// podDisruptionBudget Crossplane needs example/production/rbac.yaml.
	// +optional
	Route *Route `json:"route,omitempty"`

	// Ingress composes an Ingress instead of a route. The MarkdownView is ready when
	// the Ingress has an address.
	// +optional
	Ingress *Ingress `json:"ingress,omitempty"`

	// AllowedHosts are patterns; spec.host of a MarkdownView, which replaces the host
	// of the route or ingress, must match one of them. "*" matches any text without
	// ".", and {name} and {namespace} are those of the MarkdownView:
	// "*.{namespace}.example.com" protects the hosts of other namespaces. Within a
	// namespace, two MarkdownViews can set the same host, or one can set the host that the
	// other has by default. The Gateway or the Ingress controller decides which of
	// them it serves. A conflict that a Gateway reports is in the condition Degraded.
	// If unset or empty, no spec.host is allowed.
	// +optional
	AllowedHosts []string `json:"allowedHosts,omitempty"`

	// Labels of all composed resources. They are not added to the selector, and
	// cannot replace a label that the selector uses.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations of all composed resources.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Namespace of the composed resources of a cluster-scoped XR, where it is
	// required and cannot change later. It is ignored for an XR or a claim that has a
	// namespace.
	// +optional
	Namespace string `json:"namespace,omitempty"`

	// TTL is the time after which Crossplane calls the function again although
	// nothing has changed. Crossplane v2.4 and later watch everything that the
	// function reads, so the default is 0: never. While it drops events of a
	// MarkdownView that changes often, the time is at most 10 seconds.
	// +optional
	TTL *metav1.Duration `json:"ttl,omitempty"`

	// StatusFields are the status fields that the XRD declares. Crossplane cannot apply
	// others. By default, the function knows the fields of this project's XRD, and reads
	// those of another XRD from its schema, which takes a second call. To save that call,
	// list the schema under requirements.requiredSchemas of the step, with requirementName
	// xr.
	// +optional
	StatusFields []StatusField `json:"statusFields,omitempty"`

	// Templates are partial objects that are merged over the composed resources as
	// "kubectl patch" does, for example to add tolerations or sidecars. They cannot
	// change names, namespaces or selectors.
	// +optional
	Templates Templates `json:"templates,omitempty"`
}

// Resources are requests and limits of a container: quantities of cpu, memory and
// ephemeral-storage.
type Resources struct {
	// Requests of the container.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`

	// Limits of the container.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

// Server is an unprivileged web server that serves a directory. It runs as user
// 65532 with a read-only root file system and no capabilities, and can write only to
// /tmp. It keeps serving for 5 seconds after its pod is deleted, until Kubernetes
// sends no more requests to it. This needs the preStop hook sleep (Kubernetes 1.30).
// The function composes the configuration of nginx-unprivileged: the book's own page
// for unknown addresses, compression, caching and security headers. Another image, or
// one with command, args or another documentRoot, keeps its own configuration. It must
// listen on port, serve documentRoot and index.html of each folder, and should do what
// docs/web-server.md lists.
type Server struct {
	// Image of the web server. Defaults to
	// "docker.io/nginxinc/nginx-unprivileged:1.28.0-alpine-slim". The function
	// composes the configuration of any image whose repository ends with
	// "/nginxinc/nginx-unprivileged" or "/nginx/nginx-unprivileged", in any version
	// and from any registry. allowedImages does not apply to it.
	// +optional
	Image string `json:"image,omitempty"`

	// Port that the web server listens on. Defaults to 8080.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// DocumentRoot is the directory that the web server serves. The book is
	// mounted there, read-only, or in a folder below it if the route or ingress has a
	// path. Defaults to /usr/share/nginx/html.
	// +optional
	DocumentRoot string `json:"documentRoot,omitempty"`

	// Command of the web server. Defaults to that of the image. Kubernetes does not
	// expand $(…) in it.
	// +optional
	Command []string `json:"command,omitempty"`

	// Args of the web server. Defaults to those of the image. Kubernetes does not
	// expand $(…) in them.
	// +optional
	Args []string `json:"args,omitempty"`

	// Resources of the web server. Each value takes precedence over the defaults:
	// requests of 10m cpu and 16Mi memory, and a limit of 256Mi memory. The
	// resources of the MarkdownView and the Input's apply to mdBook, which keeps
	// the whole book in memory while it builds it.
	// +optional
	Resources *Resources `json:"resources,omitempty"`
}

// Service configures the Service.
type Service struct {
	// Type of the Service. Defaults to ClusterIP.
	// +optional
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`

	// Annotations of the Service, in addition to those of all composed resources.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PodDisruptionBudget limits how many pods are evicted at a time, for example by a
// node drain. Set at most one of its fields.
type PodDisruptionBudget struct {
	// MaxUnavailable is how many pods may be unavailable: a number or a percentage.
	// Defaults to 1 if minAvailable is unset.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^0*(100|[0-9]{1,2})%$`
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// MinAvailable is how many pods must be available: a number or a percentage.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^0*(100|[0-9]{1,2})%$`
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`
}

// Route is an HTTPRoute of Gateway API (gateway.networking.k8s.io/v1).
type Route struct {
	// ParentRefs are the Gateways. Several entries for one Gateway need a sectionName
	// each.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.name == b.name && (has(a.__namespace__) ? a.__namespace__ : '') == (has(b.__namespace__) ? b.__namespace__ : '') && (!has(a.sectionName) || !has(b.sectionName) || a.sectionName == b.sectionName)))",message="remove one of two entries that name the same Gateway, or give both a sectionName of their own"
	ParentRefs []ParentRef `json:"parentRefs"`

	// Host of each book: a pattern with {name} and {namespace} of the MarkdownView,
	// such as "{name}.{namespace}.books.example.com". With a dot between them the
	// pattern gives each MarkdownView its own host, but another MarkdownView can set
	// the same host in spec.host if allowedHosts allows it. Required without
	// allowedHosts. Without host every MarkdownView must set spec.host.
	// +optional
	Host string `json:"host,omitempty"`

	// Path of each book below its host, such as "/{namespace}/{name}/". One host and one
	// certificate then serve many books. Defaults to "/". It begins and ends with "/", and
	// each part is {name}, {namespace} or text. {name} is required. {namespace} is
	// required unless the host and all allowedHosts have it: no two MarkdownViews of the
	// Composition can have the same address. A path requires server, because "mdbook
	// serve" serves a book only at "/". For a browser, books on one host have one origin:
	// a script in one book can read what another has stored. A host for each book
	// separates them.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^/(([A-Za-z0-9][A-Za-z0-9._~-]*|\{name\}|\{namespace\})/)+$`
	// +kubebuilder:validation:XValidation:rule="self.split('{name}').size() == 2 && self.split('{namespace}').size() <= 2",message="must have {name} once, and {namespace} at most once"
	Path string `json:"path,omitempty"`

	// Scheme of status.url: that of the listener of the Gateway. Defaults to https.
	// +optional
	// +kubebuilder:validation:Enum=http;https
	Scheme string `json:"scheme,omitempty"`

	// Annotations of the HTTPRoute, in addition to those of all composed resources.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// A ParentRef names a Gateway.
type ParentRef struct {
	// Name of the Gateway.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Gateway. Defaults to that of the MarkdownView.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// SectionName is the listener of the Gateway. Defaults to all.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName string `json:"sectionName,omitempty"`

	// Port of the listeners of the Gateway. Defaults to all.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// Ingress is an Ingress (networking.k8s.io/v1).
type Ingress struct {
	// ClassName is the class of the Ingress. Defaults to that of the cluster.
	// +optional
	ClassName string `json:"className,omitempty"`

	// Host of each book, as for a route.
	// +optional
	Host string `json:"host,omitempty"`

	// Path of each book below its host, as for a route.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^/(([A-Za-z0-9][A-Za-z0-9._~-]*|\{name\}|\{namespace\})/)+$`
	// +kubebuilder:validation:XValidation:rule="self.split('{name}').size() == 2 && self.split('{namespace}').size() <= 2",message="must have {name} once, and {namespace} at most once"
	Path string `json:"path,omitempty"`

	// TLS makes status.url https. {} leaves the certificate to the controller.
	// +optional
	TLS *IngressTLS `json:"tls,omitempty"`

	// Annotations of the Ingress, in addition to those of all composed resources.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// IngressTLS names the certificate of an Ingress.
type IngressTLS struct {
	// SecretName of the certificate, in the namespace of the MarkdownView: a pattern
	// like that of a host, such as "{name}-tls".
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

// Templates are partial objects that are merged over the composed resources by
// strategic merge patch, as kubectl patch does. They cannot change a name, a
// namespace, a selector, a label that the selector uses, the parents and hostnames of
// an HTTPRoute, or the rules and TLS of an Ingress.
type Templates struct {
	// ConfigMap is merged over the ConfigMap. It can add files to the book.
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

	// HTTPRoute is merged over the HTTPRoute of route, such as filters and timeouts.
	// Its list of rules replaces the rule of the function. A rule without backendRefs
	// gets the Service of the book, unless it redirects.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	HTTPRoute *runtime.RawExtension `json:"httpRoute,omitempty"`

	// Ingress is merged over the Ingress of ingress.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	Ingress *runtime.RawExtension `json:"ingress,omitempty"`

	// PodDisruptionBudget is merged over the PodDisruptionBudget of
	// podDisruptionBudget.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	PodDisruptionBudget *runtime.RawExtension `json:"podDisruptionBudget,omitempty"`
}
