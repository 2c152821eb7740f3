"""The package as it is shipped."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from conftest import SOURCE

import medley


def backend():
    path = SOURCE / "python" / "packaging" / "medley_build.py"
    spec = importlib.util.spec_from_file_location("medley_build", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_is_that_of_cmake():
    assert medley.__version__ == backend().version()


def test_stubs_name_what_the_extension_has():
    stub = (Path(medley.__file__).parent / "_core.pyi").read_text()
    for name in dir(medley._core):
        if not name.startswith("__"):
            assert f"def {name}(" in stub or f"class {name}:" in stub or f"{name}:" in stub, name


def test_a_wheel_installs_into_a_clean_environment(tmp_path, monkeypatch):
    pytest.importorskip("ensurepip", reason="python3-venv is not installed")
    build = backend()
    # The extension is the one under test; building it again would take minutes.
    monkeypatch.setattr(build, "_build_package", lambda settings: Path(medley.__file__).parent)
    name = build.build_wheel(str(tmp_path))
    with zipfile.ZipFile(tmp_path / name) as wheel:
        assert wheel.testzip() is None
        names = wheel.namelist()
    assert "medley/py.typed" in names and "medley/_core.pyi" in names
    assert not any("__pycache__" in n for n in names)

    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    environment = {"PATH": "/usr/bin:/bin"}
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-index", str(tmp_path / name)],
        check=True, env=environment,
    )  # fmt: skip
    # Without NumPy: buffers in, memory views out.
    program = (
        "import array, medley\n"
        "x = memoryview(array.array('f', range(32))).cast('B').cast('f', (2, 1, 4, 4))\n"
        "x, y = medley.HMix(seed=1)(x, [0, 1])\n"
        "assert x.shape == (2, 1, 4, 4) and x.format == 'f' and len(y) == 2\n"
        "print(medley.__version__)\n"
    )
    done = subprocess.run(
        [python, "-c", program], check=True, capture_output=True, text=True, env=environment
    )
    assert done.stdout.strip() == medley.__version__


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
