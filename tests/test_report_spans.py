"""Error spans in the report: the tables, and texts with the errors that are marked in them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from metajudge.report.annotated import DRAWN, LONGEST, Error, pieces, sample
from metajudge.report.elements import Fold, Heading, Marked, Table
from metajudge.report.page import render
from metajudge.report.report import Report
from metajudge.report.sections import spans
from metajudge.schema.tables import table_of, write_table

TEMPLATES = Path(__file__).resolve().parents[1] / "workflow" / "report"
TEXT = "The Owls won 9 to 7 & <b>slept</b>."
EVIL = "<script>alert(1)</script>"


def error(start: int | None, end: int | None, severity: int = 0) -> Error:
    return Error(start, end, severity, "", "", "")


def shown(text: str, errors: Sequence[Error]) -> list[tuple[str, list[int]]]:
    """Return the pieces of a text, each with the errors over it."""
    found, over = pieces(text, errors)
    return [(one.text, over[one.number] if one.kind == "error" else []) for one in found]


def test_a_text_is_cut_where_an_error_begins_or_ends() -> None:
    assert shown("abcdef", [error(1, 3)]) == [("a", []), ("bc", [0]), ("def", [])]
    # overlapping, one within another, two at one place, two side by side
    assert shown("abcdef", [error(0, 3), error(2, 5)]) == [
        *(("ab", [0]), ("c", [0, 1])),
        *(("de", [1]), ("f", [])),
    ]
    assert shown("abc", [error(0, 3), error(1, 2)]) == [("a", [0]), ("b", [0, 1]), ("c", [0])]
    assert shown("ab", [error(0, 2), error(0, 2)]) == [("ab", [0, 1])]
    assert shown("ab", [error(0, 1), error(1, 2)]) == [("a", [0]), ("b", [1])]


def test_what_is_nowhere_marks_nothing() -> None:
    assert shown("ab", [error(None, None)]) == [("ab", [])]
    assert shown("ab", [error(1, 9)]) == [("a", []), ("b", [0])]  # of a text that changed since
    assert shown("", [error(None, None)]) == []


def test_a_long_text_is_shortened_far_from_every_error() -> None:
    text = "word " * 1000
    found, over = pieces(text, [error(2500, 2504)])
    kinds = [one.kind for one in found]
    assert kinds == ["same", "gap", "same", "error", "same", "gap", "same"]
    assert over == [[0]] and sum(len(one.text) for one in found) < 700


def judged(target: str, judge: str, *told: dict[str, Any], **more: Any) -> study.Row:
    return {
        **{"dataset": "chat", "perturbation": "systems", "judge": judge, "aspect": "fluency"},
        **{"target": target, "draw": 0, "status": "ok", "rule": "r", "value": 2.0},
        **{"spans": list(told), **more},
    }


def mark(start: int | None, end: int | None, severity: float | None = None) -> dict[str, Any]:
    return {
        **{"start": start, "end": end, "severity": severity, "category": EVIL},
        **{"explanation": f"why {EVIL}", "location": f"here {EVIL}", "match": "exact"},
    }


def files(folder: Path, rows: list[study.Row], names: Sequence[str], gold: bool) -> dict[str, Any]:
    """Write what judges list in some texts and what people marked; return where it is."""
    write_table("marked", table_of("marked", rows), folder / "marked.parquet")
    texts = [{"dataset": "chat", "target": name, "text": TEXT} for name in names]
    write_table("targets", table_of("targets", texts), folder / "targets.parquet")
    marked = {"dataset": "chat", "target": "t1", "start": 4, "end": 8, "category": EVIL}
    table = table_of("gold_spans", [{**marked, "text": "Owls", "correction": "Jays"}])
    write_table("gold_spans", table, folder / "gold.parquet")
    places = {name: str(folder / f"{name}.parquet") for name in ("marked", "targets", "gold")}
    return {"set": "systems", **places, **({} if gold else {"gold": None})}


ROWS = [
    judged("t1", "gamma", mark(4, 12, 5), mark(9, 16, 2), mark(None, None, 3)),
    judged("t1", "beta", mark(0, 3)),
    judged("t2", "gamma", status="unparsed", value=None),
    judged("t2", "beta"),
]


def test_the_sample_depends_on_names_and_seed_alone(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(40)]
    rows = [judged(name, "gamma") for name in names]
    rows += [judged("t1", "gamma", draw=1), judged("u1", "gamma", status="not_applicable")]
    rows += [{**judged("v1", "gamma"), "perturbation": "original"}]
    told = files(tmp_path, rows, names, gold=False)
    found = [one.target for one in sample(told, 3, "chat")]
    assert len(found) == DRAWN and found == sorted(found) and set(found) < set(names)
    again = files(tmp_path, rows[::-1], names[::-1], gold=False)
    assert [one.target for one in sample(again, 3, "chat")] == found
    assert [one.target for one in sample(told, 4, "chat")] != found
    assert {len(one.readings["fluency"]) for one in sample(told, 3, "chat")} == {1}


def test_errors_are_told_whole_but_for_very_long_words(tmp_path: Path) -> None:
    long = mark(0, 3, 9.4) | {"explanation": "x" * 5000}
    told = files(tmp_path, [judged("t1", "gamma", long)], ["t1"], gold=True)
    [text] = sample(told, 3, "chat")
    [one] = text.readings["fluency"][0].errors
    assert one.severity == 5 and len(one.explanation) < LONGEST + 5
    assert text.gold is not None
    assert [(each.start, each.end, each.explanation) for each in text.gold] == [
        (4, 8, "instead: Jays")
    ]


def table() -> list[study.Row]:
    found = []
    for judge in ("gamma", "beta"):
        place = {"aspect": "fluency", "perturbation": "systems"}
        for name in (*spans.LISTED, *spans.FOUND, *spans.NOTED):
            found.append(study.row("chat", judge, name, 0.5, **place))
        for form in (*spans.FORMS, *spans.KINDS):
            for level in spans.LEVELS:
                more = {**place, "form": form, "level": level}
                found += [study.row("chat", judge, name, 0.5, **more) for name in spans.AGREED]
    damaged = {"aspect": "fluency", "perturbation": "typos", "degree": "minor"}
    found.append(study.row("chat", "gamma", "span_match_rate", 0.75, **damaged))
    return found


@pytest.fixture
def report(tmp_path: Path) -> Report:
    told = files(tmp_path, ROWS, ["t1", "t2"], gold=True)
    return Report.load(study.make(tmp_path, {"spans": table()}, annotated={"chat": told}))


def test_the_section_has_the_tables_and_the_texts(report: Report) -> None:
    section = spans.section(report)
    assert section is not None
    heading, listed, agreed, *folds = section.blocks
    assert isinstance(heading, Heading) and isinstance(listed, Table) and isinstance(agreed, Table)
    assert [len(one.columns) for one in (listed, agreed)] == [8, 6]
    assert [line.head for body in listed.bodies for line in body.lines] == ["beta", "gamma"]
    names = ["by text, and by kind", "contradict themselves", "other sets", "texts with the errors"]
    assert all(isinstance(one, Fold) for one in folds) and len(folds) == len(names)
    for one, name in zip(folds, names, strict=True):
        assert isinstance(one, Fold) and name in one.summary
    texts = folds[-1].blocks[1:] if isinstance(folds[-1], Fold) else []
    assert [one.title for one in texts if isinstance(one, Marked)] == ["t1", "t2"]


def test_a_text_is_shown_as_people_and_each_judge_mark_it(report: Report) -> None:
    section = spans.section(report)
    assert section is not None
    views = section.blocks[-1]
    assert isinstance(views, Fold)
    first, second = (one for one in views.blocks if isinstance(one, Marked))
    assert [one.who for one in first.markings] == ["people", "beta", "gamma"]
    assert [one.about for one in first.markings] == [
        *("1 error", "1 error; verdict 2"),
        "3 errors; verdict 2",
    ]
    # a judge whose reply says nothing is told so, and a text without marks is whole
    assert [one.about for one in second.markings] == ["0 errors", "0 errors; verdict 2", "unparsed"]
    assert [part.text for part in second.markings[1].parts] == [TEXT]
    gamma = first.markings[2]
    assert "".join(part.text for part in gamma.parts) == TEXT
    told = [(part.text, part.shade, part.sign, len(part.told)) for part in gamma.parts if part.id]
    assert told == [
        ("Owls ", "shade-5", "", 1),
        ("won", "shade-5 several", "5", 2),
        (" 9 t", "shade-2", "2", 1),
    ]
    assert len(gamma.nowhere) == 1 and "severity 3" in gamma.nowhere[0]


def test_the_page_shows_what_is_told_by_pointer_and_by_keyboard(report: Report) -> None:
    page = render(report, TEMPLATES)
    marks = re.findall(r'<mark class="[^"]*" tabindex="0" aria-describedby="([^"]+)">', page)
    assert len(marks) == 1 + 1 + 3 and len(set(marks)) == len(marks)
    for name in marks:
        assert page.count(f'role="tooltip" id="{name}"') == 1
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    assert "mark:focus > .told" in style and "mark:hover > .told" in style


def test_texts_and_errors_are_escaped(report: Report) -> None:
    page = render(report, TEMPLATES)
    assert EVIL not in page and "<b>slept" not in page
    assert "&lt;b&gt;slept&lt;/b&gt;" in page and "why &lt;script&gt;" in page
    assert page.count("<script>") == 1  # the page's own


def test_a_study_without_such_judges_has_no_section(tmp_path: Path) -> None:
    assert spans.section(Report.load(study.make(tmp_path))) is None
