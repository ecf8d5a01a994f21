// Package fn composes MarkdownViews: for an observed XR it returns a ConfigMap with
// the files of the book, a Deployment of pods that serve it, and a Service.
//
// A call runs these steps, each a package in internal:
//
//	RunFunctionRequest
//	      │ request    the XR, the Input and the observed resources, as Go values
//	      ▼
//	      validate     problems, each with a reason that shows who can fix it
//	      ▼
//	      compose      the desired ConfigMap, Deployment and Service, and their
//	      │            conflicts with other resources of the pipeline or the cluster
//	      ▼
//	      judge        readiness, conditions, status, events
//	      │ response   writes the response
//	      ▼
//	RunFunctionResponse
//
// A package imports only those above it in this list, and three that all of them use: view
// has the MarkdownView, files the files of its book, and report the words in which the
// function reports to people.
//
// The files of the ConfigMaps that spec.markdownsFrom names are read, hashed and checked
// with the other files, and mounted by reference, or copied for a web server: see
// request/required.go and files/volume.go.
//
// Crossplane applies resources in any order. Pods start only with the text of their
// revision: see compose/content.go for immutable ConfigMaps, and compose/revision.go for
// the one that changes in place.
//
// A book in an image can follow an OCIRepository of Flux: see view/source.go.
//
// The function checks whether mdBook can build a book: package book reads it, once for
// each change. See compose/complete.go for how later calls know that nothing has changed.
//
// If there are problems, the function composes nothing: the response has a fatal result
// and conditions, and passes on what other functions desire. Package request reads the
// messages of protobuf, and package response writes them. The steps between them are pure
// functions of Go values, which can be tested without a request.
//
// # Laws
//
// These hold for every request. Both go test and make fuzz test them, with golden requests,
// generated requests and random bytes.
//
//  1. There is always a response that Crossplane accepts: no panic, no gRPC error, all
//     three conditions with documented reasons, and messages on one line that are short
//     enough to read.
//  2. The same request gives the same bytes, and requests that differ only in the order
//     of their maps give equal responses. The request is not modified.
//  3. Nothing is lost. The response holds every desired resource of the request, and
//     either one fatal result or all of our own resources. The exception is a response
//     that requires resources which Crossplane has not sent yet: it has neither, and
//     Crossplane drops it and calls again. Resources of other functions, readiness,
//     connection details and context are unchanged. With immutable ConfigMaps, the response
//     holds the desired one and those that pods can still serve, with their observed data.
//  4. Kubernetes accepts the composed resources. The function rejects invalid values
//     first, all at once and with their field paths. In templates, which the platform team
//     writes, it checks the Kubernetes types and the fields that the pods need. An object
//     holds only the fields that we own: no status, nulls, empty objects or zero defaults.
//  5. It settles. When the API server has stored our response, the next response is the
//     same, without events. Ready turns true once for each rollout, when every pod started
//     with the text of the spec. No condition changes back to the value that it just had,
//     and an event reports only a condition that has turned true, or BookComplete that has
//     turned false. A response has no TTL unless the Input sets one or Crossplane drops
//     events: see judge/breaker.go.
//  6. Every valid name of an XR, up to 253 characters, gives valid names and labels. They
//     are always the same for an XR, and distinct for distinct XRs of a kind in a
//     namespace.
//  7. Every file arrives in the pods byte for byte, under its name. A file is stored as
//     data if it is UTF-8 text that JSON and YAML leave unchanged, else as binaryData,
//     under a key that is derived from its path. Files of other ConfigMaps are mounted
//     from those ConfigMaps, or copied.
//  8. Readiness and status agree: if all resources are ready, STATUS is Healthy and
//     Available is true. The fields that describe the pods follow Available by one call.
//     A response that is not fatal has every status field that the XRD declares.
package fn
