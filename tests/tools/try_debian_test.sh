#!/usr/bin/env bash
# tools/try-debian with stubs in place of debootstrap, chroot and mounts: it runs the README's two
# commands in a new system, its mounts and the system are gone afterwards, also where a command fails,
# and who is not root is told so.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*" >&2
  exit 1
}

mkdir -p "$work/repository/tools" "$work/bin"
cp "$source/tools/try-debian" "$work/repository/tools/"
cd "$work/repository"
git init -q .
git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first
system=$work/repository/build/debian-trixie

stub() {
  { echo '#!/bin/bash' && cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
stub id <<<'echo 0'
stub debootstrap <<EOS
echo "debootstrap \$*" >>"$work/did"
mkdir -p "$system"/{etc,root,dev,proc,usr/local/share,usr/sbin}
echo 13.0 >"$system/etc/debian_version"
EOS
stub chroot <<EOS
echo "chroot \$*" >>"$work/did"
[[ "\$*" != *"fails"* ]]
EOS
stub mount <<EOS
echo "\${@: -1}" >>"$work/mounted"
EOS
stub umount <<EOS
grep -vxF "\$1" "$work/mounted" >"$work/rest"
mv "$work/rest" "$work/mounted"
EOS
stub mountpoint <<EOS
grep -qxF "\$2" "$work/mounted"
EOS
export PATH="$work/bin:$PATH"

try() {
  : >"$work/did"
  : >"$work/mounted"
  tools/try-debian "$@" >"$work/said" 2>&1
}
is_clean() { [[ ! -s "$work/mounted" ]] || fail "still mounted: $(cat "$work/mounted")"; }

try trixie || fail "it fails: $(cat "$work/said")"
is_clean
[[ ! -e "$system" ]] || fail "the system stays"
grep -q "^debootstrap .* trixie $system http" "$work/did" || fail "$(cat "$work/did")"
grep -q "cd /srv/medley && make demo && make test$" "$work/did" || fail "$(cat "$work/did")"

! try trixie --command "this fails" || fail "a failed command passes"
is_clean
[[ ! -e "$system" ]] || fail "the system stays after a failure"

try trixie --keep --command true || fail "it fails: $(cat "$work/said")"
is_clean
[[ -e "$system" ]] || fail "the system is not kept"
try trixie --command true || fail "it fails: $(cat "$work/said")"
! grep -q debootstrap "$work/did" || fail "a kept system is made anew"

! try || fail "it takes no suite"
! try trixie --sharp || fail "it takes any option"
stub id <<<'echo 1000'
! try trixie || fail "it begins without root"
grep -q "only root can" "$work/said" || fail "it does not say why: $(cat "$work/said")"
