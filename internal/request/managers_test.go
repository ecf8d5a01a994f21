package request_test

import (
	"testing"

	"github.com/crossplane-contrib/function-markdownview/internal/request"
	"github.com/crossplane-contrib/function-markdownview/internal/viewtest"
)

func TestCrossplaneOwns(t *testing.T) {
	const (
		own, hand, other = viewtest.CrossplaneManager, viewtest.HandManager, viewtest.OtherManager
		server           = `{manager: kubectl, fieldsV1: {"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"server\"}": {"f:image": {}}}}}}}}`
	)
	for name, tc := range map[string]struct {
		reason, managers string
		image, replicas  bool
	}{
		"Ours":   {"Crossplane owns both fields", own, true, true},
		"Both":   {"Somebody else owns the image, too", own + ", " + hand, false, true},
		"Server": {"Somebody else owns the image of the web server", own + ", " + server, false, true},
		"Other":  {"Crossplane owns another field", other + ", " + hand, false, false},
		"None":   {"Nobody owns a field", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := viewtest.ObserveDeployment(t, `{metadata: {managedFields: [`+tc.managers+`]}}`).Deployment.Managers
			image, replicas := m.CrossplaneOwns(request.FieldImage), m.CrossplaneOwns(request.FieldReplicas)
			if image != tc.image || replicas != tc.replicas {
				t.Errorf("%s\nwant image: %t, replicas: %t, got %t and %t", tc.reason, tc.image, tc.replicas, image, replicas)
			}
		})
	}
}
