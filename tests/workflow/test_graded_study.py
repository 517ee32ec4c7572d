"""A graded set built whole by scripted models that know only their prompts, and by
rule.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow.parquet as pq
import pytest

from graded_study import GRADED, ITEMS, NAME, GradedStudy, Scripted, asked
from report_setup import text_of_pages
from running import outputs, rows, snakemake
from scripted import Body, Said, prompt_of, refusal, replies, serve, texts_in
from study import Study

pytestmark = [pytest.mark.slow, pytest.mark.long]
ANCHORS = 15


def construction_row(results: Path, statistic: str, **where: Any) -> dict[str, Any]:
    """Return the only row of construction.csv of a statistic."""
    [row] = [
        row
        for row in rows(results, "construction")
        if row["statistic"] == statistic
        and all(row[key] == each for key, each in where.items())
    ]
    return row


@pytest.fixture(scope="module")
def built(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Counter[str], Counter[str]]:
    """Return the folder of a study run whole, what was asked, and what a second run
    asked.
    """
    folder = tmp_path_factory.mktemp("graded")
    with serve(Scripted()) as endpoint:
        study = GradedStudy(folder, endpoint.url)
        done = study.snakemake()
        assert done.returncode == 0, done.stdout[-4000:]
        first = asked(endpoint)
        for path in (folder / "results" / "graded" / "construction").glob(
            "*/*.parquet"
        ):
            path.unlink()  # the store has all replies
        before = outputs(folder / "results" / "graded")
        again = study.snakemake()
        assert again.returncode == 0, again.stdout[-4000:]
        assert outputs(folder / "results" / "graded") == before
        return folder / "results" / "graded", first, asked(endpoint) - first


@pytest.mark.long(50)
def test_every_rating_has_as_many_texts_and_those_have_its_number_of_errors(
    built: Any,
) -> None:
    results = built[0]
    for k in range(1, 6):
        assert construction_row(results, "class_count", k=k)["value"] == 2 * ITEMS
        errors = construction_row(results, "errors_mean", k=k)
        assert errors["value"] == 5 - k or k == 1
        assert errors["ci_low"] <= errors["value"] <= errors["ci_high"]
    texts = pq.read_table(
        results / "targets" / "neat" / f"{NAME}.single.parquet"
    ).to_pylist()
    graded = pq.read_table(
        results / "graded" / "neat" / f"{NAME}.single.parquet"
    ).to_pylist()
    rating = {row["target"]: row["rating"] for row in graded}
    assert (
        len({(text["item"], text["text"]) for text in texts})
        == len(texts)
        == 10 * ITEMS
    )
    for text in texts:
        flaws = text["text"].count("oops")
        assert rating[text["target"]] == max(1, 5 - flaws) and text["step"] == flaws
        assert (
            len(text["edits"]) == flaws
        )  # each error is found where the model marked it
    assert {text["parent"].split(":")[1] for text in texts} == {
        "original",
        "reference.1",
    }


def test_the_judge_that_sees_the_prompt_finds_every_rating_and_controls_do_not(
    built: Any,
) -> None:
    by_key = {
        (row["judge"], row["statistic"]): row
        for row in rows(built[0], "perspectives")
        if row["level"] == "global" and row["aspect"] == "neatness" and row["k"] is None
    }
    assert by_key["twice", "kappa_linear"]["value"] == 1
    assert by_key["twice", "kappa_linear"]["n"] == 10 * ITEMS
    assert by_key["constant-top", "kappa_linear"]["value"] == 0
    assert abs(by_key["random", "kappa_linear"]["value"]) < 0.25
    assert (
        by_key["oracle", "kappa_linear"]["value"] > 0.7
    )  # it counts, whatever a rating means
    counts = [
        (row["k"], row["k_b"], row["value"])
        for row in rows(built[0], "perspectives")
        if (row["level"], row["judge"], row["statistic"])
        == ("global", "twice", "class_count")
    ]
    assert counts == [(k, k, 2 * ITEMS) for k in range(1, 6)]


def test_construction_counts_comparisons_anchors_and_cost(
    built: Any,
) -> None:
    results, first, _ = built
    assert (
        construction_row(results, "comparator_accuracy", level="neighbours")["value"]
        == 1
    )
    assert construction_row(results, "comparator_accuracy", level="all")["n"] == 9 * 10
    assert construction_row(results, "anchors_above_lower")["value"] == 1
    assert construction_row(results, "anchors_below_higher")["value"] == 1
    assert construction_row(results, "anchors_above_same")["value"] == 0
    result = construction_row(results, "replies", form="comparisons with anchors")
    assert (result["judge"], result["value"]) == ("comparator", first["comparator"])
    result = construction_row(results, "usd", form="errors, all at once")
    assert (result["judge"], result["n"]) == ("generator", first["generator"])
    assert result["value"] == pytest.approx(first["generator"] * (7 + 2 * 3) / 1e6)
    page = text_of_pages(results / "report")
    assert "every rating" in page


def test_nothing_is_asked_twice_and_all_that_is_asked_is_needed(built: Any) -> None:
    _, first, again = built
    assert not again
    # 15 anchors against each other, those of other ratings alone, in both orders; equal
    # texts of an item are one question, and so are the texts without errors
    assert first["generator"] < 3 * 5 + ITEMS * 15
    assert first["comparator"] > 2 * 90


class Bad(Scripted):
    """A comparator that knows the better of some pairs only, and else names what stands
    first.
    """

    def __init__(self, knows: float) -> None:
        super().__init__()
        self.knows = knows

    def __call__(self, body: Body) -> Said:
        prompt = prompt_of(body)
        texts = sorted(part.split("\n\n")[0] for part in texts_in(prompt))
        share = crc32("".join(texts).encode()) / 2**32
        if body["model"] == "comparator" and share >= self.knows:
            return replies("Choice: A")
        return super().__call__(body)


def test_a_comparator_that_is_right_half_the_time_stops_the_construction(
    tmp_path: Path,
) -> None:
    with serve(Bad(0.5)) as endpoint:
        study = GradedStudy(tmp_path, endpoint.url)
        done = study.run()
        assert done.returncode != 0
        assert "anchors of adjacent ratings" in done.stdout
        [result] = re.findall(
            r"right in both orders for (0\.\d+) of 36 pairs", done.stdout
        )
        assert 0.3 < float(result) < 0.7
        assert asked(endpoint)["comparator"] <= 2 * 90  # no candidate was compared


def test_whoever_allows_any_comparator_goes_on_while_there_is_something_to_go_by(
    tmp_path: Path,
) -> None:
    with serve(Bad(0)) as endpoint:
        anchors = {**GRADED["anchors"], "least_accuracy": 0}
        study = GradedStudy(tmp_path, endpoint.url, anchors=anchors)
        done = study.run()
    assert done.returncode != 0
    assert "every comparison was a tie" in done.stdout


def test_by_rule_both_benchmarks_need_no_model_and_the_oracle_reads_them(
    tmp_path: Path,
) -> None:
    study = Study(
        tmp_path,
        datasets=["demo-news"],
        aspects=["fluency"],
        judges=["rules", "oracle"],
        perturbations=["global-rule-fluency", "local-rule-fluency"],
        methods=["perspectives"],
    )
    study.write()
    done = study.snakemake()
    assert done.returncode == 0, done.stdout[-4000:]
    results = tmp_path / "results" / "small"
    by_key = {
        (row["judge"], row["level"], row["statistic"]): row
        for row in rows(results, "perspectives")
        if row["aspect"] == "fluency" and row["k"] is None
    }
    assert by_key["oracle", "global", "kappa_linear"]["value"] == 1
    assert by_key["oracle", "global", "cem_ord"]["value"] == 1
    assert by_key["oracle", "local", "accuracy_adjacent"]["value"] == 1
    assert by_key["constant-top", "global", "kappa_linear"]["value"] == 0
    assert by_key["constant-top", "local", "accuracy_adjacent"]["value"] == 0
    assert by_key["constant-top", "local", "accuracy_adjacent_half"]["value"] == 0.5
    half = by_key["random", "local", "accuracy_adjacent_half"]
    assert half["ci_low"] < 0.5 < half["ci_high"]
    kappa = by_key["random", "global", "kappa_linear"]
    assert kappa["ci_low"] < 0 < kappa["ci_high"]
    assert by_key["length", "local", "accuracy_adjacent"]["value"] is not None
    for rating in range(1, 5):
        assert construction_row(results, "class_count", k=rating)["value"] == 72
        assert construction_row(results, "errors_mean", k=rating)["value"] == 2 * (
            5 - rating
        )
    # an item has two references, and one text without errors of each
    assert construction_row(results, "class_count", k=5)["value"] == 48


def test_a_model_writes_the_references_of_items_that_have_none(tmp_path: Path) -> None:
    with serve(Scripted()) as endpoint:
        study = GradedStudy(
            tmp_path,
            endpoint.url,
            data={"select": {"original": "none"}},
            study={"references": {"model": "generator", "draws": 8, "keep": 2}},
            rating="errors",
            anchors=None,
            targets=5,
        )
        check = snakemake("check", "--configfile", study.file, cwd=tmp_path)
        assert re.search(rf"original, neat +{8 * ITEMS} ", check.stdout)
        done = study.snakemake()
        assert done.returncode == 0, done.stdout[-4000:]
    results = tmp_path / "results" / "graded"
    kept = pq.read_table(
        results / "construction" / "neat" / "original.parquet"
    ).to_pylist()
    originals = pq.read_table(
        results / "targets" / "neat" / "original.parquet"
    ).to_pylist()
    assert len(kept) == 2 * ITEMS and len(originals) == ITEMS
    assert {row["target"].split(":")[1] for row in kept} == {"original", "written.1"}
    for item in range(ITEMS):
        texts = {row["text"] for row in kept if row["item"] == f"i{item}"}
        assert len(texts) == 2  # the most diverse are kept, no text twice
    graded = pq.read_table(
        results / "targets" / "neat" / f"{NAME}.single.parquet"
    ).to_pylist()
    assert {each["step"] for each in graded} == {0, 1, 2, 3, 4} and len(
        graded
    ) == 5 * ITEMS
    assert construction_row(results, "replies", form="references")["value"] == 8 * ITEMS
    assert construction_row(results, "class_count", k=5)["value"] == ITEMS
    kappa = [
        row["value"]
        for row in rows(results, "perspectives")
        if (row["judge"], row["statistic"], row["level"])
        == ("oracle", "kappa_linear", "global")
    ]
    assert set(kappa) == {1}


def test_judges_are_held_against_each_other_on_the_same_resamples(built: Any) -> None:
    by_key = {
        (row["judge"], row["judge_b"]): row
        for row in rows(built[0], "perspectives")
        if (row["statistic"], row["level"]) == ("difference_kappa_linear", "global")
    }
    gap = by_key["constant-top", "twice"]
    assert (gap["value"], gap["ci_high"], gap["aspect"]) == (-1, -1, "average")
    random = by_key["random", "twice"]
    assert random["ci_low"] < random["value"] < random["ci_high"] < -0.5
    page = text_of_pages(built[0] / "report")
    assert "Differences between judges for neat, graded sets" in page


class Refusing(Scripted):
    """Refuses, while `broken`, whatever is about one town: a request that no repetition
    mends.
    """

    broken = True

    def __call__(self, body: Body) -> Said:
        if self.broken and "Town 3 " in prompt_of(body) and body["model"] != "judge":
            return refusal(400, "not about this town")
        return super().__call__(body)


def test_what_was_refused_can_be_asked_again_and_then_all_is_as_it_should_be(
    tmp_path: Path, built: Any
) -> None:
    script = Refusing()
    with serve(script) as endpoint:
        study = GradedStudy(
            tmp_path,
            endpoint.url,
            anchors={**GRADED["anchors"], "calibration_share": 0.25},
        )
        results = tmp_path / "results" / "graded"
        tables = ("construction", "perspectives")
        assert study.make(*tables).returncode == 0
        assert construction_row(results, "share_failed")["value"] > 0
        assert construction_row(results, "share_unanswered")["value"] > 0
        script.broken = False
        result = study.judgescope("replies", "retry")
        assert result.returncode == 0, result.stdout
        before = len(endpoint.asked)
        done = (
            study.run()
        )  # tables alone do not need the files of replies that retry deleted
        assert done.returncode == 0, done.stdout[-3000:]
        assert len(endpoint.asked) > before
    assert construction_row(results, "share_failed")["value"] == 0
    assert construction_row(results, "share_unanswered")["value"] == 0
    for name in ("perspectives", "construction"):
        assert [
            row["value"] for row in rows(results, name) if "usd" not in row["statistic"]
        ] == [
            row["value"]
            for row in rows(built[0], name)
            if "usd" not in row["statistic"]
        ]


@pytest.mark.long(20)
def test_two_sets_on_a_single_aspect_ask_what_both_ask_once(tmp_path: Path) -> None:
    with serve(Scripted()) as endpoint:
        study = GradedStudy(tmp_path, endpoint.url)
        study.card("perturbations", "other", **GRADED)
        study.write(perturbations=[NAME, "other"])
        done = study.snakemake("--cores", "2")
        assert done.returncode == 0, done.stdout[-3000:]
        sent = Counter(
            (body["model"], body["seed"], prompt_of(body)) for body in endpoint.asked
        )
    assert max(sent.values()) == 1
