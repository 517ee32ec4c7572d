"""A study of real stories of which people rated a part of the sources."""

import csv

import pytest

from report_setup import text_of_pages
from running import HOME
from study import Study

pytestmark = pytest.mark.long(20)
RATED = 40
SYSTEMS = 11


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("corrected")
    own_part = Study(
        folder,
        study="part",
        datasets=["demo-hanna"],
        aspects=["engagement"],
        judges=["beluga-13b", "constant-top"],
        perturbations=[],
        methods=["corrected", "choice", "slices", "reliability", "triage"],
        triage={"good_from": 3},
    )
    file = folder / "config/demo/hanna.csv"
    file.parent.mkdir(parents=True)
    with (HOME / "config/demo/hanna.csv").open(encoding="utf-8") as source:
        rows = [*csv.DictReader(source)]
    for row in rows:
        if int(row["prompt"]) > RATED:
            row.update({name: "" for name in row if "_rater_" in name})
    with file.open("w", encoding="utf-8", newline="") as target:
        writer = csv.DictWriter(target, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for kind in ("datasets", "models"):
        own_part.change(kind, "demo-hanna")
    own_part.write()
    done = own_part.run()
    assert done.returncode == 0, done.stdout[-3000:]
    return own_part


def test_texts_without_ratings_have_a_part_in_corrected_means(study: Study) -> None:
    rows = study.rows("corrected")
    assert {row["judge"] for row in rows} == {"human", "beluga-13b"}
    means = [row for row in rows if row["statistic"] == "corrected_mean"]
    assert len(means) == SYSTEMS
    for row in means:
        assert row["n"] == RATED and "random sample" in row["note"]
        assert row["ci_low"] < row["value"] < row["ci_high"]
    others = [row for row in rows if row["statistic"] == "unrated_sources"]
    assert {row["value"] for row in others} == {96 - RATED}
    differences = [row for row in rows if row["statistic"] == "corrected_difference"]
    assert len(differences) == SYSTEMS * (SYSTEMS - 1) // 2


def test_the_report_has_a_section_with_both_numbers(study: Study) -> None:
    page = text_of_pages(study.out / "report")
    assert "What the systems really score" in page
    assert "Mean, corrected" in page and "Mean, uncorrected" in page
    assert "Worth of a rating" in page
    assert "Which system is best" in page and "Regret of the pick" in page


def test_stories_by_people_are_chosen_by_people_and_after_correction(
    study: Study,
) -> None:
    rows = [row for row in study.rows("choice") if row["statistic"] == "p_best"]
    best: dict[tuple[str, str | None], tuple[str, float]] = {}
    for row in rows:
        who = row["judge"], row["form"]
        if row["value"] > best.get(who, ("", 0.0))[1]:
            best[who] = row["system_subset"], row["value"]
    assert best["human", None][0] == best["beluga-13b", "corrected"][0] == "human"


def test_each_system_and_third_by_length_is_compared_with_the_rest(
    study: Study,
) -> None:
    rows = [row for row in study.rows("slices") if row["slice"]]
    parts = {row["slice"] for row in rows if row["statistic"] == "spearman"}
    assert {f"system: {name}" for name in ("human", "gpt")} & parts
    gaps = [row for row in rows if row["statistic"].startswith("slice_gap_")]
    assert len(gaps) >= SYSTEMS and all(row["ci_low"] < row["ci_high"] for row in gaps)
    assert "Where a judge is worse" in text_of_pages(study.out / "report")


def test_the_judge_stands_beside_the_ceiling_of_people(study: Study) -> None:
    rows = study.rows("reliability")
    by_name = {row["statistic"]: row for row in rows if row["level"] == "pooled"}
    assert 0 < by_name["ceiling_true"]["value"] < 1
    assert by_name["correlation_true"]["judge"] == "beluga-13b"
    assert "texts × raters" in by_name["dependability_people"]["method"]
    planned = [row for row in rows if row["statistic"] == "reliability_systems"]
    assert {row["k"] for row in planned} == {1, 2, 3, 5}
    page = text_of_pages(study.out / "report")
    assert "How reliable people" in page and "beside the ceiling" in page


def test_a_judge_that_hardly_follows_people_passes_nothing(study: Study) -> None:
    rows = study.rows("triage")
    assert {row["judge"] for row in rows} == {"beluga-13b"}
    by_name = {row["statistic"]: row for row in rows}
    assert by_name["accept_from"]["value"] is None
    assert "come first" in by_name["accept_from"]["note"]
    page = text_of_pages(study.out / "report")
    assert "What may pass without a person" in page and "go to people" in page
