"""The shipped study `ensemble` on loopback and some of the public data, from cards to
report.

Each annotator sees what people see, and errs by itself: then all together are better
than any of them, and five are worth nearly five.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import running
import trusting
from judgescope.schema.loading import load_yaml
from report_setup import text_of_pages
from running import HOME, SHARED, needs_data
from scripted import Body, Said, prompt_of, reply, serve
from study import Study, shipped

pytestmark = [pytest.mark.slow, pytest.mark.long(60), needs_data]
NAME = "ensemble"
ANNOTATORS = [f"annotator-{number}" for number in range(1, 6)]
THERE = ["summeval", "qags-cnndm", "hanna", "sfres", "rotowire"]
"""Some of the study's datasets whose texts, or scores, are public."""
TOGETHER = ["ensemble", "ensemble-by-rule"]
VERDICTS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
TEXT = re.compile(r"\n\n[A-Z][a-z]+ to annotate:\n(.*?)\n\nRules:\n", re.DOTALL)
ASPECT = re.compile(r"in one quality: ([a-z ]+)\. An error is")
Row = dict[str, Any]


class Raters:
    """Five annotators who know people's mean rating and err by the request's seed
    alone.
    """

    def __init__(self, results: Path) -> None:
        self.results = results
        self.known: dict[tuple[str, str], float] = {}
        self.names: dict[str, str] = {}
        self.merged: Counter[int] = Counter()

    def read(self, names: dict[str, str]) -> None:
        """Look up the mean rating of every text and aspect, from 0 to 1, where they are
        read.
        """
        self.names = {name.lower(): aspect for aspect, name in names.items()}
        for path in self.results.glob("ratings/*.parquet"):
            texts = {
                row["target"]: row["text"]
                for row in pq.read_table(
                    self.results / "targets" / path.stem / "systems.parquet"
                ).to_pylist()
            }
            each: dict[tuple[str, str], list[float]] = {}
            for row in pq.read_table(path).to_pylist():
                each.setdefault((texts[row["target"]], row["aspect"]), []).append(
                    row["value"]
                )
            means = {
                location: sum(by_key) / len(by_key) for location, by_key in each.items()
            }
            for aspect in {aspect for _, aspect in means}:
                by_key = {
                    location: mean
                    for location, mean in means.items()
                    if location[1] == aspect
                }
                low, high = min(by_key.values()), max(by_key.values())
                span = (high - low) or 1  # HANNA's file has no texts
                self.known |= {
                    location: (mean - low) / span for location, mean in by_key.items()
                }

    def __call__(self, body: Body) -> Said:
        """Annotate a text, or merge what was found in it."""
        prompt, model = prompt_of(body), body["model"]
        if model == "supervisor":
            self.merged[prompt.count("\nAnnotator ")] += 1
            return reply(prompt[prompt.index("Error 1:") :].split("\n\n")[0])
        [text], [aspect] = TEXT.findall(prompt), ASPECT.findall(prompt)
        quality = self.known.get((text, self.names[aspect]), 0.5)
        score = min(5, max(1, round(1 + 4 * quality) + body["seed"] % 3 - 1))
        end = (
            f"Overall score: {VERDICTS[score - 1]}\nExplanation of the score: as said."
        )
        if score == 5:
            return reply(f"No Error\n\n{end}")
        words = text.split()
        location = words[body["seed"] // 3 % len(words)]
        error = f"Location: {location}\nExplanation: It is off.\nSeverity: {6 - score}"
        return reply(f"Error 1:\n{error}\n\n{end}")


@pytest.fixture(scope="module")
def finished_study(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Path, list[Body], Raters]]:
    folder = tmp_path_factory.mktemp("ensemble")
    keys = {"datasets": THERE, "share": 0.05, "data": str(SHARED)}
    study = Study(
        folder, shipped("studies", NAME), judges=[*ANNOTATORS, *TOGETHER], **keys
    )
    study.write()
    raters = Raters(folder / "results" / NAME)
    with serve(raters) as endpoint:
        study.connect(endpoint.url, *ANNOTATORS, "supervisor")
        done = study.snakemake("texts")
        assert done.returncode == 0, done.stdout[-3000:]
        cards = (HOME / "config" / "aspects").glob("*.yaml")
        raters.read({path.stem: load_yaml(path)[0]["name"] for path in cards})
        done = study.run()
        assert done.returncode == 0, done.stdout[-4000:]
        asked = list(endpoint.asked)
        (
            folder / "results" / NAME / "made" / "sfres" / "merges.supervisor.parquet"
        ).unlink()
        again = study.snakemake("asked")
        assert again.returncode == 0 and "merge" in again.stdout, again.stdout[-4000:]
        assert len(endpoint.asked) == len(asked)
    assert sum(trusting.held(folder, "study.yaml").values())
    yield folder / "results" / NAME, asked, raters


def rows_where(results: Path, table: str, **where: Any) -> list[Row]:
    return [
        row
        for row in running.rows(results, table)
        if all(row[name] == value for name, value in where.items())
    ]


def test_members_are_asked_once_the_supervisor_once_a_text_and_nobody_for_subsets(
    finished_study: tuple[Path, list[Body], Raters],
) -> None:
    results, asked, raters = finished_study
    counts = Counter(body["model"] for body in asked)
    assert (
        len({counts[name] for name in ANNOTATORS}) == 1 and counts["annotator-1"] > 300
    )
    sent = Counter((body["model"], json.dumps(body["messages"])) for body in asked)
    assert max(sent.values()) == 1
    assert set(counts) == {*ANNOTATORS, "supervisor"}
    assert 0 < counts["supervisor"] <= counts["annotator-1"]
    assert set(raters.merged) <= {1, 2, 3, 4, 5} and len(raters.merged) > 2
    rows = rows_where(
        results, "ensemble", statistic="pearson", level="pooled", judge="ensemble"
    )
    each = Counter(
        (row["dataset"], row["aspect"]) for row in rows if row["value"] is not None
    )
    # HANNA has no texts, RotoWire no ratings
    assert {dataset for dataset, _ in each} == {"summeval", "qags-cnndm", "sfres"}
    assert {each[cell] for cell in each if cell[1] != "average"} == {31}


def test_together_they_are_better_than_each_alone_and_worth_nearly_five(
    finished_study: tuple[Path, list[Body], Raters],
) -> None:
    results = finished_study[0]
    for dataset in ("summeval", "sfres"):
        where = {"dataset": dataset, "judge": "ensemble", "aspect": "average"}
        own_part = rows_where(
            results, "ensemble", **where, statistic="spearman", level="pooled"
        )
        (all_five,) = [row["value"] for row in own_part if row["k"] == 5]
        assert all_five > max(row["value"] for row in own_part if row["k"] == 1)
        (worth,) = rows_where(
            results, "ensemble", **where, statistic="effective_judges"
        )
        assert worth["value"] > 3


def test_by_rule_the_scores_are_the_same_and_without_texts_nothing_is_asked(
    finished_study: tuple[Path, list[Body], Raters],
) -> None:
    results = finished_study[0]
    paths = list(results.glob("scores/*/derived/systems/ensemble.parquet"))
    assert paths
    for path in paths:
        other = path.with_name("ensemble-by-rule.parquet")
        both = [pq.read_table(each)["value"].to_pylist() for each in (path, other)]
        assert both[0] == both[1] and len(both[0]) > 0
    notes = {
        row["note"]
        for row in rows_where(results, "coverage", dataset="hanna", judge="ensemble")
    }
    assert notes == {"not applicable: the dataset has no texts"}


def test_errors_are_counted_located_and_held_against_what_people_marked(
    finished_study: tuple[Path, list[Body], Raters],
) -> None:
    results = finished_study[0]
    for judge in [*ANNOTATORS, *TOGETHER]:
        where = {"judge": judge, "dataset": "sfres", "aspect": "naturalness"}
        (match,) = rows_where(results, "spans", **where, statistic="span_match_rate")
        assert match["value"] == 1 and match["n"] > 20
        marked = rows_where(
            results, "spans", judge=judge, dataset="rotowire", statistic="span_f1"
        )
        assert {row["level"] for row in marked} == {"pooled", "by_text"}
        assert {row["form"] for row in marked} >= {"exact", "tokens"}
    every = {
        judge: rows_where(
            results, "spans", judge=judge, dataset="sfres", statistic="span_errors"
        )
        for judge in ("annotator-1", *TOGETHER)
    }
    mean = {
        judge: sum(row["value"] for row in rows) / 2 for judge, rows in every.items()
    }
    assert mean["ensemble-by-rule"] > mean["annotator-1"]  # five see more than one
    page = text_of_pages(results / "report")
    assert "ensemble" in page and "size of the ensemble" in page
