"""Error spans in the report: the tables, and texts with the errors that are marked in
them.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert

import report_study as study
from browser import browser, needs_browser
from judgescope.report.contents import section_named
from judgescope.report.elements import (
    Fold,
    Heading,
    Marked,
    MarkedPart,
    Marking,
    PageFigure,
    PageTable,
    Paragraph,
)
from judgescope.report.headline import measures
from judgescope.report.items import (
    FEWEST_SHOWN,
    LONGEST_REMARK,
    TEXTS_SHOWN,
    AnnotatedText,
    Reading,
    sample,
)
from judgescope.report.marked import LocatedError, grouped, pieces
from judgescope.report.report import Report
from judgescope.report.sections import spans
from judgescope.report.specs import AnnotatedTexts
from judgescope.schema.tables import table_of, write_table
from report_setup import on_one_page

TEXT = "The Owls won 9 to 7 & <b>slept</b>."
EVIL = "<script>alert(1)</script>"


def error(start: int | None, end: int | None, severity: int = 0) -> LocatedError:
    return LocatedError(start, end, severity, "", "", "")


def shown(text: str, errors: Sequence[LocatedError]) -> list[tuple[str, list[int]]]:
    """Return the pieces of a text, each with the errors over it."""
    result, over = pieces(text, errors)
    return [
        (each.text, over[each.number] if each.kind == "error" else [])
        for each in result
    ]


def test_a_text_is_cut_where_an_error_begins_or_ends() -> None:
    assert shown("abcdef", [error(1, 3)]) == [("a", []), ("bc", [0]), ("def", [])]
    # overlapping, one within another, two at one place, two side by side
    assert shown("abcdef", [error(0, 3), error(2, 5)]) == [
        *(("ab", [0]), ("c", [0, 1])),
        *(("de", [1]), ("f", [])),
    ]
    assert shown("abc", [error(0, 3), error(1, 2)]) == [
        ("a", [0]),
        ("b", [0, 1]),
        ("c", [0]),
    ]
    assert shown("ab", [error(0, 2), error(0, 2)]) == [("ab", [0, 1])]
    assert shown("ab", [error(0, 1), error(1, 2)]) == [("a", [0]), ("b", [1])]


def test_what_is_nowhere_marks_nothing() -> None:
    assert shown("ab", [error(None, None)]) == [("ab", [])]
    assert shown("ab", [error(1, 9)]) == [
        ("a", []),
        ("b", [0]),
    ]  # of a text that changed since
    assert shown("", [error(None, None)]) == []
    assert shown("abc", [error(1, 1), error(2, 1), error(7, 9)]) == [("abc", [])]


def test_a_long_text_is_shortened_far_from_every_error() -> None:
    text = "word " * 1000
    result, over = pieces(text, [error(2500, 2504)])
    kinds = [each.kind for each in result]
    assert kinds == ["same", "gap", "same", "error", "same", "gap", "same"]
    assert over == [[0]] and sum(len(each.text) for each in result) < 700


def together(text: str, errors: Sequence[LocatedError]) -> list[str]:
    """Return a text's pieces, those that share errors with a stroke between them."""
    return [
        "|".join(each.text for each, _ in group)
        for group in grouped(*pieces(text, errors))
    ]


def test_pieces_that_share_errors_stand_together() -> None:
    assert together("abcdef", [error(1, 3), error(2, 5)]) == ["a", "b|c|de", "f"]
    assert together("abcd", [error(0, 4), error(1, 2), error(3, 4)]) == ["a|b|c|d"]
    assert together("abcd", [error(0, 2), error(2, 4)]) == ["ab", "cd"]
    assert together("abc", []) == ["abc"]
    # a gap within an error stands with it, no other one does
    result = grouped(*pieces("x" * 9000, [error(3000, 8000)]))
    kinds = [[piece.kind for piece, _ in group] for group in result]
    values = [["same"], ["gap"], ["same"]]
    assert kinds == [*values, ["error", "gap", "error"], *values]


def judged(target: str, judge: str, *spans: dict[str, Any], **more: Any) -> study.Row:
    return {
        **{
            "dataset": "chat",
            "perturbation": "systems",
            "judge": judge,
            "aspect": "fluency",
        },
        **{"target": target, "draw": 0, "status": "ok", "rule": "r", "value": 2.0},
        **{"spans": list(spans), **more},
    }


def mark(
    start: int | None, end: int | None, severity: float | None = None
) -> dict[str, Any]:
    return {
        **{"start": start, "end": end, "severity": severity, "category": EVIL},
        **{"explanation": f"why {EVIL}", "location": f"here {EVIL}", "match": "exact"},
    }


def files(
    folder: Path, rows: list[study.Row], names: Sequence[str], gold: bool
) -> dict[str, Any]:
    """Write what judges list in some texts and what people marked; return where it
    is.
    """
    write_table("marked", table_of("marked", rows), folder / "marked.parquet")
    texts = [{"dataset": "chat", "target": name, "text": TEXT} for name in names]
    write_table("targets", table_of("targets", texts), folder / "targets.parquet")
    marked = {"dataset": "chat", "target": "t1", "start": 4, "end": 8, "category": EVIL}
    table = table_of("gold_spans", [{**marked, "text": "Owls", "correction": "Jays"}])
    write_table("gold_spans", table, folder / "gold.parquet")
    places = {
        name: str(folder / f"{name}.parquet") for name in ("marked", "targets", "gold")
    }
    return {"set": "systems", **places, **({} if gold else {"gold": None})}


def drawn_of(source: dict[str, Any], seed: int, dataset: str) -> list[AnnotatedText]:
    return sample(convert(source, AnnotatedTexts), seed, dataset)


ROWS = [
    judged("t1", "gamma", mark(4, 12, 5), mark(9, 16, 2), mark(None, None, 3)),
    judged("t1", "beta", mark(0, 3)),
    judged("t2", "gamma", status="unparsed", value=None),
    judged("t2", "beta"),
]


def test_the_sample_depends_on_names_and_seed_alone(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(40)]
    rows = [judged(name, "gamma") for name in names]
    rows += [
        judged("t1", "gamma", draw=1),
        judged("u1", "gamma", status="not_applicable"),
    ]
    rows += [{**judged("v1", "gamma"), "perturbation": "original"}]
    result = files(tmp_path, rows, names, gold=False)
    targets = [each.target for each in drawn_of(result, 3, "chat")]
    assert (
        len(targets) == TEXTS_SHOWN
        and targets == sorted(targets)
        and set(targets) < set(names)
    )
    again = files(tmp_path, rows[::-1], names[::-1], gold=False)
    assert [each.target for each in drawn_of(again, 3, "chat")] == targets
    assert [each.target for each in drawn_of(result, 4, "chat")] != targets
    assert {len(each.readings["fluency"]) for each in drawn_of(result, 3, "chat")} == {
        1
    }


def test_texts_are_spread_over_aspects(tmp_path: Path) -> None:
    names = [f"t{number}" for number in range(40)]

    def drawn(*aspects: str) -> list[list[str]]:
        """Return the texts of each aspect."""
        rows = [
            judged(name, "gamma") | {"aspect": aspect}
            for name in names
            for aspect in aspects
        ]
        texts = drawn_of(files(tmp_path, rows, names, gold=False), 3, "chat")
        return [
            [text.target for text in texts if aspect in text.readings]
            for aspect in aspects
        ]

    three, many = drawn("a", "b", "c"), drawn(*"abcdefgh")
    assert [len(aspect) for aspect in three] == [TEXTS_SHOWN // 3] * 3
    assert len({name for aspect in three for name in aspect}) == TEXTS_SHOWN
    assert [len(aspect) for aspect in many] == [FEWEST_SHOWN] * 8
    # an aspect in which few texts are judged has those, and no other one has fewer for
    # it
    rows = [judged(name, "gamma") for name in names]
    rows += [judged("t7", "gamma") | {"aspect": "coherence"}]
    texts = drawn_of(files(tmp_path, rows, names, gold=False), 3, "chat")
    assert [text.target for text in texts if "coherence" in text.readings] == ["t7"]
    assert sum("fluency" in text.readings for text in texts) == TEXTS_SHOWN // 2


def test_errors_are_reported_complete_but_for_very_long_words(tmp_path: Path) -> None:
    long = mark(0, 3, 9.4) | {"explanation": "x" * 5000}
    result = files(tmp_path, [judged("t1", "gamma", long)], ["t1"], gold=True)
    [text] = drawn_of(result, 3, "chat")
    [entry] = text.readings["fluency"][0].errors or []
    assert entry.severity == 5 and len(entry.explanation) < LONGEST_REMARK + 5
    assert text.gold is not None
    assert [(each.start, each.end, each.explanation) for each in text.gold] == [
        (4, 8, "instead: Jays")
    ]


def table() -> list[study.Row]:
    collected = []
    for judge in ("gamma", "beta"):
        content = {"aspect": "fluency", "perturbation": "systems"}
        for name in (*spans.LISTED, *spans.NOTED):
            collected.append(study.row("chat", judge, name, 0.5, **content))
        for form in (*spans.FORMS, *spans.KINDS, *spans.OVERLAPS):
            for level in spans.LEVELS:
                more = {**content, "form": form, "level": level}
                collected += [
                    study.row("chat", judge, name, 0.5, **more) for name in spans.AGREED
                ]
    perturbed = {"aspect": "fluency", "perturbation": "typos", "degree": "minor"}
    collected.append(study.row("chat", "gamma", "span_match_rate", 0.75, **perturbed))
    return collected


@pytest.fixture
def report(tmp_path: Path) -> Report:
    result = files(tmp_path, ROWS, ["t1", "t2"], gold=True)
    return study.loaded(
        study.make(tmp_path, {"spans": table()}, annotated={"chat": result})
    )


def test_the_section_has_the_tables_and_the_texts(report: Report) -> None:
    section = section_named("spans", report)
    assert section is not None
    heading, agreed, listed, *folds = section.blocks
    assert (
        isinstance(heading, Heading)
        and isinstance(agreed, PageFigure)
        and isinstance(listed, PageTable)
    )
    assert [len(each.columns) for each in (listed, agreed.table)] == [8, 6]
    assert len(agreed.keys) == 6  # precision, recall and F1 of spans and of words
    assert [line.head for body in listed.bodies for line in body.lines] == [
        "beta",
        "gamma",
    ]
    names = [
        "by text, by kind and by overlap",
        "contradict themselves",
        "other sets",
        "texts with the errors",
    ]
    assert all(isinstance(each, Fold) for each in folds) and len(folds) == len(names)
    for each, name in zip(folds, names, strict=True):
        assert isinstance(each, Fold) and name in each.summary
    texts = folds[-1].blocks[1:] if isinstance(folds[-1], Fold) else []
    assert [each.title for each in texts if isinstance(each, Marked)] == ["t1", "t2"]


def views(report: Report) -> list[Marked]:
    section = section_named("spans", report)
    assert section is not None
    folds = (block for block in section.blocks if isinstance(block, Fold))
    return [
        block for fold in folds for block in fold.blocks if isinstance(block, Marked)
    ]


def parts(marking: Marking) -> list[MarkedPart]:
    return [part for group in marking.groups for part in group.parts]


def test_a_text_is_shown_as_people_and_each_judge_mark_it(report: Report) -> None:
    first, second = views(report)
    assert [each.who for each in first.markings] == ["", "beta", "gamma"]
    assert [each.about for each in first.markings] == [
        *("1 error", "1 error; verdict 2"),
        "3 errors; verdict 2",
    ]
    # a judge whose reply says nothing is told so, and a text without marks is whole
    assert [each.about for each in second.markings] == [
        "0 errors",
        "0 errors; verdict 2",
        "unparsed",
    ]
    assert [part.text for part in parts(second.markings[1])] == [TEXT]
    gamma = first.markings[2]
    assert "".join(part.text for part in parts(gamma)) == TEXT
    texts = [
        (part.text, part.shade, part.sign, part.errors)
        for part in parts(gamma)
        if part.errors
    ]
    assert texts == [
        ("Owls ", "shade-5", "", [0]),
        ("won", "shade-5 several", "5", [0, 1]),
        (" 9 t", "shade-2", "2", [1]),
    ]
    assert [len(group.remarks) for group in gamma.groups] == [0, 2, 0]
    assert len(gamma.nowhere) == 1 and "severity 3" in gamma.nowhere[0]


def test_a_judge_without_a_list_is_not_one_that_finds_nothing(tmp_path: Path) -> None:
    rows = [judged("t1", "gamma") | {"spans": None}, judged("t1", "beta")]
    result = files(tmp_path, rows, ["t1"], gold=False)
    made = study.make(tmp_path, {"spans": table()}, annotated={"chat": result})
    [text] = views(study.loaded(made))
    assert [(each.who, each.about) for each in text.markings] == [
        ("beta", "0 errors; verdict 2"),
        ("gamma", "no list; verdict 2"),
    ]


def marking(report: Report, text: str, errors: Sequence[LocatedError]) -> Marking:
    """Return a text as the report shows it with the errors of one judge."""
    outcome = AnnotatedText(
        "t1", text, None, {"fluency": [Reading("gamma", None, "ok", errors)]}
    )
    [result] = views(replace(report, annotated={"chat": [outcome]}))
    return result.markings[0]


def test_every_error_is_marked_or_listed(report: Report) -> None:
    # much is marked at the start, so that the text ends early; one has no length
    errors = [error(at * 900, at * 900 + 850) for at in range(30)] + [error(5, 5)]
    result = marking(report, "word " * 6000, errors)
    marked = sum(len(group.remarks) for group in result.groups)
    assert result.about == "31 errors" and 0 < marked < 20
    away = [
        each
        for each in result.nowhere
        if each.startswith("in the part that is not shown")
    ]
    assert len(away) == 30 - marked and result.nowhere[-1].startswith("of no length")
    # the sign of an error stands once, at its end, even where its middle is left out
    long = marking(report, "x" * 9000, [error(0, 9000, 4)])
    assert [part.sign for part in parts(long)] == ["", "", "4"]


@pytest.mark.heavy
def test_what_is_reported_grows_with_the_errors_alone_and_these_are_capped(
    report: Report,
) -> None:
    collected = [
        LocatedError(at, 2000 - at, 3, "c", "x" * LONGEST_REMARK, "")
        for at in range(300)
    ]
    result = marking(report, "x" * 2000, collected)
    [group] = [each for each in result.groups if each.remarks]
    assert (
        len(group.remarks) == spans.MOST_ERRORS
        and max(len(part.errors) for part in group.parts) == 40
    )
    assert result.about == "300 errors"
    assert result.nowhere == ["260 more errors are left out here"]
    text = AnnotatedText(
        "t1", "x" * 2000, None, {"fluency": [Reading("gamma", None, "ok", collected)]}
    )
    shorter = text._replace(readings={"fluency": [Reading("gamma", None, "ok", [])]})
    pages = [
        on_one_page(replace(report, annotated={"chat": [each]}))
        for each in (text, shorter)
    ]
    assert len(pages[0]) - len(pages[1]) < 100_000


def test_marked_texts_of_a_dataset_are_capped(report: Report) -> None:
    readings = [Reading("gamma", None, "ok", []) for _ in range(150)]
    texts = [
        AnnotatedText(f"t{at}", TEXT, [], {"fluency": readings}) for at in range(3)
    ]
    section = section_named("spans", replace(report, annotated={"chat": texts}))
    assert section is not None and isinstance(section.blocks[-1], Fold)
    hint, *shown = section.blocks[-1].blocks
    assert [len(each.markings) for each in shown if isinstance(each, Marked)] == [
        151,
        151,
        98,
    ]
    assert (
        isinstance(hint, Paragraph)
        and "53 more marked texts are left out here." in hint.text
    )
    assert sum((151, 151, 98)) == spans.MOST_MARKINGS


@pytest.mark.heavy
def test_people_are_distinguished_from_a_judge_of_that_name(report: Report) -> None:
    page = on_one_page(report)
    assert page.count("<strong>marked by people</strong>") == 2  # texts
    assert page.count('<div class="marking by-people">') == 2
    assert "<code>people</code>" not in page


@pytest.mark.heavy
def test_what_is_reported_stands_once_and_each_mark_names_it(report: Report) -> None:
    page = on_one_page(report)
    marks = re.findall(
        r'<mark class="[^"]*" tabindex="0" aria-describedby="([^"]+)">', page
    )
    ids = re.findall(r'role="tooltip" id="([^"]+)"', page)
    assert len(marks) == 1 + 1 + 3 and len(ids) == len(set(ids)) == 1 + 1 + 2
    assert {name for mark in marks for name in mark.split()} == set(ids)
    assert [len(mark.split()) for mark in marks] == [1, 1, 1, 2, 1]


VISIBLE = """[...document.querySelectorAll('.told')].map(one => \
[...one.querySelectorAll('bdi')]
    .filter(each => each.checkVisibility()).map(each => each.id))"""


@pytest.mark.heavy
@needs_browser
def test_a_browser_shows_what_is_reported_by_keyboard_and_lets_it_be_scrolled(
    report: Report, tmp_path: Path
) -> None:
    errors = [
        LocatedError(0, 6, 3, "c", "word " * 2000, ""),
        LocatedError(4, 9, 2, "d", "short", ""),
    ]
    errors.append(LocatedError(12, 14, 1, "e", "short", ""))
    outcome = AnnotatedText(
        "t1", TEXT, None, {"fluency": [Reading("gamma", None, "ok", errors)]}
    )
    page = tmp_path / "page.html"
    page.write_text(
        on_one_page(replace(report, annotated={"chat": [outcome]})), "utf-8"
    )
    with browser(tmp_path / "browser") as window:
        window.open(page)
        window.value(
            "document.querySelectorAll('details').forEach(one => one.open = true)"
        )
        first, second, third = (f"error-chat-{number}" for number in (1, 2, 3))

        def focused(number: int) -> list[list[str]]:
            window.value(f"document.querySelectorAll('mark')[{number}].focus()")
            result: list[list[str]] = window.value(VISIBLE)
            return result

        assert window.value(VISIBLE) == [[], []]
        assert focused(0) == [[first], []]
        assert focused(3) == [[], [third]]
        assert focused(1) == [[first, second], []]
        text = "document.querySelector('.told').getBoundingClientRect()"
        assert window.value(f"{text}.top > 0 && {text}.bottom <= innerHeight")
        # after the last mark of a group the tab key goes into what is long, and on from
        # there
        assert focused(2) == [[second], []]
        window.press("Tab")
        assert window.value(VISIBLE) == [[first, second], []]
        window.value("document.activeElement.scrollTop = 1e6")
        assert window.value("document.activeElement.scrollTop") > 0
        window.press("Tab")
        assert window.value(VISIBLE) == [[], [third]]


@pytest.mark.heavy
def test_texts_and_errors_are_escaped(report: Report) -> None:
    page = on_one_page(report)
    assert EVIL not in page and "<b>slept" not in page
    assert "&lt;b&gt;slept&lt;/b&gt;" in page and "why &lt;script&gt;" in page
    assert page.count("<script>") == 1  # the page's own


def test_a_study_without_such_judges_has_no_section(tmp_path: Path) -> None:
    assert section_named("spans", study.loaded(study.make(tmp_path))) is None


def test_the_first_screen_tells_who_finds_what_people_marked(tmp_path: Path) -> None:
    rows = [
        row | {"value": 0.25}
        if (row["statistic"], row.get("form")) == ("span_f1", "tokens")
        and row["level"] == "pooled"
        else row
        for row in table()
    ]
    report = study.loaded(study.make(tmp_path, {"spans": rows}))
    [dataset] = [each for each in report.datasets if each.id == "chat"]
    [measure] = [each for each in measures(report, dataset) if each.table == "spans"]
    assert (measure.name, measure.group) == ("Fluency", "Error spans: F1, same words")
    values = {each.id: measure.row(each) for each in report.judges}
    by_key = {name: row.value for name, row in values.items() if row}
    assert by_key == {"gamma": 0.25, "beta": 0.25}
    unmarked = study.loaded(study.make(tmp_path, {"spans": [rows[0]]}))
    assert not measures(unmarked, dataset)
