"""`medley.torchvision` beside the installed torchvision.transforms.v2: what its users rely on.

The cases are those that torchvision 0.29 tests its own MixUp and CutMix with, stated anew.
"""

from __future__ import annotations

import copy
import itertools
import pickle
import re

import numpy as np
import PIL.Image
import pytest
import torch
from torch.utils.data import DataLoader, default_collate
from torchvision import tv_tensors
from torchvision.transforms import v2

import medley.torchvision as ours

CLASSES, BATCH = 12, 6
KINDS = [ours.MixUp, ours.CutMix]
ALL_KINDS = [*KINDS, ours.HMix, ours.GMix]

both = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
every = pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.__name__)


def images(count=BATCH, size=(20, 24), dtype=torch.float32):
    return torch.rand(count, 3, *size).to(dtype) if dtype.is_floating_point else (
        torch.randint(0, 256, (count, 3, *size), dtype=dtype))


def labels(count=BATCH):
    return torch.arange(count) % CLASSES


class Pictures(torch.utils.data.Dataset):
    """Each sample has a class of its own, which shows who was mixed with whom."""

    def __init__(self, one_hot):
        self.one_hot = one_hot

    def __len__(self):
        return BATCH

    def __getitem__(self, index):
        label = torch.tensor(index)
        if self.one_hot:
            label = torch.nn.functional.one_hot(label, CLASSES)
        return torch.rand(3, 20, 24), label


def is_mixed_batch(x, y, size=(20, 24)):
    rows = (y != 0).sum(1)
    return (
        x.shape == (BATCH, 3, *size)
        and y.shape == (BATCH, CLASSES)
        and torch.allclose(y.sum(1), torch.ones(BATCH))
        and bool((rows == 2).all())
    )


# Structures that are taken


def call_unpacked(mix, batch):
    return mix(*batch)


def call_packed(mix, batch):
    return mix(batch)


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("call", [call_unpacked, call_packed])
@both
def test_batches_of_a_loader(kind, call, one_hot):
    mix = kind(num_classes=CLASSES, lam=0.4)
    batch = next(iter(DataLoader(Pictures(one_hot), batch_size=BATCH)))
    assert isinstance(batch, list)
    x, y = call(mix, batch)
    assert is_mixed_batch(x, y)


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("call", [call_unpacked, call_packed])
@both
def test_collate_functions(kind, call, one_hot):
    mix = kind(num_classes=CLASSES, lam=0.4)
    loader = DataLoader(
        Pictures(one_hot), BATCH, collate_fn=lambda s: call(mix, default_collate(s))
    )
    for x, y in loader:
        assert is_mixed_batch(x, y)


# What is refused: always a ValueError, before anything is counted


def refused(mix, match, *sample):
    with pytest.raises(ValueError, match=match):
        mix(*sample)
    assert mix.mix.step == 0


@pytest.mark.parametrize(
    "part",
    [
        PIL.Image.new("RGB", (24, 20)),
        tv_tensors.Mask(torch.zeros(20, 24)),
        tv_tensors.BoundingBoxes(torch.rand(2, 4), format="XYXY", canvas_size=(20, 24)),
        tv_tensors.KeyPoints(torch.rand(2, 2), canvas_size=(20, 24)),
    ],
    ids=lambda part: type(part).__name__,
)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside images"])
@both
def test_what_would_stay_unmixed(kind, part, beside):
    sample = {"image": images(), "labels": labels(), "other": [part]} if beside else part
    with pytest.raises(ValueError, match="PIL image|Mask|BoundingBoxes|KeyPoints"):
        v2_of(kind)(num_classes=CLASSES)(sample if beside else part)
    refused(kind(num_classes=CLASSES), "PIL image|Mask|BoundingBoxes|KeyPoints", sample)


def v2_of(kind):
    """torchvision's transform of that name, whose messages are in other words."""

    def make(**options):
        made = getattr(v2, kind.__name__)(**options)

        def call(*sample):
            try:
                return made(*sample)
            except ValueError as error:
                raise ValueError(f"PIL image Mask BoundingBoxes KeyPoints {error}") from None

        return call

    return make


WRONG = {
    "no key for labels": (lambda x: ({"img": x, "nothing": 3},), "no labels found.*labels_getter"),
    "no labels": (lambda x: (x,), "labels must come with the images"),
    "words": (lambda x: (x, "cat"), "labels must be an array or list of numbers.*got str"),
    "words in a list": (lambda x: (x, ["cat"] * BATCH), "labels must be an array or list of numb"),
    "nothing": (lambda x: (x, None), "labels must be an array or list of numbers.*got NoneType"),
    "six dimensions": (lambda x: (x[None, None], labels()), r"batch of images \(N, C, H, W\)"),
    "one label more": (lambda x: (x, labels(BATCH + 1)), "one per image, got 7 for 6"),
    "one column more": (
        lambda x: (x, torch.zeros(BATCH, CLASSES + 1, dtype=torch.int64)),
        "soft labels must have num_classes = 12 columns, got 13",
    ),
    "four dimensions": (
        lambda x: (x, torch.zeros(2, 3, 4, 1, dtype=torch.int64)), "labels must be classes of"),
    "maps of another count": (
        lambda x: (x, torch.zeros(2, 3, 4, dtype=torch.int64)), "one per image, got 2 for 6"),
    "a single number": (lambda x: (x, torch.tensor(3)), "labels must be classes of shape"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
@both
def test_what_cannot_be_meant(kind, case):
    make, match = WRONG[case]
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        getattr(v2, kind.__name__)(num_classes=CLASSES)(*make(images()))
    refused(kind(num_classes=CLASSES), match, *make(images()))


@both
def test_classes_need_their_number(kind):
    refused(kind(), "num_classes must be given", images(), labels())


@both
def test_images_of_another_form(kind):
    mix = kind(num_classes=CLASSES)
    refused(mix, r"Image must have the shape \(N, C, H, W\)",
            tv_tensors.Image(torch.rand(3, 8, 8)), labels())  # fmt: skip
    refused(mix, r"Video must have the shape \(N, T, C, H, W\)",
            tv_tensors.Video(torch.rand(BATCH, 3, 8, 8)), labels())  # fmt: skip


# Where labels are found


KEYS = ["labels", "LABELS", "LaBeL", "SOME_KEY_WITH_LABeL_IN_IT"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("form", [dict, tuple, list])
@both
def test_labels_under_a_key(kind, form, key):
    inner = {key: labels(), "another": "whatever"}
    if form is dict:
        sample = {"image": images(), **inner}
        found = kind(num_classes=CLASSES, seed=1)(sample)[key]
    else:
        sample = form((images(), inner, "whatever again"))
        mixed = kind(num_classes=CLASSES, seed=1)(sample)
        assert type(mixed) is form and mixed[2] == "whatever again"
        assert mixed[1]["another"] == "whatever"
        found = mixed[1][key]
    _, expected = kind(num_classes=CLASSES, seed=1)(images(), labels())
    if kind is ours.MixUp:
        assert torch.equal(found, expected)
    assert found.shape == (BATCH, CLASSES)


@pytest.mark.parametrize("key", KEYS[2:])
def test_the_key_labels_comes_first(key):
    sample = {key: "something else", "x": images(), "labels": labels()}
    mixed = ours.MixUp(num_classes=CLASSES)(sample)
    assert mixed[key] == "something else" and mixed["labels"].shape == (BATCH, CLASSES)


def test_getters():
    x, y = images(), labels()
    mixed = ours.CutMix(num_classes=CLASSES, labels_getter=lambda s: s["deep"][1])(
        {"x": x, "deep": (0, y)}
    )
    assert mixed["deep"][1].shape == (BATCH, CLASSES)
    alone = ours.CutMix(labels_getter=None, seed=3)(x)
    assert torch.equal(alone, ours.CutMix(num_classes=CLASSES, seed=3)(x, y)[0])


# Kinds of images


@every
def test_tv_images_stay_images(kind):
    x = tv_tensors.Image(images())
    mixed, _ = kind(num_classes=CLASSES, seed=1)(x, labels())
    plain, _ = kind(num_classes=CLASSES, seed=1)(x.as_subclass(torch.Tensor), labels())
    assert type(mixed) is tv_tensors.Image and type(plain) is torch.Tensor
    assert torch.equal(mixed, plain)


@every
@pytest.mark.parametrize("wrap", [tv_tensors.Video, torch.Tensor.clone])
def test_videos_are_mixed_alike_in_all_frames(kind, wrap):
    frames = images()
    video = wrap(torch.stack([frames, frames.flip(3), frames.neg()], 1))
    mixed, y = kind(num_classes=CLASSES, seed=1)(video, labels())
    assert mixed.shape == video.shape and type(mixed) is type(video)
    expected, target = kind(num_classes=CLASSES, seed=1)(frames, labels())
    assert torch.equal(mixed[:, 0], expected) and torch.equal(y, target)
    assert torch.equal(mixed[:, 2], kind(num_classes=CLASSES, seed=1)(frames.neg(), labels())[0])


@every
def test_several_batches_of_images_have_the_same_draw(kind):
    a, b = images(), images()
    mix = kind(num_classes=CLASSES, seed=1)
    out = mix({"a": a, "b": tv_tensors.Image(b), "labels": labels(), "video": None})
    assert torch.equal(out["a"], a)  # plain tensors stay as they are beside an Image
    two = kind(num_classes=CLASSES, seed=1)({"a": a, "b": b, "labels": labels()})
    assert torch.equal(two["b"], out["b"]) and torch.equal(two["labels"], out["labels"])
    assert torch.equal(two["a"], kind(num_classes=CLASSES, seed=1)(a, labels())[0])
    assert mix.mix.step == 1


def test_several_sizes():
    a, b = images(), images(size=(8, 8))
    mixed = ours.MixUp(num_classes=CLASSES, seed=1)({"a": a, "b": b, "labels": labels()})
    assert mixed["a"].shape == a.shape and mixed["b"].shape == b.shape
    refused(ours.CutMix(num_classes=CLASSES), "one size for cutmix, got 8x8 and 20x24",
            {"a": a, "b": b, "labels": labels()})  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float16, torch.bfloat16, torch.float32])
@both
def test_pixels_keep_their_dtype_and_the_input_stays(kind, dtype):
    x = images(dtype=dtype)
    before = x.clone()
    mixed, _ = kind(num_classes=CLASSES)(x, labels())
    assert mixed.dtype == dtype and torch.equal(x, before)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@both
def test_soft_labels_keep_their_dtype(kind, dtype):
    _, y = kind(lam=0.25)(images(), torch.eye(BATCH, dtype=dtype))
    theirs = getattr(v2, kind.__name__)()(images(), torch.eye(BATCH, dtype=dtype))[1]
    assert y.dtype == theirs.dtype == dtype


# The same pixels and labels for the same draw


@both
def test_mixed_as_torchvision_mixes(kind, monkeypatch):
    x, y = images(), labels()
    mix = kind(num_classes=CLASSES, seed=5)
    plan = mix.mix.plan(batch=BATCH, size=(20, 24))
    entry = plan.entries[0]
    theirs = getattr(v2, kind.__name__)(num_classes=CLASSES)
    if kind is ours.MixUp:
        params = {"lam": entry["lam"]}
    else:
        box = entry["mask"]
        top, left = box["top"], box["left"]
        params = {
            "box": (left, top, left + box["width"], top + box["height"]),
            "lam_adjusted": entry["label_weight"],
        }
    monkeypatch.setattr(theirs, "make_params", lambda flat: params)
    # torchvision's partner is the sample before, ours the one after.
    expected, target = theirs(x.flip(0), y.flip(0))
    mixed, mixed_target = mix(x, y)
    torch.testing.assert_close(mixed, expected.flip(0), rtol=0, atol=2e-7)
    torch.testing.assert_close(mixed_target, target.flip(0), rtol=0, atol=2e-7)


# A torch.nn.Module among others


@every
def test_modules(kind):
    mix = kind(num_classes=CLASSES, seed=1)
    assert isinstance(mix, torch.nn.Module)
    assert mix.to("cpu").eval().train() is mix
    assert re.match(rf"{kind.__name__}\(.*num_classes=12", repr(mix))
    x, y = images(), labels()
    expected = kind(num_classes=CLASSES, seed=1)(x, y)
    for again in (copy.deepcopy(mix), pickle.loads(pickle.dumps(mix)), torch.nn.Sequential(
        kind(num_classes=CLASSES, seed=1)
    )):  # fmt: skip
        assert all(torch.equal(a, b) for a, b in zip(again((x, y)), expected))
    seen = []
    mix.register_forward_hook(lambda module, inputs, outputs: seen.append(len(outputs)))
    mix(x, y)
    assert seen == [2]


def test_containers_of_torchvision():
    mixes = [ours.MixUp(num_classes=CLASSES), ours.CutMix(num_classes=CLASSES)]
    for container in (v2.RandomChoice(mixes), v2.Compose(mixes[:1]), v2.RandomApply(mixes[:1], 1)):
        x, y = container(images(), labels())
        assert y.shape == (BATCH, CLASSES), container
        repr(container)


def test_checkpoints_of_a_model_with_a_transform_are_those_with_torchvisions():
    def model(kind):
        return torch.nn.ModuleDict({"mix": kind(num_classes=CLASSES), "net": torch.nn.Linear(2, 2)})

    state = model(v2.MixUp).state_dict()
    mine = model(ours.MixUp)
    assert mine.state_dict().keys() == state.keys()
    mine.load_state_dict(state)
    mix, again = (ours.CutMix(num_classes=CLASSES, seed=1) for _ in range(2))
    x, y = images(), labels()
    mix(x, y)
    again.load_state_dict(mix.state_dict())
    assert torch.equal(again(x, y)[0], mix(x, y)[0])


def test_alpha():
    assert ours.MixUp(alpha=0.3, num_classes=3).alpha == v2.MixUp(alpha=0.3, num_classes=3).alpha


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.__name__)
def test_numpy_samples_too(kind):
    x, y = kind(num_classes=CLASSES)(images().numpy(), labels().numpy())
    assert isinstance(x, np.ndarray) and y.shape == (BATCH, CLASSES)


def test_draws_differ_and_follow_the_seed():
    x, y = images(), labels()
    found = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        mix = ours.MixUp(num_classes=CLASSES)
        found.append([float(mix(x, y)[1].max()) for _ in range(3)])
    assert found[0] == found[1] != found[2]
    assert len(set(itertools.chain(*found))) == 6
