"""Examples and documents run."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import SOURCE

TRAIN = SOURCE / "examples" / "python" / "train_cifar.py"
TINY = ["--epochs", "2", "--count", "48", "--batch", "16", "--width", "4", "--workers", "1"]


def train(*arguments):
    done = subprocess.run(
        [sys.executable, str(TRAIN), *TINY, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_training_runs_and_continues(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    whole = train("--method", "gmix")
    assert re.fullmatch(r"(epoch \d: loss \d\.\d{4}, accuracy [01]\.\d{4}\n){2}", whole)
    checkpoint = str(tmp_path / "run.pt")
    train("--method", "gmix", "--checkpoint", checkpoint)
    assert train("--method", "gmix", "--checkpoint", checkpoint, "--epochs", "2") == ""


def blocks(name):
    text = (SOURCE / "docs" / name).read_text()
    return re.findall(r"```python\n(.*?)```", text, re.S)


def test_the_guide_runs(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    for block in blocks("python.md"):
        exec(compile(block, "docs/python.md", "exec"), scope)
