package main

import (
	"encoding/base64"
	"maps"

	"google.golang.org/protobuf/types/known/structpb"
)

const (
	annotationRevision = "markdownview.fn.crossplane.io/revision"
	labelInstance      = "app.kubernetes.io/instance"
)

func text(s string) *structpb.Value    { return structpb.NewStringValue(s) }
func number(n float64) *structpb.Value { return structpb.NewNumberValue(n) }
func flagged(b bool) *structpb.Value   { return structpb.NewBoolValue(b) }
func of(f fields) *structpb.Value      { return structpb.NewStructValue(&structpb.Struct{Fields: f}) }

func list(v ...*structpb.Value) *structpb.Value {
	return structpb.NewListValue(&structpb.ListValue{Values: v})
}

func (v *view) labels() *structpb.Value {
	return of(fields{
		"app.kubernetes.io/name":       text("mdbook"),
		labelInstance:                  text(v.name),
		"app.kubernetes.io/created-by": text("function-markdownview"),
	})
}

func (v *view) metadata(name string) *structpb.Value {
	return of(fields{"name": text(name), "labels": v.labels()})
}

func (v *view) configMap() *structpb.Struct {
	object := fields{
		"apiVersion": text("v1"),
		"kind":       text("ConfigMap"),
		"metadata":   v.metadata("markdowns-" + v.name),
		"data":       v.markdowns,
	}
	if len(v.odd) > 0 {
		data, binary := maps.Clone(v.files), fields{}
		for _, name := range v.odd {
			binary[name] = text(base64.StdEncoding.EncodeToString([]byte(data[name].GetStringValue())))
			delete(data, name)
		}
		object["data"], object["binaryData"] = of(data), of(binary)
	}

	return &structpb.Struct{Fields: object}
}

func (v *view) service() *structpb.Struct {
	return &structpb.Struct{Fields: fields{
		"apiVersion": text("v1"),
		"kind":       text("Service"),
		"metadata":   v.metadata("viewer-" + v.name),
		"spec": of(fields{
			"type":     text("ClusterIP"),
			"selector": v.labels(),
			"ports": list(of(fields{
				"name":       text("http"),
				"protocol":   text("TCP"),
				"port":       number(80),
				"targetPort": text("http"),
			})),
		}),
	}}
}

func (v *view) deployment(revision string) *structpb.Struct {
	spec := fields{
		"strategy": of(fields{
			"type": text("RollingUpdate"),
			"rollingUpdate": of(fields{
				"maxSurge":       number(1),
				"maxUnavailable": number(0),
			}),
		}),
		"selector": of(fields{"matchLabels": v.labels()}),
		"template": of(fields{
			"metadata": of(fields{
				"labels":      v.labels(),
				"annotations": of(fields{annotationRevision: text(revision)}),
			}),
			"spec": v.podSpec(),
		}),
	}
	if v.replicas > 0 {
		spec["replicas"] = number(float64(v.replicas))
	}

	return &structpb.Struct{Fields: fields{
		"apiVersion": text("apps/v1"),
		"kind":       text("Deployment"),
		"metadata":   v.metadata("viewer-" + v.name),
		"spec":       of(spec),
	}}
}

func (v *view) podSpec() *structpb.Value {
	return of(fields{
		"automountServiceAccountToken":  flagged(false),
		"enableServiceLinks":            flagged(false),
		"terminationGracePeriodSeconds": number(5),
		"securityContext": of(fields{
			"runAsNonRoot":   flagged(true),
			"runAsUser":      number(65532),
			"runAsGroup":     number(65532),
			"seccompProfile": of(fields{"type": text("RuntimeDefault")}),
		}),
		"containers": list(v.container()),
		"volumes": list(
			of(fields{"name": text("markdowns"), "configMap": of(fields{"name": text("markdowns-" + v.name)})}),
			of(fields{"name": text("output"), "emptyDir": of(fields{"sizeLimit": text("256Mi")})}),
		),
	})
}

func (v *view) container() *structpb.Value {
	return of(fields{
		"name":       text("mdbook"),
		"image":      text(v.image),
		"command":    list(text("mdbook")),
		"args":       list(text("serve"), text("--hostname"), text("0.0.0.0")),
		"workingDir": text("/book"),
		"env":        list(of(fields{"name": text("MDBOOK_BUILD__CREATE_MISSING"), "value": text("false")})),
		"ports": list(of(fields{
			"name": text("http"), "containerPort": number(3000), "protocol": text("TCP"),
		})),
		"startupProbe": of(fields{
			"tcpSocket": of(fields{"port": text("http")}), "periodSeconds": number(1), "failureThreshold": number(60),
		}),
		"readinessProbe": of(fields{
			"httpGet":       of(fields{"path": text("/"), "port": text("http")}),
			"periodSeconds": number(5), "timeoutSeconds": number(2), "failureThreshold": number(3),
		}),
		"livenessProbe": of(fields{
			"tcpSocket":     of(fields{"port": text("http")}),
			"periodSeconds": number(10), "timeoutSeconds": number(2), "failureThreshold": number(3),
		}),
		"resources": of(fields{
			"requests": layered(v.requests, fields{"cpu": text("10m"), "memory": text("64Mi")}),
			"limits":   layered(v.limits, fields{"memory": text("256Mi")}),
		}),
		"securityContext": of(fields{
			"allowPrivilegeEscalation": flagged(false),
			"readOnlyRootFilesystem":   flagged(true),
			"capabilities":             of(fields{"drop": list(text("ALL"))}),
		}),
		"volumeMounts": list(
			of(fields{"name": text("markdowns"), "mountPath": text("/book/src"), "readOnly": flagged(true)}),
			of(fields{"name": text("output"), "mountPath": text("/book/book")}),
		),
	})
}

func layered(over, under fields) *structpb.Value {
	for name, q := range over {
		under[name] = text(quantity(q))
	}

	return of(under)
}
