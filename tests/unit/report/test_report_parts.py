"""What the report is made of: rows, numbers and sentences."""

import re
from inspect import getsource
from typing import Any

import pytest

import report_study as study
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.report import words
from judgescope.report.cells import estimate, figures, short
from judgescope.report.headline import PERSON
from judgescope.report.judge_card import address_in_words
from judgescope.report.page import inline
from judgescope.report.report import ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.report.sections.study import SIGNED
from judgescope.report.tables import judge_bodies


def test_rows_are_detected_by_location_and_column() -> None:
    made = study.typed_rows(list(study.discernment()))
    news = made.where(dataset="news")
    result = news.find("alpha", "D_exact", cell="typos.minor")
    assert result is not None
    assert result.value == pytest.approx(4.6)
    assert news.find("alpha", "D_exact") is None
    assert len(made.where(judge=("alpha", "beta"), statistic="D_avg")) == 4
    assert made.where(dataset="chat").names("dataset") == ["chat"]
    means = made.frame.groupby(["judge", "statistic"])["value"].mean()
    assert (
        means["alpha", "D_exact"]
        == pytest.approx(4.6)
        == news.where(judge="alpha").total("D_avg")
    )
    undefined = made.where(judge="shuffled")
    assert (
        len(undefined) and not len(undefined.defined) and undefined.first in list(made)
    )


def test_empty_columns_become_plain_values() -> None:
    bare = study.typed(
        {"dataset": "d", "judge": "j", "statistic": "D", "value": None, "n": None}
    )
    assert (bare.n, bare.note, bare.cell, bare.value) == (0, "", "", None)


@pytest.mark.parametrize(
    ("written", "value", "wanted"),
    [
        (words.correlation, -0.12345, "−0.123"),
        (words.correlation, -0.0001, "0.000"),
        (words.score, 12.345, "12.35"),
        (words.score, 123.4, "123"),
        (words.percent, 0.5, "50\u202f%"),
        (words.percent, 0.001, "0.1\u202f%"),
        (words.percent, 0.9999, ">99.9\u202f%"),
        (words.percent, 0.00001, "<0.1\u202f%"),
        (words.percent, 0.0, "0\u202f%"),
        (words.percent, 1.0, "100\u202f%"),
        (words.percent, -0.0, "0\u202f%"),
        (words.percent, -0.2, "−20\u202f%"),
        (words.percent, -0.001, "−0.1\u202f%"),
        (words.percent, -0.00001, ">−0.1\u202f%"),
        (words.percent, -0.9999, "<−99.9\u202f%"),
        (words.p_value, 0.0344, "0.034"),
        (words.p_value, 1e-9, "<0.0001"),
        (words.amount, 0.012345, "0.0123"),
        (words.amount, 12345.6, "12\u202f346"),
        (words.dollars, 0.01324, "0.013"),
        (words.dollars, 0.0099, "0.0099"),
        (words.dollars, 0.5, "0.50"),
        (words.dollars, 0.996, "1.00"),
        (words.dollars, 12.345, "12.35"),
        (words.dollars, 0.0, "0.00"),
        (words.count, 1234567, "1\u202f234\u202f567"),
    ],
)
def test_numbers_are_written_with_few_digits(
    written: Any, value: float, wanted: str
) -> None:
    assert written(value) == wanted


def test_lists_and_plurals() -> None:
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b", "c"]) == "a, b and c"
    assert (words.plural(1, "cell"), words.plural(2, "cell")) == ("1 cell", "2 cells")


def test_sentences_become_html_after_escaping() -> None:
    assert inline("`a<b` & D_avg_ew") == (
        "<code>a&lt;b</code> &amp; <var>D</var><sub>avg ew</sub>"
    )


def test_without_the_references_own_texts_goes_before_with_them() -> None:
    """Where a table has both, the page shows the fair number, whichever row comes
    first.
    """
    content = {
        "dataset": "d",
        "judge": "j",
        "aspect": "a",
        "statistic": "s",
        "level": "pooled",
    }
    records: list[dict[str, Any]] = [
        {**content, "value": 0.2, "system_subset": "without references"},
        {**content, "value": 0.9, "system_subset": None},
        {**content, "judge": "other", "value": 0.5, "system_subset": None},
    ]
    for rows in (study.typed_rows(records), study.typed_rows(records[::-1])):
        assert len(rows) == 2
        for judge, value in (("j", 0.2), ("other", 0.5)):
            result = rows.find(judge, "s", aspect="a", level="pooled")
            assert result is not None and result.value == value


@pytest.mark.parametrize(
    ("changes", "bare"),
    [
        ({}, False),
        ({"n": 10}, True),
        ({"ci_low": 0.5, "ci_high": 0.99}, True),
        ({"statistic": "half_credit"}, True),
    ],
)
def test_a_correlation_of_few_is_no_number_in_cells_and_sentences(
    changes: dict[str, Any], bare: bool
) -> None:
    content: dict[str, Any] = {
        "value": 0.95,
        "n": 9,
        "statistic": "spearman",
        "note": "no interval: 9 sources",
    }
    row = ReportRow(**content | changes)
    for text in (estimate(row).text, figures(row), short(row)):
        assert ("95" in text) == bare and ("n = 9" in text) != bare
    assert "95" in estimate(row, counts=True).text  # its n stands in the cell


def test_an_interval_without_width_has_a_sign_and_a_title() -> None:
    content: dict[str, Any] = {
        "value": 1.0,
        "ci_low": 1.0,
        "ci_high": 1.0,
        "n": 30,
        "statistic": "kappa_linear",
    }
    flat = estimate(
        ReportRow(**content | {"note": "no width: 100% of the resamples are equal"})
    )
    wide = estimate(ReportRow(**content | {"ci_low": 0.5}))
    assert flat.interval == "[1.000, 1.000]°" and wide.interval == "[0.500, 1.000]"
    assert "no width" in flat.title and "no width" not in wide.title


def test_every_part_of_a_signature_is_explained_in_its_order() -> None:
    parts = re.findall(
        r'^ +"(\w+)":', getsource(EvaluationData.signature), re.MULTILINE
    )
    assert [name for name, _ in SIGNED] == parts


def test_people_are_never_a_judge_named_human() -> None:
    [body] = judge_bodies([PERSON], lambda _: [])
    assert [(line.head, line.about) for line in body.lines] == [
        ("people", PERSON.about)
    ]
    row = ReportRow(judge="alpha", statistic="pearson", judge_b=PERSON.id)
    assert address_in_words(row, ShownJudge("alpha", "lexical", "")) == "against people"
