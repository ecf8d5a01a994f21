package sample

// Input returns an Input that is valid for every view after Fit.
func (s *Source) Input() map[string]any {
	in := map[string]any{"apiVersion": "markdownview.fn.crossplane.io/v1beta1", "kind": "Input"}
	set := s.setter(in)
	set("viewerImage", s.Image())
	set("resources", s.Resources())
	set("imagePullPolicy", Pick(s, "Always", "IfNotPresent", "Never"))
	set("listenAddress", Pick(s, "0.0.0.0", "::"))
	set("imagePullSecrets", Pick(s, []any{}, []any{map[string]any{"name": "pull"}}, []any{map[string]any{"name": "pull.2"}, map[string]any{"name": "pull"}}))
	set("service", Pick(s,
		map[string]any{"type": "ClusterIP"},
		map[string]any{"type": "NodePort"},
		map[string]any{"type": "LoadBalancer", "annotations": map[string]any{"example.com/scheme": "internal"}},
		map[string]any{"annotations": map[string]any{"a": "", "b": "x\ny"}}))
	set("podDisruptionBudget", Pick(s,
		map[string]any{}, map[string]any{"maxUnavailable": float64(2)}, map[string]any{"maxUnavailable": "50%"}, map[string]any{"minAvailable": float64(0)}, map[string]any{"minAvailable": "100%"}))
	s.publish(in)
	set("immutableConfigMaps", Pick(s, true, false))
	set("labels", Pick(s, map[string]any{"team": "docs"}, map[string]any{"example.com/a.b_c": "", "app.kubernetes.io/part-of": "A_b.c-1"}))
	set("annotations", Pick(s, map[string]any{"example.com/owner": "docs@example.com"}, map[string]any{"note": "一\t"}))
	set("namespace", "books")
	set("ttl", Pick(s, "0s", "1m", "1.5h", "8760h"))
	set("server", s.server())
	if in["server"] != nil {
		delete(in, "listenAddress")
	}
	for _, name := range []string{"route", "ingress"} {
		if out, ok := in[name].(map[string]any); ok && in["server"] != nil && s.Maybe(2) {
			out["path"] = Pick(s, "/{namespace}/{name}/", "/docs/{name}/v1.0_~-/{namespace}/", "/0/{namespace}/{name}/b/")
		}
	}
	set("templates", s.templates(in))
	set("statusFields", Pick(s, []any{"status"}, []any{}, []any{"url", "status", "replicas"}))
	set("allowedImages", []any{"docker.io/*/*", "ghcr.io/o/mdbook", "registry.example.com/*/*/*", "*/mdbook", "localhost/mdbook:*"})
	in["allowedBookImages"] = []any{"registry.example.com/team/book"}
	set("metadata", map[string]any{"name": "input"})
	set("theme", Pick(s, map[string]any{"head.hbs": "<meta name=\"$(X)\" content=\"{{ title }}\">\n"}, map[string]any{"css/print.css": "", "favicon.svg": "<svg>一\x01</svg>", "fonts/fonts.css": "\n a\t\r\n"}, map[string]any{}))

	return in
}

// Fit resolves the conflicts between a view and an Input: a template adds no files to a
// book in an image, and the Input allows the images and the host of the view.
func Fit(view, input map[string]any) {
	spec := view["spec"].(map[string]any)
	from, ok := spec["markdownsFrom"].([]any)
	templates, has := input["templates"].(map[string]any)
	if configMap, adds := templates["configMap"].(map[string]any); ok && has && adds && from[0].(map[string]any)["configMap"] == nil {
		delete(configMap, "data")
		delete(configMap, "binaryData")
	}
	switch {
	case spec["viewerImage"] == nil:
	case input == nil || input["allowedImages"] != nil:
		spec["viewerImage"] = "docker.io/peaceiris/mdbook:v0.5.0"
	default:
		input["viewerImage"] = spec["viewerImage"]
	}
	if spec["host"] == nil {
		return
	}
	for _, name := range []string{"route", "ingress"} {
		if out, ok := input[name].(map[string]any); ok {
			if input["allowedHosts"] != nil {
				delete(out, "host")
			}
			input["allowedHosts"] = []any{"*.{namespace}.books.example.com", spec["host"]}

			return
		}
	}
	delete(spec, "host")
}

// publish sets a route or an Ingress, or neither.
func (s *Source) publish(in map[string]any) {
	out := map[string]any{"host": Pick(s, "{namespace}.books.example.com", "books.example.com", "{namespace}.x-1.example")}
	if s.Maybe(3) {
		out["annotations"] = map[string]any{"example.com/dns": "yes"}
	}
	switch s.Below(4) {
	case 2:
		in["route"] = out
		out["parentRefs"] = Pick(s,
			[]any{map[string]any{"name": "public"}},
			[]any{map[string]any{"name": "public", "namespace": "infra", "sectionName": "https", "port": float64(443)}, map[string]any{"name": "intern.al"}})
		if s.Maybe(2) {
			out["scheme"] = Pick(s, "http", "https")
		}
	case 3:
		in["ingress"] = out
		if s.Maybe(2) {
			out["className"] = "nginx"
		}
		if s.Maybe(2) {
			out["tls"] = Pick(s, map[string]any{}, map[string]any{"secretName": "tls-{namespace}"})
		}
	default:
		return
	}
	if s.Maybe(2) {
		in["allowedHosts"] = Pick(s, []any{"*.books.example.com", "books.example.com"}, []any{"*.{namespace}.books.example.com"}, []any{})
	}
}

func (s *Source) server() map[string]any {
	server := map[string]any{}
	set := s.setter(server)
	set("image", Pick(s, s.Image(), "registry.example.com/nginxinc/nginx-unprivileged:1.29"))
	set("port", Pick[any](s, float64(1), float64(80), float64(8080), float64(65535)))
	set("documentRoot", Pick(s, "/srv", "/tmp/site", "/a b/c", "/usr/share/nginx/html"))
	set("command", Pick(s, []any{}, []any{"sh", "-c"}))
	set("args", Pick(s, []any{"--root", "/srv"}, []any{"exec serve $(cat /port) $$ ${PORT} $", ""}))
	set("resources", s.Resources())

	return server
}

func (s *Source) templates(in map[string]any) map[string]any {
	templates := map[string]any{}
	if s.Maybe(2) {
		templates["deployment"] = s.deploymentTemplate(in["server"] != nil)
	}
	if s.Maybe(2) {
		templates["service"] = Pick(s,
			map[string]any{"spec": map[string]any{"sessionAffinity": "ClientIP"}},
			map[string]any{"spec": map[string]any{"ipFamilyPolicy": "PreferDualStack"}},
			map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a": "b"}, "labels": map[string]any{"extra": "yes"}}},
			map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": float64(80), "name": "web"}}}},
			map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": float64(8080), "name": "more", "protocol": "TCP", "targetPort": float64(8080)}}}},
			map[string]any{"spec": map[string]any{"publishNotReadyAddresses": true}})
	}
	if s.Maybe(2) {
		templates["configMap"] = Pick(s,
			map[string]any{"data": map[string]any{"theme.css": "body {}\n"}},
			map[string]any{"binaryData": map[string]any{"logo.png": "iVBORw0KGgo="}},
			map[string]any{"metadata": map[string]any{"labels": map[string]any{"extra": "yes"}, "annotations": nil}},
			map[string]any{})
	}
	more := map[string]any{"metadata": map[string]any{"labels": map[string]any{"extra": "yes"}, "annotations": map[string]any{"a": "b"}}}
	if in["route"] != nil {
		templates["httpRoute"] = Pick(s, more, map[string]any{"spec": map[string]any{"rules": []any{map[string]any{
			"filters":  []any{map[string]any{"type": "ExtensionRef", "extensionRef": map[string]any{"group": "traefik.io", "kind": "Middleware", "name": "login"}}},
			"timeouts": map[string]any{"request": "10s"},
		}, map[string]any{
			"matches": []any{map[string]any{"path": map[string]any{"type": "PathPrefix", "value": "/old"}}},
			"filters": []any{map[string]any{"type": "RequestRedirect", "requestRedirect": map[string]any{"path": map[string]any{"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}, "statusCode": float64(301)}}},
		}}}})
	}
	if in["ingress"] != nil {
		templates["ingress"] = Pick(s, more, map[string]any{"spec": map[string]any{"ingressClassName": "other"}})
	}
	if in["podDisruptionBudget"] != nil {
		templates["podDisruptionBudget"] = Pick(s, more, map[string]any{"spec": map[string]any{"unhealthyPodEvictionPolicy": "IfHealthyBudget"}},
			map[string]any{"spec": map[string]any{"maxUnavailable": nil, "minAvailable": float64(1)}})
	}

	return templates
}

func (s *Source) deploymentTemplate(static bool) map[string]any {
	pod := func(spec map[string]any) map[string]any {
		return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}}
	}
	mdbook := func(fields map[string]any) map[string]any {
		fields["name"] = "mdbook"
		if static {
			return pod(map[string]any{"initContainers": []any{fields}})
		}

		return pod(map[string]any{"containers": []any{fields}})
	}

	return Pick(s,
		pod(map[string]any{"tolerations": []any{map[string]any{"key": "books", "operator": "Exists"}}}),
		pod(map[string]any{"nodeSelector": map[string]any{"kubernetes.io/os": "linux"}}),
		pod(map[string]any{"priorityClassName": "low", "automountServiceAccountToken": nil}),
		pod(map[string]any{"topologySpreadConstraints": []any{map[string]any{"maxSkew": float64(1), "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}}}),
		pod(map[string]any{"containers": []any{map[string]any{"name": "sidecar", "image": "example.com/sidecar:v1"}}}),
		pod(map[string]any{"volumes": []any{map[string]any{"name": "output", "emptyDir": map[string]any{"sizeLimit": "1Gi"}}, map[string]any{"name": "more", "emptyDir": map[string]any{}}}}),
		pod(map[string]any{"securityContext": map[string]any{"runAsUser": nil, "runAsGroup": nil, "fsGroup": float64(1000)}}),
		mdbook(map[string]any{"env": []any{map[string]any{"name": "MDBOOK_BOOK__TITLE", "value": "\"Docs\""}}}),
		mdbook(map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": "1"}}}),
		mdbook(map[string]any{"args": []any{"serve", "--hostname", "::"}}),
		mdbook(map[string]any{"livenessProbe": nil}),
		map[string]any{"spec": map[string]any{"strategy": map[string]any{"type": "Recreate", "rollingUpdate": nil}}},
		map[string]any{"spec": map[string]any{"replicas": float64(2), "revisionHistoryLimit": float64(0), "minReadySeconds": float64(3)}},
		map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"sidecar.istio.io/inject": "false"}, "labels": map[string]any{"tier": "docs"}}}}},
		map[string]any{"metadata": map[string]any{"annotations": map[string]any{"a": "b"}}},
		map[string]any{})
}
