#!/usr/bin/env bash
# README.md: its numbers are those of the results in the tree, and its commands run in an empty
# folder with a fresh build; what they leave is not offered to git. Training is cut short.
set -euo pipefail
source=$1
program=$2
"$source/tools/readme" --check

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$(dirname "$program")" "$work/build"
cd "$work"
commands=0
while read -r -a words; do
  if [[ ${words[1]} == train ]]; then
    [[ -x build/medley-nn && -d /usr/share/datasets/fashion-mnist ]] || continue
    mapfile -t words < <(printf '%s\n' "${words[@]}" | sed '/^--epochs$/,+1d')
    words+=(--epochs 1 --train-images 20 --test-images 10)
  fi
  "${words[@]}" >said 2>&1 || {
    echo "failed: ${words[*]}: $(cat said)" >&2
    exit 1
  }
  commands=$((commands + 1))
done < <(sed -n 's/^    \(build\/medley .*\)/\1/p' "$source/README.md")
[[ $commands -ge 5 ]] || {
  echo "README.md has only $commands commands of build/medley" >&2
  exit 1
}
rm said
if git -C "$source" rev-parse 2>/dev/null; then
  for name in *; do
    [[ ! -d $name ]] || name+=/
    git -C "$source" check-ignore -q "$name" || {
      echo "git does not ignore $name" >&2
      exit 1
    }
  done
fi
