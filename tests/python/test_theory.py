"""Theory as arrays."""

from __future__ import annotations

import numpy as np
import pytest

import medley
import medley.theory as theory


def test_coefficients_are_those_of_the_masks():
    moments = theory.coefficients("cutmix", (6, 8), lam=0.5, placement="wrap")
    plan = medley.CutMix(lam=0.5, placement="wrap", seed=1).plan(batch=20000, size=(6, 8))
    partner = 1 - medley.masks(plan)
    assert moments.means.shape == moments.map.shape == (6, 8)
    # Standard error of a mean of 20000 values in [0, 1]: below 0.0036.
    assert np.abs(moments.means - partner.mean(0)).max() < 0.018
    second = np.einsum("bj,bk->jk", *[partner.reshape(20000, -1)] * 2) / 20000
    assert moments.matrix.shape == (48, 48)
    assert np.abs(moments.matrix - second).max() < 0.018
    assert moments.second((0, 1), (2, 3)) == moments.matrix[1, 2 * 8 + 3]
    v = np.arange(48.0).reshape(6, 8)
    assert np.isclose(moments.quadratic(v), v.ravel() @ moments.matrix @ v.ravel())


def test_mixup_in_closed_form():
    assert np.allclose(theory.coefficients("mixup", 4, lam=0.3).map, 0.49)
    # Uniform lam, kept label: E[(1 - lam)^2] = 1/6, E[1 - lam] = 1/3.
    effective = theory.effective_coefficients(medley.Mixup(), 4)
    assert np.allclose(effective.map, 1 / 6)
    assert np.allclose(effective.means, 1 / 3)


def test_monte_carlo_agrees():
    options = {"lam": 0.4, "ratio": 0.5}
    exact = theory.coefficients("hmix", 8, **options)
    shown, means = theory.monte_carlo("hmix", 8, draws=20000, seed=3, **options)
    assert (np.abs(shown.value - exact.map) <= 6 * shown.error + 1e-9).all()
    assert (np.abs(means.value - exact.means) <= 6 * means.error + 1e-9).all()


def test_two_moons():
    task = theory.TwoMoons("mixup")
    assert task.x.shape == (100, 2) and set(task.y) == {0.0, 1.0}
    zero = (0.0, 0.0, 0.0)
    assert np.isclose(task.exact(zero), np.log(2))
    trace = task.descend(steps=20, every=10)
    assert [s.step for s in trace] == [0, 10, 20]
    assert trace[-1].exact < trace[0].exact
    best = task.minimize("exact")
    assert best.exact <= trace[-1].exact
    assert task.accuracy(best.model) > 0.8
    assert len(task.approximate(best.model)) == 4


def test_designs():
    profile = theory.profile("smooth", 0.5, (4, 4))
    report = theory.check_design(profile, 0.5)
    assert profile.shape == (4, 4) and report["feasible"]
    wrong = profile.copy()
    wrong[0, 1] = 2
    assert not theory.check_design(wrong, 0.5)["feasible"]
    nearest = theory.nearest_feasible(wrong, 0.5)
    assert nearest.shape == (16, 16)
    assert theory.check_design(nearest, 0.5, size=(4, 4))["distance"] < 1e-6
    with pytest.raises(ValueError, match="a profile must have the shape H, W"):
        theory.check_design(np.zeros(4), 0.5)


def test_gradient_products():
    gradients = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    largest, mean = theory.partial_grad_prod(gradients, normalize="none")
    size = np.sqrt((gradients**2).sum(1))
    assert largest.shape == mean.shape == (7, 9)
    products = size[:, :3, :4] * size[:, 1:, 1:]  # displacement (1, 1)
    assert np.isclose(mean[4, 5], products.max((1, 2)).mean())
    assert np.isclose(largest[3, 4], (size**2).max())
    with pytest.raises(ValueError, match="magnitude must be one of euclidean"):
        theory.partial_grad_prod(gradients, magnitude="l3")


def test_errors_are_the_librarys():
    with pytest.raises(ValueError):
        theory.coefficients("cutmix", 8)  # no lam
    with pytest.raises(TypeError, match="mixup has no option ratio"):
        theory.coefficients("mixup", 8, lam=0.5, ratio=0.5)
