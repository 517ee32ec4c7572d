"""A set of texts whose first ones are all unusable: it stops, and says why."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.engines.requests import Reply, Request
from judgescope.perturb.edits import Amount
from judgescope.perturb.specs import MakeTextsSpec
from judgescope.perturb.writing import made_targets
from judgescope.prompts import NO_CHANGE
from judgescope.replies.specs import ModelSpec, WriterSpec

PARENT = "The cat sat on the mat."


def spec(**keys: Any) -> MakeTextsSpec:
    model = ModelSpec(card={}, folder="", data="")
    fields: dict[str, Any] = {
        "code": "",
        "versions": {},
        "dataset": "mine",
        "seed": 1,
        "share": 1,
        "items": "",
        "input": "",
        "output": "",
        "replies": "",
        "perturbation": "swap",
        "degree": None,
        "task": "dialogue",
        "writer": WriterSpec(form="f", decoding={}, model=model, templates={}),
        "change": NO_CHANGE,
        "amount": Amount(),
        "steps": 1,
        "checks": ["differs"],
        "attempts": 3,
    }
    return MakeTextsSpec(**fields | keys)


class Writer:
    """Writes the same text, and from its attempt `works` on another one."""

    def __init__(self, works: int = 99, cut: Sequence[str] = ()) -> None:
        self.works, self.cut = works, cut
        self.asked: list[Request] = []
        self.rounds = 0

    def request_for(self, about: str, names: Any) -> Request:
        problem = names["problem"]
        messages = [{"role": "user", "content": f"{about} {problem}"}]
        return Request({"messages": messages, "temperature": 0}, about=about)

    def obtain(self, requests: Iterable[Request]) -> dict[tuple[str, int], Reply]:
        replies: dict[tuple[str, int], Reply] = {}
        for one in requests:
            self.asked.append(one)
            attempt = sum(other.about == one.about for other in self.asked)
            text = PARENT + "\n" * attempt
            if attempt >= self.works:
                text = "The dog sat on the mat."
            finish = "length" if one.about in self.cut else "stop"
            for draw in range(one.draws):
                replies[one.key, draw] = Reply(one.key, draw, text, finish=finish)
        return replies


def made(count: int, writer: Writer, **keys: Any) -> list[dict[str, Any]]:
    names = [f"i{at:02}" for at in range(count)]
    items = [{"item": name, "source": "s"} for name in names]
    parents = [
        {
            "dataset": "mine",
            "target": f"{name}:original",
            "item": name,
            "system": "reference",
            "perturbation": "original",
            "step": 0,
            "text": PARENT,
            "status": "ok",
            "edits": [],
        }
        for name in names
    ]
    targets, _ = made_targets(
        spec(**keys), items, parents, writer.request_for, writer.obtain
    )
    return targets


@pytest.mark.parametrize(("count", "left"), [(30, 20), (10, 0), (4, 0)])
def test_a_set_stops_after_its_first_texts(count: int, left: int) -> None:
    writer = Writer(cut=["text of i03"])
    with pytest.raises(UserError, match="stopped: the first") as caught:
        made(count, writer)
    first = count - left
    assert len(writer.asked) == 3 * first
    reasons = f"it is the same text {first - 1}, the reply was cut 1"
    assert f"first {first} texts are unusable ({reasons})" in caught.value.what
    assert f"{left} replies were not requested" in caught.value.what
    assert caught.value.where == "perturbations/swap.yaml, dataset mine"
    assert "allow_missing" in caught.value.todo and caught.value.got


def test_a_study_that_allows_missing_texts_goes_on_without_the_set(
    capsys: pytest.CaptureFixture[str],
) -> None:
    writer = Writer()
    targets = made(30, writer, allow_missing=True)
    assert [row["status"] for row in targets] == ["failed: it is the same text"] * 10
    assert len(writer.asked) == 30
    said = capsys.readouterr().out
    assert "warning: stopped: the first 10 texts are unusable" in said
    assert "10 of 10 texts of perturbations/swap.yaml" in said


def test_texts_that_work_at_the_third_attempt_are_all_made() -> None:
    writer = Writer(works=3)
    targets = made(30, writer, retry_temperature=0.7)
    assert [row["status"] for row in targets] == ["ok"] * 30
    assert len(writer.asked) == 90
    warmer = [
        one.asked["temperature"] for one in writer.asked if "None" not in one.prompt
    ]
    assert set(warmer) == {0.7} and len(warmer) == 60


def test_unusable_texts_are_counted_with_an_example(
    capsys: pytest.CaptureFixture[str],
) -> None:
    targets = made(12, Writer(works=1, cut=["text of i11", "text of i03"]))
    assert sum(row["status"] == "ok" for row in targets) == 10
    said = capsys.readouterr().out
    assert "warning: 2 of 12 texts of" in said and "the reply was cut" in said
    assert "example: 'The dog sat on the mat.'" in said


def test_originals_that_fall_back_to_references_never_stop() -> None:
    targets = made(
        12,
        Writer(),
        perturbation="original",
        fallback_to_reference=True,
    )
    assert {row["status"] for row in targets} == {"kept: it is the same text"}
