//go:build !linux

package controlplane

import "syscall"

// ownGroup puts a child into a process group of its own, so that Ctrl-C reaches
// us alone and we stop the child in order.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
