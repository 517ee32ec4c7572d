"""The table of pairs of systems: people's and judges' p-values, and its page."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from judgescope.methods import system_pairs
from judgescope.schema.rows import ResultRow
from judgescope.statistics.accuracy import soft_pairwise_accuracy
from judgescope.statistics.raters import mean_rating
from methods_setup import FIELD, study
from report_setup import text_of_pages
from running import rows
from study import Study

P = "p_system_difference"


def of(
    rows: list[ResultRow], judge: str, statistic: str, aspect: str
) -> dict[str, ResultRow]:
    return {
        row["system_subset"] or "": row
        for row in rows
        if (row["judge"], row["statistic"], row["aspect"]) == (judge, statistic, aspect)
    }


def test_people_and_judges_have_both_p_values_of_every_pair() -> None:
    made = study(FIELD)
    rows = list(system_pairs.rows(made))
    names = sorted(set(made.systems.systems))
    pairs = {f"{first}+{second}" for first, second in combinations(names, 2)}
    judge = next(iter(FIELD))
    aspect = next(iter(FIELD[judge]))
    for rater in ("human", judge):
        for statistic in (P, "p_system_rank_sum", "system_difference"):
            assert set(of(rows, rater, statistic, aspect)) == pairs
    people = mean_rating(made.systems.ratings(aspect))
    scores = made.systems.scores(judge, aspect)
    assert scores is not None
    result = soft_pairwise_accuracy(
        scores, people, made.systems.source, made.systems.system, weights=None
    )
    by_rater = [of(rows, rater, P, aspect) for rater in ("human", judge)]
    gaps = [
        abs((a["value"] or 0) - (by_rater[1][at]["value"] or 0))
        for at, a in by_rater[0].items()
    ]
    assert result.estimate.value == pytest.approx(1 - np.mean(gaps))
    gap = of(rows, "human", "system_difference", aspect)[min(pairs)]
    assert (
        gap["ci_low"] is not None
        and gap["n"] == 15
        and gap["ci_low"] < (gap["value"] or 0)
    )


@pytest.mark.slow
def test_a_study_that_names_it_has_table_and_section(tmp_path: Path) -> None:
    own_part = Study(
        tmp_path, judges=["rouge-l"], methods=["system_pairs"], perturbations=[]
    )
    own_part.write(datasets=["demo-news"], aspects=["fluency"])
    done = own_part.run()
    assert done.returncode == 0, done.stdout[-3000:]
    result = rows(own_part.out, "system_pairs")
    assert {row["judge"] for row in result} >= {"human", "rouge-l", "random"}
    assert (
        len([r for r in result if (r["judge"], r["statistic"]) == ("human", P)]) == 10
    )
    page = text_of_pages(own_part.out / "report")
    assert (
        "Pairs of systems" in page and "not corrected for the number of pairs" in page
    )
