#!/usr/bin/env bash
# The tables of docs/benchmarks.md are those of bench/results, and another number is noticed.
set -euo pipefail
source=$1
"$source/tools/bench-tables" --check

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tools" "$work/docs" "$work/bench"
cp "$source/tools/bench-tables" "$work/tools"
cp "$source/docs/benchmarks.md" "$work/docs"
cp -r "$source/bench/results" "$work/bench"
sed -i '/<!-- plain -->/,/<!-- \/plain -->/s/| mixup |/| mixed up |/' "$work/docs/benchmarks.md"
if "$work/tools/bench-tables" --check 2>/dev/null; then
  echo "tools/bench-tables --check takes a changed table" >&2
  exit 1
fi
"$work/tools/bench-tables" >/dev/null
cmp "$source/docs/benchmarks.md" "$work/docs/benchmarks.md"
