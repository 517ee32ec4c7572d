"""A set of texts whose first ones are all unusable: it stops, and says why."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from judgescope.core.errors import UserError
from judgescope.data.rated import SourcePart
from judgescope.engines.requests import Reply, Request
from judgescope.extensions.distill.new_texts import new_texts
from judgescope.extensions.distill.specs import WriteNewSpec
from judgescope.perturb.candidates import PlannedCandidate, targets_by_model
from judgescope.perturb.edits import Amount
from judgescope.perturb.references import references_of
from judgescope.perturb.specs import (
    CandidatesSpec,
    Even,
    MakeTextsSpec,
    ModelErrors,
    WriteReferencesSpec,
)
from judgescope.perturb.writing import made_targets
from judgescope.prompts import NO_CHANGE, AspectPart, LoweredAspect, WriterChange
from judgescope.replies.specs import ModelSpec, WriterSpec
from prompts_setup import about

PARENT = "The cat sat on the mat."


def spec(**keys: Any) -> MakeTextsSpec:
    model = ModelSpec(engine="", card={}, folder="", data="")
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
        "about": about("dialogue"),
        "writer": WriterSpec(form="f", decoding={}, model=model, templates={}),
        "change": NO_CHANGE,
        "amount": Amount(),
        "steps": 1,
        "checks": ["differs"],
        "attempts": 3,
        "retry_temperature": 0.7,
    }
    return MakeTextsSpec(**fields | keys)


class Writer:
    """Writes the same text, and from its attempt `works` on another one.

    `echoes`: to the last character; else with one more line break each time.
    """

    def __init__(
        self, works: int = 99, cut: Sequence[str] = (), echoes: bool = False
    ) -> None:
        self.works, self.cut, self.echoes = works, cut, echoes
        self.asked: list[Request] = []
        self.rounds = 0

    def request_for(self, about: str, names: Any) -> Request:
        problem = names["problem"]
        messages = [{"role": "user", "content": f"{about} {problem}"}]
        return Request({"messages": messages, "temperature": 0}, about=about)

    def obtain(self, requests: Iterable[Request]) -> dict[tuple[str, int], Reply]:
        replies: dict[tuple[str, int], Reply] = {}
        for request in requests:
            self.asked.append(request)
            attempt = sum(other.about == request.about for other in self.asked)
            text = PARENT if self.echoes else PARENT + "\n" * attempt
            if attempt >= self.works:
                text = "The dog sat on the mat."
            finish = "length" if request.about in self.cut else "stop"
            for draw in range(request.draws):
                replies[request.key, draw] = Reply(
                    request.key, draw, text, finish=finish
                )
        return replies


def made(count: int, writer: Writer, **keys: Any) -> list[dict[str, Any]]:
    names = [f"i{at:02}" for at in range(count)]
    items = [{"item": name, "source": "s", "parts": []} for name in names]
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


def test_a_set_of_a_single_text_stops_as_well() -> None:
    reason = r"the only text is unusable \(it is the same text 1\); 0 replies"
    with pytest.raises(UserError, match=reason):
        made(1, Writer())


def test_an_echo_ends_a_text_after_its_second_attempt() -> None:
    writer = Writer(echoes=True)
    with pytest.raises(UserError, match="the first 10 texts are unusable"):
        made(30, writer)
    assert len(writer.asked) == 2 * 10


def test_without_a_temperature_for_further_attempts_there_are_none() -> None:
    writer = Writer()
    with pytest.raises(UserError, match="the first 10 texts are unusable"):
        made(30, writer, retry_temperature=None)
    assert len(writer.asked) == 10


def test_a_study_that_allows_missing_texts_goes_on_without_the_set(
    capsys: pytest.CaptureFixture[str],
) -> None:
    writer = Writer()
    targets = made(30, writer, allow_missing=True)
    assert [row["status"] for row in targets] == ["failed: it is the same text"] * 10
    assert len(writer.asked) == 30
    output = capsys.readouterr().out
    assert "dataset mine: stopped: the first 10 texts are unusable" in output
    assert "10 of 10 texts of perturbations/swap.yaml" in output


def test_texts_that_work_at_the_third_attempt_are_all_made() -> None:
    writer = Writer(works=3)
    targets = made(30, writer)
    assert [row["status"] for row in targets] == ["ok"] * 30
    assert len(writer.asked) == 90
    warmer = [
        request.asked["temperature"]
        for request in writer.asked
        if "None" not in request.prompt
    ]
    assert set(warmer) == {0.7} and len(warmer) == 60


def test_unusable_texts_are_counted_with_an_example(
    capsys: pytest.CaptureFixture[str],
) -> None:
    targets = made(12, Writer(works=1, cut=["text of i11", "text of i03"]))
    assert sum(row["status"] == "ok" for row in targets) == 10
    output = capsys.readouterr().out
    assert "warning: 2 of 12 texts of" in output and "the reply was cut" in output
    assert "example: 'The dog sat on the mat.'" in output


def test_originals_that_fall_back_to_references_never_stop() -> None:
    targets = made(
        12,
        Writer(),
        perturbation="original",
        fallback_to_reference=True,
    )
    assert {row["status"] for row in targets} == {"kept: it is the same text"}


# ---- graded sets, written references and new texts -----------------------------------


def graded(writer: Writer, *, allow_missing: bool = False) -> list[dict[str, Any]]:
    """Return the candidates of 30 items: each has one without errors and one with."""
    part = AspectPart("Fact", "Facts are right.")
    by_model = ModelErrors(
        writer=spec().writer,
        about=about("dialogue"),
        change=WriterChange(aspect=LoweredAspect("A", "What it is.", [part])),
        attempts=3,
        retry_temperature=0.7,
    )
    candidates_spec = CandidatesSpec(
        code="",
        versions={},
        dataset="mine",
        seed=1,
        share=1,
        allow_missing=allow_missing,
        items="",
        input="",
        output="",
        perturbation="swap",
        degree="single",
        references=1,
        part=Even(targets=2, counts=[0, 1]),
        written=None,
    )
    bases = [(f"i{at:02}", ("base", PARENT)) for at in range(30)]
    candidates = {
        f"{item}:swap.{errors}": PlannedCandidate(item, str(errors), base, errors)
        for item, base in bases
        for errors in (0, 1)
    }
    targets, _ = targets_by_model(
        candidates_spec,
        by_model,
        candidates,
        {item: [SourcePart("Conversation", "s")] for item, _ in bases},
        writer.request_for,
        writer.obtain,
    )
    return targets


def test_a_graded_set_stops_after_its_first_texts_with_errors() -> None:
    writer = Writer()
    with pytest.raises(UserError, match="the first 10 texts are unusable") as caught:
        graded(writer)
    assert "20 replies were not requested" in caught.value.what
    assert caught.value.where == "perturbations/swap.yaml, dataset mine"
    assert len(writer.asked) == 3 * 10
    targets = graded(Writer(), allow_missing=True)
    statuses = Counter(row["status"].partition(":")[0] for row in targets)
    assert statuses == {"ok": 30, "failed": 10}


def written(writer: Writer, **keys: Any) -> list[dict[str, Any]]:
    """Return the references that a model writes for 30 items, three draws each."""
    settings: dict[str, Any] = {
        "code": "",
        "versions": {},
        "dataset": "mine",
        "seed": 1,
        "share": 1,
        "items": "",
        "input": "",
        "output": "",
        "about": about("dialogue"),
        "writer": spec().writer,
        "draws": 3,
        "keep": 1,
        "checks": ["not_refusal", "length"],
        "fallback_to_reference": False,
        "kept": "",
        "replies": "",
    }
    names = [f"i{at:02}" for at in range(30)]
    items = [{"item": name, "source": "s", "parts": None} for name in names]
    kept, _ = references_of(
        WriteReferencesSpec(**settings | keys),
        items,
        dict.fromkeys(names, PARENT),
        writer.request_for,
        writer.obtain,
    )
    return kept


def test_references_stop_after_the_first_items_without_one() -> None:
    cut = [f"references of i{at:02}" for at in range(30)]
    writer = Writer(cut=cut)
    with pytest.raises(UserError, match="the first 10 texts are unusable") as caught:
        written(writer)
    assert "none of 3 can be used: the reply was cut 10" in caught.value.what
    assert "60 replies were not requested" in caught.value.what
    assert "key references" in caught.value.where
    assert len(writer.asked) == 10
    kept = written(Writer(cut=cut), allow_missing=True)
    assert len(kept) == 10 and {row["text"] for row in kept} == {PARENT}
    kept = written(Writer(cut=cut), fallback_to_reference=True)
    assert len(kept) == 30 and {row["status"][:4] for row in kept} == {"kept"}
    kept = written(Writer(cut=cut[:9], works=1))
    assert len(kept) == 30 and sum(row["status"] == "ok" for row in kept) == 21


def test_new_texts_for_a_training_stop_as_well() -> None:
    names = [f"i{at:02}" for at in range(30)]
    keys: dict[str, Any] = {
        "code": "",
        "versions": {},
        "dataset": "mine",
        "name": "written.m",
        "seed": 1,
        "about": about("dialogue"),
        "writer": spec().writer,
        "items": "",
        "sample": "",
        "output": "",
        "replies": "",
    }
    items = [{"item": name, "source": "s", "parts": None} for name in names]
    drawn = [
        {"dataset": "mine", "item": name, "perturbation": "written.m"} for name in names
    ]
    cut = [f"a text about {name}" for name in names]
    writer = Writer(cut=cut)
    asking = (writer.request_for, writer.obtain)
    with pytest.raises(UserError, match="the first 10 texts are unusable"):
        new_texts(WriteNewSpec(allow_missing=False, **keys), items, drawn, *asking)
    assert len(writer.asked) == 10
    targets, _ = new_texts(
        WriteNewSpec(allow_missing=True, **keys), items, drawn, *asking
    )
    assert len(targets) == 10
