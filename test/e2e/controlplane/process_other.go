//go:build !linux

package controlplane

import "syscall"

// ownGroup starts a child in a process group of its own, so Ctrl-C reaches only this
// process, which then stops its children in order.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
