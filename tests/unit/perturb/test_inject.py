"""Errors put in by rule: each as its kind is, all of them there to the end."""

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgescope.core.errors import UserError, UserErrors
from judgescope.data.sentences import split_sentences
from judgescope.perturb.edits import apply_edits, edit_between
from judgescope.perturb.inject import (
    BETWEEN,
    NAMES,
    OFF_TOPIC,
    WITHIN,
    ErrorDraft,
    draft_of,
    drafts,
)
from judgescope.perturb.rules import inject_errors
from judgescope.perturb.targets import perturb_dataset
from judgescope.plan.loading import load_plan
from judgescope.schema.cards import RulePerturbation
from judgescope.schema.loading import validate_card
from running import HOME
from study import Study

TEXT = (
    "Anna Ruiz opened her shop in Hartwell in 1987 with three friends. It was not "
    "cheap, but it is still there. They have sold 140 bicycles since last spring, "
    "which surprised the mayor. Every Sunday she does the accounts by herself."
)
CARD = {
    **{
        "perturbation": "faulty",
        "name": "more errors",
        "level": "sentence",
        "method": "rule",
    },
    **{
        "rule": "inject_errors",
        "errors": ["spelling"],
        "steps": 3,
        "degrees": {"single": {}},
    },
}


def injected(kind: str, count: int = 3, seed: int = 0, text: str = TEXT) -> list[str]:
    made = inject_errors(text, np.random.default_rng(seed), kinds=[kind], count=count)
    return [reply.text for reply in made if reply.status == "ok"]


@pytest.mark.parametrize(
    ("kind", "sentence", "made"),
    [
        ("negation", "It is open.", {"It is not open."}),
        ("negation", "It was not cheap.", {"It was cheap."}),
        (
            "number",
            "It has 140 rooms.",
            {f"It has {n} rooms." for n in (154, 168, 182, 196)},
        ),
        (
            "number",
            "He was born in 07.",
            {f"He was born in {n}." for n in ("08", "09", 10, 11)},
        ),
        ("name", "A boy met Anna Ruiz.", {f"A boy met {name}." for name in NAMES}),
        ("grammar", "The shops are old.", {"The shops is old."}),
        ("reference", "Then he left.", {"Then she left."}),
        (
            "redundancy",
            "One by one they left.",
            {"One by one they, by one they, left."},
        ),
        ("deletion", "He left on Monday.", {"He left."}),
        (
            "spelling",
            "Bicycles are cheap.",
            {"Bicycles are chaep.", "Bicycles are cehap."},
        ),
    ],
)
def test_a_kind_within_a_sentence(kind: str, sentence: str, made: set[str]) -> None:
    actual = {
        f"{sentence[: site.start]}{option}{sentence[site.end :]}"
        for site in WITHIN[kind](sentence)
        for option in site.options
    }
    assert actual == made


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("negation", "It isn't open and has never been shut."),
        ("number", "It costs 1,500.50 euros on the A40."),
        ("name", "The shop closes."),
        ("spelling", "Cat FLUENT Ruiz zyxwvu."),
        ("deletion", "He left."),
    ],
)
def test_no_room_for_it(kind: str, sentence: str) -> None:
    assert not [*WITHIN[kind](sentence)]


def test_sentences_that_change_places_never_change_back() -> None:
    original = [TEXT[slice(*span)] for span in split_sentences(TEXT)]
    texts = injected("order", 10)
    assert (
        len(texts) == 6
    )  # every two of four sentences in the wrong order, one pair a step
    for step, text in enumerate(texts, start=1):
        places = [original.index(text[slice(*span)]) for span in split_sentences(text)]
        wrong = sum(a > b for at, a in enumerate(places) for b in places[at + 1 :])
        assert wrong == step


def test_stray_sentences_come_once_each_and_never_first() -> None:
    texts = injected("off-topic", 99)
    assert len(texts) == len(OFF_TOPIC) and texts[-1].startswith("Anna Ruiz opened")
    assert all(texts[-1].count(each) == 1 for each in OFF_TOPIC)


def test_a_repeated_sentence_is_not_deleted() -> None:
    text = "Rain fell. He slept. All was well."
    for seed in range(50):
        rng = np.random.default_rng(seed)
        made = [
            draft.text for draft in drafts(text, rng, kinds=["redundancy", "deletion"])
        ]
        assert len({text, *made}) == 1 + len(made)


def test_a_text_that_has_no_room_says_so_and_ends() -> None:
    made = inject_errors(
        "Rain fell.", np.random.default_rng(1), kinds=["number", "name"], count=3
    )
    assert [reply.status for reply in made] == [
        "impossible: there is no room for error 1"
    ]
    assert made[0].text == "Rain fell." and not made[0].edits


def locked(draft: ErrorDraft) -> Counter[str]:
    return Counter(
        sentence.text[slice(*lock)]
        for sentence in draft.sentences
        for lock in sentence.locks
    )


def inverted(draft: ErrorDraft) -> int:
    places = [
        sentence.position for sentence in draft.sentences if sentence.position >= 0
    ]
    return sum(a > b for at, a in enumerate(places) for b in places[at + 1 :])


@pytest.mark.simulation
@given(
    seed=st.integers(0, 2**32),
    kinds=st.sets(st.sampled_from([*WITHIN, *BETWEEN]), min_size=1),
)
def test_every_error_of_a_row_is_still_there_at_its_end(
    seed: int, kinds: set[str]
) -> None:
    before = draft_of(TEXT)
    for draft in islice(
        drafts(TEXT, np.random.default_rng(seed), kinds=sorted(kinds)), 14
    ):
        (edit,) = edit_between(before.text, draft.text)
        assert apply_edits(before.text, [edit]) == draft.text
        # what an error made stays as it is, what is in the wrong order and what is gone
        # stays so
        new = locked(draft) - locked(before)
        assert not locked(before) - locked(draft)
        gone = {sentence.position for sentence in before.sentences} - {
            sentence.position for sentence in draft.sentences
        }
        assert new.total() + len(gone) + inverted(draft) - inverted(before) == 1
        before = draft


def test_the_same_names_make_the_same_texts_whatever_the_order_of_items() -> None:
    named: Any = {"seed": 7, "dataset": "a", "perturbation": "b", "degree": "single"}
    options = {"kinds": ["order", "number"], "count": 4}
    two = {"x": TEXT, "y": "It is 5 metres long. He saw Ruth."}
    each = perturb_dataset("inject_errors", options, two, **named)
    turned = dict(reversed(two.items()))
    again = perturb_dataset("inject_errors", options, turned, **named)
    assert each == again and each["x"] != each["y"]


@pytest.mark.parametrize(
    "keys", [{"steps": 1}, {"errors": []}, {"rule": "typos", "level": "character"}]
)
def test_rule_errors_and_steps_belong_together(keys: dict[str, object]) -> None:
    assert isinstance(validate_card("perturbation", CARD, "here"), RulePerturbation)
    with pytest.raises((UserError, UserErrors), match="need each other"):
        validate_card("perturbation", CARD | keys, "here")


def test_a_kind_of_error_that_does_not_exist_is_refused_with_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study(tmp_path).change("perturbations", "local-rule-fluency", errors=["speling"])
    monkeypatch.chdir(tmp_path)
    study = {
        **{"study": "rows", "datasets": ["demo-news"], "judges": ["rules"]},
        **{"methods": ["perspectives"], "perturbations": ["local-rule-fluency"]},
    }
    with pytest.raises(UserError, match="unknown kind of error") as error:
        load_plan(study, HOME, source="study.yaml")
    assert "nearest: spelling" in str(error.value)


def test_an_aspect_that_no_dataset_has_is_reported_with_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Study(tmp_path).change("perturbations", "local-rule-fluency", aspects=["fluencyy"])
    monkeypatch.chdir(tmp_path)
    study = {
        **{"study": "rows", "datasets": ["demo-news"], "judges": ["rules"]},
        **{"methods": ["perspectives"], "perturbations": ["local-rule-fluency"]},
    }
    with pytest.raises(UserError, match="that this perturbation names") as error:
        load_plan(study, HOME, source="study.yaml")
    message = str(error.value)
    assert (
        "perturbations/local-rule-fluency.yaml:" in message
        and "nearest: fluency" in message
    )


def test_texts_in_a_row_are_judged_on_the_aspects_that_they_are_about() -> None:
    study = {
        **{"study": "rows", "datasets": ["demo-news"], "judges": ["rules"]},
        **{"methods": ["agreement"], "perturbations": ["local-rule-fluency"]},
    }
    plan = load_plan(study, HOME, source="study.yaml")
    row = [
        cell
        for cell in plan.cell_aspects
        if cell.perturbation == "local-rule-fluency.single"
    ]
    assert [cell.aspect for cell in row if cell.judge == "rules"] == ["fluency"]
    other = study | {"aspects": ["coherence"]}
    assert "local-rule-fluency.single" not in load_plan(
        other, HOME, source="s"
    ).target_sets("demo-news")
