package book

import (
	"path"

	"github.com/crossplane-contrib/function-markdownview/book/filename"
)

// checkNames reports names that no book can have. The other checks ignore these files.
func checkNames(x *index, r *report) {
	valid := make([]string, 0, len(x.names))
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
		// The key has a hash of the name, so no other name gives the same key.
		if key := filename.Key(name); x.has(key) && !x.Shared[key] {
			r.errors.Addf("", 0, "rename file \"%s\" or \"%s\": both have the key \"%s\" in the ConfigMap", name, key, key)
		}
	}
	x.names = valid
}
