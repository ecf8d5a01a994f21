// Package report has the words in which the function reports to people: the types and
// reasons of conditions, the problems that keep a MarkdownView from being composed, and
// short quotations of what others wrote.
package report

// A Condition is a condition of an XR or of a Deployment.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// The types of the conditions of every response.
const (
	// TypeAvailable is true while a pod serves the book.
	TypeAvailable = "Available"
	// TypeDegraded is true while an error that somebody must fix keeps the book from
	// being served as requested.
	TypeDegraded = "Degraded"
	// TypeBookComplete is false while the book is served with problems that its
	// author can fix. It changes only when the book does.
	TypeBookComplete = "BookComplete"
)

// Reasons of Available.
const (
	// ReasonAvailable (true): pods serve the book, and no change rolls out.
	ReasonAvailable = "Available"
	// ReasonRollingOut (true): pods serve the book while a change rolls out.
	ReasonRollingOut = "RollingOut"
	// ReasonScaledToZero (true): no replica is requested, so none is missing.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonCreating (false): no pod has served the book yet.
	ReasonCreating = "Creating"
	// ReasonUnavailable (false): pods have served the book, and none does now.
	ReasonUnavailable = "Unavailable"
)

// Reasons of Degraded, the most severe first.
const (
	// ReasonPanic (true; Available and BookComplete are unknown): the function
	// panicked.
	ReasonPanic = "Panic"
	// ReasonResponseTooLarge (true): Crossplane would not read the response.
	ReasonResponseTooLarge = "ResponseTooLarge"
	// ReasonInvalidSpec (true): the XR has errors.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonConfigMapNotFound (true): a ConfigMap of spec.markdownsFrom does not exist.
	ReasonConfigMapNotFound = "ConfigMapNotFound"
	// ReasonOCIRepositoryNotReady (true): the OCIRepository of spec.markdownsFrom does not
	// exist, or Flux has not fetched or not verified its image. Pods keep the last one.
	ReasonOCIRepositoryNotReady = "OCIRepositoryNotReady"
	// ReasonInvalidInput (true): the Composition's Input has errors.
	ReasonInvalidInput = "InvalidInput"
	// ReasonPipelineConflict (true): another function of the pipeline desires
	// another resource under the name of one of ours.
	ReasonPipelineConflict = "PipelineConflict"
	// ReasonResourceConflict (true): an existing composed resource is not the one
	// that the function composes.
	ReasonResourceConflict = "ResourceConflict"
	// ReasonApplyFailed (true): Kubernetes rejected a composed resource, or removed the
	// image volume from the Deployment.
	ReasonApplyFailed = "ApplyFailed"
	// ReasonMissing (true): a composed resource that existed is gone.
	ReasonMissing = "Missing"
	// ReasonPaused (true): somebody paused the Deployment, so no change rolls out.
	ReasonPaused = "Paused"
	// ReasonReplicaFailure (true): pods cannot be created.
	ReasonReplicaFailure = "ReplicaFailure"
	// ReasonProgressDeadlineExceeded (true): pods do not become available.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonRouteNotAccepted (true): a Gateway rejects the HTTPRoute or its rule, or does
	// not find the Service.
	ReasonRouteNotAccepted = "RouteNotAccepted"
	// ReasonAsExpected (false): none of these.
	ReasonAsExpected = "AsExpected"
)

// Reasons of BookComplete. While there are errors, the condition keeps its last reason.
const (
	// ReasonComplete (true): no problems were found.
	ReasonComplete = "Complete"
	// ReasonIncomplete (false): the book has a problem that mdBook ignores, such as a
	// link without a target, or a file that no chapter shows.
	ReasonIncomplete = "Incomplete"
	// ReasonNotChecked (unknown): the book has had errors since it was created, or it
	// is in an image.
	ReasonNotChecked = "NotChecked"
)

// The statuses of a condition.
const (
	True    = "True"
	False   = "False"
	Unknown = "Unknown"
)

// ConditionOf returns the condition of a type, or an empty one.
func ConditionOf(all []Condition, kind string) Condition {
	for _, c := range all {
		if c.Type == kind {
			return c
		}
	}

	return Condition{}
}
