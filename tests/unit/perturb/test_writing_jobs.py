"""The functions behind the jobs that write texts, on rows in memory: no job, no
model.
"""

from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.data.dualeval import Given, given_rows
from judgescope.data.specs import TakeSpec
from judgescope.extensions.distill.examples import (
    Sampled,
    counts_of,
    examples_in,
    reasons_of,
)
from judgescope.perturb.candidates import references_with_errors, wanted_candidates
from judgescope.perturb.grading import pairs_of
from judgescope.perturb.specs import CandidatesSpec, Even, OfEachRating, OnTrial
from prompts_setup import ARTICLE

Row = dict[str, Any]


def sampled(item: str, held_out: bool, reason: str = "") -> Sampled:
    row = {"dataset": "d", "item": item, "aspect": "a", "held_out": held_out}
    return Sampled(row, None if reason else {"item": item}, reason)


def test_examples_are_counted_by_split_with_the_reasons_why_others_are_missing() -> (
    None
):
    every = [
        sampled("1", False),
        sampled("2", False, "no score"),
        sampled("3", True, "no score"),
    ]
    assert examples_in(every, "train") == [{"item": "1"}]
    assert reasons_of(every) == {"no score": 2}
    assert counts_of(every) == [
        {"dataset": "d", "split": "held_out", "aspect": "a", "n": 0, "n_missing": 1},
        {"dataset": "d", "split": "train", "aspect": "a", "n": 1, "n_missing": 1},
    ]
    with pytest.raises(UserError, match="no example to hold out") as error:
        examples_in(every, "held_out")
    assert "no score (2)" in str(error.value)


def target(name: str, text: str = "", **columns: Any) -> Row:
    return {
        "target": name,
        "item": "i",
        "text": text or name,
        "status": "ok",
        "step": 0,
        **columns,
    }


def test_anchors_are_compared_with_candidates_or_with_anchors_of_other_ratings() -> (
    None
):
    systems = [target(name) for name in "abc"]
    anchors = [
        {"target": name, "rating": rating}
        for name, rating in (("a", 1), ("b", 1), ("c", 2))
    ]
    pairs = list(pairs_of(anchors, None, systems, {"i": ARTICLE}))
    assert [(pair.text.target, pair.anchor.target, pair.rating) for pair in pairs] == [
        ("a", "c", 2),
        ("b", "c", 2),
    ]
    assert pairs[0].text.parts == ARTICLE
    candidates = [target("x"), target("y", status="failed: so"), target("z", text="x")]
    pairs = list(pairs_of(anchors, candidates, systems, {"i": []}))
    assert [(pair.text.target, pair.rating) for pair in pairs] == [
        ("x", 1),
        ("x", 1),
        ("x", 2),
    ]


def candidates(part: Even | OnTrial | OfEachRating) -> CandidatesSpec:
    keys: dict[str, Any] = dict.fromkeys(("items", "input", "output", "code"), "")
    keys |= {"dataset": "d", "perturbation": "p", "degree": "single", "versions": {}}
    return CandidatesSpec(
        **keys, seed=1, share=1.0, references=2, written=None, part=part
    )


ITEM = {
    "item": "i",
    "references": ["One.", "Two."],
    "meta": '{"original_reference": 0}',
}


def test_candidates_have_errors_in_references_of_the_data() -> None:
    spec = candidates(Even(targets=2, counts=[0, 3]))
    originals = [
        target("i:original", "One."),
        target("j", item="j", status="failed: so"),
    ]
    bases = references_with_errors(spec, {"i": ITEM}, originals, None)
    assert bases == {"i": [("i:original", "One."), ("i:reference.1", "Two.")]}
    wanted = wanted_candidates(spec, bases, [], [])
    assert {name: each.errors for name, each in wanted.items()} == {
        "i:p.single.1": 0,
        "i:p.single.2": 3,
    }


def test_a_trial_in_which_nothing_could_be_rated_stops_the_set() -> None:
    spec = candidates(OfEachRating(targets=2, oversample=1.0, classes=[1.0, 2.0]))
    with pytest.raises(UserError, match="no calibration text could be rated"):
        wanted_candidates(spec, {"i": [("i:original", "One.")]}, [target("t")], [])


def test_texts_of_a_dataset_have_the_nearest_rating_and_a_number() -> None:
    names: dict[str, Any] = {"dataset": {"dataset": "d"}, "code": "", "versions": {}}
    names |= {"format": "", "folder": "", "data": ""}
    names |= {
        "perturbation": "p",
        "degree": "single",
        "aspect": "a",
        "items": "",
        "output": "",
    }
    spec = TakeSpec(**names, role="global", classes=[1.0, 2.0, 3.0])
    texts = [
        Given("s", "one", 0, 1.5),
        Given("s", "two", 0, 2.8),
        Given("other", "x", 0, 1.0),
    ]
    targets, graded = given_rows(spec, texts, {"s": "i"})
    assert [row["target"] for row in targets] == ["i:p.single.1", "i:p.single.2"]
    assert [row["rating"] for row in graded] == [1.0, 3.0]
    spec = TakeSpec(**names, role="local")
    targets, graded = given_rows(spec, [Given("s", "three", 2, None)], {"s": "i"})
    assert targets[0]["target"] == "i:p.single.2" and not graded
