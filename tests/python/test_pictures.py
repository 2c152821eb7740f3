"""Contact sheets and drawn pictures."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import medley
import medley.data


def test_a_sheet_is_an_array_that_a_notebook_shows(tmp_path):
    what = ("hmix", medley.GMix(form="paper"))
    sheet = medley.show(*what, tile=16, lams=[0.3, 0.7])
    assert sheet.dtype == np.uint8 and sheet.ndim == 3 and sheet.shape[2] == 3
    assert sheet._repr_png_().startswith(b"\x89PNG")
    sheet.save(tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").read_bytes() == sheet._repr_png_()
    assert np.array_equal(sheet, medley.show(*what, tile=16, lams=[0.3, 0.7]))
    assert (sheet.astype(float) * 2)._repr_png_() is None


def test_sheets_pickle():
    sheet = medley.show("hmix", tile=16, lams=[0.5])
    again = pickle.loads(pickle.dumps(sheet))
    assert type(again) is type(sheet) and np.array_equal(again, sheet)
    read = "import pickle, sys; print(pickle.load(sys.stdin.buffer)._repr_png_()[:4])"
    done = subprocess.run(
        [sys.executable, "-c", read], input=pickle.dumps(sheet), capture_output=True, check=True
    )
    assert done.stdout.strip() == b"b'\\x89PNG'"


def test_parts_of_a_sheet_are_shown_if_they_are_pictures():
    sheet = medley.show("hmix", tile=16, lams=[0.5])
    for part in (sheet[4:, 3:], sheet[..., 0], sheet[::2, ::-1]):
        assert part._repr_png_().startswith(b"\x89PNG")
    for part in (sheet[..., :2], sheet[:0], sheet[:, :0], sheet[0, 0], sheet[None], sheet[..., :0]):
        assert part._repr_png_() is None


def test_every_method_and_own_pictures():
    cat, dog = medley.data.synthetic(2, size=(24, 32))[0]
    assert medley.show(images=[cat, dog[:, :, 0]], tile=16).shape[0] > 16 * 12
    with pytest.raises(ValueError, match="an image must be uint8 of shape H, W, 3"):
        medley.show("mixup", images=[cat.astype(float)])
    with pytest.raises(ValueError, match="tile"):
        medley.show("mixup", tile=4)


def test_synthetic_pictures():
    images, labels = medley.data.synthetic(14, size=16, seed=1)
    assert images.shape == (14, 16, 16, 3) and images.dtype == np.uint8
    assert labels.tolist() == [*range(12), 0, 1]
    assert len(medley.data.classes) == 12
    later, later_labels = medley.data.synthetic(4, size=16, seed=1, first=10)
    assert np.array_equal(later, images[10:]) and np.array_equal(later_labels, labels[10:])
