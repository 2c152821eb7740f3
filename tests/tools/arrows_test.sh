#!/usr/bin/env bash
# The tree keeps to the arrows of docs/design.md, and a file that does not is noticed.
set -euo pipefail
source=$1

"$source/tools/check-arrows" "$source"

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/docs" "$tree/include/medley" "$tree/src/core"
cp "$source/docs/design.md" "$tree/docs/"
echo '#include "plan/box.h"' >"$tree/src/core/rng.h"
if found=$("$source/tools/check-arrows" "$tree"); then
  echo "an arrow from core to plan was not noticed" >&2
  exit 1
fi
grep -q 'src/core/rng.h: core may not use plan, but includes "plan/box.h"' <<<"$found"
