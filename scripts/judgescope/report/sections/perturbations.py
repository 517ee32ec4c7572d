"""Texts of known quality: perturbed ones, planned faults, and how graded sets were built."""

from collections.abc import Iterable, Iterator, Sequence

from judgescope.report.cells import Cell, count_cell, dollars_cell, estimate, words_cell
from judgescope.report.elements import Block, Body, Column, Line, Link, Section, Table, Text
from judgescope.report.report import Dataset, Judge, Perturbation, Report, in_group
from judgescope.report.rows import Row, Rows
from judgescope.report.tables import section_of, statistic_columns
from judgescope.report.words import count, plural, spoken

OUTCOMES = ("ok", "short", "impossible", "failed")
SIZES = ("edits", "edit_distance")
ALL, EVERY = "all", "every-lexical-judge"
ANCHORS = (
    "anchors_above_lower",
    "anchors_above_same",
    "anchors_below_same",
    "anchors_below_higher",
)
ANCHOR_PAIRS = {
    "neighbours": "Anchors of neighbouring ratings",
    "all": "Anchors of any two ratings",
}
CANDIDATES = {
    "share_chosen": "Chosen",
    "share_unresolved": "Unresolved",
    "share_failed": "Failed",
    "share_unanswered": "Unanswered",
    "ratings_tied": "Several ratings fit equally",
}
USAGE = ("replies", "prompt_tokens", "completion_tokens", "reasoning_tokens")
SOURCE = "tables/construction.csv"
LEAD = (
    "How texts with known quality were made for this study. A graded set has texts of every "
    "rating: errors are put into references, and a text's rating follows from their number or from "
    "comparing it with anchors, texts on whose rating people (and a judge) agree. The texts of "
    "an error-injection chain have one more error each. No number here is about a judge."
)
CANDIDATE_NOTE = (
    "Unresolved: no anchor is better or worse, or none of a rating got an answer. Failed: the "
    "model's text could not be used. Candidates that are neither are spare, or the same as "
    "another. Unanswered: comparisons of "
    "which a reply in one order says nothing."
)
ANCHOR_NOTE = (
    "Best is 100 % in the outer two columns of the texts, and two inner ones alike. The "
    "comparator is right where it names the better anchor in both orders."
)


@in_group("Data quality", 10)
def perturbations(report: Report) -> Section | None:
    """Return per dataset the counts of outcomes, the edits and the edit distance."""
    lead = (
        "Every perturbed text differs from its original. Short means that fewer edits took effect "
        "than planned, impossible that the text offers no place for the perturbation."
    )
    return section_of(report, "perturbations", "Perturbations", lead, _perturbations)


def _perturbations(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    yield from _improved(dataset, rows)
    cells = set(rows.names("cell"))
    perturbations = [
        perturbation for perturbation in report.perturbations if perturbation.cell in cells
    ]
    bodies = [
        Body(
            [
                _perturbation_line(rows, perturbation)
                for perturbation in perturbations
                if perturbation.level == level
            ],
            f"{level} level",
        )
        for level in dict.fromkeys(perturbation.level for perturbation in perturbations)
    ]
    columns = [Column(outcome, group="Texts") for outcome in OUTCOMES]
    columns += [*statistic_columns(SIZES), Column("Reasons", style="words")]
    caption = f"{dataset.name}: number of texts by outcome, and the size of the perturbation."
    yield Table(caption, "Perturbation", columns, bodies, code=False)
    if report.spec.texts:
        title = f"See texts of {dataset.name}, with their edits marked"
        yield Link(title, f"texts.html#{dataset.id}")


def _improved(dataset: Dataset, rows: Rows) -> Iterator[Text]:
    """Say how many originals a model wrote, where one improved the references."""
    ok, kept, failed = (
        rows.at("", f"share_{outcome}", cell="original") for outcome in ("ok", "kept", "failed")
    )
    if ok is None:
        return
    parts = [f"Originals of {dataset.name}: a model improved {_number(ok)} of {ok.n} references"]
    parts += [f"{_number(failed)} could not be and are left out"] if _number(failed) else []
    parts += [f"{_number(kept)} could not be and are as they were"] if _number(kept) else []
    yield Text(f"{'; '.join(parts)}.")


def _number(share: Row | None) -> int:
    return round((share.value or 0) * share.n) if share else 0


def _perturbation_line(rows: Rows, perturbation: Perturbation) -> Line:
    shares = [rows.at("", f"share_{outcome}", cell=perturbation.cell) for outcome in OUTCOMES]
    cells = []
    for share in shares:
        if share is None or share.value is None:
            cells.append(estimate(share))
        else:
            text = f"{count(_number(share))} of {count(share.n)}"
            style = count_cell(_number(share)).style
            cells.append(Cell(text, sort=share.value, style=style, row=share))
    cells += [estimate(rows.at("", name, cell=perturbation.cell)) for name in SIZES]
    impossible = shares[OUTCOMES.index("impossible")]
    cells.append(words_cell(spoken(impossible.note) if impossible else ""))
    return Line(perturbation.name, cells, about=perturbation.degree)


# --- planned faults --------------------------------------------------------------------------


@in_group("Evidence", 100)
def faults(report: Report) -> Section | None:
    """Return per dataset how many planned faults every lexical judge misses, and who sees which."""
    lead = (
        "The authors of these texts planned a fault into some of them. A judge notices a fault "
        "when it scores the faulty text strictly below the clean text of the same item."
    )
    return section_of(report, "faults", "Planned faults", lead, _faults)


def _faults(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    kinds = [*(kind for kind in rows.names("criterion") if kind != ALL), ALL]
    missed = {kind: rows.at(EVERY, "miss_rate", level="pooled", criterion=kind) for kind in kinds}
    of_all = missed[ALL]
    if of_all is not None and of_all.value is not None:
        number = _number(of_all)
        verb = "is" if number == 1 else "are"
        yield Text(
            f"{count(number)} of {plural(of_all.n, 'planned fault')} {verb} missed by every "
            "lexical judge.",
            style="finding",
        )
    sizes = {kind: {row.n for row in rows.where(criterion=kind)} for kind in kinds}
    counts = any(len(found) > 1 for found in sizes.values())
    bodies = []
    for controls in (False, True):
        lines = [
            line
            for judge in report.judges
            if judge.control == controls
            for line in _fault_lines(report, dataset, rows, judge, kinds, counts)
        ]
        bodies += [Body(lines, style="controls" if controls else "")] if lines else []
    if any(missed.values()):
        cells = [estimate(row, counts=counts) for row in missed.values()]
        bodies.append(Body([Line("missed by every lexical judge", cells)], style="sums"))
    columns = [
        Column(
            spoken(kind) if kind != ALL else "all kinds",
            note="" if counts else f"n = {count(*sizes[kind])}",
        )
        for kind in kinds
    ]
    caption = f"{dataset.name}: share of planned faults noticed, by kind of fault."
    yield Table(caption, "Judge", columns, bodies)


def _fault_lines(
    report: Report, dataset: Dataset, rows: Rows, judge: Judge, kinds: Sequence[str], counts: bool
) -> Iterator[Line]:
    """Yield a judge's rows: one for all aspects that it scores alike, else one for each."""
    aspects: dict[tuple[float | None, ...], list[str]] = {}
    numbers: dict[tuple[float | None, ...], list[Row | None]] = {}
    for aspect in dataset.aspects:
        noticed = [
            rows.at(judge.id, "detection_rate", aspect=aspect, level="pooled", criterion=kind)
            for kind in kinds
        ]
        if any(noticed):
            values = tuple(row.value if row else None for row in noticed)
            aspects.setdefault(values, []).append(report.aspect(aspect))
            numbers[values] = noticed
    alike = len(aspects) == 1 and sum(map(len, aspects.values())) > 1
    for values, names in aspects.items():
        about = "all aspects alike" if alike else ", ".join(names)
        cells = [estimate(row, counts=counts) for row in numbers[values]]
        yield Line(judge.id, cells, about, "control" if judge.control else "")


# --- construction ----------------------------------------------------------------------------


@in_group("Data quality", 20)
def construction(report: Report) -> Section | None:
    """Return the ratings of graded sets, what tells of their quality, and the cost of each step."""
    return section_of(report, "construction", "Construction", LEAD, _construction)


def built_sets(rows: Rows) -> set[str]:
    """Return the graded sets that a study built; of others nobody knows how many errors they have.

    `rows` are a dataset's.
    """
    return {row.cell for row in rows.where(statistic="errors_mean") if row.value is not None}


def _construction(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Table]:
    sets = rows.where(statistic="class_count").names("cell")
    if sets:
        yield _ratings(dataset, rows, sets)
    known = built_sets(rows)
    if built := [name for name in sets if name in known]:
        yield Table(
            f"{dataset.name}: outcomes of the candidates.",
            "Graded set",
            [Column(title) for title in CANDIDATES.values()],
            [Body([Line(name, _named(rows.where(cell=name), CANDIDATES, True)) for name in built])],
            [CANDIDATE_NOTE],
            source=SOURCE,
        )
    anchored = [name for name in sets if len(rows.where(cell=name, statistic=ANCHORS))]
    if anchored:
        yield _anchors(dataset, rows, anchored)
    if len(rows.where(statistic="replies")):
        yield _costs(dataset, rows)


def _named(rows: Rows, names: Iterable[str], counts: bool = False) -> list[Cell]:
    known = {row.statistic: row for row in rows}
    return [estimate(known.get(name), counts=counts) for name in names]


def _ratings(dataset: Dataset, rows: Rows, sets: Sequence[str]) -> Table:
    """Return how many texts have each rating, and how many errors those have in the mean."""
    counts = rows.where(statistic="class_count")
    classes = range(1, max(row.k for row in counts) + 1)
    lines = []
    for name in sets:
        sizes = {row.k: round(row.value or 0) for row in counts.where(cell=name)}
        errors = {row.k: row for row in rows.where(statistic="errors_mean", cell=name)}
        cells = [count_cell(sizes[k]) if k in sizes else Cell("") for k in classes]
        lines.append(Line(name, [*cells, *(estimate(errors.get(k)) for k in classes)]))
    columns = [
        Column(f"class {k}", group=group)
        for group in ("Texts", "Errors in the mean")
        for k in classes
    ]
    caption = f"{dataset.name}: texts of each rating, from the lowest, and the errors in them."
    return Table(caption, "Graded set", columns, [Body(lines)], source=SOURCE)


def _anchors(dataset: Dataset, rows: Rows, sets: Sequence[str]) -> Table:
    """Return where texts lie among the anchors, and how well the comparator knows these."""
    lines = []
    for name in sets:
        here = rows.where(cell=name)
        right = {row.level: row for row in here.where(statistic="comparator_accuracy")}
        cells = [estimate(right.get(pairs), counts=True) for pairs in ANCHOR_PAIRS]
        lines.append(Line(name, [*_named(here.where(statistic=ANCHORS), ANCHORS), *cells]))
    columns = statistic_columns(ANCHORS, "Texts")
    columns += [Column(title, "", "The comparator is right") for title in ANCHOR_PAIRS.values()]
    caption = f"{dataset.name}: the chosen texts among the anchors, and the comparator on these."
    return Table(caption, "Graded set", columns, [Body(lines)], [ANCHOR_NOTE], source=SOURCE)


def _costs(dataset: Dataset, rows: Rows) -> Table:
    lines = []
    for step in rows.where(statistic="replies"):
        of_step = rows.where(judge=step.judge, perturbation=step.perturbation)
        known = {row.statistic: row.value for row in of_step}
        cells = [count_cell(round(known[name] or 0)) for name in USAGE]
        head = f"{step.form}: {step.perturbation}"
        lines.append(Line(head, [Cell(step.judge), *cells, dollars_cell(known["usd"])]))
    columns = [Column("Model"), *(Column(spoken(name)) for name in (*USAGE, "usd"))]
    caption = f"{dataset.name}: what each step of the construction cost, by model."
    return Table(caption, "Step", columns, [Body(lines)], source=SOURCE, code=False)
