package request

import (
	"errors"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

// quantity matches all quantities except those that take minutes to parse or to compare,
// because they are long or have a long exponent. The XRD has the same limits.
var quantity = regexp.MustCompile(`^[-+]?[0-9.]{1,32}([a-zA-Z]{0,2}|[eE][-+]?[0-9]{1,2})$`)

// CheckQuantity returns an error for text that is about to be parsed as a quantity, if
// it does not match.
func CheckQuantity(into any, text string) error {
	if _, ok := into.(*resource.Quantity); ok && !quantity.MatchString(text) {
		return errors.New(`must be a quantity such as "100m" or "64Mi"`)
	}

	return nil
}
