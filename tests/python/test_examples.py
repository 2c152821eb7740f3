"""Examples and documents run."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import SOURCE

import medley

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
    text = (SOURCE / name).read_text()
    return re.findall(r"```python\n(.*?)```", text, re.S)


def test_the_guide_runs(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(tmp_path)
    scope: dict = {}
    for block in blocks("docs/python.md"):
        exec(compile(block, "docs/python.md", "exec"), scope)


def test_the_readme_runs():
    scope: dict = {}
    (block,) = blocks("README.md")
    exec(compile(block, "README.md", "exec"), scope)
    assert scope["x"].shape == scope["images"].shape
    assert len(scope["y"].y_b) == len(scope["y"].weight) == 8


def section(title):
    """The lines of a section of the guide."""
    text = (SOURCE / "docs" / "python.md").read_text()
    return re.search(rf"^## {title}$(.*?)(?=^## )", text, re.S | re.M).group(1)


def test_the_calls_of_the_guide_are_calls():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    import medley.timm  # noqa: F401

    calls = re.findall(r"`(medley\.[\w.]+\([^`]*\))`", section("Which method, which numbers"))
    calls = [call for call in calls if "..." not in call]
    assert len(calls) >= 9
    for call in calls:
        assert eval(call, {"medley": medley}) is not None


def test_the_errors_of_the_guide_are_errors():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    images, labels = torch.rand(4, 3, 8, 8), torch.arange(4)
    mix = medley.Mixup(seed=1)
    _, y = mix(images, labels)
    said = []
    for use in (
        lambda: medley.Mixup(mean=(129.3,) * 3, std=(68.2,) * 3)(images),
        lambda: mix(list(images)),
        lambda: mix(images.clone().requires_grad_()),
        lambda: labels == y,
        lambda: labels.eq(y.view_as(labels)),
        lambda: y.soft(),
    ):
        with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
            use()
        said.append(str(caught.value))
    shown = re.findall(r"^\| `([^`]* [^`]*)` \|", section("If something goes wrong"), re.M)
    shown = [text for text in shown if not text.startswith("module")]  # of the other project
    assert len(shown) == len(said)
    for text in shown:
        pattern = re.escape(text).replace("…", ".*")
        assert any(re.search(pattern, message) for message in said), text


def test_statistics_stand_once_in_the_guide():
    text = (SOURCE / "docs" / "python.md").read_text()
    assert text.count("of values in [0, 1], a number per channel") == 1
    assert "max_pixel_value=1" in text
