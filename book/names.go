package book

import (
	"path"

	"github.com/crossplane-contrib/function-markdownview/book/filename"
)

// checkNames reports names that no book can have. The other checks ignore these files.
func checkNames(x *index, r *report) {
	valid := make([]string, 0, len(x.names))
	keys := map[string]string{} // Names by key, of names that are not valid keys.
	for i, name := range x.names {
		if err := filename.Validate(name); err != nil {
			r.errors.Addf("", 0, "file name \"%s\" %v", name, err)
			continue
		}
		if i > 0 && x.names[i-1] == name {
			r.errors.Addf("", 0, "remove one of the two files named \"%s\"", name)
			continue
		}
		valid = append(valid, name)
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
			if x.has(folder) {
				r.errors.Addf("", 0, "rename file \"%s\" or the folder of \"%s\": both have this name", folder, name)
			}
		}
		if filename.IsKey(name) || x.Shared[name] {
			continue
		}
		key := filename.Key(name)
		other, used := keys[key]
		if x.has(key) && !x.Shared[key] {
			other, used = key, true
		}
		if used {
			r.errors.Addf("", 0, "rename file \"%s\" or \"%s\": both have the key \"%s\" in the ConfigMap", name, other, key)
		}
		keys[key] = name
	}
	x.names = valid
}
