"""What a request is made of, to the letter, and what a cell's questions and rows tell of it."""

import hashlib
from typing import Any

import pytest

from judgescope.engines.base import Subject
from judgescope.engines.requests import Reply, Request, request_of
from judgescope.prompts import load
from judgescope.replies.judging import Questions, rows, shown
from judgescope.schema.cards import Aspect, Decoding, Judge, OpenAIModel, RatedAspect
from running import HOME

URL = "http://127.0.0.1:1/v1"
MODEL = OpenAIModel.model_validate({"model": "it", "engine": "openai", "base_url": URL})
ASPECT = Aspect(aspect="fluency", name="Fluency", definition="How well it reads.")
SCALE = RatedAspect(min=1, max=5, step=1, labels=[])
USER = [{"role": "user", "content": "Rate it."}]
TEXTS = [Subject(f"a:{name}", "a", name, "systems", f"Text {name}.") for name in "xyz"]


def ask(study: int = 0, **keys: Any) -> Questions:
    judge = Judge.model_validate({"judge": "j", "model": "it", "form": "score-only"} | keys)
    templates = load(judge.form, [HOME / "config"], where="")
    return Questions(MODEL, judge, ASPECT, SCALE, shown(judge, TEXTS), templates, study)


def test_a_key_is_the_hash_of_this_text_or_every_reply_ever_paid_for_is_lost() -> None:
    text = (
        '{"engine":"openai","extra_body":{},"max_tokens":512,'
        '"messages":[{"content":"Rate it.","role":"user"}],"model":"it",'
        '"revision":null,"temperature":0.0,"top_p":1.0,"variant":null}'
    )
    told = Decoding(temperature=0, top_p=1, max_tokens=512)
    asked = request_of(MODEL, told, USER, seed=3)
    assert asked.key == hashlib.sha256(text.encode()).hexdigest()


def test_draws_and_what_a_request_is_about_are_kept_beside_the_key() -> None:
    one, two = (
        request_of(MODEL, Decoding(), USER, seed=0, draws=draws, about=about)
        for draws, about in ((1, "this"), (3, "that"))
    )
    assert one.key == two.key and (two.draws, two.about) == (3, "that")
    assert one == Request(one.asked, 1, "else")


def test_the_prompt_is_the_messages_line_by_line() -> None:
    system = {"role": "system", "content": "You judge."}
    assert Request({"messages": [system, *USER]}).prompt == "You judge.\nRate it."


def test_every_seed_fits_in_31_bits() -> None:
    asked = [Request({"messages": USER, "n": n}) for n in range(20)]
    assert any(int(one.key[:8], 16) >= 2**31 for one in asked)
    assert all(0 <= one.seed(draw) < 2**31 for one in asked for draw in range(3))


def test_a_question_has_the_judges_draws_and_the_studys_seed_and_is_named() -> None:
    first = ask(draws=3)[0]
    assert (first.draws, first.about) == (3, "j fluency a:x")
    assert ask(form="compare")[1].about == "j fluency a:y a:x"
    keys = {ask(study, seed="study")[0].key for study in (1, 2)}
    assert len(keys) == 2 and first.key not in keys


@pytest.mark.parametrize(("which", "count"), [("adjacent", 4), ("all", 6)])
def test_the_judge_says_which_pairs_are_compared(which: str, count: int) -> None:
    assert len(ask(form="compare", pairs=which)) == count


@pytest.mark.parametrize(("form", "kind"), [("score-only", "rate"), ("compare", "compare")])
def test_a_row_has_the_question_and_the_whole_reply(form: str, kind: str) -> None:
    asked = ask(form=form)
    key = asked[0].key
    told = Reply(key, 0, "4", "length", "ok", {"prompt": 7}, {"model": "it-1"}, [[("4", -0.5)]])
    row = rows(asked, lambda number, draw: told)[0]
    assert row == {
        **{"judge": "j", "kind": kind, "aspect": "fluency", "criterion": None},
        **asked.text_columns(0),
        **{"key": key, "draw": 0, "text": "4", "finish": "length", "status": "ok"},
        **{"usage": {"prompt": 7}, "provenance": {"model": "it-1"}, "logprobs": [[("4", -0.5)]]},
    }
