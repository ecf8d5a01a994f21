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
			r.errors.Addf("", 0, "two files are named \"%s\": remove one", name)
			continue
		}
		valid = append(valid, name)
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
			if x.has(folder) {
				r.errors.Addf("", 0, "file \"%s\" is also the folder of \"%s\": rename one", folder, name)
			}
		}
		if filename.IsKey(name) || x.Shared[name] {
			continue
		}
		// The key has a hash of the name, so no other name gives the same key.
		if key := filename.Key(name); x.has(key) && !x.Shared[key] {
			r.errors.Addf("", 0, "files \"%s\" and \"%s\" have the same key in the ConfigMap, \"%s\": rename one", name, key, key)
		}
	}
	x.names = valid
}
