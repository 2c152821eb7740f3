#!/usr/bin/env bash
# tools/format in a repository of one file, with stubs in place of clang-format and of pip: another
# version is never asked to format, the pinned one is fetched, and a machine that has neither passes
# --check with a sentence and fails to format.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*" >&2
  exit 1
}

mkdir -p "$work/repository/tools" "$work/bin"
cp "$source/tools/format" "$work/repository/tools/"
cd "$work/repository"
git init -q .
echo 'int  main( ) { }' >main.cc

# A formatter of that version which logs that it was asked to.
formatter() {
  printf '#!/bin/sh\ncase "$1" in --version) echo "clang-format version %s";; *) echo "%s $*" >>%s;; esac\n' \
    "$1" "$1" "$work/asked"
}
stub() {
  cat >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
formatter 19.1.7 | stub clang-format
formatter 19.1.7 | stub clang-format-14
export PATH="$work/bin:$PATH"

# No version 14, and a pip without network.
stub python3 <<<'exit 1'
said=$(tools/format --check 2>&1) || fail "--check fails where the formatter cannot be had: $said"
[[ "$said" == *"the format cannot be checked: clang-format 14"* ]] || fail "it does not say so: $said"
! tools/format 2>/dev/null || fail "formatting passes without a formatter"
[[ ! -e "$work/asked" ]] || fail "another version was asked: $(cat "$work/asked")"

# A pip that brings the wheel.
formatter 14.0.6 >"$work/wheel"
stub python3 <<EOS
#!/bin/sh
while [ "\$1" != --target ]; do shift; done
mkdir -p "\$2/clang_format/data/bin"
install -m 755 "$work/wheel" "\$2/clang_format/data/bin/clang-format"
EOS
tools/format --check 2>/dev/null | grep -qx "1 files are formatted" || fail "the wheel is not used"
[[ "$(cat "$work/asked")" == "14.0.6 --dry-run --Werror main.cc" ]] || fail "$(cat "$work/asked")"

# Fetched once: from then on pip is not needed.
stub python3 <<<'exit 1'
tools/format 2>/dev/null || fail "the wheel is fetched each time"
[[ "$(tail -n 1 "$work/asked")" == "14.0.6 -i main.cc" ]] || fail "$(cat "$work/asked")"
