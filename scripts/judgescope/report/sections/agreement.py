"""Agreement with the ratings, pairs of systems, judges that choose, and repeated
draws.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product

import pandas as pd

from judgescope.methods.base import Turned
from judgescope.methods.claims.base import AGREEMENT
from judgescope.report import tables
from judgescope.report.cells import Cell, count_cell, estimate, figures, of_few
from judgescope.report.charts import Distribution, histogram_spec, svg
from judgescope.report.elements import (
    Block,
    Body,
    Column,
    Figure,
    Fold,
    Key,
    Line,
    Table,
)
from judgescope.report.headline import PERSON, measures
from judgescope.report.items import Texts
from judgescope.report.panels import BINS, bins_spec
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Rows, scores_of
from judgescope.report.words import LEVELS, SWAYS, count, label, listed, percent, plural
from judgescope.statistics.registry import STATISTICS, statistic

FIGURE = ("spearman", "by_source")
CEILINGS = (
    ("alpha_ordinal", "pooled"),
    ("spearman", "pooled"),
    ("spearman", "by_source"),
    ("kendall_b", "by_system"),
    ("kappa_linear", "pooled"),
)
"""Statistics shown of people's agreement with each other; agreement.csv has all."""
REPEATED = ("alpha_draws", "flip_rate", "tied_modes", "reliability", "draws_needed")
POSITION = "first_position_rate"
PAIRS = (
    *("order_consistency", POSITION, "nontransitive_share"),
    *("accuracy_comparison", "accuracy_comparison_half", "tie_rate"),
)
RIGHT, HALF_CREDIT, STRENGTH = (
    "accuracy_comparison",
    "accuracy_comparison_half",
    "strength",
)
PAIR_FIGURES = (
    (
        *(POSITION, "position bias"),
        "How often the text that is shown first wins, over both orders.",
        "first text chosen, with 95 % interval; the line marks no bias",
    ),
    (
        *(HALF_CREDIT, "accuracy"),
        "How often the judge prefers the text that people prefer; a tie counts half.",
        "pairs ordered as people do, with 95 % interval; the line marks chance",
    ),
)
"""Statistic, title, sentence and axis of the figures of a set of texts."""
ORDERS = {"as_listed": "as listed", "swapped": "swapped"}
CHOICES = (
    *("vote_agreement_ties", "vote_agreement_decided", "kappa_nominal"),
    *("best_of_n", "accuracy_both_orders", "kappa_orders"),
    *("longer_chosen", "longer_excess", "own_family_chosen", "own_family_excess"),
)
"""Statistics shown of comparisons by judges and people's choices between two texts."""
TESTS = ("p_system_difference", "p_system_rank_sum")
PAIRS_LEAD = (
    "One-sided p-values for the first system of a pair being better, by people's mean "
    "ratings and by each judge's scores. The paired test flips the signs of "
    "differences by source, as soft pairwise accuracy does; the rank-sum test ignores "
    "that both systems wrote about the same sources, and so finds fewer differences. "
    "Neither is corrected for the number of pairs."
)
MOST_PAIRS = 45
"""Maximum number of pairs of systems in a figure."""
P_FIGURE = (
    "Left of the line, the test finds the first system of the pair better at the 5 % "
    "level; near 1 the scores favour the second."
)
P_AXIS = "p of each pair of systems, one-sided; the line marks 5 %"
MOST_DRAWN = 12
"""Maximum number of judges in either figure; the tables have all."""
STYLES = ("ratings", "scores")
HISTOGRAM = (
    "Upwards: mean ratings of the texts; downwards: their scores, over all aspects, "
    "each from the worst to the best value of its aspect. A triangle marks the mean."
)


@tables.section_of(
    *("Evidence", 10, "agreement", "Agreement"),
    "A correlation has a level: over all targets pooled it also rewards a judge that "
    "knows which sources are easy; within one source it asks only which text is "
    "better.",
    empty="No target of this dataset has ratings.",
)
def section(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield a figure and, folded, a table per level."""
    yield from _figure(report, dataset, rows)
    yield from rating_figures(report, dataset)
    if not dataset.planned:
        yield _people(report, dataset, rows)
    yield from _ranks(report, dataset)
    statistics = [*_statistics(report, dataset, rows)]
    yield Fold(f"All statistics and levels for {dataset.name}", statistics)


def _statistics(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Table]:
    """Yield tables of each level's statistics: of agreement, then of influences on a
    judge.
    """
    judged = rows.where(judge=tuple(judge.id for judge in report.judges))
    for (level, (title, meaning)), sways in product(LEVELS.items(), (False, True)):
        present = judged.where(level=level).names("statistic")
        if names := [
            one for one in STATISTICS if one in present and (one in SWAYS) == sways
        ]:
            influence, agreed = (
                "what influences a judge besides quality",
                tables.agreed_with(dataset),
            )
            caption = (
                f"{dataset.name}, {title}: {influence if sways else agreed}. {meaning}"
            )
            yield _by_aspect(
                report, dataset, rows, names, caption, "agreement", level=level
            )


def _people(report: Report, dataset: Dataset, rows: Rows) -> Figure | Table:
    """Return the agreement of people with each other.

    It is not an upper limit: a judge is compared with the mean of all raters, one rater
    with that of the others.
    """
    lines = [
        tables.Entry(
            f"{label(name)}, {LEVELS[level][0]}", {"statistic": name, "level": level}
        )
        for name, level in CEILINGS
        if len(rows.where(judge=tables.PEOPLE, statistic=name, level=level))
    ]
    table = tables.TableSpec(
        f"{dataset.name}: agreement of people with each other; correlations compare "
        "each rater with the mean of the others, κ each rater with every other.",
        tables.aspect_columns(report, dataset.aspects),
        [tables.RowGroup(lines=lines)],
        judge=tables.PEOPLE,
        source="tables/agreement.csv",
        corner="Statistic",
        code=False,
        counts=True,
    ).filled((), rows)
    return tables.chart(
        f"{dataset.name}: how well people agree",
        "The lower the agreement between raters, the less agreement a judge can reach.",
        table,
        axis="agreement among people, with 95 % interval",
    )


def _ranks(report: Report, dataset: Dataset) -> Iterator[Table | Fold]:
    """Yield the judges' ranks, with intervals and the groups that a test cannot tell
    apart.

    First by the number that decides each aspect; then, folded, by every statistic and
    level: does it change the order?
    """
    decided: dict[tuple[str, str], list[str]] = {}
    for one in measures(report, dataset):
        if one.kind == AGREEMENT:
            decided.setdefault((one.statistic, one.level), []).append(one.aspect)
    rows = report.rows("comparison", dataset.id)
    ranks = partial(
        tables.TableSpec, source="tables/comparison.csv", cell=tables.rank_cell
    )
    for (measure, level), aspects in decided.items():
        if not len(rows.where(statistic=f"rank_{measure}", level=level)):
            continue
        yield ranks(
            f"{dataset.name}: ranks by {label(measure)}, {LEVELS[level][0]}, with the "
            "95 % interval of the rank; judges that share a letter do not differ "
            "significantly.",
            tables.aspect_columns(report, aspects),
            statistic=f"rank_{measure}",
            level=level,
        ).filled(report.judges, rows)
    if columns := [
        Column(label(name), "", title, statistic=f"rank_{name}", where={"level": level})
        for (level, (title, _)), name in product(LEVELS.items(), STATISTICS)
        if len(rows.where(statistic=f"rank_{name}", level=level))
    ]:
        table = ranks(
            f"{dataset.name}: ranks by every measure of agreement.",
            columns,
            tables.aspect_groups(report, dataset.aspects),
            corner="Aspect and judge",
        ).filled(report.judges, rows)
        yield Fold(f"Ranks by every measure for {dataset.name}", [table])


def _figure(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Figure | Table]:
    measure, level = FIGURE
    names = {judge.id: tables.labelled(judge) for judge in report.judges}
    judged = tuple(dataset.aspects)
    chosen = rows.where(statistic=measure, level=level, judge=(*names,), judged=judged)
    if not (best := tables.leaders(report.judges, chosen)):
        return
    who = listed([f"{names[row.judge]} on {report.aspect(row.aspect)}" for row in best])
    shown = {row.judge for row in chosen.defined if not of_few(row)}
    yield tables.chart(
        f"{dataset.name}: ordering the texts of one source",
        f"{label(measure)} of {len(shown)} judges and controls on "
        f"{plural(len(dataset.aspects), 'aspect')}. The highest is {who}: "
        f"{figures(best[0])}.",
        tables.TableSpec(
            f"{dataset.name}: {label(measure)}, {LEVELS[level][0]}; "
            f"{tables.agreed_with(dataset)}.",
            tables.aspect_columns(report, dataset.aspects),
            statistic=measure,
            level=level,
            every_judge=True,
        ).filled(report.judges, chosen),
        axis=f"{label(measure)}, {LEVELS[level][0]}, with 95 % interval",
    )


# --- scores beside ratings ------------------------------------------------------------


def rating_figures(report: Report, dataset: Dataset) -> Iterator[Figure]:
    """Yield both figures of a dataset whose texts by systems are rated and judged."""
    if not report.spec.results:
        return
    turned = report.spec.turned.get(dataset.id, Turned({}, {}))
    texts = _texts(report.spec.results, dataset, turned)
    known = set(texts["judge"])
    judges = [
        judge for judge in report.judges if judge.id in known and not judge.control
    ]
    if judges:
        yield _scatter(report, dataset, texts, judges)
        yield _histograms(dataset, texts, judges)


def _texts(results: str, dataset: Dataset, turned: Turned) -> pd.DataFrame:
    """Return rating and score of each text that has them, and the bins of both, the
    best last.
    """
    frame = scores_of(results, dataset.id).rename(columns={"value": "scores"})
    frame = frame[frame["perturbation"] == "systems"]
    means = [
        (aspect, target, mean)
        for aspect, of_targets in Texts(results, dataset.id).means.items()
        for target, mean in of_targets.items()
    ]
    rated = pd.DataFrame(means, columns=["aspect", "target", "ratings"])
    frame = frame.dropna(subset="scores").merge(rated, on=["aspect", "target"])
    placed = [frame["judge"], frame["judged"]]
    signs = {
        "ratings": [
            -1 if aspect in turned.ratings else 1 for aspect in frame["aspect"]
        ],
        "scores": [
            -1 if judged in turned.scores.get(judge, {}) else 1
            for judge, judged in zip(*placed, strict=True)
        ],
    }
    merits = {one: frame[one] * sign for one, sign in signs.items()}
    return frame.assign(
        **{
            f"{one}_bin": merits[one].groupby(placed).transform(binned)
            for one in STYLES
        }
    )


def binned(values: pd.Series) -> pd.Series:
    """Return the bin of each value, from 0 to BINS - 1, between the lowest and the
    highest.

    Values that are all the same are in the middle.
    """
    low, high = values.min(), values.max()
    if high <= low:
        return pd.Series(BINS // 2, values.index)
    return ((values - low) / (high - low) * BINS).astype(int).clip(upper=BINS - 1)


def _scatter(
    report: Report, dataset: Dataset, texts: pd.DataFrame, judges: Sequence[Judge]
) -> Figure:
    judged = set(texts["judged"])
    aspects = [name for name in dataset.aspects if name in judged]
    drawn = [judge.id for judge in judges[:MOST_DRAWN]]
    parts = dict(list(texts.groupby(["judge", "judged"])))
    panels = {
        (judge, report.aspect(aspect)): Counter(
            parts[judge, aspect][["ratings_bin", "scores_bin"]].itertuples(
                index=False, name=None
            )
        )
        for judge, aspect in product(drawn, aspects)
        if (judge, aspect) in parts
    }
    spec = tables.TableSpec(
        f"{dataset.name}: rank correlation over all texts.",
        tables.aspect_columns(report, aspects),
        statistic="spearman",
        level="pooled",
        source="tables/agreement.csv",
        counts=True,
    )
    titles = [report.aspect(aspect) for aspect in aspects]
    axis = "mean rating to the right, score upwards, each from the worst to the best"
    return Figure(
        f"{dataset.name}: scores by rating",
        svg(bins_spec(panels, drawn, titles, x=axis)),
        f"Up to {count(max(map(len, parts.values())))} texts in a panel; the larger "
        "the dot, the more of them. Where a judge agrees with the ratings, dots rise "
        "to the right.",
        [Key("●", "blue", "texts")],
        spec.filled(judges, report.rows("agreement", dataset.id)),
    )


def _histograms(
    dataset: Dataset, texts: pd.DataFrame, judges: Sequence[Judge]
) -> Figure:
    shown, table = list[Distribution](), dict[str, list[Cell]]()
    for judge in judges:
        mine = texts[texts["judge"] == judge.id]
        for style in STYLES:
            bins = mine[f"{style}_bin"]
            shares = bins.value_counts(normalize=True).reindex(
                range(BINS), fill_value=0.0
            )
            mean = (bins.mean() + 0.5) / BINS
            shown.append(Distribution(judge.id, style, shares.tolist(), mean))
        scores = mine["scores"].value_counts(normalize=True)
        share = float(scores.max())
        counts = [count_cell(len(mine)), count_cell(len(scores))]
        table[judge.id] = [*counts, Cell(percent(share), sort=share)]
    drawn = [judge.id for judge in judges[:MOST_DRAWN]]
    axis = "from the worst to the best rating, and score"
    columns = [
        Column("Scores"),
        Column("Different scores"),
        Column("Share of the most frequent"),
    ]
    return Figure(
        f"{dataset.name}: distributions of ratings and scores",
        svg(
            histogram_spec(
                [one for one in shown if one.group in drawn], drawn, STYLES, x=axis
            )
        ),
        HISTOGRAM,
        [Key("■", "blue", "mean ratings"), Key("■", "red", "scores")],
        Table(
            f"{dataset.name}: the scores of each judge, over all aspects.",
            "Judge",
            columns,
            tables.judge_bodies(judges, lambda judge: table[judge.id]),
        ),
    )


# --- pairs of systems -----------------------------------------------------------------


@tables.section_of("Evidence", 25, "system_pairs", "Pairs of systems", PAIRS_LEAD)
def system_pairs(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Fold]:
    """Yield per aspect each test, a line per pair and a column for each rater; first as
    figures.
    """
    for aspect in Rows(rows.frame[rows.frame["judge"] != tables.PEOPLE]).names(
        "judged"
    ):
        of_aspect = rows.where(judged=(aspect, aspect.partition(".")[0]))
        name = f"{dataset.name}, {report.aspect(aspect)}"
        by_test: list[Block] = []
        for test in TESTS:
            shown = of_aspect.where(statistic=test)
            present = shown.names("judge")
            raters = [one.id for one in (PERSON, *report.judges) if one.id in present]
            lines = []
            for pair, part in shown.by("system_subset").items():
                of_judge = {row.judge: row for row in part}
                cells = [estimate(of_judge.get(rater)) for rater in raters]
                lines.append(Line(pair.replace("+", ", "), cells))
            caption = f"{name}; {tables.statistic_caption(test)}."
            columns = [Column(tables.rater(rater)) for rater in raters]
            parts = (caption, f"Systems, {label(test)}", columns, [Body(lines)])
            table = Table(*parts, source="tables/system_pairs.csv")
            if len(lines) > MOST_PAIRS:
                by_test.append(table)
                continue
            title = f"{name}: {label(test)}"
            by_test.append(tables.chart(title, P_FIGURE, table, line=0.05, axis=P_AXIS))
        yield Fold(f"{name}: p of every pair of systems", by_test)


@tables.section_of(
    *("Evidence", 120, "repeatability", "Repeatability"),
    "Several replies to the same request: how often they differ, and how many must be "
    "averaged to reach 95 % of the correlation with people that infinitely many would "
    "have.",
)
def repeatability(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield a figure and a table of what several draws of one judgment have in
    common.
    """
    yield from tables.aspect_chart(
        *(report, dataset, rows, "flip_rate", ": replies that differ"),
        "Texts with different scores in two replies to the same request.",
        "share of texts with differing replies, with 95 % interval",
        source="tables/repeatability.csv",
        level="pooled",
    )
    yield _by_aspect(
        report, dataset, rows, REPEATED, f"{dataset.name}.", "repeatability"
    )


@tables.section_of(
    *("Evidence", 130, "pairwise", "Position bias and pairwise comparison"),
    "Judges that choose between two texts are asked in both orders. A first-position "
    "rate of 50 % is fair; accuracy covers the pairs in which people prefer one text.",
)
def pairwise(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield, for each set of texts, position bias, accuracy, and more as tables."""
    for cell, part in rows.by("cell").items():
        about = f", {cell}" if cell else ""
        for name, title, sentence, axis in PAIR_FIGURES:
            yield from tables.aspect_chart(
                *(report, dataset, part, name, f"{about}: {title}", sentence, axis),
                line=0.5,
                source="tables/pairwise.csv",
                level="pooled",
                cell=cell,
            )
        yield _by_aspect(
            report, dataset, part, PAIRS, f"{dataset.name}{about}.", "pairwise", cell
        )
        if not cell:
            yield from _choices(report, dataset, part)


def _choices(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Figure | Table]:
    """Yield how judges go with people's choices and order systems; nothing without such
    rows.
    """
    present = rows.names("statistic")
    shown = [name for name in CHOICES if name in present]
    if not shown:
        return
    columns = tables.statistic_columns([HALF_CREDIT, *shown])
    note = "shown in this order only"
    columns += [
        Column(f"{label(RIGHT)} {name}", note, statistic=RIGHT, where={"level": level})
        for level, name in ORDERS.items()
        if len(rows.where(level=tuple(ORDERS)))
    ]
    yield tables.TableSpec(
        f"{dataset.name}: judges and people's choices. “More than people”: how much "
        "more often a judge prefers such texts than people do.",
        columns,
        tables.aspect_groups(report, dataset.aspects),
        level="pooled",
        source="tables/pairwise.csv",
        counts=True,
    ).filled([PERSON, *report.judges], rows)
    for aspect in dataset.aspects:
        yield from _strengths(dataset, rows.where(aspect=aspect), report.aspect(aspect))


def _strengths(dataset: Dataset, rows: Rows, aspect: str) -> Iterator[Figure | Table]:
    """Yield the strength of each system by people and by judge, and which pairs are in
    order.
    """
    strengths = rows.where(statistic=STRENGTH)
    of = {(row.judge, row.system_subset): row for row in strengths}
    judges = sorted(strengths.names("judge"), key=lambda judge: judge != tables.PEOPLE)
    if not judges:
        return
    lines = [
        Line(system, [estimate(of.get((judge, system))) for judge in judges])
        for system in strengths.names("system_subset")
    ]
    ordered = rows.where(statistic=RIGHT, level="by_system")
    order = [estimate(ordered.where(judge=judge).first) for judge in judges]
    columns = [Column(tables.rater(judge)) for judge in judges]
    table = Table(
        f"{dataset.name}, {aspect}: {statistic(STRENGTH).meaning}. Last line: share of "
        "pairs of systems in people's order.",
        "System",
        columns,
        [Body(lines), Body([Line("pairs in order", order)])],
        source="tables/pairwise.csv",
    )
    title = f"{dataset.name}, {aspect}: strength of each system"
    summary = "Systems that are chosen more often are stronger; the mean of all is 0."
    axis = "strength, with 95 % interval; the line marks the mean of all systems"
    yield tables.chart(title, summary, table, axis=axis, statistics=[STRENGTH])


def _by_aspect(
    report: Report,
    dataset: Dataset,
    rows: Rows,
    names: Sequence[str],
    caption: str,
    table: str,
    cell: str = "",
    level: str = "pooled",
) -> Table:
    present = rows.names("statistic")
    return tables.TableSpec(
        caption,
        tables.statistic_columns(
            [name for name in names if name in present], cell=cell
        ),
        tables.aspect_groups(report, dataset.aspects),
        level=level,
        source=f"tables/{table}.csv",
        corner="Aspect and judge",
        counts=True,
    ).filled(report.judges, rows)
