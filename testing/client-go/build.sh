#!/bin/bash
# Builds main.go, an elector of client-go 0.20.2, and prints the path of the program, for CLIENT_GO_ELECTOR. It takes client-go from
# the source package `kubernetes` (1.20.2) of Debian 12, and needs Go, apt-get and the package golang-github-modern-go-reflect2-dev.
# The program is kept in ${CLIENT_GO_CACHE:-$HOME/.cache/client-go-0.20.2}, with the source: a second call returns at once, and a
# call after a change of main.go in seconds.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cache=${CLIENT_GO_CACHE:-$HOME/.cache/client-go-0.20.2}
program=$cache/elector-$(sha256sum "$here/main.go" | cut -c1-16)
if [ -x "$program" ]; then
  echo "$program"
  exit 0
fi

# Only the path goes to the output.
exec 3>&1 1>&2
kubernetes=$cache/src/k8s.io/kubernetes

fetch() {
  local work mirror apt
  work=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  mirror=$(awk '/^URIs/ { print $2; exit }' /etc/apt/sources.list.d/debian.sources)
  printf 'deb-src %s bookworm main\n' "$mirror" >"$work/sources.list"
  mkdir -p "$work/lists/partial" "$work/unpacked" "$(dirname "$kubernetes")"
  apt=(-o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::Lists="$work/lists" -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" update -qq
  (cd "$work" && apt-get "${apt[@]}" source -qq --download-only kubernetes)
  tar -xzf "$work"/kubernetes_*.orig.tar.gz -C "$work/unpacked" --strip-components=1
  # The vendored reflect2 does not work with a Go of today; the one of Debian does.
  rm -rf "$work/unpacked/vendor/github.com/modern-go/reflect2"
  cp -rL /usr/share/gocode/src/github.com/modern-go/reflect2 "$work/unpacked/vendor/github.com/modern-go/reflect2"
  rm -rf "$kubernetes"
  mv "$work/unpacked" "$kubernetes"
}

for missing in go apt-get; do
  command -v "$missing" >/dev/null || { echo "client-go cannot be built: there is no $missing"; exit 1; }
done
[ -d /usr/share/gocode/src/github.com/modern-go/reflect2 ] || { echo 'client-go cannot be built: install golang-github-modern-go-reflect2-dev'; exit 1; }
[ -d "$kubernetes" ] || fetch

# Within the tree of Kubernetes, whose vendor folder has client-go and all that it needs.
mkdir -p "$kubernetes/cmd/elector"
cp "$here/main.go" "$kubernetes/cmd/elector/main.go"
cd "$kubernetes"
GOPATH=$cache GO111MODULE=off CGO_ENABLED=0 GOFLAGS='' GOCACHE=$cache/gocache go build -o "$program" ./cmd/elector
echo "$program" >&3
