"""The numbers of a study's tables in the terminal."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import running
from judgescope.cli.show import lines, note_earlier_state
from judgescope.cli.terminal import COLOURS
from judgescope.core.errors import UserError
from judgescope.schema.tables import frame_of, table_of, write_table
from judgescope.statistics.result import REASONS
from study import Study

Row = dict[str, Any]


def row(judge: str, statistic: str = "pearson", **keys: Any) -> Row:
    content = {"dataset": "d", "judge": judge, "aspect": "fluency", "level": "pooled"}
    numbers = {
        "value": 0.51234,
        "ci_low": 0.4,
        "ci_high": 0.6,
        "n": 120,
        "n_missing": 2,
    }
    [made] = table_of(
        "results", [{**content, "statistic": statistic, **numbers, **keys}]
    ).to_pylist()
    return dict(made)


ROWS = [
    row("one"),
    row("two", value=None, ci_low=None, ci_high=None, note="constant judge"),
    row("one", "spearman", ci_low=None, ci_high=None, note="no interval: 3 sources"),
]


def show(
    rows: list[Row] = ROWS, limit: int = 40, notes: bool = False, **wanted: str
) -> list[str]:
    by_key = {name: [value] for name, value in wanted.items()}
    frame = frame_of(table_of("results", rows))
    return lines("agreement", frame, by_key, limit=limit, notes=notes)


def test_what_is_the_same_everywhere_stands_once() -> None:
    head, titles, *numbers = show(statistic="pearson")
    assert head == (
        "agreement: 2 of 3 rows; all rows: "
        "dataset d, aspect fluency, statistic pearson, level pooled"
    )
    assert titles.split() == ["judge", "value", "95", "%", "interval", "n", "missing"]
    assert numbers == [
        "one    0.5123  [0.4, 0.6]     120        2",
        "two         -                 120        2  undefined: constant judge",
    ]


def test_filters_that_no_row_matches_together_are_an_error() -> None:
    with pytest.raises(
        UserError, match="no row of agreement matches all filters"
    ) as caught:
        show(judge="two", statistic="spearman")
    assert "--judge one; or --statistic pearson" in str(caught.value)


def test_a_result_on_two_judges_is_a_result_of_each() -> None:
    pair = {"judge_b": "two", "value": 0.25, "ci_low": 0.125, "ci_high": 0.5}
    rows = [row("one", name, **pair) for name in ("difference_pearson", "p_pearson")]
    rows += [
        row("two", name, judge_b="three")
        for name in ("difference_pearson", "p_pearson")
    ]
    collected = [" ".join(line.split()) for line in show(rows, judge="two")[2:]]
    assert collected[0].startswith("difference_pearson one -0.25 [-0.5, -0.125]")
    assert (
        collected[1].startswith("p_pearson one 0.25 [0.125, 0.5]")
        and len(collected) == 4
    )


def test_a_verdict_is_a_word() -> None:
    [line] = [
        line
        for line in show([row("one", "verdict", note="meets it")])
        if "0.51" in line
    ]
    assert line.endswith("meets it")


def test_large_numbers_have_commas() -> None:
    counts: Row = {"ci_low": None, "ci_high": None, "n": 12345, "n_missing": 1000}
    rows = [row("one", value=123456.0, **counts), row("two", value=-0.125, **counts)]
    assert [line.split()[1:] for line in show(rows)[-2:]] == [
        ["123,456", "12,345", "1,000"],
        ["-0.125", "12,345", "1,000"],
    ]


def test_an_interval_without_width_has_the_sign_of_the_report() -> None:
    flat = row(
        "two", ci_low=0.5, ci_high=0.5, note="no width: all 24 sources are equal"
    )
    first, second = show([row("one"), flat])[-2:]
    assert "[0.5, 0.5]°" in second and "°" not in first


def test_a_note_that_begins_with_undefined_does_not_say_it_twice() -> None:
    note = "undefined on 2 of 2 aspects: constant judge"
    undefined = row("one", value=None, ci_low=None, ci_high=None, note=note)
    assert (
        show([undefined])[-1].endswith(f"  {note}")
        and "undefined: " not in show([undefined])[-1]
    )


def test_what_is_empty_everywhere_is_not_named() -> None:
    rows = [row("", aspect=aspect, level="") for aspect in ("fluency", "coherence")]
    assert (
        show(rows)[0]
        == "agreement: 2 of 2 rows; all rows: dataset d, statistic pearson"
    )
    with pytest.raises(UserError) as caught:
        show(rows, level="pooled")
    assert caught.value.allowed == []


def test_notes_are_reported_where_they_are_wanted() -> None:
    content = {"method": "bootstrap", "note": "of a share"}
    assert "bootstrap; of a share" in show([row("one", **content)], notes=True)[-1]
    assert "of a share" not in show([row("one", **content)])[-1]


def test_agreement_of_a_judge_that_is_given_the_rating_is_reported_to_be_none() -> None:
    hinted = row("told", note=f"hint: right; {REASONS.no_agreement}")
    assert show([row("one"), hinted])[-1] == f"hint: told: {REASONS.no_agreement}"
    assert "hint" not in "".join(show([row("one")]))


def test_only_a_terminal_has_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = show()
    assert "\x1b" not in "".join(bare)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = show()
    assert (
        coloured[1].count(COLOURS.bold) == 6 and coloured[2].count(COLOURS.faint) == 1
    )
    assert coloured[3].count(COLOURS.yellow) == 1
    assert [re.sub("\x1b.*?m", "", line).rstrip() for line in coloured] == bare
    monkeypatch.setenv("NO_COLOR", "1")
    assert show() == bare


def test_many_rows_are_cut_and_that_is_reported() -> None:
    rows = [row(f"j{at}") for at in range(50)]
    assert len(show(rows)) == 43 and "10 more rows: --rows 0" in show(rows)[-1]
    assert len(show(rows, limit=0)) == 52


def test_a_name_cannot_move_the_cursor() -> None:
    [*_, last] = show(
        [row("one", note="\x1b[2Jgone\nnext", value=None, ci_low=None, ci_high=None)]
    )
    assert last.endswith("undefined:  [2Jgone next")


@pytest.mark.parametrize(
    ("wanted", "nearest"),
    [("persn", "pearson"), ("spermann", "spearman"), ("Spe", "spearman")],
)
def test_a_value_that_no_row_has_is_an_error_with_the_nearest(
    wanted: str, nearest: str
) -> None:
    with pytest.raises(UserError) as caught:
        show(statistic=wanted)
    assert caught.value.nearest() == nearest and caught.value.where == "--statistic"


def test_results_of_another_seed_or_of_other_judges_are_shown_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    study = Study(
        tmp_path, methods=["agreement"], perturbations=[], judges=["length", "random"]
    )
    plan = study.plan()
    covered = [row(judge, signature="seed:3|v:1") for judge in plan.judges]
    write_table(
        "results", table_of("results", covered), Path(plan.paths.table("coverage"))
    )

    def note(**changes: Any) -> str:
        note_earlier_state(study.write(**changes))
        return capsys.readouterr().err

    assert note() == ""
    [line] = note(seed=4).splitlines()
    assert "another seed or other judges" in line and "`judgescope run " in line
    assert note(judges=["length", "rules"]) == line + "\n"
    Path("results/small/tables/agreement.parquet").write_bytes(b"damaged")
    assert note(seed=4, judges=["no-such-judge"]) == ""  # the study cannot be read


@pytest.mark.heavy
def test_the_command(tmp_path: Path) -> None:
    study = Study(tmp_path / "a folder").write()
    tmp_path = study.parent

    def run_show(*words: str) -> tuple[int, str]:
        done = running.run("-m", "judgescope", "show", str(study), *words, cwd=tmp_path)
        return done.returncode, done.stdout

    status, text = run_show()
    assert status == 1 and "no tables yet" in text and "judgescope run" in text
    assert shlex.quote(str(study)) in text
    location = tmp_path / "results" / "small" / "tables" / "agreement.parquet"
    write_table("results", table_of("results", ROWS), location)
    status, text = run_show()
    assert status == 0 and text.endswith("\n\nagreement  3 rows  pearson, spearman\n")
    assert text.startswith("report: results/small/report/index.html\n")
    status, text = run_show("agreement", "--judge", "two")
    assert status == 0 and "1 of 3 rows; all rows: dataset d, judge two" in text
    status, text = run_show("agreemnt")
    assert status == 1 and "nearest: agreement" in text
    status, text = run_show("--judge", "two", "agreement")
    assert status == 1 and "no table is named" in text and "before the options" in text
    status, text = run_show("agreement", "--rows", "-3")
    assert status == 1 and "--rows must be 0 or greater" in text
