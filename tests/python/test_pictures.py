"""Contact sheets and drawn pictures."""

from __future__ import annotations

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
