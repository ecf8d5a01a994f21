# Everything here needs Go, make and git, nothing else: tools are built from Go
# modules of their own below test/tools, into $(BIN).
BIN := $(CURDIR)/.bin

.PHONY: build
build: ## Build the function.
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o $(BIN)/function-markdownview .

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
	find package example -name '*.yaml' -not -path 'package/function/input/*' -not -path 'example/invalid/*' -exec test/validate.sh {} +

# --- A real control plane, without Docker ------------------------------------

CONTROL_PLANE := $(addprefix $(BIN)/,crossplane crossplane-core etcd kube-apiserver kube-controller-manager kubectl)
PACKAGES := .run/packages

.PHONY: e2e
e2e: $(CONTROL_PLANE) packages ## Show on a real control plane that every guarantee holds.
	cd test/e2e && go test -count=1 -timeout 25m -parallel 16 $(if $(RUN),-run '$(RUN)') -v .

.PHONY: up
up: $(CONTROL_PLANE) packages ## Start a control plane with everything installed, to try things on.
	@cd test/e2e && go build -o $(BIN)/controlplane ./cmd/controlplane
	@$(BIN)/controlplane up .

.PHONY: down
down: ## Stop the control plane of "make up".
	@$(BIN)/controlplane down .

.PHONY: packages
packages: build $(BIN)/crossplane
	@mkdir -p $(PACKAGES)
	@cd test/e2e && go run ./cmd/packages $(BIN)/function-markdownview ../../$(PACKAGES)/runtime.tar
	@crossplane=$(BIN)/crossplane && \
	$$crossplane xpkg build --package-root=package/function --embed-runtime-image-tarball=$(PACKAGES)/runtime.tar -o $(PACKAGES)/function.xpkg && \
	$$crossplane xpkg build --package-root=package/configuration -o $(PACKAGES)/configuration.xpkg

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

$(eval $(call tool,controller-gen,controller-gen,sigs.k8s.io/controller-tools/cmd/controller-gen))
$(eval $(call tool,crossplane,crossplane-core,github.com/crossplane/crossplane/v2/cmd/crossplane))
$(eval $(call tool,crossplane-cli,crossplane,github.com/crossplane/cli/v2/cmd/crossplane))
$(eval $(call tool,etcd,etcd,go.etcd.io/etcd/server/v3))
$(eval $(call tool,golangci-lint,golangci-lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint))
$(eval $(call tool,kubernetes,kube-apiserver,k8s.io/kubernetes/cmd/kube-apiserver))
$(eval $(call tool,kubernetes,kube-controller-manager,k8s.io/kubernetes/cmd/kube-controller-manager))
$(eval $(call tool,kubernetes,kubectl,k8s.io/kubernetes/cmd/kubectl))
