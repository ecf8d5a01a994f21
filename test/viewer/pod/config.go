package pod

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/profiles/seccomp"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

// imagePath is the PATH that images declare.
const imagePath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// supported returns an error for a pod that would not be run as it stands.
//
// What is left of a pod, once all is taken away that is either run or of no
// concern to a kubelet, must be nothing.
func supported(spec corev1.PodSpec) error {
	if len(spec.Containers) != 1 {
		return fmt.Errorf("cannot run %d containers: want one", len(spec.Containers))
	}
	c := spec.Containers[0]
	switch {
	case len(c.Command) == 0 || c.WorkingDir == "":
		return errors.New("cannot run what the image says: want command and workingDir")
	case spec.SecurityContext == nil || spec.SecurityContext.RunAsUser == nil || spec.SecurityContext.RunAsGroup == nil:
		return errors.New("cannot run as the user of the image, which is root: want runAsUser and runAsGroup")
	case spec.TerminationGracePeriodSeconds == nil:
		return errors.New("cannot stop a pod: want terminationGracePeriodSeconds")
	case spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken:
		return errors.New("cannot mount a service account token: want automountServiceAccountToken: false")
	}

	rest := spec.DeepCopy()
	forget(rest)
	if diff := cmp.Diff(&corev1.PodSpec{Containers: make([]corev1.Container, 1)}, rest); diff != "" {
		return fmt.Errorf("cannot run a pod with these fields: %s", diff)
	}

	return nil
}

// forget takes away what is supported.
func forget(p *corev1.PodSpec) {
	p.AutomountServiceAccountToken = nil
	p.EnableServiceLinks = nil
	p.TerminationGracePeriodSeconds = nil

	// For the scheduler and the pull of the image.
	p.ImagePullSecrets, p.Tolerations, p.TopologySpreadConstraints = nil, nil, nil

	s := p.SecurityContext
	s.RunAsNonRoot, s.RunAsUser, s.RunAsGroup = nil, nil, nil
	if s.SeccompProfile != nil && s.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault {
		s.SeccompProfile = nil
	}
	if cmp.Equal(s, &corev1.PodSecurityContext{}) {
		p.SecurityContext = nil
	}

	p.Volumes = slices.DeleteFunc(p.Volumes, func(v corev1.Volume) bool {
		plain := v.ConfigMap != nil && cmp.Equal(*v.ConfigMap, corev1.ConfigMapVolumeSource{LocalObjectReference: v.ConfigMap.LocalObjectReference, Items: v.ConfigMap.Items})
		return plain || v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumDefault
	})
	if len(p.Volumes) == 0 {
		p.Volumes = nil
	}
	forgetContainer(&p.Containers[0])
}

func forgetContainer(c *corev1.Container) {
	c.Name, c.Image, c.ImagePullPolicy = "", "", ""
	c.Command, c.Args, c.WorkingDir, c.Ports = nil, nil, "", nil
	c.StartupProbe, c.ReadinessProbe, c.LivenessProbe = nil, nil, nil

	// Requests are for the scheduler. Their CPU shares, too, would make a test
	// wait for whoever else runs on the machine.
	c.Resources.Requests = nil
	delete(c.Resources.Limits, corev1.ResourceMemory)
	if len(c.Resources.Limits) == 0 {
		c.Resources.Limits = nil
	}

	c.Env = slices.DeleteFunc(c.Env, func(e corev1.EnvVar) bool {
		return e.ValueFrom == nil && !strings.Contains(e.Value, "$")
	})
	if len(c.Env) == 0 {
		c.Env = nil
	}
	c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		return cmp.Equal(m, corev1.VolumeMount{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly})
	})
	if len(c.VolumeMounts) == 0 {
		c.VolumeMounts = nil
	}

	if s := c.SecurityContext; s != nil {
		s.AllowPrivilegeEscalation, s.ReadOnlyRootFilesystem = nil, nil
		if s.Capabilities != nil && cmp.Equal(*s.Capabilities, corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}) {
			s.Capabilities = nil
		}
		if cmp.Equal(s, &corev1.SecurityContext{}) {
			c.SecurityContext = nil
		}
	}
}

// config returns what runc is to do.
func (p *Pod) config() (*specs.Spec, error) {
	c := p.spec.Containers[0]
	s := c.SecurityContext
	if s == nil {
		s = &corev1.SecurityContext{}
	}
	capabilities := defaultCapabilities()
	if s.Capabilities != nil {
		capabilities = nil // All are dropped, see supported.
	}

	config := &specs.Spec{
		Version: "1.0.2",
		Process: &specs.Process{
			User: specs.User{UID: uint32(*p.spec.SecurityContext.RunAsUser), GID: uint32(*p.spec.SecurityContext.RunAsGroup)},
			Args: slices.Concat(c.Command, c.Args),
			Env:  p.env(),
			Cwd:  c.WorkingDir,
			// As for any user but root.
			Capabilities:    &specs.LinuxCapabilities{Bounding: capabilities},
			NoNewPrivileges: s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation,
		},
		Root:     &specs.Root{Path: p.cluster.Image, Readonly: s.ReadOnlyRootFilesystem != nil && *s.ReadOnlyRootFilesystem},
		Hostname: p.id,
		Mounts:   slices.Concat(systemMounts(), p.volumeMounts(), []specs.Mount{p.hostsMount()}),
		Linux: &specs.Linux{
			CgroupsPath: "/" + p.id,
			Namespaces: []specs.LinuxNamespace{
				{Type: specs.PIDNamespace},
				{Type: specs.NetworkNamespace},
				{Type: specs.IPCNamespace},
				{Type: specs.UTSNamespace},
				{Type: specs.MountNamespace},
			},
			Resources: &specs.LinuxResources{},
			Sysctl:    p.cluster.Sysctls,
			MaskedPaths: []string{
				"/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/scsi",
				"/proc/sched_debug", "/proc/timer_list", "/proc/timer_stats", "/sys/firmware",
			},
			ReadonlyPaths: []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"},
		},
	}
	if memory, ok := c.Resources.Limits[corev1.ResourceMemory]; ok {
		limit := memory.Value()
		config.Linux.Resources.Memory = &specs.LinuxMemory{Limit: &limit}
	}
	if p.spec.SecurityContext.SeccompProfile != nil {
		profile, err := seccomp.GetDefaultProfile(config)
		if err != nil {
			return nil, fmt.Errorf("cannot get seccomp profile: %w", err)
		}
		config.Linux.Seccomp = profile
	}
	if p.cluster.NoIPv6 {
		withoutIPv6(config.Linux.Seccomp)
	}

	return config, nil
}

// withoutIPv6 makes the system call fail that fails on a kernel without IPv6.
func withoutIPv6(profile *specs.LinuxSeccomp) {
	// Rules for one system call must not contradict each other.
	for i := range profile.Syscalls {
		profile.Syscalls[i].Names = slices.DeleteFunc(profile.Syscalls[i].Names, func(name string) bool { return name == "socket" })
	}
	profile.Syscalls = slices.DeleteFunc(profile.Syscalls, func(s specs.LinuxSyscall) bool { return len(s.Names) == 0 })
	errno := uint(unix.EAFNOSUPPORT)
	profile.Syscalls = append(profile.Syscalls,
		specs.LinuxSyscall{
			Names: []string{"socket"}, Action: specs.ActErrno, ErrnoRet: &errno,
			Args: []specs.LinuxSeccompArg{{Index: 0, Value: unix.AF_INET6, Op: specs.OpEqualTo}},
		},
		specs.LinuxSyscall{
			Names: []string{"socket"}, Action: specs.ActAllow,
			Args: []specs.LinuxSeccompArg{{Index: 0, Value: unix.AF_INET6, Op: specs.OpLessThan}},
		},
	)
}

// env is what the image declares, what a kubelet adds for the Services of the
// namespace, and what the pod says.
//
// https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/kubelet/envvars/envvars.go
func (p *Pod) env() []string {
	env := map[string]string{}
	if p.spec.EnableServiceLinks == nil || *p.spec.EnableServiceLinks {
		for _, s := range p.cluster.Services {
			prefix := strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
			port := s.Spec.Ports[0]
			env[prefix+"_SERVICE_HOST"] = s.Spec.ClusterIP
			env[prefix+"_SERVICE_PORT"] = strconv.Itoa(int(port.Port))
			env[prefix+"_PORT"] = "tcp://" + net.JoinHostPort(s.Spec.ClusterIP, strconv.Itoa(int(port.Port)))
		}
	}
	for _, e := range p.spec.Containers[0].Env {
		env[e.Name] = e.Value
	}
	list := []string{imagePath}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}

	return list
}

func (p *Pod) volumeMounts() []specs.Mount {
	var mounts []specs.Mount
	for _, m := range p.spec.Containers[0].VolumeMounts {
		mode := "rw"
		if m.ReadOnly {
			mode = "ro"
		}
		mounts = append(mounts, specs.Mount{
			Destination: m.MountPath, Type: "bind", Source: p.Volume(m.Name), Options: []string{"rbind", "rprivate", mode},
		})
	}

	return mounts
}

// hostsMount is the file with the names that need no DNS.
func (p *Pod) hostsMount() specs.Mount {
	return specs.Mount{Destination: "/etc/hosts", Type: "bind", Source: p.hosts(), Options: []string{"bind", "rprivate", "rw"}}
}

// systemMounts are those of containerd.
//
// https://github.com/containerd/containerd/blob/v2.1.4/pkg/oci/mounts.go
func systemMounts() []specs.Mount {
	return []specs.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts", Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
		{Destination: "/dev/shm", Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
		{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue", Options: []string{"nosuid", "noexec", "nodev"}},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", "ro"}},
	}
}

// defaultCapabilities are what containerd leaves to a container.
//
// https://github.com/containerd/containerd/blob/v2.1.4/pkg/oci/spec.go
func defaultCapabilities() []string {
	return []string{
		"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FSETID", "CAP_FOWNER", "CAP_MKNOD", "CAP_NET_RAW", "CAP_SETGID",
		"CAP_SETUID", "CAP_SETFCAP", "CAP_SETPCAP", "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT", "CAP_KILL", "CAP_AUDIT_WRITE",
	}
}
