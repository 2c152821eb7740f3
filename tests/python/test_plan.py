"""Plans as objects."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from conftest import METHODS, mixer, random_images

import medley


@pytest.mark.parametrize("method", METHODS)
def test_pickles_and_goes_through_json(method):
    plan = mixer(method, seed=2, pad=1, flip=0.5).plan(batch=6, size=32, epoch=1, first=6)
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert medley.Plan.from_json(plan.to_json(masks=True)) == plan


def test_shows_what_it_holds():
    plan = medley.HMix(seed=7).plan(batch=4, size=(32, 48), epoch=3, first=1024)
    assert len(plan) == 4
    assert (plan.method, plan.seed, plan.epoch, plan.first) == ("hmix", 7, 3, 1024)
    assert (plan.base, plan.size) == (1024, (32, 48))
    assert plan.own.tolist() == [1024, 1025, 1026, 1027]
    assert sorted(plan.partner) == plan.own.tolist()
    assert plan.lam.tolist() == [e["lam"] for e in plan.entries]
    assert plan.label_weight.tolist() == [e["label_weight"] for e in plan.entries]
    assert repr(plan) == (
        "<medley.Plan hmix: 4 samples of 32x48, seed 7, epoch 3, first 1024>"
    )
    assert plan != medley.HMix(seed=8).plan(batch=4, size=(32, 48), epoch=3, first=1024)
    assert plan != 1


@pytest.mark.parametrize("method", METHODS)
def test_label_weight_is_the_mean_of_the_mask(method):
    plan = mixer(method, seed=3).plan(batch=5, size=32)
    masks = medley.masks(plan)
    assert masks.shape == (5, 32, 32) and masks.dtype == np.float64
    assert np.allclose(masks.mean((1, 2)), plan.label_weight, rtol=0, atol=1e-6)


def test_chooses_entries_of_two_plans():
    images = random_images((4, 1, 8, 8))
    a = medley.Mixup(seed=1).plan(batch=4, size=8)
    b = medley.FMix(seed=2).plan(batch=4, size=8)
    mixed = medley.apply(a.choose(b, np.array([False, True, True, False])), images)
    assert np.array_equal(mixed[[0, 3]], medley.apply(a, images)[[0, 3]])
    assert np.array_equal(mixed[[1, 2]], medley.apply(b, images)[[1, 2]])
    with pytest.raises(ValueError, match="a choice for each"):
        a.choose(b, np.array([True]))


def test_says_which_draws_made_it():
    plan = medley.Mixup().plan(batch=2, size=4)
    data = json.loads(plan.to_json())
    assert plan.draws == data["draws"] == medley.HMix().state_dict()["draws"]
    del data["draws"]
    assert medley.Plan.from_json(json.dumps(data)).draws == 1
    data["draws"] = plan.draws + 5  # plans of every version can be applied
    later = medley.Plan.from_json(json.dumps(data))
    images = np.zeros((2, 1, 4, 4), np.float32)
    assert np.array_equal(medley.apply(later, images), images)


def test_broken_json_is_a_value_error():
    with pytest.raises(ValueError, match="the plan is not JSON: it ends early"):
        medley.Plan.from_json("{")
    data = json.loads(medley.Mixup().plan(batch=2, size=4).to_json())
    data["entries"][0]["partner"] = 9
    plan = medley.Plan.from_json(json.dumps(data))
    with pytest.raises(ValueError):
        medley.apply(plan, random_images((2, 1, 4, 4)))


@pytest.mark.parametrize("arguments, text", [
    ({"batch": 0, "size": 8}, "batch must be in"),
    ({"batch": 4, "size": 8, "first": 2}, "first must be a multiple of the batch size 4"),
    ({"batch": 4, "size": 8, "count": -7}, "count must be >= 1, got -7"),
    ({"batch": 4, "size": 8, "count": 0}, "count must be >= 1, got 0"),
    ({"batch": 4, "size": 8, "first": 8, "dataset_size": 10}, "8 to 11 lie outside the data set"),
    ({"batch": 4, "size": (0, 8)}, "height and width must be in"),
])  # fmt: skip
def test_wrong_requests(arguments, text):
    with pytest.raises(ValueError, match=text):
        medley.Mixup().plan(**arguments)
