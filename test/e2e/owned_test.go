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

// owned returns the fields of an object that Crossplane owns on behalf of the
// function, as the API server keeps them in managedFields.
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

// ofCrossplane returns whether a field is by which Crossplane finds its resources.
func ofCrossplane(p fieldpath.Path) bool {
	last := p[len(p)-1].FieldName
	return last != nil && (strings.HasPrefix(*last, "crossplane.io/") || *last == "generateName")
}

// isKey returns whether a field distinguishes an item of a list from the others. Another
// key makes another item.
func isKey(p fieldpath.Path) bool {
	if len(p) < 2 || p[len(p)-1].FieldName == nil || p[len(p)-2].Key == nil {
		return false
	}

	return slices.ContainsFunc(*p[len(p)-2].Key, func(f value.Field) bool { return f.Name == *p[len(p)-1].FieldName })
}

// at returns what is at a path, nil if nothing is.
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

// set puts a value at a path, or removes what is there if the value is nil.
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

// is returns whether an item of a list is the one that an element of a path names.
func is(item any, e fieldpath.PathElement) bool {
	if e.Value != nil {
		return fmt.Sprint(item) == fmt.Sprint((*e.Value).Unstructured())
	}
	m, _ := item.(map[string]any)

	return e.Key != nil && !slices.ContainsFunc(*e.Key, func(f value.Field) bool { return fmt.Sprint(m[f.Name]) != fmt.Sprint(f.Value.Unstructured()) })
}

// others are values that a field could have instead of its own. The last is none.
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

// An edit of a field by somebody else.
type edit struct {
	path fieldpath.Path
	was  any
}

// vandalise changes every field that the function owns of an object, as far as
// the API server lets anybody change it. The others are returned as fixed.
func (k *kit) vandalise(u *unstructured.Unstructured) (changed []edit, fixed []string) {
	k.Helper()
	paths, err := owned(u)
	k.must(err)
	u = u.DeepCopy()
	u.SetResourceVersion("") // The status may have moved on.
	for _, p := range paths {
		was := at(u, p)
		if !slices.ContainsFunc(others(was), func(other any) bool {
			try := u.DeepCopy()
			set(try, p, other)
			dry := try.DeepCopy()
			if k.Update(k.Context(), dry, client.FieldOwner("somebody"), client.DryRunAll) != nil || reflect.DeepEqual(at(dry, p), was) {
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
	k.must(k.Update(k.Context(), u, client.FieldOwner("somebody")))

	return changed, fixed
}
