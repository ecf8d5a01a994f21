package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// runtimes is the package runtime, which Crossplane does not run with
// --package-runtime=External. It runs the entrypoint of each active FunctionRevision's
// image as a process, with a certificate of Crossplane's CA, starts it again when it
// exits, and stops it when the revision is no longer active.
type runtimes struct {
	cp *ControlPlane
	ca *authority

	mu        sync.Mutex
	functions map[string]*function
	running   sync.WaitGroup
	cancel    context.CancelFunc
}

// A function is the process of a FunctionRevision.
type function struct {
	*process

	// of is the name of the Function that the revision belongs to.
	of string

	port    int
	metrics int
}

// startRuntime runs the package runtime until background is done.
func (cp *ControlPlane) startRuntime(background context.Context) error {
	ca, err := cp.loadAuthority(background)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(background)
	r := &runtimes{cp: cp, ca: ca, functions: map[string]*function{}, cancel: cancel}
	cp.runtime = r

	log, err := os.OpenFile(filepath.Join(cp.Logs, "package-runtime.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("cannot start package runtime: %w", err)
	}
	r.running.Go(func() {
		defer log.Close() //nolint:errcheck // Nothing depends on it.
		for {
			if err := r.sync(ctx); err != nil && ctx.Err() == nil {
				_, _ = fmt.Fprintf(log, "%s %s\n", time.Now().Format(time.RFC3339Nano), err)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})

	return nil
}

func (r *runtimes) stop() {
	r.cancel()
	r.running.Wait()
	for _, f := range r.functions {
		f.kill()
	}
}

// processes returns the processes of the active revisions of a function.
func (r *runtimes) processes(of string) []*function {
	r.mu.Lock()
	defer r.mu.Unlock()
	var fs []*function
	for _, f := range r.functions {
		if f.of == of {
			fs = append(fs, f)
		}
	}

	return fs
}

// sync starts a process for each active revision and stops those of all others.
func (r *runtimes) sync(ctx context.Context) error {
	revs := &unstructured.UnstructuredList{}
	revs.SetGroupVersionKind(schema.GroupVersionKind{Group: "pkg.crossplane.io", Version: "v1", Kind: "FunctionRevisionList"})
	if err := r.cp.Client.List(ctx, revs); err != nil {
		return fmt.Errorf("cannot list function revisions: %w", err)
	}
	active := map[string]bool{}
	var errs []error
	for i := range revs.Items {
		if state, _, _ := unstructured.NestedString(revs.Items[i].Object, "spec", "desiredState"); state == "Active" {
			active[revs.Items[i].GetName()] = true
			errs = append(errs, r.ensure(ctx, &revs.Items[i]))
		}
	}
	r.stopAllBut(ctx, active)

	return errors.Join(errs...)
}

func (r *runtimes) stopAllBut(ctx context.Context, active map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, f := range r.functions {
		if !active[name] {
			delete(r.functions, name)
			r.running.Go(func() { f.stop(ctx, 30*time.Second) })
		}
	}
}

// ensure starts the revision's function if it is not running, and sets its endpoint in
// the status of the revision.
func (r *runtimes) ensure(ctx context.Context, rev *unstructured.Unstructured) error {
	r.mu.Lock()
	f, ok := r.functions[rev.GetName()]
	r.mu.Unlock()
	if !ok {
		var err error
		if f, err = r.prepare(ctx, rev); err != nil {
			return err
		}
		r.mu.Lock()
		r.functions[rev.GetName()] = f
		r.mu.Unlock()
	}
	if err := f.ensureRunning(ctx); err != nil {
		return err
	}

	if endpoint, _, _ := unstructured.NestedString(rev.Object, "status", "endpoint"); endpoint == address(f.port) {
		return nil
	}
	status := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": rev.GetAPIVersion(),
		"kind":       rev.GetKind(),
		"metadata":   map[string]any{"name": rev.GetName()},
		"status": map[string]any{
			"endpoint":            address(f.port),
			"tlsServerSecretName": rev.GetName(),
			"conditions": []any{map[string]any{
				"type":               "RuntimeHealthy",
				"status":             "True",
				"reason":             "HealthyPackageRevision",
				"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
			}},
		},
	}}
	err := r.cp.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(status), client.FieldOwner("package-runtime"), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("cannot set status of %q: %w", rev.GetName(), err)
	}

	return nil
}

// ensureRunning starts the process if it is not running, and waits until it listens.
func (f *function) ensureRunning(ctx context.Context) error {
	exited, _ := f.running()
	select {
	case <-exited:
	default:
		return nil
	}
	if err := f.start(); err != nil {
		return err
	}

	return f.ready(ctx, 10*time.Second, dial("tcp", address(f.port)))
}

// prepare pulls the image of the revision's function, and creates its certificate and
// ports.
func (r *runtimes) prepare(ctx context.Context, rev *unstructured.Unstructured) (*function, error) {
	image, _, _ := unstructured.NestedString(rev.Object, "status", "resolvedImage")
	if image == "" {
		return nil, fmt.Errorf("cannot run %q: Crossplane has not resolved its image yet", rev.GetName())
	}
	dir := filepath.Join(r.cp.options.Dir, "functions", rev.GetName())
	entrypoint, err := pull(ctx, image, filepath.Join(dir, "rootfs"))
	if err != nil {
		return nil, err
	}
	pair, err := r.ca.issue("127.0.0.1")
	if err != nil {
		return nil, err
	}
	if err := writeFiles(filepath.Join(dir, "tls"), pair); err != nil {
		return nil, err
	}
	secret := &corev1.Secret{Data: pair}
	secret.Namespace, secret.Name = crossplaneNamespace, rev.GetName()
	if err := client.IgnoreAlreadyExists(r.cp.Client.Create(ctx, secret)); err != nil {
		return nil, fmt.Errorf("cannot create secret %q: %w", rev.GetName(), err)
	}

	f := &function{of: rev.GetLabels()["pkg.crossplane.io/package"]}
	if err := freePorts(&f.port, &f.metrics); err != nil {
		return nil, err
	}
	f.process = &process{
		name:     rev.GetName(),
		path:     entrypoint[0],
		args:     append(entrypoint[1:], "--address="+address(f.port)),
		env:      []string{"TLS_SERVER_CERTS_DIR=" + filepath.Join(dir, "tls")},
		log:      filepath.Join(r.cp.Logs, rev.GetName()+".log"),
		launcher: r.cp.launcher,
	}
	if args, ok := r.cp.options.FunctionArgs[f.of]; ok {
		f.args = append(f.args, args...)
		f.args = append(f.args, "--metrics-address="+address(f.metrics))
	}

	return f, nil
}

// pull pulls an image, unpacks its files into a folder and returns the command of the
// image, with the path in that folder.
func pull(ctx context.Context, image, dir string) ([]string, error) {
	ref, err := name.ParseReference(image)
	if err != nil {
		return nil, fmt.Errorf("cannot pull image: %w", err)
	}
	img, err := remote.Image(ref, remote.WithContext(ctx), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	if err != nil {
		return nil, fmt.Errorf("cannot pull image: %w", err)
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot read configuration of image %q: %w", image, err)
	}
	command := slices.Concat(cfg.Config.Entrypoint, cfg.Config.Cmd)
	if len(command) == 0 {
		return nil, fmt.Errorf("cannot run image %q: it has no entrypoint", image)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("cannot unpack image %q: %w", image, err)
	}
	files := mutate.Extract(img)
	defer files.Close() //nolint:errcheck // Only read.
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", dir)
	unpack.Stdin = files
	if out, err := unpack.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot unpack image %q: %w: %s", image, err, out)
	}
	// A container runtime looks up a relative entrypoint in the PATH of the image.
	// Functions have it in the root directory.
	command[0] = filepath.Join(dir, command[0])

	return command, nil
}
