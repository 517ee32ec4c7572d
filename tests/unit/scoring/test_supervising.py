"""What a supervisor is asked: which texts, and with whose errors."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from judgescope.core.cells import pack
from judgescope.engines.requests import Reply, Request
from judgescope.prompts.material import TextWords
from judgescope.replies.asking import Obtain
from judgescope.replies.specs import ModelSpec
from judgescope.schema.cards import OpenAIModel
from judgescope.schema.rows import QuestionKey
from judgescope.schema.tables import (
    read_table,
    table_of,
    tuples_of,
    write_parts,
    write_table,
)
from judgescope.scoring import supervising
from judgescope.scoring.merge_specs import MemberFiles, MergedJudge, MergeSpec
from judgescope.scoring.supervising import questions

MODEL = OpenAIModel(model="super", engine="openai", base_url="http://127.0.0.1:1/v1")
ABOUT = TextWords(
    task="chat", noun="reply", kind="a reply", describe="replies", write="reply"
)
FORM = (
    "{{ noun }}: {{ text }}"
    "{% for errors in lists %}\n{{ loop.index }}."
    "{% for error in errors %} [{{ error.location }}|{{ error.severity }}]"
    "{% endfor %}{% endfor %}"
)
TEXTS = {"t1": "A cat sat.", "t2": "A dog ran.", "t3": "A cow ate."}
Marks = dict[str, list[str]]
"""Target -> the words that a member marks."""


def flaw(words: str) -> dict[str, Any]:
    """An error without a place; its words are on two lines."""
    return {
        "location": f"the\n{words}",
        "explanation": "wrong",
        "severity": 2,
        "category": None,
        "start": None,
        "end": None,
        "occurrence": None,
        "match": "not_found",
    }


def judged(name: str, criterion: str | None, marks: Marks) -> tuple[Any, Any]:
    """A member's judgments and scores on `clarity`, 3 points for each text."""
    key = {"judge": name, "aspect": "clarity", "criterion": criterion}
    judgments = []
    scores = []
    for target, words in marks.items():
        spans = [flaw(word) for word in words]
        row = {**key, "target": target, "value": 3.0}
        read = {"kind": "rate", "draw": 0, "status": "ok", "spans": spans}
        judgments.append({**row, **read})
        cell = {"dataset": "d", "perturbation": "systems", "estimator": "mean"}
        scores.append({**row, **cell})
    return table_of("judgments", judgments), table_of("scores", scores)


def members(folder: Path) -> dict[str, MemberFiles]:
    """Write the cells of two members, on an aspect in two criteria."""
    worded: dict[str, dict[str | None, Marks]] = {
        "ann": {
            None: {"t1": ["cat"], "t2": [], "t3": ["cow"]},
            "terse": {"t1": [], "t2": ["dog"], "t3": []},
        },
        "ben": {
            None: {"t1": ["sat", "cat"], "t2": [], "t3": []},
            "terse": {"t1": [], "t2": [], "t3": []},
        },
    }
    files = {}
    for name, by_criterion in worded.items():
        parts = [judged(name, *part) for part in by_criterion.items()]
        judgments = [judgments for judgments, _ in parts]
        scores = [scores for _, scores in parts]
        write_parts("judgments", judgments, folder / "j" / f"systems/{name}.parquet")
        write_parts("scores", scores, folder / "s" / f"systems/{name}.parquet")
        files[name] = MemberFiles(
            judgments=str(folder / "j" / "{}.parquet"),
            scores=str(folder / "s" / "{}.parquet"),
            hashes=str(folder / "hashes"),
        )
    return files


@pytest.fixture
def spec(tmp_path: Path) -> MergeSpec:
    """Ensemble `jury` of two members, merged by model `super`."""
    rows = []
    for target, text in TEXTS.items():
        row = {"dataset": "d", "target": target, "item": target, "status": "ok"}
        rows.append({**row, "text": text})
    targets = tmp_path / "targets.parquet"
    write_table("targets", table_of("targets", rows), targets)
    jury = MergedJudge(
        form="merge",
        decoding={"temperature": 0.0, "max_tokens": 70, "seed": "study"},
        members=["ann", "ben"],
        min_annotators=2,
        stop=["END"],
    )
    return MergeSpec(
        dataset="d",
        seed=7,
        about=ABOUT,
        model=ModelSpec(engine="unused", card={}, folder="", data=""),
        ensembles={"jury": jury},
        members=members(tmp_path),
        cells=pack([("systems", "jury", "clarity")]),
        templates={"merge": {"merge.jinja": FORM}},
        targets={"systems": str(targets)},
        output=str(tmp_path / "merged.parquet"),
        code="0",
        versions={},
    )


def asked(spec: MergeSpec, aspect: str) -> list[tuple[QuestionKey, Request]]:
    return list(questions(spec, MODEL, ("systems", "jury", aspect)))


def test_texts_in_which_a_member_marked_an_error_are_asked_about(
    spec: MergeSpec,
) -> None:
    """Nobody marks t2. A member that marks nothing is not shown as an annotator."""
    first, second = asked(spec, "clarity")
    assert first[0] == {
        "judge": "jury",
        "kind": "merge",
        "target": "t1",
        "target_b": None,
        "aspect": "clarity",
        "criterion": None,
        "hint": None,
    }
    assert first[1].asked["messages"] == [
        {
            "role": "user",
            "content": "reply: A cat sat.\n1. [the cat|2]\n2. [the sat|2] [the cat|2]",
        }
    ]
    assert second[0]["target"] == "t3"
    [message] = second[1].asked["messages"]
    assert message["content"] == "reply: A cow ate.\n1. [the cow|2]"


def test_a_request_has_the_decoding_of_the_ensemble_and_the_seed_of_the_study(
    spec: MergeSpec,
) -> None:
    (_, request), _ = asked(spec, "clarity")
    fields = request.asked
    assert fields["max_tokens"] == 70
    assert fields["stop"] == ["END"]
    assert fields["study_seed"] == 7
    assert fields["model"] == "super"
    assert request.about == "errors of t1 by jury"


def test_errors_of_a_criterion_are_those_marked_with_it(spec: MergeSpec) -> None:
    [(question, request)] = asked(spec, "clarity.terse")
    assert (question["aspect"], question["criterion"]) == ("clarity", "terse")
    assert question["target"] == "t2"
    [message] = request.asked["messages"]
    assert message["content"] == "reply: A dog ran.\n1. [the dog|2]"


def test_nothing_is_asked_if_too_few_members_are_heard(spec: MergeSpec) -> None:
    spec.ensembles["jury"] = MergedJudge(
        form="merge", decoding={}, members=["ann", "ben"], min_annotators=3
    )
    assert asked(spec, "clarity") == []


def test_the_replies_are_written_beside_their_questions(
    spec: MergeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each reply repeats the text of its prompt, so that none can be exchanged."""
    opened = list[dict[str, str]]()

    @contextmanager
    def asker(model: ModelSpec, **options: str) -> Iterator[tuple[Any, Obtain]]:
        assert model is spec.model
        opened.append(options)

        def obtain(requests: Iterable[Request]) -> dict[tuple[str, int], Reply]:
            replies = {}
            for request in requests:
                text = request.prompt.partition("\n")[0]
                replies[request.key, 0] = Reply(request.key, 0, text)
            return replies

        yield MODEL, obtain

    monkeypatch.setattr(supervising, "asker", asker)
    supervising.merge(spec, card="card", store="store", budget="budget")
    assert opened == [{"card": "card", "store": "store", "budget": "budget"}]
    names = ["judge", "kind", "target", "aspect", "criterion", "draw", "text"]
    written = read_table("answers", spec.output)
    assert tuples_of(written, names) == [
        ("jury", "merge", "t1", "clarity", None, 0, "reply: A cat sat."),
        ("jury", "merge", "t3", "clarity", None, 0, "reply: A cow ate."),
    ]
