"""The distribution medley-mix: as pip installed it, and its sdist."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

import medley

SOURCE = Path(__file__).parents[2]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_version_is_that_of_the_package():
    assert importlib.metadata.version("medley-mix") == medley.__version__


def test_the_package_is_the_installed_one():
    assert Path(medley.__file__).is_relative_to(sysconfig.get_path("platlib"))
    names = {str(file) for file in importlib.metadata.files("medley-mix")}
    for name in ("medley/py.typed", "medley/_core.pyi", "medley/timm.py"):
        assert name in names
    notices = ("LICENSE", "THIRD-PARTY-LICENSES.txt", "FONT-LICENSE.txt")
    assert all(any(name.endswith(notice) for name in names) for notice in notices)


def test_the_program_is_on_the_path():
    program = Path(sysconfig.get_path("scripts")) / "medley"
    assert run(program, "--version").split()[-1] == medley.__version__
    assert json.loads(run(program, "info", "--json"))["version"] == medley.__version__
    plan = run(program, "plan", "--batch", "2", "--height", "4", "--width", "4", "--json")
    assert len(medley.Plan.from_json(plan)) == 2
    size = ("--height", "4", "--width", "4")
    assert "mixup" in run(program, "theory", "coefficients", "--method", "mixup",
                         "--lam", "0.5", *size)  # fmt: skip
    assert "mix" in run(program, "mix", "--help")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    out = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "build", "--sdist", "--outdir", out, SOURCE)
    return next(out.glob("medley_mix-*.tar.gz"))


def test_the_sdist_holds_what_a_build_needs_and_no_more(sdist, tmp_path):
    run(sys.executable, "-m", "twine", "check", "--strict", sdist)
    with tarfile.open(sdist) as archive:
        if hasattr(tarfile, "data_filter"):  # not in Debian 12's Python
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(tmp_path)
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    built = ("CMakeLists.txt", "LICENSE", "PKG-INFO", "THIRD-PARTY-LICENSES.txt", "pyproject.toml")
    folders = ("cmake/", "include/", "python/", "recipes/", "results/demo/", "src/")
    assert {name for name in names if not name.startswith(folders)} == set(built)
    assert not any("__pycache__" in name or name.endswith(".so") for name in names)
    # A file that the build names and the archive lacks would be an error here.
    (source,) = tmp_path.iterdir()
    run("cmake", "-G", "Ninja", "-S", source, "-B", tmp_path / "build",
        "-DMEDLEY_BUILD_TESTS=OFF", "-DMEDLEY_BUILD_PYTHON=ON",
        f"-DMEDLEY_PYTHON={sys.executable}")  # fmt: skip


def test_documents_name_the_pinned_versions():
    lines = (SOURCE / "tests/frameworks/requirements.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    text = " ".join((SOURCE / "docs/testing.md").read_text().split())
    shown = ("PyTorch", "torchvision", "timm", "kornia", "Lightning", "Accelerate", "NumPy")
    for word in shown:
        name = word.lower().removeprefix("py")
        assert f"{word} {pinned[name]}" in text
        assert importlib.metadata.version(name).split("+")[0] == pinned[name]
    assert f"timm {pinned['timm']}" in (SOURCE / "docs/python.md").read_text()
