"""Requests: what is in a key, what is not, and which questions a cell asks."""

import hashlib
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.engines.base import Subject
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.plan.checks.judges import check_judge
from judgescope.prompts import load
from judgescope.replies import few_shot
from judgescope.replies.judging import Questions, pairs_of, rows, shown
from judgescope.schema.cards import Aspect, Decoding, Judge, OpenAIModel, RatedAspect
from prompts_setup import SUMMARY, asked_about
from running import HOME

MODEL: dict[str, Any] = {
    "model": "it",
    "engine": "openai",
    "base_url": "http://127.0.0.1:1/v1",
}
ASPECT = Aspect(aspect="fluency", name="Fluency", definition="How well it reads.")
SCALE = RatedAspect(min=1, max=5, step=1, labels=[])
USER = [{"role": "user", "content": "Rate it."}]


def key(
    *, seed: int = 0, messages: Any = USER, decoding: Any = None, **keys: Any
) -> str:
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
    assert key(seed=1, decoding={"seed": "study"}) != key(
        seed=2, decoding={"seed": "study"}
    )


def test_the_order_of_fields_is_no_difference() -> None:
    assert key(extra_body={"a": 1, "b": 2}) == key(extra_body={"b": 2, "a": 1})


def test_a_draws_seed_follows_from_the_key_alone() -> None:
    each, two = (Request({"messages": USER, "n": n}, draws=3) for n in (1, 2))
    assert len({each.seed(0), each.seed(1), each.seed(2), two.seed(0)}) == 4
    assert each.seed(1) == Request(each.asked, draws=9, about="else").seed(1)
    assert 0 <= each.seed(0) < 2**31


# --- the questions of a cell ---


def subject(
    item: str, name: str, step: int = 0, source: str | None = "A source."
) -> Subject:
    return Subject(
        f"{item}:{name}", item, name, "systems", f"Text {name}.", source, (), step
    )


SUBJECTS = [subject("b", "x"), subject("a", "y"), subject("a", "x"), subject("a", "z")]


def ids(which: str, *subjects: Subject) -> list[tuple[str, str]]:
    return [(text.target, other.target) for text, other in pairs_of(subjects, which)]


def test_pairs_are_of_a_single_item_by_step_then_id() -> None:
    assert ids("adjacent", *SUBJECTS) == [("a:x", "a:y"), ("a:y", "a:z")]
    assert ids("all", *SUBJECTS) == [("a:x", "a:y"), ("a:x", "a:z"), ("a:y", "a:z")]
    chain = [subject("a", name, step) for name, step in (("c", 1), ("b", 2), ("a", 3))]
    assert ids("adjacent", *chain) == [("a:c", "a:b"), ("a:b", "a:a")]


def test_a_demonstration_shows_a_value_of_the_scale_or_two_decimals() -> None:
    text = subject("a", "x")
    steps, plain = SCALE, RatedAspect(min=0, max=1)
    assert few_shot.shown(few_shot.Rated(text, 3.5), steps)["rating"] == steps.shown(3)
    assert few_shot.shown(few_shot.Rated(text, 3.51), steps)["rating"] == steps.shown(4)
    assert few_shot.shown(few_shot.Rated(text, 1 / 3), plain)["rating"] == plain.shown(
        0.33
    )


def ask(
    judge: Judge, scale: RatedAspect = SCALE, subjects: Any = SUBJECTS
) -> Questions:
    model = OpenAIModel.model_validate(MODEL)
    templates = load(judge.form, [HOME / "config"], where="")
    return Questions(
        model,
        judge,
        ASPECT,
        scale,
        asked_about(judge, subjects),
        templates,
        0,
        SUMMARY,
    )


def places(asked: Questions) -> list[tuple[str, ...]]:
    return [tuple(asked.text_columns(number).values()) for number in range(len(asked))]


def test_a_rating_asks_once_per_text_and_a_comparison_in_both_orders() -> None:
    rated = ask(Judge(judge="j", model="it", form="score-only"))
    assert rated.text_columns(0) == {"target": "b:x"}
    assert places(rated) == [(subject.target,) for subject in SUBJECTS]
    compared = ask(Judge(judge="j", model="it", form="compare"))
    assert compared.text_columns(0) == {"target": "a:x", "target_b": "a:y"}
    assert places(compared) == [
        *(("a:x", "a:y"), ("a:y", "a:x")),
        *(("a:y", "a:z"), ("a:z", "a:y")),
    ]
    first, second = (compared[number].prompt for number in (0, 1))
    assert first.index("Text x.") < first.index("Text y.")
    assert second.index("Text y.") < second.index("Text x.")


def test_equal_texts_are_one_request_with_the_source_only_if_raters_saw_it() -> None:
    judge = Judge(judge="j", model="it", form="score-only")
    twins = [
        subject("a", "x"),
        Subject("b:x", "b", "x", "systems", "Text x.", "A source."),
    ]
    assert len({reply.key for reply in ask(judge, subjects=twins)}) == 1
    hidden = SCALE.model_copy(update={"source_visible": False})
    assert "A source." in ask(judge)[0].prompt
    assert "source" not in ask(judge, hidden)[0].prompt.lower()


def test_the_judges_own_scale_goes_before_the_aspects() -> None:
    own_part = Judge.model_validate(
        {"judge": "j", "model": "it", "form": "score-only"}
        | {"scale": {"min": 1, "max": 5, "step": 0.5}}
    )
    assert "in steps of 0.5" in ask(own_part)[0].prompt


def test_every_draw_of_every_question_is_a_row() -> None:
    judge = Judge(judge="j", model="it", form="score-only", draws=2)
    asked = ask(judge, subjects=SUBJECTS[:2])

    def reply(number: int, draw: int) -> Reply:
        return Reply(asked[number].key, draw, f"{number}.{draw}")

    actual = [(row["target"], row["draw"], row["text"]) for row in rows(asked, reply)]
    assert actual == [
        ("b:x", 0, "0.0"),
        ("b:x", 1, "0.1"),
        ("a:y", 0, "1.0"),
        ("a:y", 1, "1.1"),
    ]


URL = "http://127.0.0.1:1/v1"
CARD = OpenAIModel.model_validate({"model": "it", "engine": "openai", "base_url": URL})
TEXTS = [Subject(f"a:{name}", "a", name, "systems", f"Text {name}.") for name in "xyz"]


def ask_cells(study: int = 0, **keys: Any) -> Questions:
    judge = Judge.model_validate(
        {"judge": "j", "model": "it", "form": "score-only"} | keys
    )
    templates = load(judge.form, [HOME / "config"], where="")
    return Questions(
        CARD,
        judge,
        ASPECT,
        SCALE,
        asked_about(judge, TEXTS),
        templates,
        study,
        SUMMARY,
    )


def test_a_key_is_the_hash_of_this_text_or_every_reply_ever_paid_for_is_lost() -> None:
    text = (
        '{"engine":"openai","extra_body":{},"max_tokens":512,'
        '"messages":[{"content":"Rate it.","role":"user"}],"model":"it",'
        '"revision":null,"temperature":0.0,"top_p":1.0,"variant":null}'
    )
    result = Decoding(temperature=0, top_p=1, max_tokens=512)
    asked = request_of(CARD, result, USER, seed=3)
    assert asked.key == hashlib.sha256(text.encode()).hexdigest()


def test_draws_and_what_a_request_is_about_are_kept_beside_the_key() -> None:
    request = request_of(CARD, Decoding(), USER, seed=0, about="this")
    two = Request(request.asked, 3, "that")
    assert request.key == two.key and (two.draws, two.about) == (3, "that")
    assert request.about == "this" and request == Request(request.asked, 1, "else")


def test_the_prompt_is_the_messages_line_by_line() -> None:
    system = {"role": "system", "content": "You judge."}
    assert Request({"messages": [system, *USER]}).prompt == "You judge.\nRate it."


def test_every_seed_fits_in_31_bits() -> None:
    asked = [Request({"messages": USER, "n": n}) for n in range(20)]
    assert any(int(reply.key[:8], 16) >= 2**31 for reply in asked)
    assert all(
        0 <= request.seed(draw) < 2**31 for request in asked for draw in range(3)
    )


def test_a_question_has_the_judges_draws_and_the_studys_seed_and_is_named() -> None:
    first = ask_cells(draws=3)[0]
    assert (first.draws, first.about) == (3, "j fluency a:x")
    assert ask_cells(form="compare")[1].about == "j fluency a:y a:x"
    keys = {ask_cells(study, seed="study")[0].key for study in (1, 2)}
    assert len(keys) == 2 and first.key not in keys


@pytest.mark.parametrize(("which", "count"), [("adjacent", 4), ("all", 6)])
def test_the_judge_says_which_pairs_are_compared(which: str, count: int) -> None:
    assert len(ask_cells(form="compare", pairs=which)) == count


@pytest.mark.parametrize(
    ("form", "kind"), [("score-only", "rate"), ("compare", "compare")]
)
def test_a_row_has_the_question_and_the_complete_reply(form: str, kind: str) -> None:
    asked = ask_cells(form=form)
    key = asked[0].key
    result = Reply(
        key, 0, "4", "length", "ok", {"prompt": 7}, {"model": "it-1"}, [[("4", -0.5)]]
    )
    row = rows(asked, lambda number, draw: result)[0]
    assert row == {
        **{"judge": "j", "kind": kind, "aspect": "fluency", "criterion": None},
        **asked.text_columns(0),
        **{"key": key, "draw": 0, "text": "4", "finish": "length", "status": "ok"},
        **{
            "usage": {"prompt": 7},
            "provenance": {"model": "it-1"},
            "logprobs": [[("4", -0.5)]],
        },
    }


NINE = [
    Subject(f"{item}:{system}", item, system, "systems", f"Text {item}{system}")
    for item in "ab"
    for system in "xyz"
]
PREFERRED = [("a:z", "a:x"), ("b:x", "b:y"), ("c:x", "c:y")]


def asked(preferred: list[tuple[str, str]], **keys: str) -> list[tuple[str, ...]]:
    judge = Judge.model_validate(
        {"judge": "it", "model": "it", "form": "compare"} | keys
    )
    return [
        tuple(each.target for each in texts)
        for texts in shown(judge, NINE, preferred, pairs=True)
    ]


def test_pairs_are_those_that_people_compared_in_both_orders() -> None:
    expected = [("a:z", "a:x"), ("a:x", "a:z"), ("b:x", "b:y"), ("b:y", "b:x")]
    assert asked(PREFERRED) == expected


def test_a_single_order_is_that_in_which_people_saw_them() -> None:
    assert asked(PREFERRED, orders="one") == [("a:z", "a:x"), ("b:x", "b:y")]
    assert asked([], orders="one", pairs="adjacent")[:2] == [
        ("a:x", "a:y"),
        ("a:y", "a:z"),
    ]


def test_all_pairs_may_be_asked_none_the_less() -> None:
    assert len(asked(PREFERRED, pairs="all")) == 12


def test_an_order_that_is_not_set_changes_no_dump() -> None:
    fields = {"judge": "it", "model": "it", "form": "compare"}
    assert "orders" not in Judge.model_validate(fields).model_dump()
    assert (
        Judge.model_validate({**fields, "orders": "one"}).model_dump()["orders"]
        == "one"
    )
    alone = Judge(judge="it", model="it", form="score-only", orders="one")
    with pytest.raises(UserError, match="for judges that compare"):
        check_judge(alone, OpenAIModel.model_validate(MODEL), {})
