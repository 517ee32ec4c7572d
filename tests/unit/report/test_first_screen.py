"""The first screen: an answer and a line of the matrix per judge, each cell with its
evidence.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import report_study as study
from judgescope.report.contents import section_named, sections_of
from judgescope.report.elements import Overview, PageTable, Standing
from judgescope.report.page import write_pages
from judgescope.report.report import Report
from judgescope.report.sections import judges
from judgescope.report.sections.trust import ANSWER_WORDS, BLIND, STEP_OF, STEP_WORDS
from judgescope.report.words import written
from judgescope.schema.tables import read_table
from judgescope.statistics.verdict import Outcome
from report_setup import Page, on_one_page, section_shown

Row = dict[str, Any]
TEMPLATES = Path(__file__).resolve().parents[3] / "workflow" / "report"
AGREEMENT = {"aspect": "fluency", "level": "within_source", "form": "agreement"}
LONG = "a-name-of-eighty-signs-" + "x" * 57


def claim(
    judge: str, value: float | None, outcome: str = "better", **place: Any
) -> Iterator[Row]:
    """Yield the rows of a claim: its number and its verdict."""
    where = {"n": 24, **AGREEMENT, **place}
    statistic = where.pop("statistic", "normal_scores")
    yield study.row("chat", judge, statistic, value, **where)
    verdict = study.row("chat", judge, "verdict", 2.0, **where | {"note": outcome})
    yield verdict | {"ci_low": None, "ci_high": None}


def first(report: Report) -> Overview:
    """Return the first block of the first section."""
    block = section_shown("judges", report).blocks[0]
    assert isinstance(block, Overview)
    return block


def standings(overview: Overview) -> dict[str, Standing]:
    return {one.judge: one for _, group in overview.groups for one in group}


def of_judges(
    folder: Path, names: list[str], rows: list[Row], **changes: Any
) -> Report:
    """Return the report of these judges alone, each a lexical one."""
    card = {
        "engine": "lexical",
        "form": "rouge1",
        "model": "lexical",
        "parser": "number",
    }
    folder.mkdir(exist_ok=True)
    spec = study.make(folder, {"verdicts": rows}, **changes)
    spec["study"]["judges"] = names
    spec["judges"] = dict.fromkeys(names, card)
    return study.loaded(spec)


@pytest.mark.heavy
@pytest.mark.parametrize("number", [1, 7, 100])
def test_every_judge_has_a_short_answer_and_a_line(tmp_path: Path, number: int) -> None:
    names = [f"{LONG[:-3]}{at:03d}" for at in range(number)]
    rows = [one for at, name in enumerate(names) for one in claim(name, at / 100)]
    overview = first(of_judges(tmp_path, names, rows))
    assert len(standings(overview)) == number and overview.figure is not None
    assert [*standings(overview)] == names[::-1]  # the highest first
    assert f"`{names[-1]}`" in overview.figure.summary
    for one in standings(overview).values():
        assert len(one.answer.split()) <= ANSWER_WORDS and len(one.marks) == len(
            overview.columns
        )
    html = on_one_page(of_judges(tmp_path, names, rows))
    parsed = Page(html)
    ids = [told["id"] for _, told in parsed.elements if "id" in told]
    linked = {(link["href"] or "") for link in parsed.named("a")}
    assert len(ids) == len(set(ids)) and (parsed.wrong, parsed.open) == ([], [])
    assert {link[1:] for link in linked if link.startswith("#")} <= set(ids)


@pytest.mark.parametrize("outcome", [*Outcome])
def test_no_answer_is_long_whatever_holds(tmp_path: Path, outcome: Outcome) -> None:
    kinds = (
        "agreement",
        "rating",
        "order",
        "pairs",
        "spans",
        "bar spearman",
        "hints",
        "criteria",
    )
    rows = [
        row
        for kind in kinds
        for aspect in ("fluency", "coherence")
        for row in claim("alpha", 0.4, outcome, form=kind, aspect=aspect)
    ]
    mixed = [row for row in rows if row["form"] != "agreement"]
    mixed += [
        *claim("alpha", 0.4, "as_rater"),
        *claim("alpha", 0.4, aspect="coherence"),
    ]
    for number, told in enumerate((rows, mixed)):
        overview = first(of_judges(tmp_path / str(number), ["alpha"], told))
        answer = standings(overview)["alpha"].answer
        assert 3 < len(answer.split()) <= ANSWER_WORDS and answer.endswith(".")


def test_each_cell_leads_to_a_row_with_the_number_of_the_table(tmp_path: Path) -> None:
    report = study.loaded(study.make(tmp_path))
    every = read_table("results", tmp_path / "verdicts.parquet").to_pylist()
    evidence = section_named("evidence", report)
    assert evidence is not None
    tables = {
        f"sections/evidence.html#{body.id}": body
        for table in evidence.blocks
        if isinstance(table, PageTable)
        for body in table.bodies
    }
    overview, checked = first(report), 0
    for name, one in standings(overview).items():
        for column, mark in zip(overview.columns, one.marks, strict=True):
            if not mark.href:
                continue
            [line] = tables[mark.href].lines
            [row] = [
                row
                for row in every
                if row["judge"] == name
                and row["statistic"] == "normal_scores"
                and row["aspect"] == column.text.lower()
                and column.group.endswith(
                    {"news": "The news", "chat": "The chat"}[row["dataset"]]
                )
            ]
            number = row["value"]
            assert line.cells[0].sort == number
            assert mark.text == (
                "–" if number is None else written("normal_scores", number)
            )
            checked += 1
    assert checked == 8 * 4


@pytest.mark.heavy
def test_each_cell_of_the_page_leads_to_its_number_on_the_page_of_evidence(
    tmp_path: Path,
) -> None:
    report = study.loaded(study.make(tmp_path))
    write_pages(report, sections_of(report), tmp_path / "report")
    first_page, evidence = (
        (tmp_path / "report" / name).read_text(encoding="utf-8")
        for name in ("index.html", "sections/evidence.html")
    )
    pattern = (
        r'<a href="sections/evidence.html#([\w-]+)" title=[^>]*>'
        r"(?:<b[^>]*>.</b> )?([^<]+)<"
    )
    cells = re.findall(pattern, first_page)
    assert len(cells) == 8 * 4
    for place, number in cells:
        row = evidence.partition(f'id="{place}"')[2].partition("<td")[2]
        assert row.partition(">")[2].startswith(number), place


@pytest.mark.heavy
@pytest.mark.parametrize("ratings", ["human", "planned", "none"])
def test_no_rating_and_no_verdict_leave_a_page(tmp_path: Path, ratings: str) -> None:
    coverage = [
        study.row("chat", "alpha", "count_refused", 88.0, perturbation="systems")
    ]
    cards = {name: {"ratings": ratings} for name in study.DATASETS}
    report = study.loaded(study.make(tmp_path, {"coverage": coverage}, datasets=cards))
    overview = first(report)
    assert overview.figure is None and not overview.columns
    assert standings(overview)["alpha"].answer.startswith("Gave no score")
    page = Page(on_one_page(report))
    assert (page.wrong, page.open) == ([], [])


def test_several_claims_are_counted_and_the_weakest_gives_the_step(
    tmp_path: Path,
) -> None:
    place = {
        "form": "perturbation",
        "aspect": None,
        "level": None,
        "statistic": "D_exact",
    }
    rows: list[Row] = []
    for (name, degree), outcome in zip(
        study.DAMAGES, ("noticed", "misses", "noticed"), strict=True
    ):
        rows += claim("alpha", 2.0, outcome, perturbation=name, degree=degree, **place)
    report = study.loaded(
        study.make(
            tmp_path, {"verdicts": rows, "discernment": list(study.discernment())}
        )
    )
    marks = dict(
        zip(
            [column.text for column in first(report).columns],
            standings(first(report))["alpha"].marks,
            strict=True,
        )
    )
    assert {name: (mark.text, mark.step) for name, mark in marks.items()} == {
        "of characters": ("1 of 2", "missed"),
        "of words": ("1 of 1", "better"),
    }
    answer = standings(first(report))["alpha"].answer
    assert answer == "Notices 2 of 3 perturbations, misses 1."


def test_the_best_judge_is_first_and_models_stand_before_measures_and_controls(
    tmp_path: Path,
) -> None:
    overview = first(study.loaded(study.make(tmp_path)))
    found = [(title, [one.judge for one in group]) for title, group in overview.groups]
    assert found[:2] == [
        ("Models", ["gamma"]),
        ("Measures", ["alpha", "beta", "rules"]),
    ]
    assert found[2][0] == "Controls" and not any(
        one.answer for one in overview.groups[2][1]
    )


def test_a_step_has_a_sign_of_its_own_and_every_outcome_a_step() -> None:
    signs = [sign for sign, _ in STEP_WORDS.values()]
    assert len(set(signs)) == len(signs) and set(STEP_OF) == {*Outcome}
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    assert all(f".step-{step} " in style for step in STEP_WORDS if step != "unknown")


def test_a_cell_of_few_texts_has_their_number_alone(tmp_path: Path) -> None:
    rows = list(claim("alpha", 0.95, "no_claim; no_interval", n=9))
    [mark] = standings(first(of_judges(tmp_path, ["alpha"], rows)))["alpha"].marks
    assert (mark.text, mark.step) == ("n = 9", "unknown")


def test_a_cell_names_the_test_that_a_high_number_does_not_pass(tmp_path: Path) -> None:
    rows = list(claim("alpha", 0.86, "not_shown; systems"))
    [mark] = standings(first(of_judges(tmp_path, ["alpha"], rows)))["alpha"].marks
    assert mark.step == "rule" and "only prefers certain systems" in mark.meaning


@pytest.mark.parametrize(
    ("outcome", "note", "step"),
    [
        ("better", "worse than a rater", "missed"),
        ("better", "undecided: ±0.05 needs about 90 sources", "unknown"),
        (
            "better",
            "as good as one more rater",
            "unknown",
        ),  # not after Holm's correction
        ("as_rater", "as good as one more rater", "rater"),
    ],
)
def test_one_rater_is_a_question_of_its_own_where_it_is_known(
    tmp_path: Path, outcome: str, note: str, step: str
) -> None:
    gap = study.row("chat", "alpha", "as_rater_normal_scores", -0.15, n=24, **AGREEMENT)
    gap |= {"ci_low": -0.2, "ci_high": -0.1, "note": note}
    overview = first(
        of_judges(tmp_path, ["alpha"], [*claim("alpha", 0.4, outcome), gap])
    )
    assert [column.text for column in overview.columns] == [
        "Fluency",
        "As good as a rater",
    ]
    agreement, rater = standings(overview)["alpha"].marks
    assert (agreement.text, agreement.step) == ("0.400", STEP_OF[Outcome(outcome)])
    assert (rater.text, rater.step) == ("−0.150", step)
    assert "[−0.200, −0.100]" in rater.meaning


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        (["not_shown"], f"Not shown to agree with people better than {BLIND}."),
        (["no_claim"], "No claim of agreement with people."),
        (
            ["no_claim", "not_shown"],
            f"Not shown to agree with people better than {BLIND} on any of 2 aspects.",
        ),
        (["no_claim", "no_claim"], "No claim of agreement with people on 2 aspects."),
    ],
)
def test_an_answer_counts_aspects_only_where_there_are_several(
    tmp_path: Path, outcomes: list[str], said: str
) -> None:
    rows = [
        row
        for aspect, outcome in zip(("fluency", "coherence"), outcomes, strict=False)
        for row in claim("it", 0.1, outcome, aspect=aspect)
    ]
    assert standings(first(of_judges(tmp_path, ["it"], rows)))["it"].answer == said


@pytest.mark.parametrize(
    ("ratings", "whom"),
    [
        (["human", "human"], "people"),
        (["planned", "planned"], "ratings"),
        (["human", "planned"], "ratings"),
    ],
)
def test_an_answer_says_with_whose_ratings_a_judge_agrees(
    tmp_path: Path, ratings: list[str], whom: str
) -> None:
    cards = dict(
        zip(study.DATASETS, ({"ratings": one} for one in ratings), strict=True)
    )
    rows = list(claim("it", 0.1, "not_shown"))
    rows += [row | {"dataset": "news"} for row in rows]
    answer = standings(first(of_judges(tmp_path, ["it"], rows, datasets=cards)))[
        "it"
    ].answer
    assert (
        answer
        == f"Not shown to agree with {whom} better than {BLIND} on any of 2 aspects."
    )


def test_nothing_read_and_a_hint_have_their_sentence(tmp_path: Path) -> None:
    place = {"aspect": "fluency", "perturbation": "systems", "n": 88}
    nothing = [study.row("chat", "gamma", "count_truncated", 88.0, **place)]
    changes = {"judges": {"alpha": {"hint": "right"}}}
    tables = {"verdicts": list(claim("alpha", 0.9)), "coverage": nothing}
    found = standings(first(study.loaded(study.make(tmp_path, tables, **changes))))
    assert found["gamma"].answer.startswith("Gave no score")
    assert "no claim of agreement" in found["alpha"].answer
    assert "No number" in found["beta"].answer


def test_a_stated_bar_stands_on_top_with_who_meets_it(tmp_path: Path) -> None:
    place = {"form": "bar spearman"}
    outcomes = {"alpha": "meets", "beta": "misses", "rules": "cannot_tell"}
    rows: list[Row] = []
    for name, outcome in outcomes.items():
        rows += claim(name, 0.4, outcome, **place)
        bar = study.row("chat", name, "bar", 0.3, n=24, **AGREEMENT | place)
        rows.append(bar | {"note": "at least"})
    needed = study.row("chat", "rules", "more_needed", 41.0, n=24, **AGREEMENT | place)
    rows.append(needed | {"method": "sources like these, if errors fall"})
    overview = first(study.loaded(study.make(tmp_path, {"verdicts": rows})))
    [bar_told] = overview.bars
    assert (
        "at least 0.3" in bar_told and "met by: `alpha`; missed by: `beta`" in bar_told
    )
    assert (
        "cannot tell for: `rules` (41 more sources like these would decide it"
        in bar_told
    )
    assert overview.columns[0].group == "Required bar"
    assert [standings(overview)[name].marks[0].sign for name in outcomes] == [
        "★",
        "✕",
        "?",
    ]


def test_the_forest_plot_has_the_line_of_people_and_the_band_of_controls(
    tmp_path: Path,
) -> None:
    people = study.row("chat", "human", "normal_scores", 0.55, n=24, **AGREEMENT)
    rows = [row for name in study.BETTER for row in claim(name, study.BETTER[name])]
    figure = first(
        study.loaded(study.make(tmp_path, {"verdicts": [*rows, people]}))
    ).figure
    assert figure is not None
    assert [key.text for key in figure.keys] == [
        *("judge, with 95 % interval", "one rater", "controls, lowest to highest")
    ]
    assert [column.note for column in figure.table.columns][:1] == [
        "Agreement: Pairwise correlation, within sources; n counts targets"
    ]
    assert "stroke-dasharray" in figure.svg and "#fbeadf" in figure.svg
    alone = first(study.loaded(study.make(tmp_path, {"verdicts": rows}))).figure
    assert alone is not None and "stroke-dasharray" not in alone.svg


@pytest.mark.parametrize(
    ("outcomes", "named"),
    [
        ({"alpha": "not_shown", "beta": "better"}, "beta"),
        ({"alpha": "not_shown", "beta": "no_claim"}, None),
    ],
)
def test_the_forest_plot_names_no_judge_whose_claim_does_not_hold(
    tmp_path: Path, outcomes: dict[str, str], named: str | None
) -> None:
    values = {"alpha": 0.9, "beta": 0.4}
    rows = [
        row
        for name, told in outcomes.items()
        for row in claim(name, values[name], told)
    ]
    figure = first(of_judges(tmp_path, [*values], rows)).figure
    assert figure is not None and "`alpha`" not in figure.summary
    assert ("`beta`" in figure.summary) == bool(named)
    assert named or figure.summary.startswith("No judge is shown to agree with people")


@pytest.mark.heavy
def test_the_meaning_of_every_cell_is_in_text(tmp_path: Path) -> None:
    html = on_one_page(study.loaded(study.make(tmp_path)))
    matrix = html[html.index('class="scroll matrix"') : html.index('class="overview"')]
    cells = re.findall(r"<td( class=\"step-\w+\")?>(.*?)</td>", matrix)
    cells = cells[1:]  # the corner
    assert len(cells) == 8 * 4
    for step, text in cells:
        assert re.search(r'<span class="hidden"> \w', text)
        assert bool(step) == ('<b aria-hidden="true">' in text)


@pytest.mark.heavy
def test_the_contents_have_four_groups(tmp_path: Path) -> None:
    html = on_one_page(study.loaded(study.make(tmp_path)))
    groups = re.findall(r'<li class="group">(.*?)</li>', html)
    assert groups == ["Verdict", "Evidence", "Data quality", "Reproduce"]


def test_perturbations_of_chains_and_graded_sets_count_in_the_size_of_a_study(
    tmp_path: Path,
) -> None:
    spec = study.make(tmp_path)
    spec["study"]["perturbations"] += [
        "chain",
        "graded",
    ]  # in no table of single perturbations
    assert "4 perturbations" in judges.measured(study.loaded(spec))


def test_a_limited_claim_does_not_look_like_one_that_holds(tmp_path: Path) -> None:
    limits = {
        "best": "as_rater",
        "same": "as_rater; these_systems: 5",
        "hangs": "better; hangs_on: s1",
        "untested": "better; length_not_tested",
        "long": "not_shown; length",
        "worse": "not_shown; chance; worse_than_chance",
        "none": "not_shown; chance",
    }
    rows = [row for name, note in limits.items() for row in claim(name, 0.5, note)]
    screen = first(of_judges(tmp_path, [*limits], rows))
    shown = standings(screen)
    steps = {name: shown[name].marks[0].step for name in limits}
    assert steps == {
        "best": "rater",
        **dict.fromkeys(("same", "hangs", "untested", "long"), "rule"),
        "worse": "missed",
        "none": "unshown",
    }
    assert {one.marks[0].sign for one in shown.values()} == {"●", "◐", "✕", "○"}
    assert "may explain it" in shown["same"].marks[0].meaning
    assert next(iter(shown)) == "best" and [*shown][-1] == "worse"


def test_expected_false_claims_stand_under_the_matrix(tmp_path: Path) -> None:
    rows: list[Row] = []
    for name, p in (("a", 0.001), ("b", 0.004), ("c", 0.02), ("d", 0.4)):
        outcome = "better" if p < 0.025 else "not_shown; chance"
        rows += claim(name, 0.5, outcome)
        place = {"n": 24, **AGREEMENT}
        rows.append(study.row("chat", name, "p_claim", p, **place))
    screen = first(of_judges(tmp_path, ["a", "b", "c", "d"], rows))
    assert screen.foot == (
        "Of the 4 families of claims on this page (of one judge, dataset and kind), at "
        "most 0.1 false claims are expected; 2 of 3 claims that hold do so over the "
        "whole page, too."
    )
    nothing = of_judges(tmp_path / "none", ["a"], list(claim("a", 0.5)))
    assert first(nothing).foot == ""
