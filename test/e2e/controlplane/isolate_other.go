//go:build !linux

package controlplane

import (
	"context"
	"errors"
	"net"
)

var errNode = errors.New("a real node needs Linux")

// Isolate returns an error: namespaces need Linux.
func Isolate(int) ([]net.Listener, error) { return nil, errNode }

// Isolated returns false: namespaces need Linux.
func Isolated() bool { return false }

func prepareMachine(Options) error { return errNode }

func (cp *ControlPlane) startNode(context.Context) error { return errNode }
