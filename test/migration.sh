#!/bin/sh
# Runs the commands of docs/migration.md on the resources that the controller of the
# Kubebuilder tutorial creates, and fails if the Service has no ready pod at any time:
# https://github.com/zoetrope/kubebuilder-training/blob/c5db55746a6d0e47c4387d40e0fca34f7e1b1b63/codes/50_completed/internal/controller/markdownview_controller.go
set -eu

cd "$(dirname "$0")/.."
page=$PWD/docs/migration.md
tmp=$(mktemp -d)
poll=
trap '[ -z "$poll" ] || kill $poll; rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
cd "$tmp"

kubectl apply -f - <<EOF
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: markdownviews.view.zoetrope.github.io
spec:
  group: view.zoetrope.github.io
  names: {kind: MarkdownView, listKind: MarkdownViewList, plural: markdownviews, singular: markdownview}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
EOF
kubectl wait --for=condition=Established crd/markdownviews.view.zoetrope.github.io
kubectl create -f - <<EOF
apiVersion: view.zoetrope.github.io/v1
kind: MarkdownView
metadata: {name: handbook}
spec:
  markdowns:
    SUMMARY.md: |
      # Summary

      - [Welcome](welcome.md)
    welcome.md: |
      # Welcome
  replicas: 2
  viewerImage: peaceiris/mdbook:v0.5.0
EOF
owner="{apiVersion: view.zoetrope.github.io/v1, kind: MarkdownView, name: handbook, controller: true, blockOwnerDeletion: true,
  uid: $(kubectl get markdownviews.view.zoetrope.github.io handbook -o jsonpath='{.metadata.uid}')}"
labels='{app.kubernetes.io/name: mdbook, app.kubernetes.io/instance: handbook, app.kubernetes.io/created-by: markdown-view-controller}'
probe='{httpGet: {port: http, path: /, scheme: HTTP}}'
kubectl create --field-manager=manager -f - <<EOF
apiVersion: v1
kind: ConfigMap
metadata: {name: markdowns-handbook, ownerReferences: [$owner]}
data:
  SUMMARY.md: |
    # Summary

    - [Welcome](welcome.md)
  welcome.md: |
    # Welcome
  removed.md: |
    # Removed earlier
EOF
kubectl apply --server-side --force-conflicts --field-manager=markdown-view-controller -f - <<EOF
apiVersion: apps/v1
kind: Deployment
metadata: {name: viewer-handbook, labels: $labels, ownerReferences: [$owner]}
spec:
  replicas: 2
  selector: {matchLabels: $labels}
  template:
    metadata: {labels: $labels}
    spec:
      containers:
      - name: mdbook
        image: peaceiris/mdbook:v0.5.0
        imagePullPolicy: IfNotPresent
        command: [mdbook]
        args: [serve, --hostname, 0.0.0.0]
        workingDir: /book # As in the image of the tutorial.
        volumeMounts: [{name: markdowns, mountPath: /book/src}]
        ports: [{name: http, protocol: TCP, containerPort: 3000}]
        livenessProbe: $probe
        readinessProbe: $probe
      volumes: [{name: markdowns, configMap: {name: markdowns-handbook}}]
---
apiVersion: v1
kind: Service
metadata: {name: viewer-handbook, labels: $labels, ownerReferences: [$owner]}
spec: {type: ClusterIP, selector: $labels, ports: [{protocol: TCP, port: 80, targetPort: 3000}]}
EOF
kubectl rollout status deployment/viewer-handbook --timeout=2m
address=$(kubectl get service viewer-handbook -o jsonpath='{.spec.clusterIP}')

# Writes a line with the names of the ready pods in a loop. If no pod is ready, the line is
# empty.
while :; do
	kubectl get endpointslices -l kubernetes.io/service-name=viewer-handbook \
		-o jsonpath='{range .items[*].endpoints[?(@.conditions.ready==true)]}{.targetRef.name} {end}{"\n"}' >>ready || echo >>ready
done &
poll=$!
until [ "$(grep -c viewer-handbook ready)" -gt 0 ]; do sleep 0.2; done

sed -n '/^ *```shell$/,/^ *```$/ { /```/d; s/^   //; p; }' "$page" | sh -eux
kubectl wait markdownviews.markdownview.fn.crossplane.io handbook --for=condition=Ready --timeout=2m
kill $poll
poll=
if grep -vq viewer-handbook ready; then
	echo "the Service had no ready pod:" >&2
	cat ready >&2
	exit 1
fi
[ "$(kubectl get service viewer-handbook -o jsonpath='{.spec.clusterIP}')" = "$address" ]
kubectl delete markdownviews.markdownview.fn.crossplane.io handbook
kubectl delete crd markdownviews.view.zoetrope.github.io
