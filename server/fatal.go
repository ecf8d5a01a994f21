package server

import (
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
)

// The condition types that each response of the function carries, and the
// reasons that only the server gives.
const (
	typeAvailable = "Available"
	typeDegraded  = "Degraded"

	// reasonPanic says that the function has a bug that this XR meets.
	reasonPanic = "Panic"

	// reasonResponseTooLarge says that Crossplane would not read the response.
	reasonResponseTooLarge = "ResponseTooLarge"
)

// panicked is the response to a request that made the function panic. What
// other functions desired, and their context, pass through.
func panicked(req *fnv1.RunFunctionRequest, cause any) *fnv1.RunFunctionResponse {
	const message = "The function failed on this resource; its log says where"
	return &fnv1.RunFunctionResponse{
		Meta:    &fnv1.ResponseMeta{Tag: req.GetMeta().GetTag()},
		Desired: req.GetDesired(),
		Context: req.GetContext(),
		Results: []*fnv1.Result{fatal(reasonPanic, fmt.Sprintf("cannot run the function: panic: %v", cause))},
		Conditions: []*fnv1.Condition{
			condition(typeAvailable, fnv1.Status_STATUS_CONDITION_UNKNOWN, reasonPanic, message),
			condition(typeDegraded, fnv1.Status_STATUS_CONDITION_TRUE, reasonPanic, message),
		},
	}
}

// tooLarge is what is sent in place of a response of that many bytes. It keeps
// what was found out about availability, and leaves the desired state behind:
// that is what is large, and Crossplane changes nothing on a fatal result.
func tooLarge(rsp *fnv1.RunFunctionResponse, size int) *fnv1.RunFunctionResponse {
	message := fmt.Sprintf("The composed resources of the pipeline are larger than the %d MiB that Crossplane accepts from a function", maxResponse>>20)
	available := condition(typeAvailable, fnv1.Status_STATUS_CONDITION_UNKNOWN, reasonResponseTooLarge, message)
	for _, c := range rsp.GetConditions() {
		if c.GetType() == typeAvailable {
			available = c
		}
	}
	return &fnv1.RunFunctionResponse{
		Meta:    &fnv1.ResponseMeta{Tag: rsp.GetMeta().GetTag()},
		Results: []*fnv1.Result{fatal(reasonResponseTooLarge, fmt.Sprintf("cannot return desired state: the response has %d bytes, Crossplane accepts %d", size, maxResponse))},
		Conditions: []*fnv1.Condition{
			available,
			condition(typeDegraded, fnv1.Status_STATUS_CONDITION_TRUE, reasonResponseTooLarge, message),
		},
	}
}

func fatal(reason, message string) *fnv1.Result {
	return &fnv1.Result{
		Severity: fnv1.Severity_SEVERITY_FATAL,
		Message:  message,
		Reason:   &reason,
		Target:   fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	}
}

func condition(t string, s fnv1.Status, reason, message string) *fnv1.Condition {
	return &fnv1.Condition{
		Type:    t,
		Status:  s,
		Reason:  reason,
		Message: &message,
		Target:  fnv1.Target_TARGET_COMPOSITE_AND_CLAIM.Enum(),
	}
}
