#!/usr/bin/env bash
# tools/test-frameworks with stubs in place of Python and CMake: the environment is made once and anew
# for other versions, a failed test or download fails the run, and a machine without PyPI is told so.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*" >&2
  exit 1
}

mkdir -p "$work/repository/tools" "$work/repository/tests/frameworks" "$work/bin"
cp "$source/tools/test-frameworks" "$work/repository/tools/"
cp "$source/tests/frameworks/requirements.txt" "$work/repository/tests/frameworks/"
cd "$work/repository"

# A Python that logs its arguments, makes environments, and fails at what $work/fails names.
cat >"$work/bin/python3" <<EOS
#!/bin/sh
echo "python \$*" >>"$work/did"
case "\$*" in
  *torch.utils.cmake_prefix_path*) echo /torch; exit;;
esac
[ "\$1 \$2" != "-m venv" ] || { mkdir -p "\$3/bin"; cp "\$0" "\$3/bin/python"; }
! [ -s "$work/fails" ] || case "\$*" in *\$(cat "$work/fails")*) exit 1;; esac
EOS
# A CMake that logs its arguments and builds a medley that logs its own, on the LibTorch in $work/folder.
cat >"$work/bin/cmake" <<EOS
#!/bin/sh
echo "cmake \$*" >>"$work/did"
[ "\$1" != --build ] || cp "$work/bin/medley" "\$2/medley"
EOS
cat >"$work/bin/medley" <<EOS
#!/bin/sh
echo "medley \$*" >>"$work/did"
echo '{"training":{"libtorch":"'\$(sed -n 's/^torch==//p' tests/frameworks/requirements.txt)\\
'","folder":"'\$(cat "$work/folder")'"}}'
EOS
chmod +x "$work"/bin/*
mkdir -p build/frameworks/build
echo /torch/lib >"$work/folder"
export PATH="$work/bin:$PATH" PYTHON="$work/bin/python3"

run() {
  : >"$work/did"
  printf %s "${1:-}" >"$work/fails"
  tools/test-frameworks >"$work/said" 2>&1
}
did() { grep -q -- "$1" "$work/did"; }

! run "-r tests/frameworks/requirements.txt" || fail "it passes without what it needs"
grep -q "needs PyPI" "$work/said" || fail "it does not say what is missing: $(cat "$work/said")"

run || fail "it fails: $(cat "$work/said")"
! did "python -m venv" || fail "a second environment is made"
did "install .* -r tests/frameworks/requirements.txt" || fail "a failed download is not repeated"
did "pytest .*-p no_skips.* tests/frameworks" || fail "a test may skip: $(cat "$work/did")"
did "pytest .*-p no_skips.* tests/python" || fail "a test may skip: $(cat "$work/did")"

run || fail "it fails the second time: $(cat "$work/said")"
! did "requirements.txt" || fail "the environment is not kept"
echo "another==1.0" >>tests/frameworks/requirements.txt
run || fail "it fails with other versions: $(cat "$work/said")"
did "requirements.txt" || fail "other versions are not installed"
did "cmake .*-DCMAKE_PREFIX_PATH=/torch" || fail "the engine is not built on PyTorch: $(cat "$work/did")"
did "medley train .*--epochs 2" || fail "the engine trains nothing: $(cat "$work/did")"

echo /usr/lib >"$work/folder"
! run || fail "another LibTorch passes"
grep -q "does not run on PyTorch's LibTorch" "$work/said" || fail "it does not say so: $(cat "$work/said")"
! run "tests/frameworks" || fail "a failed test passes"
