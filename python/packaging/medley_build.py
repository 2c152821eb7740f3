"""A PEP 517 backend over CMake: builds the extension, packs the wheel. Standard library only.

Needs what tools/install-deps installs. Options by `--config-settings`: `cmake=-DNAME=VALUE` (more
than one: separated by spaces) and `jobs=N`; the CUDA backend is `cmake=-DMEDLEY_BUILD_CUDA=ON`.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EPOCH = (1980, 1, 1, 0, 0, 0)  # wheels of the same sources have the same bytes


def version() -> str:
    """The version that CMakeLists.txt states."""
    text = (ROOT / "CMakeLists.txt").read_text()
    found = re.search(r"project\(medley VERSION ([0-9.]+)", text)
    if found is None:
        raise RuntimeError("CMakeLists.txt does not state the version")
    return found.group(1)


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def _metadata() -> str:
    project = _project()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {version()}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"Requires-Python: {project['requires-python']}",
    ]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {package} ; extra == "{extra}"' for package in packages]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (ROOT / project["readme"]).read_text()


def _tag() -> str:
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return f"{python}-{python}-{platform}"


def _wheel_file() -> str:
    return (
        "Wheel-Version: 1.0\nGenerator: medley_build\nRoot-Is-Purelib: false\n"
        f"Tag: {_tag()}\n"
    )


def _build_package(settings: dict[str, Any] | None) -> Path:
    """Builds the extension; returns the folder of the complete package."""
    settings = settings or {}
    build = ROOT / "build" / "wheel"
    options = str(settings.get("cmake", "")).split()
    jobs = str(settings.get("jobs", os.environ.get("JOBS", os.cpu_count() or 1)))
    subprocess.run(
        [
            "cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja",
            "-DCMAKE_BUILD_TYPE=Release", "-DMEDLEY_BUILD_PYTHON=ON", "-DMEDLEY_BUILD_TESTS=OFF",
            "-DMEDLEY_BUILD_CLI=OFF", f"-DMEDLEY_PYTHON={sys.executable}", *options,
        ],
        check=True,
    )  # fmt: skip
    subprocess.run(
        ["cmake", "--build", str(build), "-j", jobs, "--target", "medley_python"], check=True
    )
    return build / "python" / "medley"


class _Wheel:
    """A wheel that is being written; closing it adds the RECORD."""

    def __init__(self, path: Path, info: str) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._info = info
        self._record: list[str] = []

    def add(self, name: str, content: bytes, mode: int = 0o644) -> None:
        entry = zipfile.ZipInfo(name, EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100000 | mode) << 16
        self._zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(content)}")

    def close(self) -> None:
        name = f"{self._info}/RECORD"
        self._zip.writestr(
            zipfile.ZipInfo(name, EPOCH), "\n".join([*self._record, f"{name},,", ""])
        )
        self._zip.close()


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    package = _build_package(config_settings)
    name = f"medley-{version()}-{_tag()}.whl"
    info = f"medley-{version()}.dist-info"
    Path(wheel_directory).mkdir(parents=True, exist_ok=True)
    wheel = _Wheel(Path(wheel_directory) / name, info)
    sources = ROOT / "python" / "medley"
    files = {p.relative_to(sources): p for p in sources.rglob("*") if p.is_file()}
    files = {k: p for k, p in files.items() if "__pycache__" not in k.parts}
    extension = "_core" + sysconfig.get_config_var("EXT_SUFFIX")
    files[Path(extension)] = package / extension
    for relative, path in sorted(files.items()):
        mode = 0o755 if relative.suffix == ".so" else 0o644
        wheel.add(f"medley/{relative.as_posix()}", path.read_bytes(), mode)
    wheel.add(f"{info}/METADATA", _metadata().encode())
    wheel.add(f"{info}/WHEEL", _wheel_file().encode())
    wheel.add(f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())
    wheel.close()
    return name


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    base = f"medley-{version()}"
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    Path(sdist_directory).mkdir(parents=True, exist_ok=True)
    with tarfile.open(Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        for name in filter(None, listed):
            archive.add(ROOT / name, f"{base}/{name}", recursive=False)
        content = _metadata().encode()
        entry = tarfile.TarInfo(f"{base}/PKG-INFO")
        entry.size = len(content)
        import io

        archive.addfile(entry, io.BytesIO(content))
    return f"{base}.tar.gz"


if __name__ == "__main__":
    print(build_wheel(sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "dist")))
