package validate

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crossplane-contrib/function-markdownview/input/v1beta1"
	"github.com/crossplane-contrib/function-markdownview/internal/imageref"
	"github.com/crossplane-contrib/function-markdownview/internal/report"
	"github.com/crossplane-contrib/function-markdownview/internal/view"
)

func validateServer(in v1beta1.Input, at *field.Path) field.ErrorList {
	s := in.Server
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if in.ListenAddress != "" {
		errs = append(errs, field.Forbidden(at.Child("listenAddress"), "remove it, and set the address in the configuration of the web server: it has no effect with server"))
	}
	at = at.Child("server")
	if s.Image != "" {
		errs = append(errs, imageref.Validate(s.Image, at.Child("image"))...)
	}
	if s.Port != 0 {
		for _, detail := range validation.IsValidPortNum(int(s.Port)) {
			errs = append(errs, field.Invalid(at.Child("port"), s.Port, detail))
		}
	}
	errs = append(errs, validateRoot(s.DocumentRoot, at.Child("documentRoot"))...)
	errs = append(errs, validateArgs(s.Command, at.Child("command"))...)
	errs = append(errs, validateArgs(s.Args, at.Child("args"))...)
	if s.Resources != nil {
		errs = append(errs, validateResources(*s.Resources, at.Child("resources"))...)
	}

	return errs
}

// validateRoot returns an error for a document root at which the book cannot be
// mounted.
func validateRoot(root string, at *field.Path) field.ErrorList {
	switch {
	case root == "":
		return nil
	case !path.IsAbs(root) || path.Clean(root) != root || root == "/" || strings.ContainsAny(root, ":\x00") || !view.Plain(root) || len(root) > 1024:
		return field.ErrorList{field.Invalid(at, report.Short(root), "must be the full path of a directory, such as "+view.ServerRoot)}
	case root == view.TempDir:
		return field.ErrorList{field.Invalid(at, root, "name another directory: the server writes temporary files here")}
	default:
		return nil
	}
}

func validateArgs(args []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, arg := range args {
		if !view.Plain(arg) || strings.Contains(arg, "\x00") {
			errs = append(errs, field.Invalid(at.Index(i), field.OmitValueType{}, view.MessageControl))
		}
	}

	return errs
}
