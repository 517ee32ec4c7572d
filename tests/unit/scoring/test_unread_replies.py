"""Where unread replies are counted, the key of the card that helps is named."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import report_study
from judgescope.cli.reread import Reread, RereadComparison, lines
from judgescope.cli.summary import summary
from judgescope.engines.base import Answer, not_applicable
from judgescope.methods import coverage
from judgescope.parsing.judgment import Judgment
from judgescope.parsing.unread_shapes import CORRECT_READ, READ_REMEDY
from judgescope.plan.study import CellAspect
from judgescope.plan.unread import SAMPLE, StudyReplies
from judgescope.report.contents import section_named
from judgescope.schema.tables import table_of, write_table
from methods_setup import FIELD
from methods_setup import study as evaluation_data
from study import Study

NOTHING = "No verdict: \x1b[2J none"


def coverage_notes(
    counts: dict[str, int], parser: str, judge: str = "good"
) -> dict[str, str]:
    """Return statistic -> note of a judge with these counts by status."""
    data = evaluation_data(FIELD, cards={judge: {"parser": parser}})
    cell = {"dataset": "d", "perturbation": "systems", "judge": judge}
    rows = [
        {**cell, "aspect": "fluency", "status": status, "rule": status, "n": n}
        for status, n in counts.items()
    ]
    vars(data)["statuses"] = table_of("statuses", rows)
    return {row["statistic"]: row["note"] for row in coverage.rows(data)}


@pytest.mark.parametrize(
    ("counts", "parser", "remedy"),
    [
        ({"ok": 8, "unparsed": 2}, "score", READ_REMEDY),
        ({"ok": 8, "unparsed": 2}, "pattern", CORRECT_READ),
        ({"ok": 8, "unparsed": 2}, "annotation", None),
        ({"ok": 9, "unparsed": 1}, "score", None),
        ({"ok": 8, "unparsed": 1, "error": 5}, "score", READ_REMEDY),
        ({"ok": 8, "truncated": 2}, "score", None),
    ],
)
def test_the_note_on_many_unread_replies_names_the_key(
    counts: dict[str, int], parser: str, remedy: str | None
) -> None:
    notes = coverage_notes(counts, parser)
    named = [name for name, note in notes.items() if "`read" in note]
    assert named == (["count_unparsed"] if remedy else [])
    if remedy:
        assert notes["count_unparsed"].endswith(remedy)


def covered(out: Path, note: str) -> None:
    rows = [
        report_study.row("news", "mine", "count_ok", 5.0),
        report_study.row("news", "mine", "count_unparsed", 3.0, note=note),
    ]
    write_table(
        "results", table_of("results", rows), out / "tables" / "coverage.parquet"
    )


def cell_files(out: Path, texts: Iterable[tuple[str, str]]) -> None:
    """Write the replies and judgments of a cell: (text, status) of each reply."""
    replies, judgments = [], []
    for number, (text, status) in enumerate(texts):
        question = {
            "judge": "mine",
            "kind": "rate",
            "aspect": "fluency",
            "target": f"t{number}",
            "draw": 0,
        }
        replies.append({**question, "text": text, "status": "ok"})
        judgments.append({**question, "status": status, "rule": "r"})
    for table, folder, rows in (
        ("answers", "replies", replies),
        ("judgments", "judgments", judgments),
    ):
        path = out / folder / "news" / "loop" / "systems" / "mine.parquet"
        path.parent.mkdir(parents=True)
        write_table(table, table_of(table, rows), path)


def test_the_end_of_a_run_shows_the_shapes_of_unread_replies(tmp_path: Path) -> None:
    note = f"no_verdict 3; {READ_REMEDY}"
    covered(tmp_path, note)
    texts = [("4", "ok"), (NOTHING, "unparsed"), ("grade - A", "unparsed")]
    cell_files(tmp_path, [*texts, ("mark - B", "unparsed")])
    shown = summary(tmp_path)
    assert (
        "\nwarning: news: 3 of 8 judgments of mine have no value (unparsed 3)\n"
        f"  unread replies: {READ_REMEDY}\n"
        "  2 of shape w - w\n"
        "    such as: grade - A\n"
        "  1 of shape w…: ⟨U+001B⟩[9w…\n"
        "    such as: No verdict: ⟨U+001B⟩[2J none\n"
    ) in shown


def test_the_end_of_a_run_names_the_key_without_reply_files(tmp_path: Path) -> None:
    covered(tmp_path, READ_REMEDY)
    assert f"unread replies: {READ_REMEDY}\n" in summary(tmp_path)


def test_few_unread_replies_are_not_explained(tmp_path: Path) -> None:
    covered(tmp_path, "no_verdict 3")
    assert "unread replies" not in summary(tmp_path)


@pytest.mark.parametrize("remedy", [READ_REMEDY, ""])
def test_the_report_names_the_key(tmp_path: Path, remedy: str) -> None:
    counted = report_study.row("news", "gamma", "count_unparsed", 3.0, note=remedy)
    made = report_study.make(tmp_path, {"coverage": [counted]})
    section = section_named("coverage", report_study.loaded(made))
    assert section is not None
    assert str(section.blocks).count(READ_REMEDY) == bool(remedy)


def recorded(folder: Path, **keys: Any) -> StudyReplies:
    """Return the reader of a study's replies whose judge chose between two texts."""
    study = Study(
        folder,
        study="recorded",
        datasets=["demo-pairs"],
        aspects=[],
        judges=["demo-pairs"],
        perturbations=[],
        methods=["pairwise"],
    )
    study.card("judges", "demo-pairs", model="demo-pairs", **keys)
    return StudyReplies(study.plan())


CELL = CellAspect("demo-pairs", "systems", "demo-pairs", "overall")


def test_check_shows_unread_recorded_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answers = [[Answer("Choice: A")], [Answer("I like one"), Answer("I like two")]]
    answers += [[not_applicable("no_pair")]]
    replies = recorded(tmp_path)
    replies.add_recorded(CELL, answers)
    assert list(replies.lines()) == [
        "warning: 2 of 3 replies of judges/demo-pairs.yaml have no verdict that its "
        "parser finds",
        f"  {READ_REMEDY}",
        "  2 of shape w…",
        "    such as: I like one",
    ]
    rule = {"pattern": "like (?P<verdict>one)", "map": {"one": "A"}}
    corrected = recorded(tmp_path, read=rule)
    corrected.add_recorded(CELL, answers)
    assert list(corrected.lines())[1] == f"  {CORRECT_READ}"
    rule = {"pattern": "(like|Choice:) (?P<verdict>one|two|A)", "map": MEANINGS}
    complete = recorded(tmp_path, read=rule)
    complete.add_recorded(CELL, answers)
    assert not list(complete.lines())


MEANINGS = {"one": "A", "two": "B"}


def test_check_reads_a_sample_of_many_replies_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    replies = recorded(tmp_path)
    replies.add_recorded(CELL, [[Answer("I like one")]] * (5 * SAMPLE))
    title, *_ = replies.lines()
    assert f"{SAMPLE:,} of {SAMPLE:,} sampled replies of judges/demo-pairs" in title


def reread(
    old: tuple[str, str, float | None] | None,
    new: tuple[str, str, float | None],
    judge: str = "mine",
) -> Reread:
    stored = None
    if old is not None:
        status, rule, value = old
        stored = {"status": status, "rule": rule, "value": value, "label": None}
    judgment = Judgment(*new)  # type: ignore[arg-type]
    return Reread(judge, "fluency", "t1", NOTHING, stored, judgment)


UNPARSED = ("unparsed", "no_verdict", None)


def test_reread_counts_what_moves_and_what_only_another_rule_reads() -> None:
    comparison = RereadComparison()
    comparison.add(reread(("ok", "labelled", 4.0), ("ok", "labelled", 4.0)))
    comparison.add(reread(("ok", "labelled", 4.0), ("ok", "pattern", 4.0)))
    comparison.add(reread(("ok", "labelled", 4.0), ("ok", "labelled", 3.0)))
    comparison.add(reread(None, ("ok", "labelled", 3.0)))
    for _ in range(12):
        comparison.add(reread(UNPARSED, ("ok", "pattern", 3.0)))
    shown = list(lines(comparison, Path("study.yaml")))
    rows = [" ".join(line.split()) for line in shown]
    assert rows[:2] == [
        "judge replies moved same, by another rule not scored yet",
        "mine 16 13 1 1",
    ]
    assert "mine 12 unparsed (no_verdict) ok (pattern)" in rows
    assert "mine 1 ok (labelled) ok (labelled)" in rows
    example = "No verdict: ⟨U+001B⟩[2J none"
    assert rows.count(f"mine fluency t1 unparsed 3 {example}") == 9
    assert rows.count(f"mine fluency t1 4 3 {example}") == 1
    assert rows[-1].startswith("Nothing was changed. ")


def test_reread_says_that_nothing_moves() -> None:
    comparison = RereadComparison()
    comparison.add(reread(("ok", "labelled", 4.0), ("ok", "labelled", 4.0)))
    shown = list(lines(comparison, Path("study.yaml")))
    assert shown[-1] == "The stored judgments are what the present parsers read."
