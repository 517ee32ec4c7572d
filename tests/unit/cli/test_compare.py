"""Two judges, or two studies, number by number."""

from pathlib import Path
from typing import Any

import pytest

import running
from judgescope.cli.compare import ComparedSide, lines
from judgescope.schema.tables import frame_of, table_of, write_table
from judgescope.statistics.result import REASONS
from study import Study

Row = dict[str, Any]


def row(
    judge: str, value: float | None, lo: float | None, hi: float | None, **keys: Any
) -> Row:
    reported = {"dataset": "d", "judge": judge, "aspect": "fluency", "level": "pooled"}
    reported |= {"statistic": "pearson", "signature": f"judge:{judge}|card:1|v:2"}
    numbers = {"value": value, "ci_low": lo, "ci_high": hi, "n": 120, "n_missing": 0}
    [made] = table_of("results", [{**reported, **numbers, **keys}]).to_pylist()
    return dict(made)


A, B = row("a", 0.5, 0.4, 0.6), row("b", 0.7, 0.55, 0.8)
GAP = row("b", 0.2, 0.1, 0.3, statistic="difference_pearson", judge_b="a")
P = row("b", 0.01, None, None, statistic="p_pearson", judge_b="a")
HOLM = row("b", 0.03, None, None, statistic="p_holm_pearson", judge_b="a")


def frame(*rows: Row) -> Any:
    return frame_of(table_of("results", rows))


def reported(
    first: list[Row], second: list[Row], *paired: Row, limit: int = 40
) -> list[str]:
    sides = (
        ComparedSide("a", frame(*first), "a"),
        ComparedSide("b", frame(*second), "b"),
    )
    return list(lines("agreement", *sides, frame(*paired), limit=limit))


def test_paired_difference_has_interval_and_p_in_the_requested_direction() -> None:
    head, alike, titles, numbers, signature, read = reported([A], [B], GAP, P, HOLM)
    assert head == "agreement: 1 number that both sides have; a | b"
    assert alike.startswith(
        "all rows: dataset d, aspect fluency, statistic pearson, level pooled"
    )
    assert titles.split()[0] == "a" and "difference" in titles and "p, Holm" in titles
    wanted = "0.5 [0.4, 0.6] 120 0.7 [0.55, 0.8] 120 -0.2 [-0.3, -0.1] 0.01 0.03"
    assert numbers.split() == wanted.split()
    assert signature == "signatures differ in judge: a | b"
    assert read.startswith("difference: a minus b on the texts that both judged")


def test_the_deciding_number_has_its_paired_difference_and_p() -> None:
    content = {"level": "within_source"}
    sides = [
        row(judge, 0.5, 0.4, 0.6, statistic="normal_scores", **content)
        for judge in "ab"
    ]
    paired = [
        row(
            "a",
            0.2,
            0.1,
            0.3,
            statistic="difference_normal_scores",
            judge_b="b",
            **content,
        ),
        row("a", 0.01, None, None, statistic="p_normal_scores", judge_b="b", **content),
        row(
            "a",
            0.04,
            None,
            None,
            statistic="p_holm_normal_scores",
            judge_b="b",
            **content,
        ),
    ]
    numbers = reported([sides[0]], [sides[1]], *paired)[3]
    assert numbers.split()[-5:] == ["0.2", "[0.1,", "0.3]", "0.01", "0.04"]


def test_zero_has_no_minus_and_pairs_belong_to_neither_side() -> None:
    zero = {**GAP, "value": 0.0, "ci_low": 0.0, "ci_high": 0.0}
    lines = reported(
        [A, row("a", 0.1, 0, 0.2, statistic="difference_pearson", judge_b="c")],
        [B],
        zero,
    )
    assert "0 [0, 0]" in " ".join(lines[3].split()) and "-0" not in lines[3]
    assert not any("more" in line for line in lines)


def test_sides_without_a_common_number_name_their_datasets() -> None:
    lines = reported([A], [{**B, "dataset": "e"}])
    assert lines[-2:] == ["datasets of a: d", "datasets of b: e"]


def test_of_two_numbers_one_may_have_a_paired_difference() -> None:
    more = [row(judge, 0.5, 0.4, 0.6, statistic="spearman", n=1200) for judge in "ab"]
    with_gap, without = reported([A, more[0]], [B, more[1]], GAP)[3:5]
    assert len(with_gap.split()) > len(without.split()) and "1,200" in without


def test_without_a_paired_difference_crossing_intervals_decide_nothing() -> None:
    text = "\n".join(reported([A], [B]))
    assert "the two sides cannot be ranked" in text and "difference:" not in text
    assert "better" not in text and "p, Holm" not in text
    assert "the two sides cannot be ranked" not in "\n".join(reported([A], [B], GAP))


def test_an_undefined_number_says_why_on_its_line() -> None:
    none = row("b", None, None, None, note="constant judge")
    text = reported([A], [none])
    assert (
        text[3].split()[-3:] == ["undefined:", "constant", "judge"] and " - " in text[3]
    )


def test_agreement_of_a_judge_that_is_given_the_rating_is_reported_to_be_none() -> None:
    hinted = row("b", 0.9, 0.8, 0.95, note=f"hint: right; {REASONS.no_agreement}")
    assert f"hint: b: {REASONS.no_agreement}" in reported([A], [hinted])
    assert "hint" not in "".join(reported([A], [B]))


def test_numbers_of_a_single_side_are_counted_not_dropped_in_silence() -> None:
    more = row("a", 0.1, 0, 0.2, aspect="coherence")
    assert "only a has 1 more" in reported([A, more], [B])
    assert reported([more], [B]) == [
        "agreement: 0 numbers that both sides have; a | b",
        "only a has 1 more",
        "only b has 1 more",
    ]


def test_many_rows_are_cut_and_that_is_reported() -> None:
    aspects = [f"x{at}" for at in range(5)]
    first, second = ([row(j, 0.5, 0.4, 0.6, aspect=x) for x in aspects] for j in "ab")
    text = reported(first, second, limit=2)
    assert "… and 3 more rows: --rows 0" in "\n".join(text)


def test_signatures_that_differ_are_shown_by_part() -> None:
    other = {**B, "signature": "judge:b|card:9|v:2|draws:20"}
    text = reported([A], [other])
    assert "signatures differ in card: 1 | 9" in text
    assert "signatures differ in draws: none | 20" in text
    same = list(
        lines(
            "agreement",
            ComparedSide("one", frame(A)),
            ComparedSide("two", frame(A)),
            None,
            limit=0,
        )
    )
    assert "signatures: the same on both sides" in same


def write(folder: Path, study: str, rows: dict[str, list[Row]]) -> Path:
    path = folder / f"{study}.yaml"
    Study(folder).write(study=study).rename(path)
    for table, own_part in rows.items():
        location = folder / "results" / study / "tables" / f"{table}.parquet"
        write_table("results", table_of("results", own_part), location)
    return path


@pytest.mark.heavy
def test_the_command(tmp_path: Path) -> None:
    each = write(tmp_path, "one", {"agreement": [A, B], "comparison": [GAP, P, HOLM]})
    two = write(tmp_path, "two", {"agreement": [{**A, "value": 0.45}]})

    def run_compare(*words: str) -> tuple[int, str]:
        done = running.run(
            "-m", "judgescope", "compare", str(each), *words, cwd=tmp_path
        )
        return done.returncode, done.stdout

    status, text = run_compare("--judges", "a", "b")
    assert status == 0 and "-0.2" in text and "0.03" in text
    status, text = run_compare(str(two))
    assert status == 0 and "1 number that both sides have; one | two" in text
    assert "only one has 1 more" in text and "the two sides cannot be ranked" in text
    assert "another seed" not in text
    other = write(tmp_path, "other", {"agreement": [{**A, "signature": "seed:9|v:2"}]})
    status, text = run_compare(str(other))
    assert (
        status == 0
        and f"with another seed or other judges; `judgescope run {other}`" in text
    )
    status, text = run_compare(str(two), "--judges", "b", "a")
    assert status == 0 and "one: b" in text and "two: a" in text
    three = write(tmp_path, "three", {"agreement": [A, {**B, "statistic": "spearman"}]})
    status, text = run_compare(str(three), "--judges", "b", "--statistic", "pearson")
    assert (
        status == 1
        and "no row of this judge matches" in text
        and "allowed: a\n" in text
    )
    wrong = {
        "a comparison needs two studies or two judges": [],
        "no such judge": ["--judges", "a", "c"],
        "both files describe the same study": [str(each)],
        "does not have this table": ["--judges", "a", "b", "--table", "agreemnt"],
        "no row of agreement has this statistic": [
            "--judges",
            "a",
            "b",
            "--statistic",
            "persn",
        ],
        "file not found": [str(tmp_path / "no.yaml")],
    }
    for reason, words in wrong.items():
        status, text = run_compare(*words)
        assert status == 1 and reason in text and "Traceback" not in text


@pytest.mark.parametrize("limit", [0, 1])
def test_a_row_about_the_pair_itself_is_no_number_of_a_judge(limit: int) -> None:
    assert reported([A, {**GAP, "judge": "a", "judge_b": "b"}], [B], limit=limit)[
        0
    ].startswith("agreement: 1 number ")
