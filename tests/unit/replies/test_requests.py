"""Requests: what is in a key, what is not, and which questions a cell asks."""

from typing import Any

import pytest

from judgescope.engines.base import Subject
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.prompts import load
from judgescope.replies.judging import Questions, pairs, rows, shown
from judgescope.schema.cards import Aspect, Decoding, Judge, OpenAIModel, RatedAspect
from running import HOME

MODEL: dict[str, Any] = {"model": "it", "engine": "openai", "base_url": "http://127.0.0.1:1/v1"}
ASPECT = Aspect(aspect="fluency", name="Fluency", definition="How well it reads.")
SCALE = RatedAspect(min=1, max=5, step=1, labels=[])
USER = [{"role": "user", "content": "Rate it."}]


def key(*, seed: int = 0, messages: Any = USER, decoding: Any = None, **keys: Any) -> str:
    model = OpenAIModel.model_validate(MODEL | keys)
    return request_of(model, Decoding(**decoding or {}), messages, seed=seed).key


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"revision": "abc"},
        {"variant": "awq"},
        {"extra_body": {"top_k": 1}},
        {"messages": [{"role": "user", "content": "Rate it!"}]},
        {"messages": [{"role": "system", "content": "Rate it."}]},
        {"messages": [*USER, *USER]},
        {"decoding": {"temperature": 1}},
        {"decoding": {"top_p": 0.5}},
        {"decoding": {"max_tokens": 9}},
        {"decoding": {"seed": "study"}},
    ],
)
def test_what_can_change_a_reply_changes_the_key(change: dict[str, Any]) -> None:
    assert key(**change) != key()


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://127.0.0.1:2/v1"},
        {"api_key_env": "A"},
        {"api_key_file": "/keys/a"},
        {"price": {"input": 1, "output": 2}},
        {"limits": {"concurrency": 1}},
        {"family": "its"},
        {"seed": 5},
        {"name": "it"},
        {"extra_body": {}},
    ],
)
def test_address_price_pace_and_the_studys_seed_do_not(change: dict[str, Any]) -> None:
    assert key(**change) == key()


def test_the_studys_seed_counts_where_the_card_says_so() -> None:
    assert key(seed=1, decoding={"seed": "study"}) != key(seed=2, decoding={"seed": "study"})


def test_the_order_of_fields_is_no_difference() -> None:
    assert key(extra_body={"a": 1, "b": 2}) == key(extra_body={"b": 2, "a": 1})


def test_a_draws_seed_follows_from_the_key_alone() -> None:
    one, two = (Request({"messages": USER, "n": n}, draws=3) for n in (1, 2))
    assert len({one.seed(0), one.seed(1), one.seed(2), two.seed(0)}) == 4
    assert one.seed(1) == Request(one.asked, draws=9, about="else").seed(1)
    assert 0 <= one.seed(0) < 2**31


# --- the questions of a cell ---


def subject(item: str, name: str, step: int = 0, source: str | None = "A source.") -> Subject:
    return Subject(f"{item}:{name}", item, name, "systems", f"Text {name}.", source, (), step)


SUBJECTS = [subject("b", "x"), subject("a", "y"), subject("a", "x"), subject("a", "z")]


def ids(which: str, *subjects: Subject) -> list[tuple[str, str]]:
    return [(one.target, other.target) for one, other in pairs(subjects, which)]


def test_pairs_are_of_one_item_by_step_then_id() -> None:
    assert ids("adjacent", *SUBJECTS) == [("a:x", "a:y"), ("a:y", "a:z")]
    assert ids("all", *SUBJECTS) == [("a:x", "a:y"), ("a:x", "a:z"), ("a:y", "a:z")]
    chain = [subject("a", name, step) for name, step in (("c", 1), ("b", 2), ("a", 3))]
    assert ids("adjacent", *chain) == [("a:c", "a:b"), ("a:b", "a:a")]


def ask(judge: Judge, scale: RatedAspect = SCALE, subjects: Any = SUBJECTS) -> Questions:
    model = OpenAIModel.model_validate(MODEL)
    templates = load(judge.form, [HOME / "config"], where="")
    return Questions(model, judge, ASPECT, scale, shown(judge, subjects), templates, 0)


def places(asked: Questions) -> list[tuple[str, ...]]:
    return [tuple(asked.text_columns(number).values()) for number in range(len(asked))]


def test_a_rating_asks_once_per_text_and_a_comparison_in_both_orders() -> None:
    rated = ask(Judge(judge="j", model="it", form="score-only"))
    assert rated.text_columns(0) == {"target": "b:x"}
    assert places(rated) == [(one.target,) for one in SUBJECTS]
    compared = ask(Judge(judge="j", model="it", form="compare"))
    assert compared.text_columns(0) == {"target": "a:x", "target_b": "a:y"}
    assert places(compared) == [
        *(("a:x", "a:y"), ("a:y", "a:x")),
        *(("a:y", "a:z"), ("a:z", "a:y")),
    ]
    first, second = (compared[number].prompt for number in (0, 1))
    assert first.index("Text x.") < first.index("Text y.")
    assert second.index("Text y.") < second.index("Text x.")


def test_equal_texts_are_one_request_and_the_source_is_seen_only_where_raters_saw_it() -> None:
    judge = Judge(judge="j", model="it", form="score-only")
    twins = [subject("a", "x"), Subject("b:x", "b", "x", "systems", "Text x.", "A source.")]
    assert len({one.key for one in ask(judge, subjects=twins)}) == 1
    hidden = SCALE.model_copy(update={"source_visible": False})
    assert "A source." in ask(judge)[0].prompt
    assert "source" not in ask(judge, hidden)[0].prompt.lower()


def test_the_judges_own_scale_goes_before_the_aspects() -> None:
    own = Judge.model_validate(
        {"judge": "j", "model": "it", "form": "score-only"}
        | {"scale": {"min": 1, "max": 5, "step": 0.5}}
    )
    assert "in steps of 0.5" in ask(own)[0].prompt


def test_every_draw_of_every_question_is_a_row() -> None:
    judge = Judge(judge="j", model="it", form="score-only", draws=2)
    asked = ask(judge, subjects=SUBJECTS[:2])

    def reply(number: int, draw: int) -> Reply:
        return Reply(asked[number].key, draw, f"{number}.{draw}")

    told = [(row["target"], row["draw"], row["text"]) for row in rows(asked, reply)]
    assert told == [("b:x", 0, "0.0"), ("b:x", 1, "0.1"), ("a:y", 0, "1.0"), ("a:y", 1, "1.1")]
