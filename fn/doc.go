// Package fn composes MarkdownViews: of one observed XR it makes a ConfigMap
// with the files of the book, a Deployment of viewers and a Service for them.
//
// A call takes one way through the package:
//
//	RunFunctionRequest ─ read, observe ─▶ view and observed resources
//	                          │
//	                          ├─▶ validate: faults ─▶ refuse, and stop
//	                          ├─▶ compose:  what is desired
//	                          ├─▶ ready:    a verdict for each resource
//	                          └─▶ status, conditions, events
//	                                         └─▶ respond ─▶ RunFunctionResponse
//
// Protobuf appears only where the request is read and the answer is written. All
// between is plain values and pure functions, which need no request to be tested.
//
// # Laws
//
// These hold for every request, whatever is in it. They are tested over golden
// requests, over generated ones and over raw bytes, by go test and by make fuzz.
//
//  1. There is always an answer, and one that Crossplane accepts: no panic, no
//     gRPC error, both conditions with documented reasons, messages on one line
//     that are short enough to read.
//  2. The same request gives the same bytes, whatever the order of its maps. The
//     request is not modified.
//  3. Nothing is lost. The answer holds every desired resource of the request,
//     and either one fatal result or all resources of our own. Resources of other
//     functions, readiness, connection details and context are as they were.
//  4. What is composed, Kubernetes accepts. What cannot be accepted is refused
//     before, with all faults at once and the path of each. Of templates, which
//     are the platform team's, that is as far as the types of Kubernetes and what
//     a viewer cannot do without. An object holds what we mean to own: no status,
//     nulls, empty objects or zero defaults.
//  5. It settles. Our own answer, observed as the API server stores it, gives the
//     same answer again, and no event. Ready turns true once for each rollout, no
//     condition returns to what it has just left, and an event tells only of a
//     condition that has turned true.
//  6. Every legal name of an XR, up to 253 characters, gives legal names and
//     labels, always the same ones, and distinct ones for distinct XRs of a kind
//     in a namespace.
//  7. Every valid UTF-8 text arrives in the ConfigMap byte for byte, as data or,
//     where the way there would change it, as binaryData.
//  8. Readiness and status agree: where all is ready, STATUS is Healthy and
//     Available is true. No key of the status is ever missing from an answer that
//     is not fatal, unless the Input says that the XRD does not declare it.
package fn
