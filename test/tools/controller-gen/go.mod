module github.com/crossplane-contrib/function-markdownview/test/tools/controller-gen

go 1.26.0

tool sigs.k8s.io/controller-tools/cmd/controller-gen

require (
	sigs.k8s.io/controller-tools v0.23.0
)
