package viewer_test

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/function-markdownview/test/viewer/pod"
)

// Addresses of each pod.
const ipv4, ipv6 = "127.0.0.2", "::1"

// TestFamilies shows by which addresses the viewer is reached, and so which of the
// two host names a cluster needs: "::" serves IPv4 too, but does not start on a
// kernel that was booted without IPv6.
func TestFamilies(t *testing.T) {
	t.Parallel()
	disabled := map[string]string{"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.lo.disable_ipv6": "1"}
	cases := map[string]struct {
		reason  string
		host    string
		cluster pod.Cluster
		want    []string
		log     string
	}{
		"IPv4": {
			reason: "0.0.0.0 serves IPv4 only, so a pod that has only IPv6 never becomes ready.",
			host:   "0.0.0.0", want: []string{ipv4},
		},
		"IPv4WithoutIPv6": {
			reason: "It needs no IPv6 in the kernel.",
			host:   "0.0.0.0", cluster: pod.Cluster{NoIPv6: true}, want: []string{ipv4},
		},
		"Both": {
			reason: ":: serves both families.",
			host:   "::", want: []string{ipv4, ipv6},
		},
		"BothDisabled": {
			reason: ":: serves IPv4 where the node disables IPv6 by sysctl.",
			host:   "::", cluster: pod.Cluster{Sysctls: disabled}, want: []string{ipv4},
		},
		"BothWithoutIPv6": {
			reason: ":: ends mdBook where the kernel has no IPv6, so it is not the default.",
			host:   "::", cluster: pod.Cluster{NoIPv6: true}, log: "Address family not supported by protocol",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rendered(t, "first.yaml")
			args := container(r).Args
			args[slices.Index(args, "--hostname")+1] = tc.host
			p := startIn(t, tc.cluster, r)

			for end := time.Now().Add(time.Minute); reached(p) == nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				select {
				case <-p.Exited():
					if tc.log == "" || !strings.Contains(p.Log(), tc.log) {
						t.Fatalf("%s\nmdBook has exited: want %q, got:\n%s", tc.reason, tc.log, p.Log())
					}

					return
				default:
				}
			}
			got := reached(p)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nreached at: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// reached returns the addresses of the pod that serve the book.
func reached(p *pod.Pod) []string {
	client := p.Client()
	defer client.CloseIdleConnections()
	var all []string
	for _, address := range []string{ipv4, ipv6} {
		resp, err := client.Get("http://" + net.JoinHostPort(address, "3000") + "/")
		if err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK {
			all = append(all, address)
		}
	}

	return all
}
