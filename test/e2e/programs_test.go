package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// trap puts programs first on the PATH that have the names of those that a node uses, as
// other versions on a machine with Docker. They fail, and write that they have run.
func (c *cluster) trap(t *testing.T) {
	t.Helper()
	dir := filepath.Join(c.Options.Dir, "trap")
	must(t, os.MkdirAll(dir, 0o755))
	for _, name := range []string{
		"containerd-shim-runc-v2", "igzip", "ip6tables", "ip6tables-restore", "ip6tables-save", "iptables", "iptables-restore",
		"iptables-save", "modprobe", "mount", "nft", "runc", "systemd-run", "umount", "unpigz",
	} {
		script := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\nexit 1\n", filepath.Join(dir, "ran"))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	// t.Setenv does not allow tests that run in parallel.
	must(t, os.Setenv("PATH", dir+":"+os.Getenv("PATH"))) //nolint:usetesting // As above.
}

// OwnPrograms checks that the node, on which pods run by now, uses none of the programs
// that are first on the PATH.
func OwnPrograms(k *kit) {
	k.needsNode()
	k.apply(book("own"))
	k.settle("own")
	ran, err := os.ReadFile(filepath.Join(k.Options.Dir, "trap", "ran"))
	if !os.IsNotExist(err) {
		k.Errorf("the node has run programs of the machine: %s %v", ran, err)
	}
}

// Explained checks that the error of a pod that does not run says why: the event, and the
// ends of the logs of kubelet and containerd.
func Explained(k *kit) {
	k.needsNode()
	const absent = "docker.io/peaceiris/mdbook:absent"
	k.apply(book("absent", image(absent)))
	k.eventually("the image cannot be pulled", func(k *kit) {
		err := k.loopback.Explain(k.Context(), errors.New("the pod is not ready"))
		for _, want := range []string{
			"the pod is not ready\n",
			fmt.Sprintf("\nPod %s/viewer-absent-", k.namespace),
			fmt.Sprintf(": Failed: Failed to pull image %q: ", absent),
			fmt.Sprintf("\nkubelet: the log %s ends with\n", filepath.Join(k.logs, "kubelet.log")),
			fmt.Sprintf("\ncontainerd: the log %s ends with\n", filepath.Join(k.logs, "containerd.log")),
		} {
			k.contains(err.Error(), want)
		}
	})
}
