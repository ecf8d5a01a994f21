package e2e

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// owned returns the fields of an object that Crossplane owns because the function
// desires them, according to managedFields.
func owned(u *unstructured.Unstructured) ([]fieldpath.Path, error) {
	var paths []fieldpath.Path
	for _, m := range u.GetManagedFields() {
		if m.Operation != metav1.ManagedFieldsOperationApply || !strings.HasPrefix(m.Manager, "apiextensions.crossplane.io/composed") {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(m.FieldsV1.GetRawReader()); err != nil {
			return nil, fmt.Errorf("cannot read managedFields of %s: %w", u.GetName(), err)
		}
		for p := range set.Leaves().All() {
			if !ofCrossplane(p) && !isKey(p) {
				paths = append(paths, p.Copy())
			}
		}
	}

	return paths, nil
}

// ofCrossplane returns whether Crossplane sets a field to find its composed resources.
func ofCrossplane(p fieldpath.Path) bool {
	last := p[len(p)-1].FieldName
	return last != nil && (strings.HasPrefix(*last, "crossplane.io/") || *last == "generateName")
}

// isKey returns whether a field is a key of an item of a list. With another key it
// would be another item.
func isKey(p fieldpath.Path) bool {
	if len(p) < 2 || p[len(p)-1].FieldName == nil || p[len(p)-2].Key == nil {
		return false
	}

	return slices.ContainsFunc(*p[len(p)-2].Key, func(f value.Field) bool { return f.Name == *p[len(p)-1].FieldName })
}

// at returns the value at a path, or nil if there is none.
func at(u *unstructured.Unstructured, p fieldpath.Path) any {
	var here any = u.Object
	for _, e := range p {
		switch {
		case e.FieldName != nil:
			m, _ := here.(map[string]any)
			here = m[*e.FieldName]
		default:
			l, _ := here.([]any)
			i := slices.IndexFunc(l, func(item any) bool { return is(item, e) })
			if i < 0 {
				return nil
			}
			here = l[i]
		}
	}

	return here
}

// set sets the value at a path, or removes the field or item if the value is nil.
func set(u *unstructured.Unstructured, p fieldpath.Path, v any) {
	parent, last := p[:len(p)-1], p[len(p)-1]
	switch in := at(u, parent).(type) {
	case map[string]any:
		if in[*last.FieldName] = v; v == nil {
			delete(in, *last.FieldName)
		}
	case []any:
		i := slices.IndexFunc(in, func(item any) bool { return is(item, last) })
		if in[i] = v; v == nil {
			set(u, parent, slices.Delete(in, i, i+1))
		}
	}
}

// is returns whether an element of a path selects an item of a list.
func is(item any, e fieldpath.PathElement) bool {
	if e.Value != nil {
		return fmt.Sprint(item) == fmt.Sprint((*e.Value).Unstructured())
	}
	m, _ := item.(map[string]any)

	return e.Key != nil && !slices.ContainsFunc(*e.Key, func(f value.Field) bool { return fmt.Sprint(m[f.Name]) != fmt.Sprint(f.Value.Unstructured()) })
}

// others returns values that a field could have instead of v. The last is nil, which
// removes the field.
func others(v any) []any {
	switch v := v.(type) {
	case string:
		return []any{v + "x", "other", "NodePort", "Unconfined", "7", "/other", nil}
	case int64:
		return []any{v + 1, v + 7, nil}
	case bool:
		return []any{!v, nil}
	case []any:
		return []any{append(slices.Clone(v), "other"), nil}
	default:
		return []any{nil}
	}
}

// An edit is a field that another client has changed, and its value before.
type edit struct {
	path fieldpath.Path
	was  any
}

// changeOwned changes every field of an object that Crossplane owns, as another client.
// It returns these edits as changed, and as fixed the fields that the API server does not
// let a client change.
func (k *kit) changeOwned(u *unstructured.Unstructured) (changed []edit, fixed []string) {
	paths, err := owned(u)
	k.must(err)
	u = u.DeepCopy()
	u.SetResourceVersion("") // The status may have changed.
	for _, p := range paths {
		was := at(u, p)
		if !slices.ContainsFunc(others(was), func(other any) bool {
			try := u.DeepCopy()
			set(try, p, other)
			dry := try.DeepCopy()
			if k.Update(k.Context(), dry, client.FieldOwner("other-client"), client.DryRunAll) != nil || reflect.DeepEqual(at(dry, p), was) {
				return false
			}
			u = try

			return true
		}) {
			fixed = append(fixed, p.String())
			continue
		}
		changed = append(changed, edit{p, was})
	}
	k.must(k.Update(k.Context(), u, client.FieldOwner("other-client")))

	return changed, fixed
}
