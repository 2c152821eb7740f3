#!/usr/bin/env bash
# tools/demo in a folder of stubs: it says first what it will do and how long that takes, draws
# before it builds the training engine, trains on photographs where they are and else says that it
# does not, and ends on the page.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*" >&2
  exit 1
}

mkdir -p "$work/tools" "$work/build" "$work/bin"
sed "s|/usr/share/datasets/fashion-mnist|$work/photographs|" "$source/tools/demo" >"$work/tools/demo"
printf '#!/bin/sh\necho "deps $*" >>%s/did\n' "$work" >"$work/tools/install-deps"
printf '#!/bin/sh\necho "medley $*" >>%s/did\n' "$work" >"$work/build/medley"
printf '#!/bin/sh\necho "cmake $*" >>%s/did\n' "$work" >"$work/bin/cmake"
chmod +x "$work"/tools/* "$work"/build/medley "$work"/bin/cmake
mkdir "$work/build/demo"

demo() {
  : >"$work/did"
  PATH="$work/bin:$PATH" bash "$work/tools/demo" >"$work/said" 2>&1 || fail "failed: $(cat "$work/said")"
}
line_of() { grep -n -- "$1" "$work/did" | head -n 1 | cut -d: -f1; }

demo
head -n 1 "$work/said" | grep -q "takes about .* minutes" || fail "it does not begin with its time"
tail -n 2 "$work/said" | grep -q "build/demo/index.html" || fail "it does not end on the page"
[[ $(line_of "medley demo --out build/demo") -lt $(line_of "medley_nn_cli") ]] ||
  fail "pictures wait for the training engine: $(cat "$work/did")"
grep -q "medley sweep --data synthetic" "$work/did" || fail "no training without photographs"
grep -q "Without Fashion-MNIST" "$work/said" || fail "it does not say that photographs are missing"
tail -n 1 "$work/did" | grep -qx "medley demo --page --out build/demo" || fail "the page is not last"

mkdir "$work/photographs"
demo
grep -q "medley sweep --data fashion-mnist --train-images 300" "$work/did" ||
  fail "photographs are not used: $(cat "$work/did")"
! grep -q "Without Fashion-MNIST" "$work/said" || fail "it says that photographs are missing"
