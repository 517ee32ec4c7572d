"""The first screen: people first, then judges in their order, each cell with its
outcome, its number and what limits it.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import report_study as study
from claims_setup import AGREEMENT, claim, of_judges, person
from judgescope.report.answer import headline
from judgescope.report.cell_words import beside_person
from judgescope.report.claims import own_claims
from judgescope.report.contents import sections_of
from judgescope.report.damage import damage_table
from judgescope.report.drawing import SIGN_WORDS
from judgescope.report.elements import JudgeMatrix, MatrixCell, MatrixLine
from judgescope.report.matrix import MOST_LINES, matrices, matrix
from judgescope.report.next_steps import next_steps, of_judge
from judgescope.report.page import first_page, write_pages
from judgescope.report.questions import MOST_COLUMNS
from judgescope.report.report import Report
from judgescope.report.sections import judges
from judgescope.report.words import brief
from judgescope.schema.tables import read_table
from judgescope.statistics import headline as sentences
from judgescope.statistics.raters import UndecidedGap
from judgescope.statistics.verdict import Sign
from report_setup import Page, on_one_page

Row = dict[str, Any]
TEMPLATES = Path(__file__).resolve().parents[3] / "workflow" / "report"
LONG = "a-name-of-eighty-signs-" + "x" * 57
COHERENCE = {"aspect": "coherence"}
SIGNS = {*SIGN_WORDS.values()}
BAR: Row = {"bar": (0.9, "at least")}
ENDS = "85\u202f% to 105\u202f% of 24 texts"
SAYS: Row = {"says_share": (0.97, "pass")}


def rival(name: str, value: float) -> Row:
    return {"rival": (0.4, name), "rival_value": value}


def made(report: Report) -> JudgeMatrix:
    table = matrix(report)
    assert table is not None
    return table


def lines(table: JudgeMatrix) -> dict[str, MatrixLine]:
    every = (*table.people, *table.lines, *table.rest, *table.rules)
    return {line.head: line for line in every}


def cell(report: Report, judge: str = "it", column: int = 0) -> MatrixCell:
    return lines(made(report))[judge].cells[column]


def damage(judge: str, *outcomes: str) -> Iterator[Row]:
    for (name, degree), outcome in zip(study.DAMAGES, outcomes, strict=False):
        content = {
            "aspect": None,
            "level": None,
            "perturbation": name,
            "degree": degree,
        }
        share = {"net_share": 0.6 if outcome == "noticed" else -0.5}
        yield from claim(judge, 2.0, outcome, "perturbation", others=share, **content)


@pytest.mark.heavy
@pytest.mark.parametrize("number", [1, 7, 100])
def test_every_judge_has_a_line_and_the_page_is_well_formed(
    tmp_path: Path, number: int
) -> None:
    names = [f"{LONG[:-3]}{at:03d}" for at in range(number)]
    rows = [each for at, name in enumerate(names) for each in claim(name, at / 100)]
    report = of_judges(tmp_path, names, rows)
    table = made(report)
    shown = [line.head for line in (*table.lines, *table.rest)]
    assert shown == names[::-1]  # the highest first
    assert len(table.lines) == min(number, MOST_LINES)
    widths = {sum(each.span for each in line.cells) for line in lines(table).values()}
    assert widths == {len(table.columns)}
    html = first_page(report, sections_of(report))
    parsed = Page(html)
    ids = [result["id"] for _, result in parsed.elements if "id" in result]
    assert len(ids) == len(set(ids)) and (parsed.wrong, parsed.open) == ([], [])
    assert len(html) < 300_000
    on_one_page(report)


def test_the_order_is_people_judges_reported_ones_and_rules(tmp_path: Path) -> None:
    rows = [
        *(person(0.55), *claim("weak", 0.2, "not_shown; chance")),
        *(*claim("good", 0.4), *claim("better", 0.6)),
        *claim("limited", 0.8, "not_shown; length"),
        *claim("wrong", -0.4, "not_shown; chance; worse_than_chance"),
        *claim("told", None, "no_claim; hinted"),
        *claim("length", 0.3, "not_shown; chance"),
        *claim("random", 0.01, "not_shown; chance"),
    ]
    names = ["told", "weak", "good", "limited", "wrong", "better", "length", "random"]
    table = made(of_judges(tmp_path, names, rows, judges={"told": {"hint": "right"}}))
    assert [line.head for line in table.people] == ["People"]
    assert [line.head for line in table.lines] == [
        *("better", "good", "limited", "weak", "wrong", "told")
    ]
    assert [line.head for line in table.rules] == ["length", "short", "random"]
    [result] = lines(table)["told"].cells
    assert result.span == 1 and "shows nothing" in result.more
    numbers = [lines(table)[rule].cells[0].value for rule in ("length", "short")]
    assert numbers == ["0.30", "−0.30"]
    assert lines(table)["People"].cells[0].value == "0.55"


@pytest.mark.parametrize(
    ("note", "others", "mark", "more"),
    [
        ("as_rater", {}, "●", "as well as one person"),
        ("better", rival("length", 0.36), "●", "beats length 0.36"),
        ("better; no_ceiling", rival("length", 0.3), "●", "people do not agree"),
        (
            "better; these_systems: 5",
            {"beyond_systems": 0.08},
            "◐",
            "0.08 within one system",
        ),
        ("better; hangs_on: s1", {}, "◐", "hangs on system s1"),
        ("better; length_not_tested", {}, "◐", "length not tested"),
        ("not_shown; length", rival("length", 0.53), "◐", "length does better: 0.53"),
        (
            "not_shown; length",
            rival("length", 0.46),
            "◐",
            "not shown to beat length 0.46",
        ),
        (
            "not_shown; brevity",
            rival("brevity", 0.45),
            "◐",
            "not shown to beat shortness 0.45",
        ),
        (
            "not_shown; best_length",
            rival("best_length", 0.04),
            "◐",
            "0.04 without length",
        ),
        ("not_shown; length; is_length: 0.94", {}, "◐", "is length, R² .94"),
        (
            "not_shown; systems",
            {"rival": (0.2, "systems")},
            "◐",
            "may only know the system, p 0.2",
        ),
        (
            "better",
            {"rival": (0.002, "systems")},
            "●",
            "beats knowing only the system, p 0.002",
        ),
        ("better", {"rival": (0.01, "within")}, "●", "beats knowing only the source"),
        (
            "not_shown; within",
            {"rival": (0.2, "within")},
            "◐",
            "may only know the source",
        ),
        ("not_shown; chance", {}, "○", "0.40 to 0.60"),
        ("not_shown; holm", {}, "○", "0.40 to 0.60, not after Holm"),
        ("not_shown; constant", {}, "○", "one score for all"),
        ("not_shown; chance; worse_than_chance", {}, "✕", "against people"),
        ("no_claim; too_many_lost", {}, "–", "too many lost"),
    ],
)
def test_a_cell_says_what_limits_its_number(
    tmp_path: Path, note: str, others: Row, mark: str, more: str
) -> None:
    report = of_judges(tmp_path, ["it"], [*claim("it", 0.5, note, others=others)])
    result = cell(report)
    assert (result.mark, result.more) == (mark, more)
    assert result.value == ("" if mark == "–" else "0.50")
    sign = next(words for words in SIGN_WORDS.values() if words in result.hidden)
    assert sign and (mark == "–" or "0.500 [0.400, 0.600]" in result.hidden)


@pytest.mark.parametrize(
    ("kind", "note", "others", "mark", "more"),
    [
        ("bar tnr", "meets", BAR, "●", f"meets bar 90\u202f%; {ENDS}"),
        ("bar tnr", "misses", BAR, "✕", f"misses bar 90\u202f%; {ENDS}"),
        ("bar tnr", "cannot_tell", BAR, "○", f"open: {ENDS}; bar 90\u202f% is inside"),
        ("labels", "not_shown; says: pass", SAYS, "○", "says pass to 97\u202f%"),
        ("caught", "misses", {}, "✕", f"misses bar 90\u202f%; {ENDS}"),
        ("caught", "withstands; length", {}, "◐", "so does length"),
        ("labels", "not_shown; constant", {}, "○", "one answer for all"),
    ],
)
def test_labels_and_bars_have_their_words(
    tmp_path: Path, kind: str, note: str, others: Row, mark: str, more: str
) -> None:
    cards = {"chat": {"labels": {"fluency": ["fail", "pass"]}}}
    rows = [*claim("it", 0.95, note, kind, others=others)]
    result = cell(of_judges(tmp_path, ["it"], rows, datasets=cards))
    assert (result.mark, result.more) == (mark, more)


def test_beside_a_person_a_judge_has_its_number_against_the_others(
    tmp_path: Path,
) -> None:
    rows = [
        person(0.19),
        *claim("it", 0.43, "as_rater", others={"as_rater_normal_scores": 0.18}),
    ]
    result = cell(of_judges(tmp_path, ["it"], rows))
    assert (result.value, result.more) == ("0.43", "as well as one person")
    assert result.below == "against the others 0.37, a person 0.19"


def test_where_people_rated_a_filled_dot_says_how_it_compares_with_one_person(
    tmp_path: Path,
) -> None:
    gap: Row = {"as_rater_normal_scores": -0.01, **rival("length", 0.36)}
    rows = [person(0.6), *claim("it", 0.6, "better", others=gap)]
    result = cell(of_judges(tmp_path / "open", ["it"], rows))
    assert (result.mark, result.more) == ("●", "open beside one person")
    content: Row = {"ceiling_normal_scores": -0.05, **rival("length", 0.36)}
    rows = [person(-0.05), *claim("it", 0.6, "better; no_ceiling", others=content)]
    result = cell(of_judges(tmp_path / "apart", ["it"], rows))
    assert (result.more, result.below) == ("people do not agree", "beats length 0.36")


def test_a_person_is_drawn_beside_the_number_that_compares_with_it(
    tmp_path: Path,
) -> None:
    """The interval of the claim's own number stands on another line."""
    against = {"as_rater_normal_scores": 0.18}
    rows = [person(0.19), *claim("it", 0.43, "as_rater", others=against)]
    table = made(of_judges(tmp_path / "known", ["it"], rows))
    drawn = Page(lines(table)["it"].cells[0].drawn)
    [band] = [each for each in drawn.named("rect") if each["class"] == "person"]
    [dot] = drawn.named("circle")
    assert float(band["y"] or 0) > float(dot["cy"] or 0)
    rows = [person(0.19), *claim("it", 0.43, "better")]
    unknown = made(of_judges(tmp_path / "unknown", ["it"], rows))
    assert Page(lines(unknown)["it"].cells[0].drawn).named("rect") == []
    assert "person" in lines(unknown)["People"].cells[0].drawn


def test_numbers_of_all_matrices_share_a_single_axis(tmp_path: Path) -> None:
    chat: Row = {"dataset": "chat"}
    news: Row = {"dataset": "news"}
    rows = [*claim("a", 0.8, **chat), *claim("b", 0.1, **news)]
    report = of_judges(tmp_path, ["a", "b"], rows)
    places = []
    for matrice in matrices(report):
        [line] = matrice.lines
        [dot] = Page(line.cells[0].drawn).named("circle")
        places.append(float(dot["cx"] or 0))
    assert places[0] - places[1] > 50


def test_the_first_step_stands_above_the_matrix(tmp_path: Path) -> None:
    report = of_judges(tmp_path, ["a", "b"], [*claim("a", 0.6), *claim("b", 0.5)])
    html = first_page(report, sections_of(report))
    step = html.index("Next: Fluency: use a.")
    assert step < html.index("<table") < html.index('id="next"')


def test_a_judge_to_use_says_what_its_other_tests_show(tmp_path: Path) -> None:
    rows = [*claim("a", 0.6), *claim("a", 0.5, "not_shown; length", "order")]
    steps = next_steps(of_judges(tmp_path, ["a"], rows))
    assert steps is not None
    words = "claim on order of one source's texts does not hold."
    assert steps.steps[0].why.endswith(f" Its {words}")
    rows += claim("a", 0.5, "not_shown; length", "order", **COHERENCE)
    steps = next_steps(of_judges(tmp_path / "two", ["a"], rows))
    assert steps is not None
    assert steps.steps[0].why.endswith(
        "Of its 2 claims on order of one source's texts none holds."
    )


def test_a_judge_that_leaves_a_bar_open_is_not_to_be_used(tmp_path: Path) -> None:
    cards = {"chat": {"labels": {"fluency": ["fail", "pass"]}}}
    rows: list[Row] = []
    for judge, outcome in (("a", "meets"), ("b", "cannot_tell")):
        rows += claim(judge, 0.9, "better", "labels")
        rows += claim(judge, 0.95, outcome, "bar tnr", others=BAR)
    steps = next_steps(of_judges(tmp_path, ["a", "b"], rows, datasets=cards))
    assert steps is not None
    assert steps.steps[0].point == "Fluency: use a."
    assert steps.steps[0].why == (
        "It has balanced accuracy 90\u202f%; no other judge is shown to meet every "
        f"bar there. {sentences.ONE_RATING}"
    )


def test_the_sign_of_a_claim_is_that_of_its_table(tmp_path: Path) -> None:
    """A control reaches what it reaches: the table makes no claim of it."""
    rows = [*claim("random", 0.6, "better", others={"sign": (-1.0, "-")})]
    rows += claim("it", 0.6, "better", others={"sign": (3.0, "+")})
    report = of_judges(tmp_path, ["it", "random"], rows)
    signs = {}
    for judge in report.judges:
        [about] = own_claims(report, judge)
        signs[judge.id] = about.sign
    assert signs == {"it": Sign.HOLDS, "random": Sign.NO_CLAIM}


def test_undecided_is_never_reported_of_an_interval_that_excludes_zero(
    tmp_path: Path,
) -> None:
    note = "undecided: ±0.05 needs about 90 sources"
    others = {"as_rater_normal_scores": (-0.2, note)}
    report = of_judges(tmp_path, ["it"], [*claim("it", 0.6, others=others)])
    [judge] = report.judges
    [far] = own_claims(report, judge)
    assert far.undecided == UndecidedGap(margin=0.05, sources=90)
    assert beside_person(far) == (
        "below a person, by less than the margin 0.05 or more: open; about 90 sources "
        "would decide"
    )
    gap = far.others["as_rater_normal_scores"]._replace(ci_low=-0.1, ci_high=0.1)
    near = replace(far, others={"as_rater_normal_scores": gap})
    assert beside_person(near) == (
        "open whether within 0.05 of a person; about 90 sources would decide"
    )


def test_each_cell_has_the_number_of_the_table_and_leads_to_it(tmp_path: Path) -> None:
    report = study.loaded(study.make(tmp_path))
    every = read_table("results", tmp_path / "verdicts.parquet").to_pylist()
    table = made(report)
    checked = 0
    for line in table.lines:
        for column, result in zip(table.columns, line.cells, strict=True):
            [row] = [
                row
                for row in every
                if row["judge"] == line.head
                and row["statistic"] == "normal_scores"
                and row["aspect"] == column.title.lower()
                and column.group.endswith(
                    {"news": "The news", "chat": "The chat"}[row["dataset"]]
                )
            ]
            assert result.value == brief("normal_scores", row["value"])
            assert result.sort == row["value"] and result.href
            checked += 1
    assert checked == 4 * 4


def test_several_claims_are_counted_and_their_worst_is_read_first(
    tmp_path: Path,
) -> None:
    rows = [*damage("it", "noticed", "not_shown; length", "misses")]
    table = made(of_judges(tmp_path, ["it"], rows))
    assert [column.title for column in table.columns] == ["Characters", "Words"]
    first, second = lines(table)["it"].cells
    assert (first.value, first.more) == ("1", "of 2, 1 by length")
    assert (second.value, second.more) == ("0", "of 1, 1 fails")
    assert first.drawn.count("<rect") == 2 and second.drawn.count("sq-c") == 1
    assert first.hidden == "2 claims: 1 shown to hold; 1 with limits"


def test_people_are_not_asked_about_damage(tmp_path: Path) -> None:
    rows = [*damage("it", "noticed"), *claim("it", 0.4), person(0.5)]
    cells = made(of_judges(tmp_path, ["it"], rows)).people[0].cells
    assert [each.value for each in cells] == ["0.50", ""]
    assert cells[1].more == "people were not asked about damage"


@pytest.mark.parametrize(
    ("ratings", "who", "whom"),
    [("planned", "their authors planned", "plan"), ("model", "a model gave", "model")],
)
def test_ratings_that_nobody_gave_have_no_people_and_say_so(
    tmp_path: Path, ratings: str, who: str, whom: str
) -> None:
    cards = {name: {"ratings": ratings} for name in study.DATASETS}
    rows = [person(0.9), *claim("it", 0.4)]
    table = made(of_judges(tmp_path, ["it"], rows, datasets=cards))
    [nobody] = table.people[0].cells
    assert nobody.more.startswith(f"nobody rated these texts: {who} the ratings")
    assert table.groups[0][0] == f"Agreement with the {whom}"
    assert "person" not in lines(table)["it"].cells[0].drawn


def test_more_than_eight_columns_fold(tmp_path: Path) -> None:
    aspects = [f"aspect-{number}" for number in range(5)]
    rows: list[Row] = []
    for dataset in study.DATASETS:
        for aspect in aspects:
            rows += claim("it", 0.4, aspect=aspect, dataset=dataset)
    rows += damage("it", "noticed", "noticed", "noticed")
    by_people = {"aspects": aspects, "ratings": "people"}
    cards = dict.fromkeys(study.DATASETS, by_people)
    names = {name: name.capitalize() for name in aspects}
    content: dict[str, Any] = {"datasets": cards, "aspects": names}
    for folder in ("people", "both"):
        (tmp_path / folder).mkdir()
    table = made(of_judges(tmp_path / "people", ["it"], rows, **content))
    assert len(table.columns) <= MOST_COLUMNS
    titles = [column.title for column in table.columns]
    assert titles == ["The news", "The chat", "All kinds"]
    assert [each.value for each in lines(table)["it"].cells] == ["5", "5", "3"]
    # What people rated is the last to fold.
    content["datasets"] = {**cards, "chat": {"aspects": aspects, "ratings": "planned"}}
    table = made(of_judges(tmp_path / "both", ["it"], rows, **content))
    titles = [column.title for column in table.columns]
    assert [*sorted(titles[:5]), *titles[5:]] == [
        *sorted(names.values()),
        *("The chat", "All kinds"),
    ]
    groups = [name for name, _, _ in table.groups]
    assert groups[:2] == ["Agreement with people: The news", "Agreement with the plan"]


def test_over_all_texts_another_number_has_a_separate_a_column(tmp_path: Path) -> None:
    pooled = {"level": "pooled"}
    rows = [*claim("a", 0.4)]
    for row in claim("b", 0.3, **pooled):
        name = row["statistic"]
        rows.append(row | {"statistic": "spearman" if name != "verdict" else name})
    table = made(of_judges(tmp_path, ["a", "b"], rows))
    groups = [name for name, _, _ in table.groups]
    assert groups == ["Agreement with people", "Agreement with people, over all texts"]
    assert [each.value for each in lines(table)["a"].cells] == ["0.40", ""]
    assert [each.value for each in lines(table)["b"].cells] == ["", "0.30"]


def test_further_judges_are_folded_with_what_the_best_of_them_holds(
    tmp_path: Path,
) -> None:
    names = [f"j{number:02d}" for number in range(15)]
    rows: list[Row] = []
    for number, name in enumerate(names):
        rows += claim(name, 0.4, "better" if number < 13 else "not_shown; chance")
    table = made(of_judges(tmp_path, names, rows))
    assert (len(table.lines), len(table.rest)) == (12, 3)
    assert table.rest_words == "3 more judges: none holds on more than 1 of 1 claim"


@pytest.mark.heavy
@pytest.mark.parametrize("ratings", ["people", "planned", "none"])
def test_no_rating_and_no_verdict_leave_a_page(tmp_path: Path, ratings: str) -> None:
    coverage = [
        study.row("chat", "gamma", "count_refused", 88.0, perturbation="systems")
    ]
    cards = {name: {"ratings": ratings} for name in study.DATASETS}
    report = study.loaded(study.make(tmp_path, {"coverage": coverage}, datasets=cards))
    assert matrix(report) is None
    page = Page(first_page(report, sections_of(report)))
    assert (page.wrong, page.open) == ([], [])
    assert "No verdict: 88 of 88 replies of gamma" in page.text


@pytest.mark.heavy
def test_the_first_page_answers_before_anything_else(tmp_path: Path) -> None:
    report = study.loaded(study.make(tmp_path))
    write_pages(report, sections_of(report), tmp_path / "report")
    html = (tmp_path / "report" / "index.html").read_text("utf-8")
    main = html.partition("</header>")
    assert "<h1>" in main[0] and "How this sentence came about" in main[0]
    assert html.index('class="people"') < html.index("<b>gamma</b>")
    assert "judgescope run" not in html  # how to reproduce has a page of its own
    assert "sections/reproduce.html" in html and "<nav" in html
    assert not re.search(r"normal_scores|D_exact|net_share", Page(html).text)


def test_a_step_needs_a_number(tmp_path: Path) -> None:
    assert (
        next_steps(of_judges(tmp_path / "none", ["a"], [*claim("a", None, "no_claim")]))
        is None
    )
    coverage = [
        study.row("chat", "a", "count_ok", 90.0, perturbation="systems"),
        study.row("chat", "a", "count_truncated", 10.0, perturbation="systems"),
    ]
    rows = [
        *(*claim("a", 0.6), *claim("b", 0.5)),
        *claim("b", -0.3, "not_shown; chance; worse_than_chance", **COHERENCE),
    ]
    tables = {"coverage": coverage}
    steps = next_steps(of_judges(tmp_path / "some", ["a", "b"], rows, tables=tables))
    assert steps is not None
    points = [step.point for step in steps.steps]
    assert points == [
        *("Read a's replies first.", "Fluency: use a.", "Do not use b for coherence.")
    ]
    assert "10 of 100 replies" in steps.steps[0].why


def test_judges_that_share_no_dataset_have_a_matrix_each(tmp_path: Path) -> None:
    chat: Row = {"dataset": "chat"}
    news: Row = {"dataset": "news"}
    rows = [
        *(*claim("a", 0.6, **chat), *claim("b", 0.5, "not_shown; chance", **chat)),
        *claim("c", 0.4, "not_shown; chance; worse_than_chance", **news),
    ]
    separate = matrices(of_judges(tmp_path / "apart", ["a", "b", "c"], rows))
    assert [[line.head for line in each.lines] for each in separate] == [
        ["a", "b"],
        ["c"],
    ]
    assert [each.title.partition(":")[0] for each in separate] == [
        *("2 judges on The chat", "1 judge on The news")
    ]
    for each in separate:
        for row in each.lines:
            assert "not asked" not in [cell.hidden for cell in row.cells]
    # One legend has the signs of all matrices.
    words = [[text for _, text in each.legend if text in SIGNS] for each in separate]
    signs = (Sign.HOLDS, Sign.NOT_SHOWN, Sign.FAILS)
    assert words == [[SIGN_WORDS[sign] for sign in signs], []]
    assert separate[1].legend == []
    rows += claim("b", 0.5, **news)
    [together] = matrices(of_judges(tmp_path / "one", ["a", "b", "c"], rows))
    assert together.title == "" and len(together.lines) == 3


def test_a_judge_to_use_is_the_best_of_those_that_hold(tmp_path: Path) -> None:
    """A judge with a higher number whose claim is limited is not compared."""
    rows = [
        *claim("a", 0.53),
        *claim("b", 0.54, "better; hangs_on: human"),
        *(*claim("a", 0.6, **COHERENCE), *claim("b", 0.5, **COHERENCE)),
    ]
    steps = next_steps(of_judges(tmp_path, ["a", "b"], rows))
    assert steps is not None
    first, second, *_ = steps.steps
    assert (first.point, second.point) == ("Fluency: use a.", "Coherence: use a.")
    assert first.why == (
        "It has 0.53; no other judge's agreement is shown to hold there. "
        + sentences.ONE_RATING
    )
    assert second.why.startswith(
        "It has 0.60, the most of the 2 judges that hold there."
    )


def test_no_judge_is_recommended_where_people_are_apart(tmp_path: Path) -> None:
    """It agrees with people's mean, but nobody knows what that means."""
    content = {"ceiling_normal_scores": -0.05}
    rows = [
        *claim("a", 0.53, "better; no_ceiling", others=content, **COHERENCE),
        *(*claim("a", 0.6), person(-0.05, **COHERENCE), person(0.4)),
    ]
    report = of_judges(tmp_path, ["a"], rows)
    of_study = next_steps(report)
    [judge] = report.real_judges
    alone = of_judge(report, judge)
    assert of_study is not None and alone is not None
    assert [step.point for step in of_study.steps[:2]] == [
        "Fluency: use a.",
        "Coherence: no judge can be recommended.",
    ]
    assert [step.point for step in alone.steps] == [
        "Coherence: no judge can be recommended.",
        "Use it for fluency.",
    ]
    assert of_study.steps[1].why == alone.steps[0].why
    assert of_study.steps[1].why == (
        "People are not shown to agree with each other (−0.050 [−0.150, "
        "0.050], 24 texts). Have more people rate, by a clearer guide."
    )
    assert headline(report).text.startswith("`a` follows people on fluency.")


def test_aspects_that_a_rule_explains_are_named_among_the_steps(tmp_path: Path) -> None:
    """The headline and the matrix have them, so the advice must, too."""
    longer = {"rival": (0.4, "length"), "rival_value": 0.61}
    rows = [
        *(*claim("a", 0.6), *claim("a", 0.5, "not_shown; length", **COHERENCE)),
        *claim("b", 0.55, "not_shown; length", others=longer, **COHERENCE),
    ]
    steps = next_steps(of_judges(tmp_path, ["a", "b"], rows))
    assert steps is not None
    texts = [(step.point, step.why) for step in steps.steps]
    assert texts[1] == (
        "Coherence: no judge yet.",
        "The best may do no more than a rule: b 0.55 (length does better: 0.61).",
    )


def test_no_line_says_that_a_judge_is_missing_where_a_judge_holds(
    tmp_path: Path,
) -> None:
    rows = [*claim("a", 0.6), *claim("b", 0.7, "not_shown; length")]
    steps = next_steps(of_judges(tmp_path, ["a", "b"], rows))
    assert steps is not None
    assert not any("no judge yet" in step.point for step in steps.steps)


def test_a_recommendation_by_a_single_rater_says_that_there_is_no_ceiling(
    tmp_path: Path,
) -> None:
    rows = [*claim("a", 0.53)]
    for raters, expected in ((["r1"], True), (["r1", "r2"], False)):
        report = of_judges(tmp_path / str(len(raters)), ["a"], rows)
        counts = report.counts["chat"]
        changed = structs.replace(counts, raters=raters)
        report = replace(report, counts={**report.counts, "chat": changed})
        steps = next_steps(report)
        assert steps is not None
        assert (sentences.ONE_RATING in steps.steps[0].why) == expected


def test_a_shown_preference_for_a_location_is_a_remark(tmp_path: Path) -> None:
    content = {"aspect": "fluency", "level": "pooled"}
    for share, shown in ((0.8, True), (0.55, False)):  # within 0.1 on both sides
        rows = [study.row("chat", "a", "first_position_rate", share, **content)]
        result = of_judges(
            tmp_path / str(share), ["a"], [*claim("a", 0.6)], tables={"pairwise": rows}
        )
        steps = next_steps(result)
        assert steps is not None
        points = [step.point for step in steps.steps]
        assert ("Judge every pair in both orders." in points) == shown


def test_a_rule_that_is_drawn_has_its_interval(tmp_path: Path) -> None:
    rows = [
        *(*claim("it", 0.6), *claim("random", 0.01, "not_shown; chance")),
        *claim("length", 0.3, "not_shown; chance"),
    ]
    result = lines(made(of_judges(tmp_path, ["it", "random", "length"], rows)))
    assert result["random"].cells[0].more == "−0.09 to 0.11"
    assert result["length"].cells[0].more == ""


def test_the_cheapest_judge_is_used_unless_a_test_shows_a_better_one(
    tmp_path: Path,
) -> None:
    costs = []
    for name, price in (("big", 2.1), ("small", 0.14)):
        costs.append(study.row("chat", name, "usd_per_1000", price, n=100))
        costs.append(study.row("chat", name, "usd", price / 10, note=""))
    for low, used in ((0.6, "small"), (0.1, "big")):
        rows = [*claim("big", 0.68), *claim("small", low)]
        folder = tmp_path / used
        names = ["big", "small"]
        report = of_judges(folder, names, rows, models=names, tables={"cost": costs})
        steps = next_steps(report)
        assert steps is not None
        assert steps.steps[0].point == f"Fluency: use {used}."


def test_damage_is_a_table_with_kinds_as_rows(tmp_path: Path) -> None:
    rows = [*damage("a", "noticed", "noticed", "misses"), *claim("a", 0.4)]
    result = damage_table(of_judges(tmp_path, ["a"], rows))
    assert result is not None
    assert result.judges == [("a", False)]
    titles = [title for title, _ in result.bodies]
    assert titles == ["Characters", "Words"]
    kinds = [name for _, body in result.bodies for name, _, _ in body]
    assert kinds == ["typos, minor", "typos, major", "cuts"]
    texts = [cells[0].text for _, body in result.bodies for _, _, cells in body]
    assert texts == ["60", "60", "−50"]
    looks = [cells[0].look for _, body in result.bodies for _, _, cells in body]
    assert looks == ["h3", "h3", "neg"]


def test_damage_that_length_gives_away_is_not_called_unnoticed(tmp_path: Path) -> None:
    """A judge that notices it has a bold number: the sentence must not deny that."""
    by_length = "not_shown; length"
    rows = [*damage("a", "noticed", by_length, "not_shown; chance")]
    rows += damage("b", "noticed", "misses", "misses")
    table = damage_table(of_judges(tmp_path, ["a", "b"], rows))
    assert table is not None
    _, _, after = table.lead.partition("after Holm. ")
    assert after == (
        "No judge is shown to notice cuts. a and b prefer some damaged texts. Length "
        "alone gives away typos (major): a judge that notices them may only see the "
        "length."
    )


def test_perturbations_of_chains_and_graded_sets_count_in_the_size_of_a_study(
    tmp_path: Path,
) -> None:
    spec = study.make(tmp_path)
    spec["study"]["perturbations"] += [
        "chain",
        "graded",
    ]  # in no table of single perturbations
    assert "4 perturbations" in judges.measured(study.loaded(spec))


def test_expected_false_claims_stand_under_the_matrix(tmp_path: Path) -> None:
    rows: list[Row] = []
    for name, p in (("a", 0.001), ("b", 0.004), ("c", 0.02), ("d", 0.4)):
        outcome = "better" if p < 0.025 else "not_shown; chance"
        rows += claim(name, 0.5, outcome)
        content = {"n": 24, **AGREEMENT}
        rows.append(study.row("chat", name, "p_claim", p, **content))
    report = of_judges(tmp_path, ["a", "b", "c", "d"], rows)
    assert judges.foot(report) == (
        "At most 0.1 false claims are expected on this page: 0.025 for each of its 4 "
        "families of claims; 2 of 3 claims that pass their tests also pass with Holm's "
        "correction over the whole page."
    )
    nothing = of_judges(tmp_path / "none", ["a"], list(claim("a", 0.5)))
    assert judges.foot(nothing) == ""
    rows += damage("a", "noticed", "noticed", "misses")
    with_damage = of_judges(tmp_path / "damage", ["a", "b", "c", "d"], rows)
    assert judges.foot(with_damage).startswith(
        "At most 0.1 false claims are expected on this page, not counting those on "
        "damage: 0.025 for each of its 4 other families of claims; 2 of 3 "
    )


def test_signs_have_a_shape_and_words_each() -> None:
    assert len({*SIGN_WORDS.values()}) == len(SIGN_WORDS)
    style = (TEMPLATES / "matrix.css").read_text(encoding="utf-8")
    assert all(f".{look} " in style for look in ("unshown", "explained", "fails"))


def test_a_stated_bar_replaces_the_default_one(tmp_path: Path) -> None:
    """The share without a bar of its own has its number and interval, and no sign."""
    pooled = {"level": "pooled"}
    kept = [*claim("it", 0.82, "cannot_tell", "passed", **pooled)]
    labels = {"fluency": ["bad", "good"]}
    content: dict[str, Any] = {"datasets": {"chat": {"labels": labels}}}
    default = made(of_judges(tmp_path, ["it"], kept, **content))
    cell = lines(default)["it"].cells[0]
    assert (
        cell.more.endswith("of 24 texts; bar 90\u202f% is inside")
        and "unshown" in cell.sign
    )
    asked = {"bar": (0.8, "at least")}
    bar = [*claim("it", 0.95, "meets", "bar tnr", others=asked)]
    both = made(of_judges(tmp_path, ["it"], [*bar, *kept], **content))
    titles = [column.title for column in both.columns]
    assert titles[1] == "Good kept" and titles[0].startswith("Bad caught ≥ 80")
    met, kept_cell = lines(both)["it"].cells
    assert met.more == f"meets bar 80\u202f%; {ENDS}" and met.below == ""
    assert kept_cell.sign == "" and kept_cell.more == "72\u202f% to 92\u202f%"
