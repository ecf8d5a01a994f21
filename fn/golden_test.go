package fn_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

// The golden requests have resources that a release composed, as the API server stored
// them. They are not updated when the function changes, so a change that would roll out
// every live Deployment appears as a difference in the responses to settled requests.
var (
	update   = flag.Bool("update", false, "write the golden responses")
	requests = flag.Bool("update-requests", false, "write the golden requests")
)

// TestGolden compares the responses to the golden requests with the golden
// responses, and checks the laws for them.
func TestGolden(t *testing.T) {
	if *requests {
		for name, req := range scenarios(t) {
			writeGolden(t, filepath.Join("testdata", "requests", name+".json"), req)
		}
	}

	for name, req := range goldenRequests(t) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "responses", name+".json")
			rsp := checkLaws(t, req)
			if *update {
				writeGolden(t, path, rsp)
			}

			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("cannot read the golden response: %v", err)
			}
			want := &fnv1.RunFunctionResponse{}
			if err := protojson.Unmarshal(b, want); err != nil {
				t.Fatalf("cannot decode the golden response: %v", err)
			}
			if diff := cmp.Diff(want, rsp, protocmp.Transform()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", path, diff)
			}
		})
	}
}

// TestGoldenSettled checks that the responses for settled MarkdownViews change nothing.
// It tests law 5 across releases.
func TestGoldenSettled(t *testing.T) {
	all := goldenRequests(t)
	for _, name := range []string{"available", "claim-available", "cluster-scoped-available", "input-available", "tutorial-available", "autoscaled", "immutable-available", "static-available", "static-from-available", "route-available", "path-available", "ingress-available", "nested-available", "generated-available", "incomplete-available", "from-available", "book-image-available", "oci-repository-available"} {
		req, ok := all[name]
		if !ok {
			t.Fatalf("cannot find golden request %s", name)
		}
		t.Run(name, func(t *testing.T) {
			rsp := checkLaws(t, req)
			if len(rsp.GetResults()) > 0 {
				t.Errorf("law 5: events while nothing changes: %v", rsp.GetResults())
			}
			for _, key := range composedIn(rsp) {
				r := rsp.GetDesired().GetResources()[key]
				if r.GetReady() != fnv1.Ready_READY_TRUE {
					t.Errorf("law 5: %s is not ready", key)
				}
				live := req.GetObserved().GetResources()[key].GetResource().AsMap()
				after := clone(live)
				mergeInto(after, r.GetResource().AsMap())
				if diff := cmp.Diff(live, after); diff != "" {
					t.Errorf("law 5: applying %s again changes it: -live, +after:\n%s", key, diff)
				}
			}
		})
	}
}

// scenarios returns the golden requests.
func scenarios(t *testing.T) map[string]*fnv1.RunFunctionRequest {
	t.Helper()

	out := map[string]*fnv1.RunFunctionRequest{}
	maps.Copy(out, usual(t))
	maps.Copy(out, troubled(t))
	maps.Copy(out, varied(t))
	maps.Copy(out, invalid(t))
	maps.Copy(out, delivered(t))
	maps.Copy(out, books(t))
	maps.Copy(out, elsewhere(t))

	return out
}

// delivered returns requests for books with optional parts: immutable ConfigMaps, a web
// server, an HTTPRoute or an Ingress.
func delivered(t *testing.T) map[string]*fnv1.RunFunctionRequest {
	t.Helper()

	out := map[string]*fnv1.RunFunctionRequest{}
	c := newCluster(t, viewOf(object{"markdowns": book("one"), "replicas": 2.0}), nil)
	c.settle()
	c.input = inputWith(object{"immutableConfigMaps": true})
	out["immutable-on"] = c.request()
	c.settle()
	out["immutable-available"] = c.request()
	c.edit(func(spec object) { spec["markdowns"] = book("two") })
	out["immutable-changed"] = c.request()
	c.reconcile()
	c.step()
	c.step()
	out["immutable-rolling-out"] = c.request()
	c.settle()
	c.input = nil
	out["immutable-off"] = c.request()

	c = newCluster(t, viewOf(object{"markdowns": book("one"), "replicas": 2.0, "resources": object{"limits": object{"memory": "1Gi"}}}), inputWith(object{"server": object{}}))
	out["static-first"] = c.request()
	c.settle()
	out["static-available"] = c.request()
	c.edit(func(spec object) { spec["markdowns"] = book("two") })
	c.reconcile()
	c.orphan()
	out["static-orphaned"] = c.request()
	c.settle()
	c.input = inputWith(object{
		"immutableConfigMaps": true,
		"imagePullPolicy":     "Always",
		"server": object{
			"image": "registry.example.com/static:v1", "port": 3000.0, "documentRoot": "/srv", "resources": object{"limits": object{"memory": "8Mi"}},
			"command": []any{"sh", "-c"}, "args": []any{`exec serve --title "$(cat /srv/title)" -p $PORT`},
		},
		"templates": object{"deployment": object{"spec": object{"template": object{"spec": object{
			"initContainers": []any{object{"name": "mdbook", "env": []any{object{"name": "MDBOOK_BOOK__TITLE", "value": `"Docs"`}}}},
			"containers":     []any{object{"name": "server", "env": []any{object{"name": "PORT", "value": "3000"}}}},
		}}}}},
	})
	out["static-other"] = c.request()

	c = newCluster(t, viewOf(object{"markdowns": book("one")}), inputWith(object{
		"server": object{"port": 9090.0},
		"route":  object{"host": "docs.example.com", "path": "/{namespace}/{name}/", "parentRefs": []any{object{"name": "public"}}},
	}))
	out["path-first"] = c.request()
	c.settle()
	out["path-available"] = c.request()

	c = newCluster(t, viewOf(object{"markdowns": book("one"), "replicas": 2.0}), inputWith(object{
		"podDisruptionBudget": object{},
		"route": object{
			"host": "{name}.{namespace}.books.example.com", "annotations": object{"example.com/owner": "docs"},
			"parentRefs": []any{object{"name": "public", "namespace": "infra", "sectionName": "https"}},
		},
	}))
	c.reconcile()
	out["route-created"] = c.request()
	c.settle()
	out["route-available"] = c.request()
	c.rejection = `hostname "sample.docs.books.example.com" does not match the listener.`
	c.step()
	out["route-rejected"] = c.request()
	c.input = inputWith(object{
		"podDisruptionBudget": object{"minAvailable": "50%"},
		"ingress":             object{"className": "public", "host": "books.example.com", "tls": object{"secretName": "{name}-tls"}},
		"allowedHosts":        []any{"*.{namespace}.example.com"},
	})
	c.edit(func(spec object) { spec["host"] = "handbook.docs.example.com" })
	out["ingress-changed"] = c.request()
	c.settle()
	out["ingress-available"] = c.request()
	c.edit(func(spec object) { spec["host"] = "handbook.other.example.com" })
	out["host-not-allowed"] = c.request()

	return out
}

// books returns requests for books of several files, some of which have problems.
func books(t *testing.T) map[string]*fnv1.RunFunctionRequest {
	t.Helper()

	out := map[string]*fnv1.RunFunctionRequest{}
	nested := object{
		"markdowns": object{
			"SUMMARY.md":    "# 目次\n\n- [はじめに](第一章/はじめに.md)\n  - [Logo](guide/logo.md)\n",
			"第一章/はじめに.md":   "# はじめに\n",
			"guide/logo.md": "# Logo\n\n![logo](../img/logo.png)\n",
			"guide/odd.txt": "a\u0085b",
		},
		"binaries": object{"img/logo.png": "iVBORw0KGgo=\n"},
		"book": object{
			"title": "true", "description": "$(HOME)", "authors": []any{"A", `"B"`}, "language": "ja",
			"textDirection": "ltr", "defaultTheme": "navy", "preferredDarkTheme": "coal",
		},
	}
	c := newCluster(t, viewOf(nested), nil)
	out["nested-first"] = c.request()
	c.settle()
	out["nested-available"] = c.request()

	generated := clone(nested)
	generated["summary"] = "Auto"
	delete(child(generated, "markdowns"), "SUMMARY.md")
	c = newCluster(t, viewOf(generated), nil)
	out["generated-first"] = c.request()
	c.settle()
	out["generated-available"] = c.request()
	c.edit(func(spec object) { child(spec, "markdowns")["guide/README.md"] = "# *The* guide\n" })
	out["generated-changed"] = c.request()

	c = newCluster(t, viewOf(object{"markdowns": book("[other](other.md) ![logo](logo.png)\n")}), nil)
	c.settle()
	c.edit(func(spec object) { child(spec, "markdowns")["unlisted.md"] = "text" })
	out["incomplete-first"] = c.request()
	c.settle()
	out["incomplete-available"] = c.request()
	c.edit(func(spec object) { child(spec, "markdowns")["SUMMARY.md"] = "- [Page](pages.md)\n- text\n" })
	out["broken-summary-and-live"] = c.request()

	return out
}

// elsewhere returns requests for books with content from ConfigMaps or an image.
func elsewhere(t *testing.T) map[string]*fnv1.RunFunctionRequest {
	t.Helper()

	out := map[string]*fnv1.RunFunctionRequest{}
	c := newCluster(t, viewOf(object{
		"markdowns":     object{"SUMMARY.md": "- [Guide](guide/a.md)\n"},
		"markdownsFrom": []any{object{"configMap": object{"name": "guide"}, "path": "guide"}},
	}), inputWith(object{"allowedBookImages": []any{"registry.example.com/books/*"}}))
	out["from-missing"] = c.request()
	c.shared = map[string]object{"guide": {"data": object{"a.md": "# A\n![](b.png)"}, "binaryData": object{"b.png": "iVBORw0KGgo="}}}
	out["from-first"] = c.request()
	out["from-not-sent"] = c.request()
	out["from-not-sent"].RequiredResources = nil
	c.settle()
	out["from-available"] = c.request()
	c.input["server"] = object{}
	out["static-from"] = c.request()
	c.settle()
	out["static-from-available"] = c.request()
	delete(c.input, "server")
	c.settle()
	delete(c.shared, "guide")
	out["from-deleted"] = c.request()
	c.edit(func(spec object) {
		delete(spec, "markdowns")
		spec["markdownsFrom"] = []any{object{"image": object{"reference": "registry.example.com/books/guide:v1", "pullPolicy": "Always"}}}
	})
	out["book-image-first"] = c.request()
	c.settle()
	out["book-image-available"] = c.request()
	c.edit(func(spec object) { spec["markdownsFrom"] = []any{object{"ociRepository": object{"name": "handbook"}}} })
	out["oci-repository-missing"] = c.request()
	r := repository("latest@sha256:1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e1e", "True", "stored artifact")
	child(r, "spec")["url"] = "oci://registry.example.com/books/guide"
	c.repositories = map[string]object{"handbook": r}
	out["oci-repository-first"] = c.request()
	c.settle()
	out["oci-repository-available"] = c.request()
	child(r, "status")["conditions"] = []any{object{"type": "Ready", "status": "False", "reason": "VerificationError", "message": "failed to verify the signature using provider 'cosign': no matching signatures were found"}}
	out["oci-repository-unsigned"] = c.request()

	return out
}

// usual returns requests from the life of an ordinary book.
func usual(t *testing.T) map[string]*fnv1.RunFunctionRequest {
	t.Helper()

	out := map[string]*fnv1.RunFunctionRequest{}
	c := newCluster(t, viewOf(object{"markdowns": book("# Page\n\nText.\n"), "replicas": 2.0}), nil)
	out["first"] = c.request()
	c.reconcile()
	out["created"] = c.request()
	for range 4 {
		c.step()
		c.reconcile()
	}
	out["progressing"] = c.request()
	c.settle()
	out["available"] = c.request()
	c.edit(func(spec object) { spec["markdowns"] = book("# Page\r\n\r\nOther text.\u0085\u2028\ufeff \t\n") })
	out["changed"] = c.request()
	c.reconcile()
	out["changed-stored"] = c.request()
	c.reconcile()
	c.step()
	c.step()
	out["rolling-out"] = c.request()
	c.breaker(true)
	out["breaker-open-rolling-out"] = c.request()
	c.settle()
	c.breaker(true)
	out["breaker-open-available"] = c.request()
	c.breaker(false)
	c.edit(func(spec object) {
		markdowns := child(spec, "markdowns")
		delete(markdowns, "page.md")
		markdowns["new.md"] = ""
		markdowns["SUMMARY.md"] = "# Summary\n\n- [New](new.md)\n"
	})
	out["renamed-file"] = c.request()
	c.settle()

	c.edit(func(spec object) { delete(spec, "replicas") })
	c.reconcile()
	c.scale(4)
	c.settle()
	out["autoscaled"] = c.request()
	c.scale(0)
	out["scaling-to-zero"] = c.request()
	c.settle()
	out["scaled-to-zero"] = c.request()

	return out
}

// troubled returns requests for books with errors that do not come from their spec.
func troubled(t *testing.T) map[string]*fnv1.RunFunctionRequest {
	t.Helper()

	out := map[string]*fnv1.RunFunctionRequest{}
	c := newCluster(t, viewOf(object{"markdowns": book("text"), "replicas": 2.0}), nil)
	c.settle()
	c.edit(func(spec object) { spec["viewerImage"] = "docker.io/peaceiris/mdbook:broken" })
	c.reconcile()
	broken := revisionOf(c.objects["deployment"])
	c.stuck[broken] = true
	c.settle()
	out["stuck"] = c.request()
	c.edit(func(spec object) { delete(spec, "viewerImage") })
	out["fixed"] = c.request()
	c.settle()
	c.quota = true
	c.edit(func(spec object) { spec["replicas"] = 3.0 })
	for range 4 {
		c.reconcile()
		c.step()
	}
	out["no-quota"] = c.request()
	c.quota = false
	c.settle()
	c.lose("configmap")
	out["configmap-lost"] = c.request()
	c.settle()
	c.lose("service")
	out["service-lost"] = c.request()
	c.settle()
	c.lose("deployment")
	out["deployment-lost"] = c.request()
	c.reconcile()
	c.step()
	out["deployment-again"] = c.request()
	c.settle()
	metadata(c.xr)["deletionTimestamp"] = "2026-01-02T03:04:05Z"
	out["deleted"] = c.request()

	return out
}

// varied returns requests for XRs of other kinds and scopes, with an Input and in a
// pipeline.
func varied(t *testing.T) map[string]*fnv1.RunFunctionRequest {
	t.Helper()

	out := map[string]*fnv1.RunFunctionRequest{}
	lifeOf := func(name string, xr, input object) *cluster {
		c := newCluster(t, xr, input)
		out[name+"-first"] = c.request()
		c.settle()
		out[name+"-available"] = c.request()

		return c
	}

	claimed := viewOf(object{"markdowns": book("text"), "claimRef": object{"apiVersion": "example.com/v1", "kind": "Book", "namespace": "team", "name": "book"}})
	claimed["apiVersion"], claimed["kind"] = "example.com/v1", "XBook"
	metadata(claimed)["name"] = "book-x7k2p"
	delete(metadata(claimed), "namespace")
	lifeOf("claim", claimed, nil)

	wide := viewOf(object{"markdowns": book("text")})
	metadata(wide)["name"] = "docs.example.com"
	delete(metadata(wide), "namespace")
	lifeOf("cluster-scoped", wide, object{"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input", "namespace": "books"})

	tutorial := viewOf(object{"markdowns": book("一ページ目のコンテンツです。\n"), "replicas": 1.0, "viewerImage": "peaceiris/mdbook:latest"})
	tutorial["apiVersion"] = "view.zoetrope.github.io/v1"
	metadata(tutorial)["name"] = "markdownview-sample"
	lifeOf("tutorial", tutorial, object{
		"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input",
		"statusFields": []any{"status"},
	})

	delete(tutorial, "status")
	req := newCluster(t, tutorial, nil).request()
	req.Meta.Capabilities = []fnv1.Capability{fnv1.Capability_CAPABILITY_CAPABILITIES, fnv1.Capability_CAPABILITY_REQUIRED_SCHEMAS}
	out["schema-required"] = proto.Clone(req).(*fnv1.RunFunctionRequest)
	req.RequiredSchemas = map[string]*fnv1.Schema{"xr": {OpenapiV3: toStruct(t, object{
		"properties": object{"status": object{"properties": object{"status": object{"type": "string"}, "conditions": object{"type": "array"}}}},
	})}}
	out["schema"] = req

	c := lifeOf("input", viewOf(object{"markdowns": book("text"), "resources": object{"requests": object{"memory": "512Mi"}}}), fullInput())
	req = c.request()
	req.Context = toStruct(t, object{"apiextensions.crossplane.io/environment": object{"region": "eu"}})
	req.Desired = &fnv1.State{
		Composite: &fnv1.Resource{
			Resource:          toStruct(t, object{"apiVersion": "example.com/v1", "kind": "X", "status": object{"theirs": "stays", "url": "replaced"}}),
			ConnectionDetails: map[string][]byte{"password": []byte("secret")},
			Ready:             fnv1.Ready_READY_FALSE,
		},
		Resources: map[string]*fnv1.Resource{
			"bucket": {
				Resource:          toStruct(t, object{"apiVersion": "example.com/v1", "kind": "Bucket", "spec": object{"null": nil}}),
				ConnectionDetails: map[string][]byte{"key": {0, 255}},
				Ready:             fnv1.Ready_READY_TRUE,
			},
		},
	}
	out["pipeline"] = req

	return out
}

// invalid returns requests for XRs that cannot be composed.
func invalid(t *testing.T) map[string]*fnv1.RunFunctionRequest {
	t.Helper()

	badSpec := object{
		"markdowns": object{"a b.md": "text"}, "replicas": 9.0, "viewerImage": "No Image",
		"resources": object{"requests": object{"memory": "2Gi", "gpu": "1"}, "limits": object{"memory": "1Gi"}},
	}
	badInput := object{
		"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input",
		"viewerImgae": "example.com/mdbook:v1",
		"ttl":         "soon",
		"templates":   object{"deployment": object{"metadata": object{"name": "other"}}, "service": object{"spec": object{"port": 80.0}}},
	}
	good := viewOf(object{"markdowns": book("text")})

	live := newCluster(t, good, nil)
	live.settle()
	live.input = badInput

	out := map[string]*fnv1.RunFunctionRequest{
		"invalid-spec":           newCluster(t, viewOf(badSpec), nil).request(),
		"invalid-input":          newCluster(t, good, badInput).request(),
		"invalid-both":           newCluster(t, viewOf(badSpec), badInput).request(),
		"invalid-input-and-live": live.request(),
		"image-not-allowed": newCluster(t, viewOf(object{"markdowns": book("text"), "viewerImage": "mdbook:latest"}), object{
			"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input",
			"allowedImages": []any{"docker.io/peaceiris/mdbook", "*.example.com/*:v1"},
		}).request(),
		"empty": {},
	}
	conflict := newCluster(t, good, nil).request()
	conflict.Desired = &fnv1.State{Resources: map[string]*fnv1.Resource{"service": {Resource: toStruct(t, object{"apiVersion": "example.com/v1", "kind": "Bucket"})}}}
	out["conflict"] = conflict

	return out
}

func fullInput() object {
	return object{
		"apiVersion":       "markdownview.fn.crossplane.io/v1beta1",
		"kind":             "Input",
		"viewerImage":      "registry.example.com/mdbook:v0.5.4",
		"allowedImages":    []any{"registry.example.com/*"},
		"resources":        object{"requests": object{"cpu": "20m", "memory": "128Mi"}, "limits": object{"cpu": "1"}},
		"imagePullPolicy":  "Always",
		"imagePullSecrets": []any{object{"name": "registry"}},
		"service":          object{"type": "LoadBalancer", "annotations": object{"example.com/scheme": "internal"}},
		"labels":           object{"team": "docs"},
		"annotations":      object{"example.com/owner": "docs@example.com"},
		"ttl":              "1m",
		"templates": object{
			"configMap": object{"binaryData": object{"logo.png": "iVBORw0KGgo="}},
			"deployment": object{"spec": object{"template": object{
				"metadata": object{"annotations": object{"sidecar.istio.io/inject": "false"}},
				"spec": object{
					"tolerations":               []any{object{"key": "books", "operator": "Exists"}},
					"topologySpreadConstraints": []any{object{"maxSkew": 1.0, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}},
					"containers":                []any{object{"name": "mdbook", "env": []any{object{"name": "MDBOOK_BOOK__TITLE", "value": `"Docs"`}}}},
				},
			}}},
			"service": object{"spec": object{"ipFamilyPolicy": "PreferDualStack"}},
		},
	}
}

// writeGolden writes a message as JSON. protojson changes its white space from build to
// build on purpose, so the JSON is indented again.
func writeGolden(t testing.TB, path string, m proto.Message) {
	t.Helper()

	b, err := protojson.Marshal(m)
	if err != nil {
		t.Fatalf("cannot encode %s: %v", path, err)
	}
	out := bytes.Buffer{}
	if err := json.Indent(&out, b, "", "  "); err != nil {
		t.Fatalf("cannot indent %s: %v", path, err)
	}
	out.WriteByte('\n')
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatalf("cannot create a folder: %v", err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatalf("cannot write a golden file: %v", err)
	}
}

func unmarshalRequest(t testing.TB, b []byte) *fnv1.RunFunctionRequest {
	t.Helper()

	req := &fnv1.RunFunctionRequest{}
	if err := protojson.Unmarshal(b, req); err != nil {
		t.Fatalf("cannot decode a golden request: %v", err)
	}

	return req
}
