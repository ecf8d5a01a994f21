module github.com/crossplane-contrib/function-markdownview/test/book

go 1.26.0

require (
	github.com/crossplane-contrib/function-markdownview v0.0.0
	sigs.k8s.io/yaml v1.6.0
)

require (
	github.com/yuin/goldmark v1.8.7 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
)

replace github.com/crossplane-contrib/function-markdownview => ../..
