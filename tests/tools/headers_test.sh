#!/usr/bin/env bash
# Every public header compiles alone, with the compiler of the build and with clang, without private
# folders and without the libraries that ours are built with; and says what its types and functions
# are for.
set -euo pipefail
source=$1 generated=$2 compiler=$3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compilers=("$compiler")
if command -v clang++ >/dev/null; then compilers+=(clang++); fi
cd "$source/include"
find medley -name '*.h' | sort | while read -r header; do
  echo "#include \"$header\"" >"$work/${header//\//_}.cc"
done
check() {
  "$1" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$2" -I"$3" "$4"
}
export -f check
for each in "${compilers[@]}"; do
  find "$work" -name '*.cc' -print0 |
    xargs -0 -P "$(nproc)" -I{} bash -c 'check "$@"' _ "$each" "$source/include" "$generated" {}
done

# Declarations without an empty line between them share the comment of the first, types excepted.
find medley -name '*.h' | sort | xargs awk '
  FNR == 1 || /^$/ || /^}/ { comment = 0 }
  /^\/\/\// { comment = 1; next }
  /^(namespace|template|requires|(struct|class) [A-Za-z_]+;)/ || /^[^(]*::[a-z_]+\(/ { next }
  /^[A-Za-z[]/ && !comment { print FILENAME ":" FNR ": without a comment: " $0; wrong = 1 }
  /^(struct|class|enum) / { comment = 0 }
  END { exit wrong }'
