// Package fn composes MarkdownViews: from one observed XR it makes a ConfigMap
// with the files of the book, a Deployment of pods that serve it, and a Service.
//
// A call runs these steps, each in a file of its name:
//
//	RunFunctionRequest
//	      │ read       the XR, the Input, the observed resources: values
//	      ▼
//	      validate     problems, each with a reason that names who can fix it
//	      ▼
//	      compose      the desired ConfigMap, Deployment and Service, and their
//	      │            conflicts with what others desire or what exists
//	      ▼
//	      judge        readiness, conditions, status, events
//	      │ respond    writes what was decided
//	      ▼
//	RunFunctionResponse
//
// The files of ConfigMaps that the spec names are read, hashed and checked with the
// others, and mounted by reference: see from.go and required.go.
//
// Whether mdBook serves a book is known before it runs: package book reads it, once
// for each change. See complete.go for how a steady call knows that nothing changed.
//
// With problems nothing is composed: they are judged, and the response passes on
// what other functions desired. Protobuf is known where a request is read and a
// response is written, see package wire. The steps between are pure functions of
// plain values, which can be tested without a request.
//
// # Laws
//
// These hold for every request. They are tested over golden requests, over
// generated ones and over raw bytes, by go test and by make fuzz.
//
//  1. There is always a response, and one that Crossplane accepts: no panic, no
//     gRPC error, all three conditions with documented reasons, messages on one line
//     that are short enough to read.
//  2. The same request gives the same bytes, and requests that differ in the order
//     of their maps give equal responses. The request is not modified.
//  3. Nothing is lost. The response holds every desired resource of the request,
//     and either one fatal result or all of our own resources. Only a response that
//     requires ConfigMaps which Crossplane has not sent yet has neither: Crossplane
//     drops it and calls again. Resources of other functions, readiness, connection
//     details and context are as they were. Of the immutable ConfigMaps it holds the
//     desired one and the one that serves, with the data that was observed.
//  4. Kubernetes accepts what is composed. What it would not accept is rejected
//     before, with all errors at once and the path of each. For templates, which
//     are the platform team's, that is as far as the types of Kubernetes and what
//     the pods need. An object holds what we mean to own: no status, nulls, empty
//     objects or zero defaults.
//  5. It settles. Our own response, observed as the API server stores it, gives the
//     same response again, and no event. Ready turns true once for each rollout, no
//     condition returns to what it has just left, and an event reports only a
//     condition that has turned true, or BookComplete that has turned false.
//  6. Every legal name of an XR, up to 253 characters, gives legal names and
//     labels, always the same ones, and distinct ones for distinct XRs of a kind
//     in a namespace.
//  7. Every file arrives in the pods byte for byte, under its name: a valid UTF-8
//     text as data or, where JSON or YAML would change it, as binaryData, under a
//     key that is derived from its path. Files of other ConfigMaps are mounted from there.
//  8. Readiness and status agree: where all is ready, STATUS is Healthy and
//     Available is true. No key of the status is missing from a response that is
//     not fatal, unless the XRD does not declare it according to the Input.
package fn
