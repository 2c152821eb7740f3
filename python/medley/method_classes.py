"""A class per method. Made by tools/generate from the tables of the methods."""

from __future__ import annotations

from typing import Any, Literal

try:
    from typing import Unpack
except ImportError:  # Python 3.10
    from typing_extensions import Unpack

from ._core import Design
from .mixers import Mix, MixerOptions

__all__ = [
    "Bernoulli",
    "Custom",
    "CutMix",
    "FMix",
    "GMix",
    "GaussianField",
    "HMix",
    "Mixup",
    "NMixup",
    "NoMix",
    "ResizeMix",
    "Stochastic",
]


class Common(MixerOptions, total=False):
    """Options that every mixer takes; `Mix` explains them."""

    prob: float
    label: Literal["realized", "drawn"]
    mode: Literal["sample", "batch", "pair"]
    pairing: Literal["batch", "reverse", "roll", "dataset"]
    no_self: bool
    same_class: bool
    other_class: bool
    pad: int
    flip: float


class NoMix(Mix):
    """Leaves every image as it is.

    Other options: see `Mix`.
    """

    def __init__(self, **options: Unpack[Common]) -> None:
        self._setup("none", dict(options))


class Mixup(Mix):
    """Blends two images with one weight for all pixels.

    alpha: lam is drawn from Beta(alpha, beta). Default 1.0; > 0; no effect beside lam.
    beta: second parameter of that distribution. Default: alpha; > 0; no effect beside lam.
    lam: a fixed share of the own image, which may be any number. Default: drawn.
    Other options: see `Mix`. Zhang, Cisse, Dauphin, Lopez-Paz: mixup: Beyond Empirical Risk
    Minimization, 2018.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float | None = None,
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {"alpha": alpha, "beta": beta, "lam": lam}
        self._setup("mixup", {**given, **options})


class CutMix(Mix):
    """Pastes a box of the partner into the image.

    alpha: lam is drawn from Beta(alpha, beta). Default 1.0; > 0; no effect beside lam.
    beta: second parameter of that distribution. Default: alpha; > 0; no effect beside lam.
    placement: box cut at the border, wholly inside, or continued at the opposite border. Default
        "clipped"; or "inside", "wrap".
    lam: a fixed share of the own image. Default: drawn; in [0, 1].
    Other options: see `Mix`. Yun, Han, Oh, Chun, Choe, Yoo: CutMix: Regularization Strategy to
    Train Strong Classifiers with Localizable Features, 2019.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float | None = None,
        placement: Literal["clipped", "inside", "wrap"] = "clipped",
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {"alpha": alpha, "beta": beta, "placement": placement, "lam": lam}
        self._setup("cutmix", {**given, **options})


class Stochastic(Mix):
    """Mixup with probability q_mix, else cutmix.

    alpha: lam is drawn from Beta(alpha, beta). Default 1.0; > 0; no effect beside lam.
    beta: second parameter of that distribution. Default: alpha; > 0; no effect beside lam.
    placement: box cut at the border, wholly inside, or continued at the opposite border. Default
        "clipped"; or "inside", "wrap".
    q_mix: probability of mixup rather than cutmix. Default 0.5; in [0, 1].
    lam: a fixed share of the own image. Default: drawn; in [0, 1].
    Other options: see `Mix`. Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation,
    2022.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float | None = None,
        placement: Literal["clipped", "inside", "wrap"] = "clipped",
        q_mix: float = 0.5,
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {
            "alpha": alpha,
            "beta": beta,
            "placement": placement,
            "q_mix": q_mix,
            "lam": lam,
        }
        self._setup("stochastic", {**given, **options})


class HMix(Mix):
    """Cutmix with a smaller box, mixup outside it.

    alpha: lam is drawn from Beta(alpha, beta). Default 1.0; > 0; no effect beside lam.
    beta: second parameter of that distribution. Default: alpha; > 0; no effect beside lam.
    placement: box cut at the border, wholly inside, or continued at the opposite border. Default
        "clipped"; or "inside", "wrap".
    form: weights outside the box: of the published code or of the paper; calibrated is the same as
        code. Default "code"; or "paper", "calibrated".
    ratio: share of 1-lam that the box carries: 0.5 for CIFAR, 0.75 for ImageNet in the paper.
        Default 0.5; in [0, 1]; no effect beside gamma.
    gamma: draw the ratio from Beta(gamma, gamma). Default: the fixed ratio; > 0.
    lam: a fixed share of the own image. Default: drawn; in [0, 1].
    Other options: see `Mix`. Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation,
    2022.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float | None = None,
        placement: Literal["clipped", "inside", "wrap"] = "clipped",
        form: Literal["code", "paper", "calibrated"] = "code",
        ratio: float = 0.5,
        gamma: float | None = None,
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {
            "alpha": alpha,
            "beta": beta,
            "placement": placement,
            "form": form,
            "ratio": ratio,
            "gamma": gamma,
            "lam": lam,
        }
        self._setup("hmix", {**given, **options})


class GMix(Mix):
    """Fades the partner in around a point, with a Gaussian edge.

    alpha: lam is drawn from Beta(alpha, beta). Default 0.5; > 0; no effect beside lam.
    beta: second parameter of that distribution. Default: alpha; > 0; no effect beside lam.
    form: width of the Gaussian: of the published code, of the paper, or calibrated so that the mean
        of the mask is lam. Default "code"; or "paper", "calibrated".
    lam: a fixed share of the own image. Default: drawn; in [0, 1].
    Other options: see `Mix`. Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation,
    2022.
    """

    def __init__(
        self,
        alpha: float = 0.5,
        beta: float | None = None,
        form: Literal["code", "paper", "calibrated"] = "code",
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {"alpha": alpha, "beta": beta, "form": form, "lam": lam}
        self._setup("gmix", {**given, **options})


class Bernoulli(Mix):
    """Takes each pixel or feature from one of the two samples at random.

    alpha: lam is drawn from Beta(alpha, beta). Default 1.0; > 0; no effect beside lam.
    beta: second parameter of that distribution. Default: alpha; > 0; no effect beside lam.
    lam: a fixed share of the own image. Default: drawn; in [0, 1].
    Other options: see `Mix`. Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation,
    2022.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float | None = None,
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {"alpha": alpha, "beta": beta, "lam": lam}
        self._setup("bernoulli", {**given, **options})


class NMixup(Mix):
    """Blends n images; Dirichlet weights, or zeta-mixup's power series.

    alpha: weights are drawn from Dirichlet(alpha, ..., alpha). Default 1.0; > 0; no effect beside
        power.
    n: images per output. Default 3; in [2, 1024].
    power: zeta-mixup weights k^-power in random order. Default: Dirichlet(alpha); > 0.
    lam: a fixed share of the own image, which may be any number. Default: drawn.
    Other options: see `Mix`. Not in place. Park, Yun, Chun: A Unified Analysis of Mixed Sample Data
    Augmentation, 2022; Abhishek, Brown, Hamarneh: Multi-sample zeta-mixup, 2024.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        n: int = 3,
        power: float | None = None,
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {"alpha": alpha, "n": n, "power": power, "lam": lam}
        self._setup("nmixup", {**given, **options})


class FMix(Mix):
    """Cuts along the contours of low-frequency noise.

    alpha: lam is drawn from Beta(alpha, beta). Default 1.0; > 0; no effect beside lam.
    beta: second parameter of that distribution. Default: alpha; > 0; no effect beside lam.
    form: noise on the whole spectrum as in the paper, or on half of it as in the published code,
        whose masks reach further along rows than along columns. Default "paper"; or "code",
        "calibrated".
    decay: spectral decay, greater is smoother. Default 3.0; >= 0.
    soft: share of the pixels on either side of the edge that are soft; at most lam and 1-lam.
        Default 0.0; in [0, 1].
    lam: a fixed share of the own image. Default: drawn; in [0, 1].
    Other options: see `Mix`. Harris, Marcu, Painter, Niranjan, Prugel-Bennett, Hare: FMix:
    Enhancing Mixed Sample Data Augmentation, 2020.
    """

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float | None = None,
        form: Literal["code", "paper", "calibrated"] = "paper",
        decay: float = 3.0,
        soft: float = 0.0,
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {
            "alpha": alpha,
            "beta": beta,
            "form": form,
            "decay": decay,
            "soft": soft,
            "lam": lam,
        }
        self._setup("fmix", {**given, **options})


class ResizeMix(Mix):
    """Pastes the whole partner, shrunk, into the image.

    scale_min: least side of the box, as a share of the image's. Default 0.1; no effect beside lam.
    scale_max: greatest side, at most 1. Default 0.8; no effect beside lam.
    placement: box cut at the border, wholly inside, or continued at the opposite border. Default
        "clipped"; or "inside", "wrap".
    interpolation: how the partner is shrunk. Default "bilinear"; or "nearest".
    lam: a fixed share of the own image. Default: drawn; in [0, 1].
    Other options: see `Mix`. Not in place. Qin, Fang, Zhang, Liu, Wang, Wang: ResizeMix: Mixing
    Data with Preserved Object Information and True Labels, 2020.
    """

    def __init__(
        self,
        scale_min: float = 0.1,
        scale_max: float = 0.8,
        placement: Literal["clipped", "inside", "wrap"] = "clipped",
        interpolation: Literal["bilinear", "nearest"] = "bilinear",
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {
            "scale_min": scale_min,
            "scale_max": scale_max,
            "placement": placement,
            "interpolation": interpolation,
            "lam": lam,
        }
        self._setup("resizemix", {**given, **options})


class GaussianField(Mix):
    """Unbounded Gaussian masks with the moments you ask for.

    alpha: lam is drawn from Beta(alpha, beta). Default 1.0; > 0; no effect beside lam or design.
    beta: second parameter of that distribution. Default: alpha; > 0; no effect beside lam or
        design.
    sigma: standard deviation of the mask around lam. Default 0.25; no effect beside design.
    length: correlation length as a share of the image side. Default 0.25; > 0; no effect beside
        design.
    design: mean and second moments (medley.design/1) instead of sigma and length. Default: none.
    lam: a fixed share of the own image, which may be any number. Default: drawn.
    Other options: see `Mix`. Park, Yun, Chun: A Unified Analysis of Mixed Sample Data Augmentation,
    2022 (Theorem 2, corrected).
    """

    def __init__(
        self,
        alpha: float = 1.0,
        beta: float | None = None,
        sigma: float = 0.25,
        length: float = 0.25,
        design: Design | None = None,
        *,
        lam: float | None = None,
        **options: Unpack[Common],
    ) -> None:
        given: dict[str, Any] = {
            "alpha": alpha,
            "beta": beta,
            "sigma": sigma,
            "length": length,
            "design": design,
            "lam": lam,
        }
        self._setup("gaussian-field", {**given, **options})


class Custom(Mix):
    """Masks of your own, one chosen at random per draw.

    masks: masks of the images' size, one chosen per draw: weights of the own image, white in
        pictures. Required.
    Other options: see `Mix`.
    """

    def __init__(self, masks: Any, **options: Unpack[Common]) -> None:
        given: dict[str, Any] = {"masks": masks}
        self._setup("custom", {**given, **options})
