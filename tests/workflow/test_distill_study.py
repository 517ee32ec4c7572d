"""A judge that learns from an ensemble, from cards to report; what trains is a stand-in
here.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow.parquet as pq
import pytest

import running
from asking import AskedStudy
from distilling import (
    MEMBERS,
    annotate,
    distilling,
    score_of,
    stand_ins,
    table,
    text_of,
    write,
)
from report_setup import text_of_pages
from scripted import Body, Said, prompt_of, reply, serve

pytestmark = [pytest.mark.slow, pytest.mark.long(12)]
Row = dict[str, Any]
DIALOGUES = running.HOME / "config" / "demo" / "dialogue_items.jsonl"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AskedStudy]:
    with serve(annotate) as endpoint:
        own_part = distilling(tmp_path, endpoint)
        own_part.card("models", "student", **SERVED)
        stand_ins(own_part, monkeypatch)
        yield own_part


SERVED = {
    **{"engine": "vllm", "name": "org/student", "path": "weights", "mode": "served"},
    **{
        "adapter": "trained",
        "limits": {"backoff": 0.01, "concurrency": 4, "timeout": 20},
    },
}


def distill_folder(study: AskedStudy) -> Path:
    return study.folder / "results" / "asked" / "distill"


def examples(study: AskedStudy, split: str) -> list[Row]:
    lines = (distill_folder(study) / f"{split}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def notes(study: AskedStudy) -> dict[str, list[str]]:
    return {
        path.name: path.read_text("utf-8").split()
        for path in study.folder.glob("notes/*")
    }


@pytest.mark.long(36)
def test_from_cards_to_report(study: AskedStudy) -> None:
    """The sample alone is judged by members, each once; a second run does nothing."""
    checked = study.judgescope("check")
    assert checked.returncode == 0, checked.stdout[-3000:]
    assert not study.endpoint.asked
    done = study.run()
    assert done.returncode == 0, done.stdout[-4000:]
    sample = pq.read_table(distill_folder(study) / "sample.parquet").to_pylist()
    assert len(sample) == 24 * 4 * 3
    asked = Counter(body["model"] for body in study.endpoint.asked)
    different = {(row["aspect"], row["prompt"]) for row in sample}
    assert set(asked) == set(MEMBERS) and len(different) > 250
    taught = [row for split in ("train", "held_out") for row in examples(study, split)]
    assert len(taught) == len(sample)
    for row in taught:
        [message] = row["messages"]
        text = text_of(message["content"])
        mean = sum(score_of(name, text) for name in MEMBERS) / 3
        assert row["score"] == int((mean - 1) / 4 * 20 + 0.5) * 5
        assert row["reply"].endswith(f"\n\nOverall score: {row['score']}")
    held = {row["item"] for row in examples(study, "held_out")}
    assert len(held) == 2 and held.isdisjoint(
        row["item"] for row in examples(study, "train")
    )
    result = notes(study)
    assert result["checked"] == ["288"] and result["trained"] == [str(288 - 24)]
    assert len(result["asked"]) == 3 * 120
    again = study.run()
    assert "Everything is up to date" in again.stdout and notes(study) == result
    assert Counter(body["model"] for body in study.endpoint.asked) == asked
    _in_tables(study)


def _in_tables(study: AskedStudy) -> None:
    """The judge stands beside members and ensemble; what was learnt from is in no such
    table.
    """
    rows = study.rows("ensemble")
    statistics = {row["statistic"] for row in rows if row["judge_b"] == "distilled"}
    assert {"student_pearson", "student_with_teacher_pearson"} <= statistics
    for name in ("agreement", "ensemble", "spans"):
        assert {row["dataset"] for row in study.rows(name)} == {"demo-dialogue"}
    for name in ("coverage", "cost"):
        assert {row["dataset"] for row in study.rows(name)} == {
            "demo-dialogue",
            "demo-news",
        }
    losses = [row for row in study.rows("training") if row["dataset"] == "demo-news"]
    assert losses and all(row["n"] for row in losses if row["value"] is not None)
    page = text_of_pages(study.folder / "results/asked/report")
    assert "The distilled judge" in page and "org/student" in page


@pytest.mark.long(52)
def test_another_example_trains_again_and_asks_again(study: AskedStudy) -> None:
    """Changed examples: another adapter, and other keys. Nothing of the members' is
    asked again.
    """
    assert study.make("coverage").returncode == 0
    before, asked = notes(study), len(study.endpoint.asked)
    write(study, distill={"held_out": 0.1})
    assert study.make("coverage").returncode == 0
    after = notes(study)
    assert len(after["trained"]) == 2 and len(after["asked"]) == 2 * len(
        before["asked"]
    )
    assert len(study.endpoint.asked) == asked
    write(
        study, distill={"held_out": 0.05}
    )  # the first adapter comes back, and its replies
    assert study.make("coverage").returncode == 0
    assert notes(study)["asked"] == after["asked"]


def test_an_export_trains_nothing(study: AskedStudy) -> None:
    done = study.judgescope("distill", "export")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "264 examples" in done.stdout and set(notes(study)) == {"checked"}
    assert not (distill_folder(study) / "adapter").exists()
    done = study.judgescope("distill", "train")
    assert done.returncode == 0 and set(notes(study)) == {"checked", "trained"}


def test_just_the_sample_is_exported_to_be_scored_elsewhere(study: AskedStudy) -> None:
    targets = ("export", "study.yaml", "targets", "targets.jsonl")
    done = running.run("-m", "judgescope", *targets, "--made", cwd=study.folder)
    assert done.returncode == 0, done.stdout[-3000:]
    lines = (study.folder / "targets.jsonl").read_text("utf-8").splitlines()
    news = [row for row in map(json.loads, lines) if row["dataset"] == "demo-news"]
    assert sum(len(row["aspects"]) for row in news) == 24 * 4 * 3
    assert not study.endpoint.asked


def test_models_write_texts_to_learn_from_where_they_are_drawn(
    study: AskedStudy,
) -> None:
    write(study, distill={"write": {"models": ["m1", "loop"]}, "systems": 5})
    checked = study.judgescope("check")
    assert checked.returncode == 0 and "written.loop" in checked.stdout, checked.stdout[
        -3000:
    ]
    done = study.judgescope("distill", "export")
    assert done.returncode == 0, done.stdout[-3000:]
    sample = pq.read_table(distill_folder(study) / "sample.parquet").to_pylist()
    new = {
        name: {row["item"] for row in sample if row["system"] == f"written.{name}"}
        for name in ("m1", "loop")
    }
    assert all(10 < len(items) < 24 for items in new.values())
    wrote = [body for body in study.endpoint.asked if " to annotate:" not in str(body)]
    assert Counter(body["model"] for body in wrote) == {
        name: len(items) for name, items in new.items()
    }
    taught = [row for split in ("train", "held_out") for row in examples(study, split)]
    assert len(taught) == len(sample) == 24 * 5 * 3
    written = [row for row in taught if ":written." in row["target"]]
    assert written and all(
        " writes: " in row["messages"][0]["content"] for row in written
    )


def test_a_source_that_is_evaluated_on_stops_the_study_or_is_left_out(
    study: AskedStudy,
) -> None:
    twin = {"datasets": ["twin"]}
    table(study, "twin", _twins())
    write(study, distill=twin, aspects=["naturalness"])
    stopped = study.run()
    assert stopped.returncode != 0 and not study.endpoint.asked
    log = (study.folder / "results/asked/logs/distill/sample.log").read_text("utf-8")
    assert "3 of 5 training items" in log
    assert "overlap: drop" in log
    write(study, distill=twin | {"overlap": "drop"}, aspects=["naturalness"])
    done = study.judgescope("distill", "export")
    assert done.returncode == 0, done.stdout[-3000:]
    taught = [row for split in ("train", "held_out") for row in examples(study, split)]
    assert {row["item"] for row in taught} == {"t4", "t5"}


@pytest.mark.parametrize("expected", [5, 1])
def test_what_the_teacher_has_no_judgment_of_is_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: int
) -> None:
    """Every fifth text, or all: then nothing is left to learn from, and nothing is
    trained.
    """

    def script(body: Body) -> Said:
        text = text_of(prompt_of(body))
        return (
            reply("What a text!")
            if crc32(text.encode()) % expected == 0
            else annotate(body)
        )

    with serve(script) as endpoint:
        study = distilling(tmp_path, endpoint)
        study.card("models", "student", **SERVED)
        stand_ins(study, monkeypatch)
        done = study.judgescope("distill", "train")
    log = (tmp_path / "results/asked/logs/distill/export.log").read_text("utf-8")
    assert "no example: no score by the teacher: " in log
    if expected == 1:
        assert done.returncode != 0 and "no example to train on" in done.stdout
        assert "no score by the teacher (288)" in done.stdout
        assert set(notes(study)) == {"checked"}
        return
    assert done.returncode == 0, done.stdout[-3000:]
    sample = pq.read_table(distill_folder(study) / "sample.parquet").to_pylist()
    lost = sum(crc32(text_of(row["prompt"]).encode()) % expected == 0 for row in sample)
    examples = json.loads((distill_folder(study) / "export.json").read_text("utf-8"))[
        "examples"
    ]
    assert 20 < lost == sum(row["n_missing"] for row in examples)
    assert sum(row["n"] for row in examples) == len(sample) - lost
    assert f"; {lost - _lost(examples)} more judgments gave none" in done.stdout


def _lost(rows: list[Row]) -> int:
    return sum(row["n_missing"] for row in rows if row["split"] == "held_out")


def _twins() -> list[Row]:
    """Return ten texts about five items, three of them the demo's dialogues in other
    letters.
    """
    items = [json.loads(line) for line in DIALOGUES.read_text("utf-8").splitlines()][:3]
    sources = [f"{row['context']} {row['fact']}".upper() for row in items]
    sources += ["Who was there? A baker.", "Who came? A smith."]
    return [
        {
            "item": f"t{at}",
            "source": source,
            "system": system,
            "text": f"Text {at} of {system}.",
        }
        for at, source in enumerate(sources, start=1)
        for system in ("a", "b")
    ]
