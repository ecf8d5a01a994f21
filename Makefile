# Most targets need only Go, make and git: tools are built from their own Go modules in
# test/tools, into $(BIN).
BIN := $(CURDIR)/.bin
DIST := dist
ARCHS := amd64 arm64
VERSION ?= $(shell git describe --tags --always --dirty)
UPSTREAM := xpkg.crossplane.io/crossplane-contrib
# All tools, tests and the linter are built with the same flags, so each package is
# compiled once. "make lint" runs vet. Linking without symbols takes less time.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -vet=off -ldflags=-s)
# The registry that clusters pull the packages from, if it is not the one that they are
# pushed to. The configuration refers to the function there.
PULL_REGISTRY ?= $(or $(REGISTRY),$(UPSTREAM))
# With a larger heap, Go's compiler and linker, and golangci-lint, need less CPU. Tests and
# the function run with the default.
LARGE_HEAP := GOGC=400
# Releases are built with one Go release, so that a digest does not depend on the
# installed Go.
RELEASE_GO := $(shell sed -n 's|^FROM .*/golang:\([0-9.]*\).*|go\1|p' Dockerfile)
# The environment does not change the binary. grpcnotrace removes tracing from grpc-go:
# tracing uses text/template, and with that the linker cannot remove unused methods.
RELEASE_BUILD = $(LARGE_HEAP) GOFLAGS= GOEXPERIMENT= GOFIPS140=off GOAMD64=v1 GOARM64=v8.0 CGO_ENABLED=0 GOOS=$(or $(TARGET_OS),linux) GOARCH=$(GOARCH) \
	go build -trimpath -buildvcs=false -tags grpcnotrace -ldflags '-s -w'
FUNCTION_PACKAGES := $(ARCHS:%=$(DIST)/function-markdownview-linux-%.xpkg)
CONFIGURATION_PACKAGE := $(DIST)/configuration-markdownview.xpkg
# The program for authors. On other platforms they install it with "go install".
PROGRAMS := $(addprefix $(DIST)/markdownview-,linux-amd64 linux-arm64 darwin-arm64)

# Where pods run: "real" is a node on this machine, with kubelet and containerd,
# which needs Linux, root and apt. Elsewhere pods are simulated.
NODE ?= $(shell unshare --net --mount --pid --fork true 2>/dev/null && command -v apt-get >/dev/null && echo real || echo simulated)
export NODE
# A version of Crossplane other than that of test/tools/crossplane, such as v2.3.4.
export CROSSPLANE_VERSION
CORE := $(BIN)/crossplane-core$(CROSSPLANE_VERSION:%=-%)
NODE_PARTS := containerd containerd-shim-runc-v2 coredns kubelet kube-proxy kube-scheduler debian mdbook-trixie

# With an existing cluster (E2E_KUBECONFIG), the binaries of a control plane are not
# needed. test/readme.sh does not run there: it needs the control plane of "make up".
CONTROL_PLANE := $(addprefix $(BIN)/,crossplane cyclonedx-gomod regctl release kubectl $(if $(E2E_KUBECONFIG),,$(notdir $(CORE)) etcd kube-apiserver kube-controller-manager \
	$(if $(filter real,$(NODE)),$(NODE_PARTS)))) \
	$(DIST)/function-markdownview-linux-$(shell go env GOARCH).xpkg $(CONFIGURATION_PACKAGE)
E2E_TOOLS := $(addprefix $(BIN)/,function-auto-ready kube-state-metrics $(if $(filter real,$(NODE)),cert-manager chromium-trixie images prometheus-trixie source-controller traefik))

# The test Upgrade goes back to the function of this commit.
PREVIOUS ?= HEAD^
PREVIOUS_PACKAGE := $(DIST)/previous/previous.xpkg

# The first build takes minutes. STEP prints what it builds, such as "[7/14] kube-apiserver",
# and writes the output of the command to .run/build.
STEP := $(CURDIR)/test/step.sh
up: export NEED := $(CONTROL_PLANE) $(BIN)/controlplane
e2e: export NEED := $(CONTROL_PLANE) $(E2E_TOOLS) $(PREVIOUS_PACKAGE) $(BIN)/function-fixture $(BIN)/samples $(BIN)/markdownview

.PHONY: help
help: ## Show the targets.
	@awk -F':.*## ' '/^##@/ { print "\n" substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

##@ Try it

# The Crossplane CLI on the PATH is used if it has the flag --crossplane-binary, to render
# with the Crossplane that is built here.
CROSSPLANE := $(shell crossplane composition render --help 2>/dev/null | grep -q -e --crossplane-binary && command -v crossplane || echo $(BIN)/crossplane)

.PHONY: render
render: build $(CROSSPLANE) $(BIN)/crossplane-core ## Render the examples, and fail if they differ from example/rendered.
	@CROSSPLANE=$(CROSSPLANE) test/render.sh

.PHONY: up
up: $(CONTROL_PLANE) ## Start a cluster with Crossplane and the function. NODE=simulated simulates pods.
	@$(STEP) controlplane go -C test/e2e build -o $(BIN)/controlplane ./cmd/controlplane
	@$(BIN)/controlplane up .

.PHONY: down
down: ## Stop the cluster of "make up".
	@$(BIN)/controlplane down .

# XR is the file with the MarkdownView, or a folder. COMPOSITION or INPUT is a file with the Input of
# the function. PORT is the port of the book. MDBOOK is the command that runs mdBook.
XR ?= example/xr.yaml

.PHONY: preview
preview: ## Serve the book of XR=FILE (example/xr.yaml), and reload it when the file changes. Needs mdBook.
	@go build -o $(BIN)/markdownview ./markdownview
	@$(BIN)/markdownview preview '$(XR)' $(if $(COMPOSITION),'--composition=$(COMPOSITION)') $(if $(INPUT),'--input=$(INPUT)') \
		$(if $(PORT),--port=$(PORT)) $(if $(MDBOOK),'--mdbook=$(MDBOOK)')

##@ Develop

.PHONY: build
build: ## Build the function.
	go build -tags grpcnotrace -o $(BIN)/function-markdownview .

CONTROLLER_GEN = $(BIN)/controller-gen object crd paths=./input/...

.PHONY: generate
generate: build $(BIN)/controller-gen $(BIN)/crossplane $(BIN)/crossplane-core ## Write the generated files: deep copies, the CRD of the Input, docs/reference.md, example/rendered.
	$(CONTROLLER_GEN) output:crd:dir=package/function/input
	cd test/admission && go test -count=1 -run TestReference . -update
	CROSSPLANE=$(BIN)/crossplane test/render.sh -update >/dev/null

MODULES := . release $(patsubst %/go.mod,%,$(wildcard test/*/go.mod))

# Code is generated into a temporary folder and compared with the working tree, which
# may have uncommitted changes.
.PHONY: lint
lint: $(addprefix $(BIN)/,actionlint controller-gen golangci-lint) ## Run the linters on every module and workflow, and check that generated code is up to date.
	$(BIN)/actionlint
	$(BIN)/actionlint example/authors/ci/github*.yaml
	@set -e; for module in $(MODULES); do \
		echo "golangci-lint run $$module"; (cd $$module && $(LARGE_HEAP) $(BIN)/golangci-lint run); \
	done
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(CONTROLLER_GEN) output:object:dir=$$dir/object output:crd:dir=$$dir/crd && \
	diff -ru package/function/input $$dir/crd && \
	diff -u input/v1beta1/zz_generated.deepcopy.go $$dir/object/zz_generated.deepcopy.go || \
	{ echo 'generated files are out of date: run "make generate"' >&2; exit 1; }

# The race detector needs a C compiler. It runs where goroutines share something: a call of
# the function has only one.
RACE := $(shell command -v $$(go env CC) >/dev/null && echo -race)

.PHONY: test
test: ## Run the unit tests.
	go test -timeout 30m ./...
	$(if $(RACE),CGO_ENABLED=1 go test -race ./server ./markdownview/internal/preview ./internal/objects .)
	$(if $(RACE),CGO_ENABLED=1 go test -race -run TestGolden ./fn)

# FUZZTIME is a duration or a count such as 1000x. "make test" runs every fuzz target
# with its seeds, and the workflow Fuzz runs every week. A failing input is minimized and
# written to testdata/fuzz beside the test. Every later run of the tests uses it too.
FUZZTIME ?= 1m

.PHONY: fuzz
fuzz: ## Fuzz each target for FUZZTIME (1m).
	@set -e; for package in book book/filename book/internal/markdown book/internal/summary fn internal/objects test/admission; do \
		cd $(CURDIR)/$$package; all=$$(go test -list '^Fuzz' .); \
		for target in $$(echo "$$all" | grep ^Fuzz); do \
			echo "--- $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x .; \
		done; \
	done

# The checks that must pass before a change is merged, the fastest first. The workflow CI
# runs one job for each line of "make steps".
define STEPS
lint
test
render
test-admission
bench BASE=HEAD ROUNDS=1 BENCHTIME=1x
bench CASES=2.files,.steady ROUNDS=5
test-packages
test-book
e2e
endef
export STEPS

TOOLS := $(filter $(BIN)/%,$(CONTROL_PLANE)) $(E2E_TOOLS) $(addprefix $(BIN)/,actionlint benchstat controller-gen golangci-lint)
KUBERNETES_TOOLS := $(filter $(addprefix $(BIN)/,containerd% coredns etcd kube%),$(TOOLS))

# Everything is built with the Go release of the packages, so each package is compiled
# once. Two tools are built at a time, because downloading and linking use one processor.
# They are of different modules: two of the same one would compile the same packages.
.PHONY: ci
ci: export GOTOOLCHAIN := $(RELEASE_GO)
ci: export NEED := $(TOOLS)
ci: ## Run all checks that must pass before a change is merged.
	@printf '%s\n' '$(KUBERNETES_TOOLS)' '$(filter-out $(KUBERNETES_TOOLS),$(TOOLS))' | xargs -P2 -L1 $(MAKE) --no-print-directory
	@set -e; echo "$$STEPS" | while read -r step; do \
		start=$$(date +%s); echo "=== make $$step"; \
		$(MAKE) --no-print-directory $$step </dev/null; \
		echo "=== make $$step took $$(($$(date +%s) - start)) s"; \
	done

.PHONY: steps
steps:
	@echo "$$STEPS"

##@ Test with Kubernetes, Crossplane and mdBook

# -count=1, because the test cache ignores changes outside of the module. The rendered
# XR, which is the first document, has only the part of the spec that Crossplane adds,
# so the required field markdowns is added.
.PHONY: test-admission
test-admission: $(BIN)/crossplane ## Test that Kubernetes and Crossplane accept MarkdownViews, pods, packages and examples, and reject errors.
	find package example -name '*.yaml' -not -name kustomization.yaml -not -path 'example/login/middleware.yaml' -not -path 'example/production/monitoring.yaml' -not -path 'package/function/input/*' -not -path 'example/invalid/*' -not -path 'example/rendered/*' -not -path 'example/authors/ci/git*' -exec test/validate.sh {} +
	set -e; for file in example/rendered/*.yaml; do \
		awk '/^---$$/ { n++ } { print } n == 1 && /^spec:$$/ { print "  markdowns: {SUMMARY.md: \"\"}" }' $$file | test/validate.sh -; \
	done
	cd test/admission && go test -count=1 ./...
	cd test/oldest && go test -count=1 ./...

.PHONY: test-packages
test-packages: xpkg programs ## Test the packages and the program for authors: content, push and pull, reproducible builds, same image as from Docker.
	cd release && DIST='$(abspath $(DIST))' go test -count=1 ./...
	BIN='$(BIN)' DIST='$(abspath $(DIST))' VERSION='$(VERSION)' release/reproduce.sh
	DIST='$(abspath $(DIST))' release/dockerfile.sh

# BOOKS is the number of generated books and SUMMARY.md files, and SEED the first seed.
test-book: export BOOKS ?= 200
test-book: export SEED ?= 1

.PHONY: test-book
test-book: ## Compare package book with mdBook 0.4 and 0.5, and test the composed container and "markdownview preview". Needs Debian.
	@set -e; trixie=$$(test/debian.sh trixie mdbook); sid=$$(test/debian.sh sid mdbook); nginx=$$(test/debian.sh trixie nginx); \
	cd test/book && MDBOOKS=$$trixie:$$sid NGINX=$$nginx go test -count=1 ./...

TIMEOUT ?= 40m

.PHONY: e2e
e2e: $(CONTROL_PLANE) $(E2E_TOOLS) $(PREVIOUS_PACKAGE) ## Run the end-to-end tests and the commands of the README. RUN=Create runs one test, NODE=simulated simulates pods.
	@$(STEP) function-fixture go -C test/e2e build -o $(BIN)/function-fixture ./cmd/fixture
	@$(STEP) samples go build -o $(BIN)/samples ./test/sample/write
	@$(STEP) markdownview go build -o $(BIN)/markdownview ./markdownview
	cd test/e2e && go test -count=1 -timeout $(TIMEOUT) $(if $(RUN),-run '//^($(RUN))$$') -v .
	$(if $(RUN)$(E2E_KUBECONFIG),,test/readme.sh)

##@ Measure

# CASES is a regular expression of the cases to measure, such as 900 or steady. With
# CASES, docs/benchmark.md is not written. With BASE, the Go benchmarks run for BENCHTIME
# in each round.
CASES ?=
ROUNDS ?= $(if $(BASE),8,25)
BENCHTIME ?= 0.3s

.PHONY: bench
bench: $(if $(BASE),$(BIN)/benchstat,build $(BIN)/function-auto-ready) ## Compare the speed with other functions, and write docs/benchmark.md. BASE=main compares with a commit.
ifdef BASE
	@test/microbench.sh $(BASE) $(ROUNDS) $(BENCHTIME)
else
	@cd test/bench && go build -o $(BIN)/bench-noop ./noop
	@cd test/bench && go build -o $(BIN)/bench-floor ./floor
	@cd test/bench && go run . -bin $(BIN) -out $(CURDIR)/docs/benchmark.md -cases '$(CASES)' -rounds $(ROUNDS)
endif

# KIB is the size of the text of each MarkdownView in KiB.
load: export N ?= 500
load: export KIB ?= 0

.PHONY: load
load: ## Create N MarkdownViews (500) with KIB KiB of text (0) at once, and write a column of the tables in docs/capacity.md.
	E2E_LOAD=$(CURDIR)/docs/capacity.md $(MAKE) e2e RUN=Load NODE=simulated TIMEOUT=$$((25 + $(N) / 50))m

# A full run takes hours, because all tests of the module run for each mutant: the laws in
# package fn test the code in internal and book. With SINCE, only lines that changed since that
# commit are mutated.
.PHONY: mutation
mutation: $(BIN)/gremlins ## Run mutation tests of the function, in the lines changed since SINCE, and report mutants that no test detects.
	$(BIN)/gremlins unleash --workers 1 --timeout-coefficient 40 --output-statuses lct --integration --coverpkg ./... \
		--exclude-files '^(markdownview|release|server|test)/|^main\.go|zz_generated' $(if $(SINCE),--diff $(SINCE))

##@ Release, without Docker

.PHONY: runtime
runtime: export GOTOOLCHAIN := $(RELEASE_GO)
runtime: # Builds the binary of the runtime image for GOARCH, as OUT.
	$(RELEASE_BUILD) -o $(OUT) .

# The image has no date, and its file belongs to root, so every machine builds the same
# bytes. GNU tar and the tar of macOS have different flags for the owner.
TAR_ROOT = $(if $(findstring bsdtar,$(shell tar --version)),--uid 0 --gid 0,--owner=0 --group=0)
metadata = org.opencontainers.image.$(1)
SOURCE := https://github.com/crossplane-contrib/function-markdownview
FUNCTION_DESCRIPTION := Crossplane composition function that serves the Markdown of a MarkdownView as a web book

.PHONY: xpkg
xpkg: $(FUNCTION_PACKAGES) $(CONFIGURATION_PACKAGE) ## Build the packages and their SBOMs into dist.

# A file is moved to its place when it is complete: two runs of make do not conflict.
$(DIST)/function-markdownview-linux-%.xpkg: $(BIN)/crossplane $(BIN)/cyclonedx-gomod $(BIN)/regctl FORCE
	@mkdir -p $(DIST)/linux-$*
	@$(STEP) $(@F) sh -exc 'new=$$(mktemp -d $(DIST)/linux-$*/new.XXXXXX); trap "rm -r $$new" EXIT; \
	mkdir $$new/examples; cp example/platform/composition.yaml example/platform/xr.yaml $$new/examples; \
	$(MAKE) --no-print-directory runtime GOARCH=$* OUT=$$new/function-markdownview; \
	chmod 0555 $$new/function-markdownview; \
	tar -c -f $$new/layer.tar $(TAR_ROOT) --numeric-owner -C $$new function-markdownview; \
	$(BIN)/regctl image create --platform linux/$* ocidir://$$new/image:empty; \
	$(BIN)/regctl image mod ocidir://$$new/image:empty --create runtime --layer-add tar=$$new/layer.tar --time set=1970-01-01T00:00:00Z \
		--config-entrypoint "[\"/function-markdownview\"]" --user 65532:65532 --expose-add 9443/tcp --expose-add 8080/tcp \
		--label $(call metadata,title)=function-markdownview \
		--label $(call metadata,description)="$(FUNCTION_DESCRIPTION)" \
		--label $(call metadata,source)=$(SOURCE) \
		--label $(call metadata,licenses)=Apache-2.0; \
	$(BIN)/regctl image export --name function-markdownview:$* ocidir://$$new/image:runtime $$new/runtime.tar; \
	$(BIN)/cyclonedx-gomod bin -json -noserial -notimestamp -std -version $(VERSION) -output $$new/sbom.json $$new/function-markdownview; \
	$(BIN)/crossplane xpkg build --package-root=package/function --examples-root=$$new/examples --embed-runtime-image-tarball=$$new/runtime.tar -o $$new/function.xpkg; \
	mv -f $$new/function-markdownview $$new/runtime.tar $(DIST)/linux-$*; \
	mv $$new/sbom.json $(@:.xpkg=.cdx.json); \
	mv $$new/function.xpkg $@'

$(PREVIOUS_PACKAGE): $(BIN)/crossplane $(BIN)/cyclonedx-gomod $(BIN)/regctl FORCE
	@$(STEP) $(@F) test/previous.sh '$(PREVIOUS)' $@

.PHONY: programs
programs: $(PROGRAMS) ## Build the program for authors and its SBOMs into dist.

.PHONY: program
program: export GOTOOLCHAIN := $(RELEASE_GO)
program: # Builds the program for TARGET_OS and GOARCH, as OUT.
	$(RELEASE_BUILD) -ldflags '-s -w -X main.version=$(VERSION)' -o $(OUT) ./markdownview

$(DIST)/markdownview-%: $(BIN)/cyclonedx-gomod FORCE
	@mkdir -p $(DIST)
	@$(STEP) $(@F) sh -exc 'new=$$(mktemp -d $(DIST)/new.XXXXXX); trap "rm -r $$new" EXIT; \
	$(MAKE) --no-print-directory program TARGET_OS=$(firstword $(subst -, ,$*)) GOARCH=$(lastword $(subst -, ,$*)) OUT=$$new/markdownview; \
	$(BIN)/cyclonedx-gomod bin -json -noserial -notimestamp -std -version $(VERSION) -output $$new/sbom.json $$new/markdownview; \
	mv $$new/sbom.json $@.cdx.json; \
	mv $$new/markdownview $@'

$(CONFIGURATION_PACKAGE): $(BIN)/crossplane $(BIN)/release FORCE
	@mkdir -p $(DIST)
	@$(STEP) $(@F) sh -exc 'new=$$(mktemp -d $(DIST)/new.XXXXXX); trap "rm -r $$new" EXIT; mkdir $$new/examples; cp example/xr.yaml $$new/examples; \
	$(BIN)/release --registry=$(PULL_REGISTRY) --version=$(VERSION) package/configuration $$new/package; \
	$(BIN)/crossplane xpkg build --package-root=$$new/package --examples-root=$$new/examples -o $$new/configuration.xpkg; \
	mv $$new/configuration.xpkg $@'

.PHONY: FORCE
FORCE:

# $(call push,NAME,DESCRIPTION,FILES). The description must not contain a comma.
comma := ,
empty :=
push = $(BIN)/crossplane xpkg push --package-files=$(subst $(empty) $(empty),$(comma),$(strip $(3))) \
	-a $(call metadata,title)=$(1) \
	-a '$(call metadata,description)=$(2)' \
	-a $(call metadata,version)=$(VERSION) \
	-a $(call metadata,source)=$(SOURCE) \
	-a $(call metadata,documentation)=$(SOURCE)/blob/main/README.md \
	-a $(call metadata,licenses)=Apache-2.0 \
	-a '$(call metadata,vendor)=The maintainers of function-markdownview' \
	$(REGISTRY)/$(1):$(VERSION)

# As the Crossplane CLI does, regctl connects to a registry with a private address without TLS.
REGCTL = $(BIN)/regctl $(if $(filter localhost:% 127.% 10.% 192.168.%,$(REGISTRY)),--host 'reg=$(firstword $(subst /, ,$(REGISTRY)))$(comma)tls=disabled')
SBOM := application/vnd.cyclonedx+json
digest = @echo "$(REGISTRY)/$(1)@$$($(REGCTL) image digest $(REGISTRY)/$(1):$(VERSION))"

.PHONY: push
push: xpkg $(BIN)/regctl ## Push both packages and the SBOMs to REGISTRY, with the tag VERSION, and print the digests.
	@test -n '$(REGISTRY)' || { echo 'REGISTRY is not set: run "make push REGISTRY=registry.example.com/team VERSION=v0.1.0"' >&2; exit 1; }
	$(call push,function-markdownview,$(FUNCTION_DESCRIPTION),$(FUNCTION_PACKAGES))
	@set -ex; for arch in $(ARCHS); do \
		$(REGCTL) artifact put --subject $(REGISTRY)/function-markdownview:$(VERSION) --platform linux/$$arch \
			--artifact-type $(SBOM) --file-media-type $(SBOM) --file $(DIST)/function-markdownview-linux-$$arch.cdx.json; \
	done
	$(call push,configuration-markdownview,Crossplane configuration with the MarkdownView API and its Composition,$(CONFIGURATION_PACKAGE))
	$(call digest,function-markdownview)
	$(call digest,configuration-markdownview)

$(BIN)/release: $(wildcard release/*.go) release/go.mod release/go.sum
	@$(STEP) release go -C release build -o $(BIN)/release .

# Tools. A binary is rebuilt when its module changes.

TOOL_LDFLAGS := -s
# The RBAC manager serves metrics on :8080 and has no flag to change that, so two control
# planes on one machine would conflict.
# A package specifies the Crossplane versions that it supports, so Crossplane must have
# a version. Before v2.3 the variable was in another package.
CORE_LDFLAGS = -X sigs.k8s.io/controller-runtime/pkg/metrics/server.DefaultBindAddress=0 \
	-X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=$(1) -X github.com/crossplane/crossplane/v2/internal/version.version=$(1)
$(BIN)/crossplane-core: TOOL_LDFLAGS += $(call CORE_LDFLAGS,$(shell \
	sed -n 's|^[[:space:]]*github.com/crossplane/crossplane/v2 \(v[^ ]*\).*|\1|p' test/tools/crossplane/go.mod))

$(BIN)/crossplane-core-%: test/crossplane.sh
	@$(LARGE_HEAP) $(STEP) $(@F) sh -exc 'test/crossplane.sh $* $@.module; \
	go -C $@.module build -ldflags "-s $(call CORE_LDFLAGS,$*)" -o $@ github.com/crossplane/crossplane/v2/cmd/crossplane'

# Tools that compress layers of a package are built with the Go version of releases too.
$(BIN)/crossplane $(BIN)/regctl: export GOTOOLCHAIN := $(RELEASE_GO)

# $(call tool,MODULE FOLDER,BINARY,PACKAGE). The tag removes support for btrfs from
# containerd, which needs a C compiler.
define tool
$(BIN)/$(2): test/tools/$(1)/go.mod test/tools/$(1)/go.sum
	@$(LARGE_HEAP) $(STEP) $(2) go -C test/tools/$(1) build -tags no_btrfs -ldflags '$$(TOOL_LDFLAGS)' -o $(BIN)/$(2) $(3)
endef

$(eval $(call tool,actionlint,actionlint,github.com/rhysd/actionlint/cmd/actionlint))
$(eval $(call tool,benchstat,benchstat,golang.org/x/perf/cmd/benchstat))
$(eval $(call tool,cert-manager,cert-manager,.))
$(eval $(call tool,controller-gen,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen))
$(eval $(call tool,crossplane,crossplane-core,github.com/crossplane/crossplane/v2/cmd/crossplane))
$(eval $(call tool,crossplane-cli,crossplane,github.com/crossplane/cli/v2/cmd/crossplane))
$(eval $(call tool,cyclonedx-gomod,cyclonedx-gomod,github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod))
$(eval $(call tool,function-auto-ready,function-auto-ready,github.com/crossplane/function-auto-ready))
$(eval $(call tool,golangci-lint,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint))
$(eval $(call tool,gremlins,gremlins,github.com/go-gremlins/gremlins/cmd/gremlins))
$(eval $(call tool,regctl,regctl,github.com/regclient/regclient/cmd/regctl))
$(eval $(call tool,source-controller,source-controller,github.com/fluxcd/source-controller))
$(eval $(call tool,traefik,traefik,github.com/traefik/traefik/v3/cmd/traefik))
$(eval $(call tool,kubernetes,etcd,go.etcd.io/etcd/server/v3))
$(foreach name,kubectl kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubelet,$(eval $(call tool,kubernetes,$(name),k8s.io/kubernetes/cmd/$(name))))
$(foreach name,containerd containerd-shim-runc-v2,$(eval $(call tool,kubernetes,$(name),github.com/containerd/containerd/v2/cmd/$(name))))
$(eval $(call tool,kubernetes,kube-state-metrics,k8s.io/kube-state-metrics/v2))
$(eval $(call tool,kubernetes,coredns,./coredns))

$(BIN)/cert-manager: test/tools/cert-manager/main.go
$(BIN)/coredns: test/tools/kubernetes/coredns/main.go
$(BIN)/traefik: test/tools/traefik/lego/acme/commons.go

# The modification time of a file in the module cache is that of its download.
test/tools/traefik/lego/acme/commons.go: test/tools/traefik/lego.sh test/tools/traefik/go.mod
	@test/tools/traefik/lego.sh
	@touch $@

$(BIN)/debian: test/e2e/debian.sh test/debian.sh
	@$(STEP) $(@F) test/e2e/debian.sh $@
	@touch $@

$(BIN)/mdbook-trixie:
	@$(STEP) $(@F) test/debian.sh trixie mdbook

# The fonts are for pages in Latin and Japanese script.
$(BIN)/chromium-trixie:
	@$(STEP) $(@F) test/debian.sh trixie chromium fonts-dejavu-core fonts-vlgothic

# The images of example/search and example/diagrams.
$(BIN)/images: example/images.sh $(wildcard example/*/package-lock.json)
	@$(STEP) $(@F) example/images.sh $@
	@touch $@

$(BIN)/prometheus-trixie:
	@$(STEP) $(@F) test/debian.sh trixie prometheus
