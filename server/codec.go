package server

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// A request is a RunFunctionRequest, and a response a RunFunctionResponse in
// parts, both in protobuf's wire format.
type (
	request  []byte
	response [][]byte
)

// A codec passes the bytes of the function's messages through, and leaves other
// messages, those of health checks, to gRPC's codec for protobuf.
type codec struct {
	encoding.CodecV2
}

// Unmarshal decodes a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	req, ok := v.(*request)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	// A copy, because the response shares its memory and gRPC reuses data.
	*req = data.Materialize()

	return nil
}

// Marshal encodes a message.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	rsp, ok := v.(response)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	data := make(mem.BufferSlice, len(rsp))
	for i, part := range rsp {
		data[i] = mem.SliceBuffer(part)
	}

	return data, nil
}
