"""A study whose judge is a decision model: labels, ratings and pairs, run whole."""

from collections.abc import Iterator
from typing import Any

import pytest

from asking import AskedStudy
from deciding import decider
from judgescope.schema.tables import read_table
from scripted import serve

pytestmark = pytest.mark.slow
SOURCES = 60


def believed(state: Any, question: Any) -> list[float]:
    """Return what a model believes that is too sure: .95, and right on the texts that
    say `good`, which people often see otherwise.
    """
    if "text_a" in state:
        longer = len(state["text_a"]) > len(state["text_b"])
        return [0.7, 0.2, 0.1] if longer else [0.2, 0.7, 0.1]
    good = "good" in state["text"]
    if question["type"] == "noul":
        return [0.95, 0.05] if good else [0.05, 0.95]
    return [0.0, 0.0, 0.1, 0.2, 0.7] if good else [0.7, 0.2, 0.1, 0.0, 0.0]


def rows() -> list[dict[str, Any]]:
    """Return texts that say good or bad; people agree with every two of three."""
    texts = list[dict[str, Any]]()
    for source in range(SOURCES):
        for number, system in enumerate("ab"):
            says = (source + number) % 2
            kept = says if source % 3 else 1 - says
            row: dict[str, Any] = {"id": f"i{source}", "system": system}
            row["source"] = f"Case {source}."
            row["text"] = f"A {('bad', 'good')[says]} text, the {source}th of {system}."
            for rater in "12":
                row[f"kept{rater}"] = ("fail", "pass")[kept]
                row[f"clear{rater}"] = 2 + 2 * kept
            texts.append(row)
    return texts


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(decider(believed, "vllm")) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("decisions"), endpoint)
        kept = {"kept": ["kept1", "kept2"], "clear": ["clear1", "clear2"]}
        scales: dict[str, dict[str, Any]] = {
            "kept": {"labels": ["fail", "pass"]},
            "clear": {"min": 1, "max": 5, "step": 1},
        }
        study.rated_table("shop", rows(), ratings=kept, aspects=scales)
        study.card("aspects", "kept", name="Promise kept", definition="Whether it is.")
        study.card("aspects", "clear", name="Clarity", definition="How clear it is.")
        study.card(
            *("models", "loop"),
            engine="systemone",
            base_url=endpoint.url,
            price={"input": 100, "output": 0},
            limits={"backoff": 0.01, "concurrency": 4},
        )
        study.card("judges", "decide", model="loop", form="decide")
        study.write(
            study="decided",
            datasets=["shop"],
            aspects=["kept", "clear"],
            judges=["decide", "random"],
            methods=["agreement", "labels"],
        )
        run = study.run()
        assert not run.returncode, run.stdout
        yield study


def of(study: AskedStudy, table: str, aspect: str) -> dict[str, dict[str, Any]]:
    """Return statistic -> row of the judge, the one without a bin or a share."""
    named = [
        row
        for row in study.rows(table)
        if row["judge"] == "decide" and row["aspect"] == aspect and row["k"] is None
    ]
    return {row["statistic"]: row for row in named}


def test_a_single_question_a_text_and_aspect_is_asked_and_none_in_a_second_run(
    study: AskedStudy,
) -> None:
    asked = len(study.endpoint.asked)
    assert asked == 2 * len(rows())
    types = {body["questions"]["verdict"]["type"] for body in study.endpoint.asked}
    assert types == {"noul", "score"}
    assert set(study.endpoint.paths) == {"/v1/systemone"}
    again = study.run()
    assert not again.returncode, again.stdout
    assert len(study.endpoint.asked) == asked


def test_the_probability_is_stored_with_the_judgment(study: AskedStudy) -> None:
    [path] = study.out.glob("judgments/shop/**/decide.parquet")
    judged = read_table("judgments", path).to_pylist()
    of_labels = [row for row in judged if row["aspect"] == "kept"]
    assert {row["confidence"] for row in of_labels} == {0.95}
    assert {row["confidence_source"] for row in judged} == {"decision"}
    ratings = [row for row in judged if row["aspect"] == "clear"]
    assert {row["confident_of"] for row in ratings} == {1.0, 5.0}
    assert {round(row["value"], 9) for row in ratings} == {1.4, 4.6}


def test_a_decision_that_is_too_sure_is_detected(study: AskedStudy) -> None:
    gap = of(study, "confidence", "kept")["confidence_gap"]
    assert gap["value"] == pytest.approx(0.95 - 2 / 3)
    assert gap["ci_low"] > 0
    assert of(study, "labels", "kept")["label_accuracy"]["value"] == pytest.approx(
        2 / 3
    )


def test_tokens_are_counted_and_priced(study: AskedStudy) -> None:
    cost = {
        row["statistic"]: row["value"]
        for row in study.rows("cost")
        if row["judge"] == "decide"
    }
    assert cost["usd"] == pytest.approx(2 * len(rows()) * 11 * 100 / 1e6)


def test_check_warns_of_a_host_that_counts_too_few_tokens(study: AskedStudy) -> None:
    """The stand-in counts 11 tokens in every request, as a host that cuts would."""
    done = study.judgescope("check")
    text = " ".join(done.stdout.split())
    assert "the host of decide (loop) counted far fewer input tokens" in text
    assert "at most 11" in text and "cut_parts" in text
