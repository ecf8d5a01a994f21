package server

import (
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// maxResponse is the size in bytes of the largest response that Crossplane
// reads. It sets no limit of its own, so that grpc-go's default stands:
// https://github.com/crossplane/crossplane/blob/v2.4.0/internal/xfn/function_runner.go
const maxResponse = 4 << 20

// A codec is gRPC's codec for protobuf that sends a small fatal response in
// place of one that Crossplane would not read. It measures what was encoded
// anyway: an interceptor would have to walk each response once more, and a
// send limit of gRPC would end the call with an error before we could answer.
type codec struct {
	encoding.CodecV2

	sent func(*fnv1.RunFunctionResponse)
}

// Marshal encodes a message.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	data, err := c.CodecV2.Marshal(v)
	rsp, ok := v.(*fnv1.RunFunctionResponse)
	if err != nil || !ok {
		return data, err
	}
	if data.Len() > maxResponse {
		rsp = tooLarge(rsp, data.Len())
		data.Free()
		data, err = c.CodecV2.Marshal(rsp)
	}
	c.sent(rsp)
	return data, err
}
