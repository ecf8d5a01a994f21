# Everything here needs Go, make and git, nothing else: tools are built from Go
# modules of their own below test/tools, into $(BIN).
BIN := $(CURDIR)/.bin

.PHONY: help
help: ## Show what there is to make.
	@awk -F':.*## ' '/^[a-z0-9.-]+:.*## / { printf "%-24s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: ## Build the function.
	CGO_ENABLED=0 go build -trimpath -tags grpcnotrace -ldflags '-s -w' -o $(BIN)/function-markdownview .

# --- Try it, test it ---------------------------------------------------------

# A crossplane on the PATH will do where it is a CLI that renders with an engine
# of ours. The engine is Crossplane itself.
CROSSPLANE := $(shell crossplane composition render --help 2>/dev/null | grep -q -e --crossplane-binary && command -v crossplane || echo $(BIN)/crossplane)

.PHONY: render
render: build $(CROSSPLANE) $(BIN)/crossplane-core ## Render the examples, and fail when they differ from example/rendered.
	@CROSSPLANE=$(CROSSPLANE) test/render.sh

.PHONY: render-update
render-update: build $(BIN)/crossplane $(BIN)/crossplane-core ## Write example/rendered anew.
	@CROSSPLANE=$(BIN)/crossplane test/render.sh -update >/dev/null

# The race detector needs a C compiler.
RACE := $(shell command -v $$(go env CC) >/dev/null && echo -race)

.PHONY: test
test: ## Run the unit tests.
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) ./...

# Runs every fuzz target for FUZZTIME, a duration or a count such as 1000x. CI
# counts: with a duration, Go before 1.27 may fail when it is over and all is well
# (https://go.dev/issue/75804). What a target finds is kept in testdata/fuzz beside
# it, where the tests try it again from then on. Only a failure is made smaller: of
# what is merely new there is too much.
FUZZTIME ?= 1m

.PHONY: fuzz
fuzz: ## Fuzz each target for FUZZTIME (1 minute).
	@set -e; for package in book fn wire test/admission; do \
		cd $(CURDIR)/$$package; all=$$(go test -list '^Fuzz' .); \
		for target in $$(echo "$$all" | grep ^Fuzz); do \
			echo "--- $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .; \
		done; \
	done

# A commit: only what changed since then is mutated. All of it takes an hour.
SINCE ?=

.PHONY: mutation
mutation: $(BIN)/gremlins ## Change package fn in small ways (since the commit SINCE), and report what its tests miss.
	$(BIN)/gremlins unleash --workers 1 --timeout-coefficient 40 --output-statuses lct $(if $(SINCE),--diff $(SINCE)) ./fn

.PHONY: lint
lint: $(BIN)/golangci-lint ## Run the linters, on every module.
	@set -e; for module in . $(patsubst %/go.mod,%,$(wildcard test/*/go.mod)); do \
		echo "golangci-lint run $$module"; (cd $$module && $(BIN)/golangci-lint run); \
	done

# --- The server ----------------------------------------------------------------

.PHONY: soak
soak: export SOAK ?= 10m
soak: ## Load the function for SOAK (10 minutes): memory stays bounded and does not grow.
	go test -tags soak -count=1 -timeout 1h -run TestSoak -v ./server

# --- Speed ---------------------------------------------------------------------

# A regular expression of the cases to measure, such as 900 or steady. With it,
# docs/benchmark.md is not written.
CASES ?=

.PHONY: bench
bench: build $(BIN)/function-auto-ready ## Measure the speed of the function beside others, and write docs/benchmark.md.
	@cd test/bench && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $(BIN)/bench-noop ./noop
	@cd test/bench && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $(BIN)/bench-limit ./limit
	@cd test/bench && go run . -bin $(BIN) -out $(CURDIR)/docs/benchmark.md -cases '$(CASES)'

# The commit to compare with, how often both are measured, and how long each time.
BASE ?= HEAD
ROUNDS ?= 8
BENCHTIME ?= 0.3s

.PHONY: microbench
microbench: $(BIN)/benchstat ## Compare the micro-benchmarks of package fn with those of the commit BASE (HEAD).
	@test/microbench.sh $(BASE) $(ROUNDS) $(BENCHTIME)

# --- Generated files ---------------------------------------------------------

CONTROLLER_GEN = $(BIN)/controller-gen object crd paths=./input/...

.PHONY: generate
generate: $(BIN)/controller-gen ## Generate the deep copies and the CRD of the Input.
	$(CONTROLLER_GEN) output:crd:dir=package/function/input

# Generates elsewhere and compares, so that a work tree with changes is no drift.
.PHONY: generate-check
generate-check: $(BIN)/controller-gen ## Fail when "make generate" would change something.
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(CONTROLLER_GEN) output:object:dir=$$dir/object output:crd:dir=$$dir/crd && \
	diff -ru package/function/input $$dir/crd && \
	diff -u input/v1beta1/zz_generated.deepcopy.go $$dir/object/zz_generated.deepcopy.go || \
	{ echo 'generated files are out of date: run "make generate"' >&2; exit 1; }

.PHONY: validate
validate: $(BIN)/crossplane ## Check packages and examples against the schemas of Crossplane and our own.
	find package example -name '*.yaml' -not -path 'package/function/input/*' -not -path 'example/invalid/*' -not -path 'example/rendered/*' -exec test/validate.sh {} +
	@# Of the XR, which comes first, render leaves out the spec but for Crossplane's own part.
	set -e; for file in example/rendered/*.yaml; do \
		awk '/^---$$/ { n++ } { print } n == 1 && /^spec:$$/ { print "  markdowns: {SUMMARY.md: \"\"}" }' $$file | test/validate.sh -; \
	done

.PHONY: readme
readme: $(CONTROL_PLANE) ## Run the commands of the README on the control plane of "make up".
	test/readme.sh

# --- Packages, without Docker ------------------------------------------------

DIST := dist
ARCHS := amd64 arm64
VERSION ?= $(shell git describe --tags --always --dirty)
# Releases are built with one Go release, so that a digest does not depend on the
# Go at hand.
RELEASE_GO := $(shell sed -n 's|^FROM .*/golang:\([0-9.]*\).*|go\1|p' Dockerfile)
# Nothing of the environment reaches the binary. Tracing of grpc-go needs
# templates, which are not used and cannot be dropped by the linker.
RELEASE_BUILD = GOFLAGS= GOEXPERIMENT= GOFIPS140=off GOAMD64=v1 GOARM64=v8.0 CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH) \
	go build -trimpath -buildvcs=false -tags grpcnotrace -ldflags '-s -w'
FUNCTION_PACKAGES := $(ARCHS:%=$(DIST)/function-markdownview-linux-%.xpkg)
CONFIGURATION_PACKAGE := $(DIST)/configuration-markdownview.xpkg

.PHONY: runtime
runtime: export GOTOOLCHAIN := $(RELEASE_GO)
runtime: ## Build the binary of the runtime image for GOARCH, as OUT.
	$(RELEASE_BUILD) -o $(OUT) .

.PHONY: xpkg
xpkg: $(FUNCTION_PACKAGES) $(CONFIGURATION_PACKAGE) ## Build the packages and their SBOMs into dist.

# A file is moved to its place when it is whole: another make may be at work too.
$(DIST)/function-markdownview-linux-%.xpkg: $(BIN)/crossplane $(BIN)/cyclonedx-gomod $(BIN)/xpkg FORCE
	@mkdir -p $(DIST)/linux-$*
	@set -e; new=$$(mktemp -d $(DIST)/linux-$*/new.XXXXXX); trap "rm -r $$new" EXIT; set -x; \
	$(MAKE) --no-print-directory runtime GOARCH=$* OUT=$$new/function-markdownview; \
	$(BIN)/xpkg image --dockerfile=Dockerfile --binary=$$new/function-markdownview --arch=$* -o $$new/runtime.tar; \
	$(BIN)/cyclonedx-gomod bin -json -noserial -notimestamp -std -version $(VERSION) -output $$new/sbom.json $$new/function-markdownview; \
	$(BIN)/crossplane xpkg build --package-root=package/function --embed-runtime-image-tarball=$$new/runtime.tar -o $$new/function.xpkg; \
	mv $$new/function-markdownview $$new/runtime.tar $(DIST)/linux-$*; \
	mv $$new/sbom.json $(@:.xpkg=.cdx.json); \
	mv $$new/function.xpkg $@

$(CONFIGURATION_PACKAGE): $(BIN)/crossplane FORCE
	@mkdir -p $(DIST)
	@set -e; new=$$(mktemp -d $(DIST)/new.XXXXXX); trap "rm -r $$new" EXIT; set -x; \
	$(BIN)/crossplane xpkg build --package-root=package/configuration -o $$new/configuration.xpkg; \
	mv $$new/configuration.xpkg $@

.PHONY: FORCE
FORCE:

.PHONY: xpkg.push
xpkg.push: xpkg ## Push the function for all platforms, and its SBOMs, as XPKG:VERSION.
	@test -n '$(XPKG)' || { echo 'say where to: make xpkg.push XPKG=registry/name VERSION=v0.1.0' >&2; exit 1; }
	$(BIN)/crossplane xpkg push --package-files=$(shell echo $(FUNCTION_PACKAGES) | tr ' ' ,) $(XPKG):$(VERSION)
	$(BIN)/xpkg attach $(XPKG):$(VERSION) $(foreach arch,$(ARCHS),--sbom=$(arch)=$(DIST)/function-markdownview-linux-$(arch).cdx.json)
	@$(BIN)/xpkg digest $(XPKG):$(VERSION)

.PHONY: xpkg.push.configuration
xpkg.push.configuration: xpkg ## Push the configuration as XPKG:VERSION.
	@test -n '$(XPKG)' || { echo 'say where to: make xpkg.push.configuration XPKG=registry/name VERSION=v0.1.0' >&2; exit 1; }
	$(BIN)/crossplane xpkg push --package-files=$(CONFIGURATION_PACKAGE) $(XPKG):$(VERSION)
	@$(BIN)/xpkg digest $(XPKG):$(VERSION)

.PHONY: xpkg.test
xpkg.test: xpkg ## Check the packages, and push and pull them on loopback.
	cd test/xpkg && DIST='$(abspath $(DIST))' go test -count=1 ./...

.PHONY: xpkg.reproduce
xpkg.reproduce: $(BIN)/crossplane $(BIN)/cyclonedx-gomod $(BIN)/xpkg ## Build the packages of HEAD twice, once from nothing, and fail if they differ.
	BIN='$(BIN)' test/xpkg/reproduce.sh

.PHONY: image.compare
image.compare: xpkg ## Build the Dockerfile with docker or buildah, and fail if it differs from the packaged image.
	BIN='$(BIN)' DIST='$(abspath $(DIST))' test/xpkg/dockerfile.sh

.PHONY: test-production
test-production: ## Test that the production example is allowed where pods must be restricted, and fits together.
	cd test/production && go test -count=1 ./...

.PHONY: size
size: export GOTOOLCHAIN := $(RELEASE_GO)
size: ## Print the size of the binary beside that of another function, built alike.
	@$(RELEASE_BUILD) -o $(DIST)/size/function-markdownview .
	@cd test/tools/function-auto-ready && $(RELEASE_BUILD) -o $(abspath $(DIST))/size/function-auto-ready github.com/crossplane/function-auto-ready
	@wc -c $(DIST)/size/* | awk '!/total/ { n = split($$2, p, "/"); printf "%-24s %5.1f MiB\n", p[n], $$1 / 1048576 }'

# What becomes part of a package is compressed by these.
$(BIN)/xpkg: $(wildcard test/xpkg/*.go test/xpkg/*/*.go) test/xpkg/go.mod test/xpkg/go.sum
	cd test/xpkg && GOTOOLCHAIN=$(RELEASE_GO) CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $(BIN)/xpkg .

# The books and SUMMARY.md files that are generated, and where the random ones begin.
test-book: export BOOKS ?= 200
test-book: export SEED ?= 1

.PHONY: test-book
test-book: ## Compare what package book says of a book with the real mdBook 0.4 and 0.5. Needs Debian.
	@set -e; trixie=$$(test/mdbook.sh trixie); sid=$$(test/mdbook.sh sid); \
	cd test/book && MDBOOKS=$$trixie:$$sid go test -count=1 ./...

.PHONY: test-viewer
test-viewer: ## Run the composed viewer, with the real mdBook and a browser. Needs root on Debian.
	@test/viewer/viewer.sh

# -count=1 because the test cache does not see the XRD, which is outside of the
# module.
.PHONY: test-admission
test-admission: ## Test what the API server says to a MarkdownView.
	cd test/admission && go test -count=1 ./...

# --- A real control plane, without Docker ------------------------------------

# A cluster that is there needs none of the parts of one.
CONTROL_PLANE := $(addprefix $(BIN)/,crossplane kubectl $(if $(E2E_KUBECONFIG),,crossplane-core etcd kube-apiserver kube-controller-manager)) \
	$(DIST)/function-markdownview-linux-$(shell go env GOARCH).xpkg $(CONFIGURATION_PACKAGE)

.PHONY: e2e
e2e: $(CONTROL_PLANE) $(BIN)/function-auto-ready $(BIN)/kube-state-metrics ## Show on a real control plane that every guarantee holds. RUN=Create runs one test.
	cd test/e2e && CGO_ENABLED=0 go build -o $(BIN)/function-fixture ./cmd/fixture
	CGO_ENABLED=0 go build -o $(BIN)/samples ./test/sample/write
	cd test/e2e && go test -count=1 -timeout 25m -parallel 16 $(if $(RUN),-run '//^($(RUN))$$') -v .

.PHONY: load
load: ## Write docs/load.md: what 500 MarkdownViews at once take.
	E2E_LOAD=$(CURDIR)/docs/load.md $(MAKE) e2e RUN=Load

.PHONY: up
up: $(CONTROL_PLANE) ## Start a control plane with everything installed, to try things on.
	@cd test/e2e && go build -o $(BIN)/controlplane ./cmd/controlplane
	@$(BIN)/controlplane up .

.PHONY: down
down: ## Stop the control plane of "make up".
	@$(BIN)/controlplane down .

# --- Tools. A binary is built anew when its module changes. ------------------

TOOL_LDFLAGS := -s -w
# The RBAC manager serves metrics on :8080 and has no flag to say otherwise, so
# two control planes on one machine would collide.
$(BIN)/crossplane-core: TOOL_LDFLAGS += -X sigs.k8s.io/controller-runtime/pkg/metrics/server.DefaultBindAddress=0
# A package names the Crossplane it works with, so Crossplane must know its own
# version.
$(BIN)/crossplane-core: TOOL_LDFLAGS += -X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=$(shell \
	sed -n 's|^[[:space:]]*github.com/crossplane/crossplane/v2 \(v[^ ]*\).*|\1|p' test/tools/crossplane/go.mod)

# $(call tool,MODULE FOLDER,BINARY,PACKAGE)
define tool
$(BIN)/$(2): test/tools/$(1)/go.mod test/tools/$(1)/go.sum
	cd test/tools/$(1) && CGO_ENABLED=0 go build -trimpath -ldflags '$$(TOOL_LDFLAGS)' -o $(BIN)/$(2) $(3)
endef

$(eval $(call tool,benchstat,benchstat,golang.org/x/perf/cmd/benchstat))
$(eval $(call tool,controller-gen,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen))
$(eval $(call tool,crossplane,crossplane-core,github.com/crossplane/crossplane/v2/cmd/crossplane))
$(eval $(call tool,crossplane-cli,crossplane,github.com/crossplane/cli/v2/cmd/crossplane))
$(eval $(call tool,cyclonedx-gomod,cyclonedx-gomod,github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod))
$(eval $(call tool,etcd,etcd,go.etcd.io/etcd/server/v3))
$(eval $(call tool,function-auto-ready,function-auto-ready,github.com/crossplane/function-auto-ready))
$(eval $(call tool,golangci-lint,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint))
$(eval $(call tool,gremlins,gremlins,github.com/go-gremlins/gremlins/cmd/gremlins))
$(eval $(call tool,kube-state-metrics,kube-state-metrics,k8s.io/kube-state-metrics/v2))
$(eval $(call tool,kubernetes,kube-apiserver,k8s.io/kubernetes/cmd/kube-apiserver))
$(eval $(call tool,kubernetes,kube-controller-manager,k8s.io/kubernetes/cmd/kube-controller-manager))
$(eval $(call tool,kubernetes,kubectl,k8s.io/kubernetes/cmd/kubectl))
