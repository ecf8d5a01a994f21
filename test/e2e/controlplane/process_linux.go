package controlplane

import "syscall"

// ownGroup puts a child into a process group of its own, so that Ctrl-C reaches
// us alone and we stop the child in order, and has the kernel kill it should we
// die before that.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
