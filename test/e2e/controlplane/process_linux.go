package controlplane

import "syscall"

// ownGroup starts a child in a process group of its own, so Ctrl-C reaches only this
// process, which then stops its children in order. The kernel kills the child if this
// process exits before that.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
