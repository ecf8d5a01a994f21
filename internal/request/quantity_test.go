package request

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestCheckQuantity(t *testing.T) {
	for text, valid := range map[string]bool{
		"100m": true, "64Mi": true, "1.5": true, "-1": true, "1e3": true, "1E-12": true, strings.Repeat("1", 32): true,
		"": false, "1 Gi": false, "1e999": false, "1E-999": false, "1ABC": false, strings.Repeat("1", 33): false,
	} {
		if err := CheckQuantity(&resource.Quantity{}, text); (err == nil) != valid {
			t.Errorf("CheckQuantity(%q): want valid: %t, got %v", text, valid, err)
		}
	}
	if err := CheckQuantity(new(string), "much"); err != nil {
		t.Errorf("Other values are not quantities, got %v", err)
	}
}
