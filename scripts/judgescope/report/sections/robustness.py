"""Robustness: how consistent judges are over forms, and how far they follow hints and attacks."""

from collections.abc import Sequence
from functools import partial

from judgescope.parsing.judgment import NO_VALUE
from judgescope.report.elements import (
    Block,
    Body,
    Cell,
    Column,
    Figure,
    Fold,
    Heading,
    Line,
    Link,
    Section,
    Table,
    Text,
    estimate,
    figures,
)
from judgescope.report.numbers import listed
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Row, Rows
from judgescope.report.sections.agreement import PEOPLE
from judgescope.report.sections.shared import (
    bodies,
    chart,
    estimates,
    leaders,
    section_of,
)
from judgescope.report.words import label
from judgescope.statistics.registry import STATISTICS, statistic

SOURCE = "tables/robustness.csv"
AVERAGE = "average"
ALPHAS = ("alpha_pair", "alpha_joint", "alpha_pairs_mean")
HINTED = (
    *("follow_rate", "already_share", "difference_follow_rate", "sway", "hint_effect"),
    "match_share",
)
SHIFT = "hint_shift"
REASONS = ("sentiment", "reason_words")
CHANGES = ("difference_sentiment", "p_sentiment", "difference_reason_words")
LEAD = (
    "A judge is asked about the same texts in several forms; some forms tell it a rating first, a "
    "wrong one or people's own. How far do its ratings agree with each other, with people, and "
    "with what it was told? A judge that follows a wrong rating as readily as a right one follows "
    "ratings, not texts."
)
SHIFTED, OBEYED, P = "injection_shift", "obey_rate", "p_injection"
ATTACK, INERT = "attack", "inert"
ATTACK_LEAD = (
    "Each attack adds something to every original that claims the top of the scale. A note of no "
    "meaning, of the same length and in the same place, tells what added text does by itself: the "
    "difference of the two is what the words of the attack do."
)


def section(report: Report) -> Section | None:
    """Return per dataset the agreement over forms, what hints do, and what reasons are like."""
    return section_of(report, "robustness", "Robustness", LEAD, _dataset)


def _dataset(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    aspects = list(
        dict.fromkeys(row.judged for row in rows if row.aspect != AVERAGE and row.judge != PEOPLE)
    )
    found: list[Block] = []
    if len(rows.where(statistic=ALPHAS)):
        measured = [_per_judge(report, dataset, rows, aspects, one) for one in ALPHAS]
        found += [one for one in (_consistency(report, dataset, rows, aspects),) if one]
        found.append(measured[0])
        found += [one for each in aspects if (one := _ceiling(report, dataset, rows, each))]
        found.append(Fold(f"{dataset.name}: α of people and judge in other ways", measured[1:]))
    if len(rows.where(statistic="follow_rate")):
        found += _hints(report, dataset, rows, aspects)
    if len(rows.where(statistic=REASONS)):
        found += _reasons(report, dataset, rows, aspects)
    return [*found, *attacks(report, dataset, rows)]


def _consistency(
    report: Report, dataset: Dataset, rows: Rows, aspects: Sequence[str]
) -> Table | None:
    """Return how consistent people are, and each model over its forms."""
    models = rows.where(statistic="alpha_forms").names("judge")
    lines = [_line("people", rows.where(judge=PEOPLE), "alpha_ordinal", aspects)]
    lines += [_line(name, rows.where(judge=name), "alpha_forms", aspects) for name in models]
    caption = (
        f"{dataset.name}: Krippendorff's α, ordinal, of people among themselves and of each "
        "model's forms without a hint, as if each were a rater."
    )
    columns = [Column(report.aspect(one)) for one in aspects]
    return Table(caption, "Raters", columns, [Body(lines)], source=SOURCE, code=False)


def _line(name: str, rows: Rows, which: str, aspects: Sequence[str]) -> Line:
    known = {row.judged: row for row in rows.where(statistic=which)}
    plain = {row.aspect: row for row in rows.where(statistic=which)}
    return Line(
        name, [estimate(known.get(one, plain.get(one.partition(".")[0]))) for one in aspects]
    )


def _per_judge(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    aspects: Sequence[str],
    which: str,
    *,
    counts: bool = False,
) -> Table:
    """Return one statistic of every judge on every aspect."""
    known = {(row.judge, row.judged): row for row in rows.where(statistic=which)}

    def found(judge: Judge) -> list[Row | None]:
        return [known.get((judge.id, one)) for one in aspects]

    told = statistic(which)
    name = label(which) if which in STATISTICS else told.label
    caption = f"{dataset.name}; {name}: {told.meaning}."
    columns = [Column(report.aspect(one)) for one in aspects]
    lines = estimates(report.judges, found, counts=counts)
    return Table(caption, "Judge", columns, lines, source=SOURCE)


def _ceiling(report: Report, dataset: Dataset, rows: Rows, aspect: str) -> Figure | None:
    """Return alpha of each judge with people's median; the line is what people reach."""
    own = {row.judge: row for row in rows.where(statistic="alpha_pair", judged=aspect)}
    shown = [one for one in report.judges if one.id in own and own[one.id].value is not None]
    people = rows.where(judge=PEOPLE, aspect=aspect.partition(".")[0], statistic="alpha_ordinal")
    among = next(iter(people), None)
    if not shown or among is None or among.value is None:
        return None
    summary = (
        f"α of each judge with people's lower median on {report.aspect(aspect).lower()}; people "
        f"reach {figures(among)} among themselves. Highest: {_best(own, shown)}."
    )
    title = f"{dataset.name}, {report.aspect(aspect)}: agreement with people by form"
    axis = "α, ordinal, with 95 % interval; the line is people among themselves"
    table = _numbers(title, shown, {one.id: [own[one.id]] for one in shown}, ["α"])
    points = [(one.id, label("alpha_pair"), own[one.id]) for one in shown]
    return chart(title, summary, table, points, line=among.value, axis=axis)


def _best(own: dict[str, Row], shown: Sequence[Judge]) -> str:
    best = leaders(shown, (own[one.id] for one in shown))
    return f"{listed([row.judge for row in best])}, {figures(best[0])}"


def _numbers(
    title: str, shown: Sequence[Judge], rows: dict[str, list[Row | None]], names: Sequence[str]
) -> Table:
    """Return the numbers of a figure, a row for each judge."""

    def cells(judge: Judge) -> list[Cell]:
        return [estimate(row) for row in rows[judge.id]]

    columns = [Column(name) for name in names]
    return Table(f"{title}.", "Judge", columns, bodies(shown, cells), source=SOURCE)


def _hints(report: Report, dataset: Dataset, rows: Rows, aspects: Sequence[str]) -> list[Block]:
    """Return how often scores equal the hint, and by how much they move to it."""
    tables = [_per_judge(report, dataset, rows, aspects, one, counts=True) for one in HINTED]
    shift = rows.where(statistic=SHIFT)
    known = [row for row in shift if row.value is not None]
    found: list[Block] = [tables[0], tables[3], tables[4]]
    if known:
        shown = [one for one in report.judges if any(row.judge == one.id for row in known)]
        at = {(row.judge, row.judged): row for row in shift}
        names = [report.aspect(one) for one in aspects]
        title = f"{dataset.name}: shift toward the hint"
        cells = {one.id: [at.get((one.id, each)) for each in aspects] for one in shown}
        most = max(known, key=lambda row: row.value or 0.0)
        summary = (
            "Points by which a score moves toward the hint, where it was not there already. The "
            f"largest: {figures(most)} ({most.judge}, {report.aspect(most.judged).lower()})."
        )
        points = [(report.aspect(row.judged), row.judge, row) for row in known]
        axis = "points toward the hint, with 95 % interval; the line is no shift"
        table = _numbers(title, shown, cells, names)
        found.append(chart(title, summary, table, points, line=0, axis=axis))
    rest = [tables[1], tables[2], tables[5], _per_judge(report, dataset, rows, aspects, SHIFT)]
    return [*found, Fold(f"{dataset.name}: hints in detail", rest)]


def _reasons(report: Report, dataset: Dataset, rows: Rows, aspects: Sequence[str]) -> list[Block]:
    """Return what reasons are like, what a hint changes about them, and what gave none."""
    per_judge = partial(_per_judge, report, dataset, rows, aspects)
    found: list[Block] = []
    if figure := _moods(report, dataset, rows, aspects):
        found.append(figure)
    changed = [one for one in CHANGES if len(rows.where(statistic=one))]
    tables = [per_judge(one) for one in (*REASONS, *changed)]
    ends = [f"share_{one}" for one in NO_VALUE if _any(rows, f"share_{one}")]
    found.append(Fold(f"{dataset.name}: the reasons of judges", tables))
    if ends:
        told = [per_judge(one, counts=True) for one in ends]
        found.append(Fold(f"{dataset.name}: judgments without a rating", told))
    return found


def _any(rows: Rows, which: str) -> bool:
    return any(row.value for row in rows.where(statistic=which))


def _moods(report: Report, dataset: Dataset, rows: Rows, aspects: Sequence[str]) -> Figure | None:
    """Return the mean sentiment of each judge's reasons, by aspect."""
    known = [row for row in rows.where(statistic="sentiment") if row.value is not None]
    shown = [one for one in report.judges if any(row.judge == one.id for row in known)]
    if not shown:
        return None
    at = {(row.judge, row.judged): row for row in known}
    title = f"{dataset.name}: sentiment of the reasons"
    low = min(known, key=lambda row: row.value or 0.0)
    summary = (
        "Mean polarity of the words of each judge's reasons, from -1 to 1. The lowest: "
        f"{figures(low)} ({low.judge}, {report.aspect(low.judged).lower()})."
    )
    cells = {one.id: [at.get((one.id, each)) for each in aspects] for one in shown}
    table = _numbers(title, shown, cells, [report.aspect(one) for one in aspects])
    points = [(report.aspect(row.judged), row.judge, row) for row in known]
    axis = "mean polarity, with 95 % interval; the line is neutral"
    return chart(title, summary, table, points, line=0, axis=axis)


def attacks(report: Report, dataset: Dataset, rows: Rows) -> list[Block]:
    """Return how far each attack moves each judge, and how many texts it takes to the top."""
    rows = rows.where(
        statistic=(
            SHIFTED,
            OBEYED,
            P,
            f"difference_{SHIFTED}",
            f"difference_{OBEYED}",
        )
    )
    if not len(rows):
        return []
    found: list[Block] = [
        Heading(f"{dataset.name}: what is written to the judge", f"injection-{dataset.id}"),
        Text(ATTACK_LEAD),
    ]
    averages = list(dict.fromkeys(row.judged for row in rows if row.aspect == AVERAGE))
    folded: list[Block] = []
    for wording in averages:
        own = partial(_attack_table, report, dataset, rows, wording)
        found += [own(f"difference_{SHIFTED}", ATTACK), own(OBEYED, ATTACK)]
        folded += [
            own(SHIFTED, ATTACK),
            own(SHIFTED, INERT),
            own(f"difference_{OBEYED}", ATTACK),
        ]
    plain = dict.fromkeys(row.judged for row in rows.where(statistic=P))
    folded += [_attack_table(report, dataset, rows, aspect, P, ATTACK) for aspect in plain]
    texts = Link(f"See texts of {dataset.name} with what was added", f"texts.html#{dataset.id}")
    return [*found, Fold(f"{dataset.name}: attacks in detail", folded), texts]


def _attack_table(
    report: Report, dataset: Dataset, rows: Rows, aspect: str, which: str, degree: str
) -> Table:
    """Return one statistic of every judge under every attack."""
    names = rows.names("perturbation")
    columns = [Column(report.perturbation(name)) for name in names]

    def found(judge: Judge) -> list[Row | None]:
        at = partial(rows.at, dataset.id, judge.id, which, aspect=aspect)
        return [at(cell=f"{name}.{degree}") for name in names]

    told = statistic(which)
    plain, _, wording = aspect.partition(".")
    of = "mean over aspects" if plain == AVERAGE else report.aspect(plain)
    where = f"{of} ({wording})" if wording else of
    about = {ATTACK: "attacks", INERT: "inert texts in their place"}[degree]
    caption = f"{dataset.name}, {about}, {where}; {told.label}: {told.meaning}."
    return Table(caption, "Judge", columns, estimates(report.judges, found), source=SOURCE)
