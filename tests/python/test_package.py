"""The package as it is shipped."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SOURCE

import medley


def test_the_version_is_that_of_cmake():
    stated = re.search(r"project\(medley VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())
    assert medley.__version__ == stated.group(1)


def test_theory_needs_no_import_of_its_own():
    code = "import medley; print(medley.theory.coefficients('mixup', 4, lam=0.5).means[0, 0])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "0.5\n"


def test_the_distribution_is_described():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
    described = tomllib.loads((SOURCE / "pyproject.toml").read_text())
    project = described["project"]
    assert project["name"] == "medley-mix"
    assert any(name.startswith("pybind11") for name in described["build-system"]["requires"])
    for name in [project["readme"], *project["license-files"]]:
        assert (SOURCE / name).is_file(), name
    for name in described["tool"]["scikit-build"]["sdist"]["include"]:
        assert (SOURCE / name.removeprefix("/")).exists(), name


def test_stubs_name_what_the_extension_has():
    stub = (Path(medley.__file__).parent / "_core.pyi").read_text()
    for name in dir(medley._core):
        if not name.startswith("__"):
            assert f"def {name}(" in stub or f"class {name}:" in stub or f"{name}:" in stub, name


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("framework", ["cupy", "jax"])
def test_other_frameworks(framework, dtype):
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    numpy = pytest.importorskip("numpy")
    if framework == "jax":
        import jax.numpy as xp
    else:
        import cupy as xp

        if not medley._core.has_cuda:
            pytest.skip("built without CUDA")
    images = numpy.random.default_rng(0).integers(0, 256, (4, 3, 8, 12)).astype(dtype)
    for method in ("mixup", "cutmix", "hmix", "gmix", "resizemix", "nmixup"):
        x, y = medley.Mix(method, seed=1)(xp.asarray(images), xp.arange(4))
        assert type(x) is type(xp.asarray(images))
        expected, labels = medley.Mix(method, seed=1)(images, numpy.arange(4))
        assert numpy.array_equal(numpy.asarray(x.get() if framework == "cupy" else x), expected)


def test_imports_without_any_framework():
    program = (
        "import sys\n"
        "sys.modules['numpy'] = None\n"
        "import medley\n"
        "assert 'torch' not in sys.modules\n"
        "assert medley.masks(medley.Mixup(seed=1).plan(batch=2, size=4)).shape == (2, 4, 4)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
