package server

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// A request is a RunFunctionRequest, and a response the parts of a RunFunctionResponse,
// both in the wire format of protobuf.
type (
	request  []byte
	response [][]byte
)

// A codec passes the messages of the function through as bytes. It leaves other
// messages, those of health checks, to the protobuf codec of gRPC.
type codec struct {
	encoding.CodecV2
}

// Unmarshal decodes a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	req, ok := v.(*request)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	// This copies data, because the response shares the memory of the request, and gRPC
	// reuses data.
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
