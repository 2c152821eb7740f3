"""Applying plans to images."""

from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._arrays import Framework, check_array, dtype_name, framework_of, numpy_framework
from ._checks import check_plan, layout_word, real_numbers
from ._dynamo import opaque

_DEFAULTS = _core.Options()
_PIXELS = frozenset(("uint8", "float16", "bfloat16", "float32"))


@opaque
def apply(
    plan: _core.Plan,
    images: Any,
    *,
    out: Any = None,
    inplace: bool = False,
    layout: str = "nchw",
    out_layout: str | None = None,
    dtype: Any = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    max_pixel_value: float | None = None,
    pad_mode: str = "constant",
    pad_value: float = 0.0,
    threads: int = 0,
    backend: str = "auto",
    windows: bool = False,
) -> Any:
    """Mixes images as a plan says. Nothing random; the same bits on every backend.

    plan: of `mix.plan(...)` or `medley.Plan.from_json`.
    images: (N, C, H, W), or (N, H, W, C) with layout="nhwc"; (N, H, W) for gray images; (N, D) for
        vectors. uint8, float16, bfloat16 or float32. Channels-last tensors are recognized by their
        strides. Strides that the kernels cannot take (negative, zero, every other pixel) are
        copied first.
    out: an array of shape (len(plan), ...) to write to; its dtype and memory order decide. Without
        it a new array of the kind, dtype and memory order of `images` is made.
    inplace: overwrites `images` and returns it; for two-source methods without windows. On CUDA it
        takes new memory, and a copy from there.
    out_layout: order of the axes of the result if it is not `layout`.
    dtype: of the result: "u8", "f16", "bf16" or "f32", or the framework's own dtype.
    mean, std: normalize the result to (value - mean) / std. A number per channel, of values in
        [0, 1] as everywhere in PyTorch: uint8 counts as value / 255, floats as they are.
    max_pixel_value: the value of a pixel that counts as 1 instead of 255 or 1. With 1, mean and std
        are in the units of the images.
    pad_mode, pad_value: what windows show outside the image, "constant" or "reflect"; the constant
        is in the units of the images.
    windows: takes images of another size than the plan's, which the windows of its sources cut or
        pad; without it they are an error.
    threads: 0 for all cores. backend: "auto", "cpu", "reference" or "cuda".

    Returns the mixed images, of shape (len(plan), C, H, W) in the order of `out_layout`.
    """
    check_plan(plan)
    options = _core.Options(
        per_channel("mean", mean), per_channel("std", std), pad_mode, pad_value, threads, backend,
        windows, max_pixel_value,
    )  # fmt: skip
    layout_word("layout", layout)
    if out_layout is not None:
        layout_word("out_layout", out_layout)
    return run(plan, images, out, inplace, layout, out_layout, dtype, options)


def per_channel(name: str, values: Any) -> tuple[float, ...]:
    """The numbers of mean or std."""
    return real_numbers(name, values, "one per channel")


def run(
    plan: _core.Plan,
    images: Any,
    out: Any,
    inplace: bool,
    layout: str,
    out_layout: str | None,
    dtype: Any,
    options: _core.Options = _DEFAULTS,
) -> Any:
    """`apply` with ready options."""
    check_array("images", images)
    framework = framework_of(images)
    stream, dlpack_stream = framework.stream(images)
    name = None if dtype is None else dtype_name(dtype)
    target = output_for(framework, images, out, inplace, layout, out_layout, name, plan)
    source = readable(framework, images, layout, dlpack_stream)
    framework.lend_stream(plan, images)
    _core.apply(
        plan, source, target, layout, out_layout or layout, options, stream, dlpack_stream
    )
    return finished(framework, images, target, out, inplace, stream)


def readable(framework: Framework, images: Any, layout: str, dlpack_stream: int | None) -> Any:
    """The images, or a copy on their GPU if they have strides that the kernels cannot take. In host
    memory the extension copies."""
    if framework.is_cuda(images) and _core.image_info(images, layout, dlpack_stream)["copied"]:
        return framework.dense(images)
    return images


def finished(
    framework: Framework, images: Any, target: Any, out: Any, inplace: bool, stream: int
) -> Any:
    """The output after the work on `target` was enqueued."""
    if inplace and target is not images:
        framework.overwrite(images, target)
        return images
    if out is None and not inplace:
        return framework.finish(target, stream)
    framework_of(target).written(target)
    return target


def output_for(
    framework: Framework,
    images: Any,
    out: Any,
    inplace: bool,
    layout: str,
    out_layout: str | None,
    dtype: str | None,
    plan: _core.Plan | None = None,
) -> Any:
    """The array to write to: the caller's, or a new one for the plan (default: as many images, of
    the same size, as come in). CUDA never mixes in place, but into a new array."""
    if inplace:
        if out is not None and out is not images:
            raise ValueError("inplace=True overwrites images; it cannot be combined with out")
        if out_layout not in (None, layout):
            raise ValueError("inplace=True keeps the layout; out_layout must be the same")
        if framework.read_only(images):
            raise ValueError("images must be writable with inplace=True, got a read-only array")
        out = images
    if out is not None:
        check_array("out", out)
        if not framework_of(out).writable:
            raise ValueError("JAX arrays are immutable; out and inplace need another kind of array")
        framework_of(out).check_constant("out", out)
        if dtype is not None and (kind := framework_of(out).dtype(out)) != dtype:
            name = "images, which inplace=True overwrites," if inplace else "out"
            raise ValueError(f"{name} must have the dtype that was asked for, {dtype}, got {kind}")
        return framework.empty_like(images) if inplace and framework.is_cuda(images) else out
    shape = tuple(framework.shape(images))
    wanted = _output_shape(plan, shape, layout, out_layout or layout)
    if wanted is None:
        _core.image_info(images, layout)  # says what is wrong
        raise ValueError(f"images must have 2, 3 or 4 axes, got {len(shape)}")
    given = framework.dtype(images)
    if given not in _PIXELS:
        raise TypeError(f"images must be uint8, float16, bfloat16 or float32, got {given}")
    if wanted == shape and dtype in (None, given):
        return framework.empty_like(images)
    channels_last = layout == "nchw" and out_layout in (None, "nchw")
    channels_last = channels_last and framework.channels_last(images)
    return framework.empty(images, wanted, dtype or given, channels_last)


def _output_shape(
    plan: _core.Plan | None, shape: Sequence[int], layout: str, out_layout: str
) -> tuple[int, ...] | None:
    if layout == out_layout and plan is None:
        return tuple(shape) if 2 <= len(shape) <= 4 else None
    rank = len(shape)
    if plan is not None:
        count, (height, width) = len(plan), plan.size
    elif rank == 4:
        count, (height, width) = shape[0], shape[2:] if layout == "nchw" else shape[1:3]
    else:
        return tuple(shape)
    if rank == 2:
        return count, width
    if rank == 3:
        return count, height, width
    if rank != 4:
        return None
    channels = shape[1] if layout == "nchw" else shape[3]
    if out_layout == "nchw":
        return count, channels, height, width
    return count, height, width, channels


def masks(plan: _core.Plan) -> Any:
    """The masks of a plan: float64 of shape (B, H, W), weights of the own image.

    plan: of any method.
    """
    check_plan(plan)
    return numpy_framework().adopt(plan._masks())
