"""What mixing regularizes: coefficients, two moons, designs and gradient products, as NumPy arrays.

N = 1 - M is the partner's weight. The regularization coefficients of a method are the second
moments E[N_j N_k] of its masks; the effective ones are what multiplies gradients and Hessians in
the expansion of the mixed loss.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _core
from ._arrays import numpy_framework, on_host
from ._checks import real_number, real_numbers, seed_number, true_or_false, whole_number, word
from .mixers import Mix

__all__ = [
    "Estimate",
    "Moments",
    "Step",
    "TwoMoons",
    "check_design",
    "coefficients",
    "effective_coefficients",
    "monte_carlo",
    "nearest_feasible",
    "partial_grad_prod",
    "profile",
]


def _array(buffer: _core.Buffer) -> Any:
    return numpy_framework().adopt(buffer)


def _policy(method: str | Mix, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    options = {name: on_host(value) for name, value in options.items()}
    if isinstance(method, Mix):
        return method.method, {**method.options, **options}
    return word("method", method), options


def _plane_model(model: Any) -> list[float]:
    values = real_numbers("model", model, "two slopes and a bias")
    if len(values) != 3:
        raise ValueError(f"model must be two slopes and a bias, got {len(values)} numbers")
    return list(values)


class Moments:
    """Exact first and second moments of the partner's weight over the pixels of a mask."""

    def __init__(self, core: Any) -> None:
        self._core = core

    @property
    def means(self) -> Any:
        """E[N_j], float64 of shape (H, W)."""
        return _array(self._core.means())

    @property
    def map(self) -> Any:
        """The displacement map, float64 of shape (H, W): entry (dy, dx) is the average of
        E[N_i N_(i + (dy, dx))] over the pixels i for which both lie in the image."""
        return _array(self._core.map())

    @property
    def matrix(self) -> Any:
        """E[N_j N_k] for all pairs of pixels, float64 of shape (P, P), P = H*W <= 4096."""
        return _array(self._core.matrix())

    def second(self, j: tuple[int, int], k: tuple[int, int]) -> float:
        """E[N_j N_k] for two pixels j and k, (row, column)."""
        return self._core.second(j, k)

    def quadratic(self, v: Any) -> float:
        """The sum over pairs of pixels of v_j E[N_j N_k] v_k, for v of shape (H, W)."""
        return self._core.quadratic(on_host(v))


def coefficients(method: str | Mix, size: int | tuple[int, int], **options: Any) -> Moments:
    """The coefficients of a method at a fixed `lam`: `coefficients("hmix", 32, lam=0.5)`.

    method: a name or a mixer; options as for `medley.Mix`. size: (H, W) or one number.
    """
    name, policy = _policy(method, options)
    return Moments(_core.theory.coefficients(name, policy, size, False))


def effective_coefficients(
    method: str | Mix, size: int | tuple[int, int], **options: Any
) -> Moments:
    """The effective coefficients, lam drawn by the method's law unless `lam` is given.

    method, size, options: as those of `coefficients`.
    """
    name, policy = _policy(method, options)
    return Moments(_core.theory.coefficients(name, policy, size, True))


class Estimate(NamedTuple):
    """A value with its standard error per entry, float64 of shape (H, W) each."""

    value: Any
    error: Any


def monte_carlo(
    method: str | Mix,
    size: int | tuple[int, int],
    *,
    draws: int = 100_000,
    seed: int = 0,
    effective: bool = False,
    clip: bool = False,
    threads: int = 0,
    **options: Any,
) -> tuple[Estimate, Estimate]:
    """The displacement map and the means, estimated from masks that the sampler draws.

    For every method, also those without closed forms (fmix, custom).

    method, size, options: as those of `coefficients`. draws: masks. seed: of the draws. effective:
    the effective coefficients. clip: masks are cut to [0, 1]. threads: 0 for all cores.
    """
    name, policy = _policy(method, options)
    found = _core.theory.monte_carlo(
        name, policy, size, whole_number("draws", draws), seed_number(seed),
        true_or_false("effective", effective), true_or_false("clip", clip),
        whole_number("threads", threads),
    )  # fmt: skip
    shown, means = (Estimate(_array(value), _array(error)) for value, error in found)
    return shown, means


class Step(NamedTuple):
    """A point of a training run on the two moons: after `step` steps the model (slopes and bias) has
    this exact loss, and this approximate one."""

    step: int
    model: tuple[float, float, float]
    exact: float
    approximate: float


class TwoMoons:
    """The paper's experiment on two half moons of 50 points each: how well the expansion follows
    the mixed loss of a logistic regression.

    method: "mixup" or "bernoulli". centered: the points have mean 0. A model is its two slopes and
    its bias.
    """

    def __init__(self, method: str = "mixup", centered: bool = True) -> None:
        self._core = _core.theory.TwoMoons(word("method", method), true_or_false("centered", centered))

    @property
    def x(self) -> Any:
        """The points, float64 of shape (100, 2)."""
        return _array(self._core.samples())

    @property
    def y(self) -> Any:
        """Their classes 0 and 1, float64 of shape (100,)."""
        return _array(self._core.labels())

    def exact(self, model: tuple[float, float, float]) -> float:
        """The mixed loss over all pairs at a model."""
        return self._core.exact(_plane_model(model))

    def approximate(self, model: tuple[float, float, float]) -> tuple[float, float, float, float]:
        """The plain loss of a model and the terms R1, R2, R3 that mixing adds to it."""
        return self._core.approximate(_plane_model(model))

    def accuracy(self, model: tuple[float, float, float]) -> float:
        """Share of the points on their side of a model."""
        return self._core.accuracy(_plane_model(model))

    def descend(
        self, objective: str = "exact", steps: int = 100, rate: float = 1.0, every: int = 1
    ) -> list[Step]:
        """Plain gradient descent from 0. objective: the "exact" or the "approximate" loss. steps, rate:
        how many, and how long. every: steps between those that are returned."""
        trace = self._core.descend(
            word("objective", objective), whole_number("steps", steps), real_number("rate", rate),
            whole_number("every", every),
        )  # fmt: skip
        return [Step(n, tuple(model), a, b) for n, model, a, b in trace]

    def minimize(self, objective: str = "exact") -> Step:
        """The minimizer of an objective, "exact" or "approximate", by Newton steps."""
        [(n, model, a, b)] = self._core.minimize(word("objective", objective))
        return Step(n, tuple(model), a, b)


def profile(name: str, lam: float, size: int | tuple[int, int]) -> Any:
    """A displacement map to design masks for, float64 of shape (H, W). name: any method with a closed
    form, "smooth" or "gmix-plane". lam: of the method. size: (H, W) or one number."""
    return _array(_core.theory.profile(word("name", name), real_number("lam", lam), size))


def check_design(
    moments: Any, mean: float, size: int | tuple[int, int] | None = None
) -> dict[str, Any]:
    """Whether masks with E[N] = mean and these second moments exist.

    moments: a profile (H, W) by displacement, or, with `size`, a matrix (P, P) over its pixels.
    Returns feasible, the smallest and largest eigenvalue, and the distance to the nearest that is.
    """
    return _core.theory.check_design(on_host(moments), size, real_number("mean", mean))


def nearest_feasible(moments: Any, mean: float, size: int | tuple[int, int] | None = None) -> Any:
    """The nearest possible matrix, float64 of shape (P, P), for `medley.Design.dense`.

    moments, mean, size: as those of `check_design`.
    """
    mean = real_number("mean", mean)
    return _array(_core.theory.nearest_feasible(on_host(moments), size, mean))


def partial_grad_prod(
    gradients: Any, *, magnitude: str = "euclidean", normalize: str = "gradient"
) -> tuple[Any, Any]:
    """PartialGradProd of gradients of shape (N, C, H, W): for every displacement the greatest
    product of gradient magnitudes.

    magnitude: "euclidean", "absolute", "signed_sum" or "each" (channel). normalize: "gradient",
    "map" or "none". Returns the maximum and the mean over the images, float64 of shape
    (2H-1, 2W-1), displacement (0, 0) in the middle.
    """
    largest, mean = _core.theory.grad_prod(
        on_host(gradients), word("magnitude", magnitude), word("normalize", normalize)
    )
    return _array(largest), _array(mean)
