"""Agreement with the ratings, pairs of systems, judges that choose, and repeated
draws.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from judgescope.methods.base import Turned
from judgescope.methods.claims.base import AGREEMENT, PAIRS
from judgescope.report import tables
from judgescope.report.cells import ReportCell, count_cell, estimates, figures, of_few
from judgescope.report.charts import Distribution, histogram_spec, svg
from judgescope.report.elements import (
    Body,
    Fold,
    LegendKey,
    PageBlock,
    PageFigure,
    PageTable,
    TableColumn,
    TableLine,
    columns_of,
)
from judgescope.report.headline import PERSON, measures
from judgescope.report.items import DatasetTexts
from judgescope.report.matrix import MOST_LINES
from judgescope.report.panels import LAYOUT, bins_spec
from judgescope.report.report import Report, ShownDataset, ShownJudge, ids_of
from judgescope.report.rows import ReportRows, scores_of
from judgescope.report.sections.first import every_picture
from judgescope.report.specs import PageFiles
from judgescope.report.standings import standings
from judgescope.report.tables import AspectFigure
from judgescope.report.words import (
    LEVELS,
    count,
    known_names,
    label,
    listed,
    percent,
    plural,
)
from judgescope.statistics.declared import Statistic
from judgescope.statistics.registry import STATISTICS, statistic

if TYPE_CHECKING:
    import pandas as pd

RIGHT = "accuracy_comparison"
HALF_CREDIT = "accuracy_comparison_half"
ACCURACY_FIGURE = AspectFigure(
    statistic=HALF_CREDIT,
    title=": accuracy",
    sentence=(
        "How often the judge prefers the text that people prefer; a tie counts half."
    ),
    axis="pairs ordered as people do, with 95 % interval; the line marks chance",
    level="pooled",
    line=0.5,
)
MOST_DRAWN = 12
"""Maximum number of judges in either figure of ratings; the tables have all."""


def blocks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield a figure and, folded, a table per level."""
    yield from _figure(report, dataset, rows)
    yield from rating_figures(report, dataset)
    if dataset.by_people:
        yield _people(report, dataset, rows)
    yield from _ranks(report, dataset)
    statistics = [*_statistics(report, dataset, rows)]
    yield Fold(f"All statistics and levels for {dataset.name}", statistics)


def _in_order_of_columns() -> list[Statistic]:
    """All statistics in the order of the columns of the tables of agreement."""
    groups = (
        "correlation",
        "classes",
        "within_sources",
        "accuracy",
        "alpha",
        "alt_test",
    )

    def sort_key(record: Statistic) -> tuple[int, str, int]:
        number = groups.index(record.group) if record.group in groups else len(groups)
        return number, record.group, record.position

    return sorted(STATISTICS.working().values(), key=sort_key)


def _statistics(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageTable]:
    """Yield tables of each level's statistics: of agreement, then of influences on a
    judge.
    """
    judged = rows.where(judge=ids_of(report.judges))
    agreed = tables.agreed_with(dataset)
    influence = "what influences a judge besides quality"
    for level, (title, meaning) in LEVELS.items():
        present = judged.where(level=level).names("statistic")
        influences: list[str] = []
        others: list[str] = []
        for each in _in_order_of_columns():
            if each.name in present:
                names = influences if each.group == "bias" else others
                names.append(each.name)
        for about, shown in ((agreed, others), (influence, influences)):
            if shown:
                caption = f"{dataset.name}, {title}: {about}. {meaning}"
                yield tables.aspect_table(
                    report, dataset, rows, shown, caption, "agreement", level=level
                )


def _people(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> PageFigure | PageTable:
    """Return the agreement of people with each other.

    It is not an upper limit: a judge is compared with the mean of all raters, one rater
    with that of the others. The page shows these statistics; agreement.csv has all.
    """
    lines = []
    for name, level in (
        ("alpha_ordinal", "pooled"),
        ("spearman", "pooled"),
        ("spearman", "by_source"),
        ("kendall_b", "by_system"),
        ("kappa_linear", "pooled"),
    ):
        if len(rows.where(judge=tables.PEOPLE, statistic=name, level=level)):
            head = f"{label(name)}, {LEVELS[level][0]}"
            lines.append(tables.Entry(head, {"statistic": name, "level": level}))
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


def _ranks(report: Report, dataset: ShownDataset) -> Iterator[PageTable | Fold]:
    """Yield the judges' ranks, with intervals and the groups that a test cannot tell
    apart.

    First by the number that decides each aspect; then, folded, by every statistic and
    level: does it change the order?
    """
    decided: dict[tuple[str, str], list[str]] = {}
    for column in measures(report, dataset):
        if column.kind == AGREEMENT:
            key = (column.statistic, column.level)
            decided.setdefault(key, []).append(column.aspect)
    rows = report.rows("comparison", dataset.id)
    source = "tables/comparison.csv"
    for (measure, level), aspects in decided.items():
        if not len(rows.where(statistic=f"rank_{measure}", level=level)):
            continue
        yield tables.TableSpec(
            f"{dataset.name}: ranks by {label(measure)}, {LEVELS[level][0]}, with the "
            "95 % interval of the rank; judges that share a letter do not differ "
            "significantly.",
            tables.aspect_columns(report, aspects),
            statistic=f"rank_{measure}",
            level=level,
            source=source,
            cell=tables.rank_cell,
        ).filled(report.judges, rows)
    columns = _rank_columns(rows)
    if columns:
        table = tables.TableSpec(
            f"{dataset.name}: ranks by every measure of agreement.",
            columns,
            tables.aspect_groups(report, dataset.aspects),
            source=source,
            corner="Aspect and judge",
            cell=tables.rank_cell,
        ).filled(report.judges, rows)
        yield Fold(f"Ranks by every measure for {dataset.name}", [table])


def _rank_columns(rows: ReportRows) -> list[TableColumn]:
    """A column for each statistic and level by which judges are ranked."""
    columns = []
    ordered = [each.name for each in _in_order_of_columns()]
    for (level, (title, _)), name in product(LEVELS.items(), ordered):
        rank = f"rank_{name}"
        if len(rows.where(statistic=rank, level=level)):
            column = TableColumn(
                label(name), group=title, statistic=rank, where={"level": level}
            )
            columns.append(column)
    return columns


def _figure(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageFigure | PageTable]:
    measure = "spearman"
    level = "by_source"
    names = {judge.id: tables.labelled(judge) for judge in report.judges}
    judged = tuple(dataset.aspects)
    chosen = rows.where(statistic=measure, level=level, judge=(*names,), judged=judged)
    best = tables.leaders(report.judges, chosen)
    if not best:
        return
    leading = [f"{names[row.judge]} on {report.aspect(row.aspect)}" for row in best]
    shown = {row.judge for row in chosen.defined if not of_few(row)}
    table = tables.TableSpec(
        f"{dataset.name}: {label(measure)}, {LEVELS[level][0]}; "
        f"{tables.agreed_with(dataset)}.",
        tables.aspect_columns(report, dataset.aspects),
        statistic=measure,
        level=level,
        every_judge=True,
    ).filled(_drawn(report), chosen)
    yield tables.chart(
        f"{dataset.name}: ordering the texts of one source",
        f"{label(measure)} of {len(shown)} judges and controls on "
        f"{plural(len(dataset.aspects), 'aspect')}. The highest is {listed(leading)}: "
        f"{figures(best[0])}.",
        table,
        axis=f"{label(measure)}, {LEVELS[level][0]}, with 95 % interval",
    )


def _drawn(report: Report) -> list[ShownJudge]:
    """The judges of the figure, and the controls: of many judges the first twelve."""
    if len(report.real_judges) <= MOST_LINES:
        return report.judges
    return [*standings(report).ranked[:MOST_LINES], *report.plain_controls]


# --- scores beside ratings ------------------------------------------------------------


def rating_figures(report: Report, dataset: ShownDataset) -> Iterator[PageFigure]:
    """Yield both figures of a dataset whose texts by systems are rated and judged."""
    files = report.spec.files.get(dataset.id)
    if files is None:
        return
    turned = report.spec.turned.get(dataset.id, Turned({}, {}))
    texts = _texts(files, dataset, turned)
    known = set(texts["judge"])
    judges = [judge for judge in report.real_judges if judge.id in known]
    if judges:
        yield _scatter(report, dataset, texts, judges)
        yield _histograms(dataset, texts, judges)


def _texts(files: PageFiles, dataset: ShownDataset, turned: Turned) -> "pd.DataFrame":
    """Return rating and score of each text that has them, and the bins of both, the
    best last.
    """
    import pandas as pd  # here: `audit` runs without

    frame = scores_of(files.scores).rename(columns={"value": "scores"})
    frame = frame[frame["perturbation"] == "systems"]
    means = []
    for aspect, of_targets in DatasetTexts(files, dataset.id).means.items():
        means += [(aspect, target, mean) for target, mean in of_targets.items()]
    rated = pd.DataFrame(means, columns=["aspect", "target", "ratings"])
    frame = frame.dropna(subset="scores").merge(rated, on=["aspect", "target"])
    judged = [frame["judge"], frame["judged"]]
    rating_signs = [-1 if aspect in turned.ratings else 1 for aspect in frame["aspect"]]
    score_signs = [
        -1 if aspect in turned.scores.get(judge, {}) else 1
        for judge, aspect in zip(*judged, strict=True)
    ]
    for name, signs in {"ratings": rating_signs, "scores": score_signs}.items():
        merits = frame[name] * signs
        frame[f"{name}_bin"] = merits.groupby(judged).transform(binned)
    return frame


def binned(values: "pd.Series") -> "pd.Series":
    """Return the bin of each value, between the lowest and the highest, from 0 on.

    Values that are all the same are in the middle.
    """
    import pandas as pd  # here: `audit` runs without

    low = values.min()
    high = values.max()
    if high <= low:
        return pd.Series(LAYOUT.bins // 2, values.index)
    return (
        ((values - low) / (high - low) * LAYOUT.bins)
        .astype(int)
        .clip(upper=LAYOUT.bins - 1)
    )


def _scatter(
    report: Report,
    dataset: ShownDataset,
    texts: "pd.DataFrame",
    judges: Sequence[ShownJudge],
) -> PageFigure:
    judged = set(texts["judged"])
    aspects = known_names(dataset.aspects, judged)
    drawn = ids_of(judges[:MOST_DRAWN])
    parts = dict(list(texts.groupby(["judge", "judged"])))
    panels = {}
    for judge, aspect in product(drawn, aspects):
        if (judge, aspect) in parts:
            bins = parts[judge, aspect][["ratings_bin", "scores_bin"]]
            counts = Counter(bins.itertuples(index=False, name=None))
            panels[judge, report.aspect(aspect)] = counts
    table = tables.TableSpec(
        f"{dataset.name}: rank correlation over all texts.",
        tables.aspect_columns(report, aspects),
        statistic="spearman",
        level="pooled",
        source="tables/agreement.csv",
        counts=True,
    ).filled(judges, report.rows("agreement", dataset.id))
    titles = list(map(report.aspect, aspects))
    axis = "mean rating to the right, score upwards, each from the worst to the best"
    most_texts = max(map(len, parts.values()))
    return PageFigure(
        f"{dataset.name}: scores by rating",
        svg(bins_spec(panels, drawn, titles, x=axis)),
        f"Up to {count(most_texts)} texts in a panel; the larger the dot, the more of "
        "them. Where a judge agrees with the ratings, dots rise to the right.",
        [LegendKey("●", "blue", "texts")],
        table,
    )


def _histograms(
    dataset: ShownDataset, texts: "pd.DataFrame", judges: Sequence[ShownJudge]
) -> PageFigure:
    drawn = ids_of(judges[:MOST_DRAWN])
    distributions = []
    cells = dict[str, list[ReportCell]]()
    series_styles = ("ratings", "scores")
    for judge in judges:
        mine = texts[texts["judge"] == judge.id]
        if judge.id in drawn:
            for style in series_styles:
                bins = mine[f"{style}_bin"]
                shares = bins.value_counts(normalize=True)
                heights = shares.reindex(range(LAYOUT.bins), fill_value=0.0).tolist()
                mean = (bins.mean() + 0.5) / LAYOUT.bins
                distributions.append(Distribution(judge.id, style, heights, mean))
        scores = mine["scores"].value_counts(normalize=True)
        share = float(scores.max())
        cells[judge.id] = [
            count_cell(len(mine)),
            count_cell(len(scores)),
            ReportCell(percent(share), sort=share),
        ]
    axis = "from the worst to the best rating, and score"
    heads = ("Scores", "Different scores", "Share of the most frequent")
    table = PageTable(
        f"{dataset.name}: the scores of each judge, over all aspects.",
        "Judge",
        columns_of(heads),
        tables.judge_bodies(judges, lambda judge: cells[judge.id]),
    )
    return PageFigure(
        f"{dataset.name}: distributions of ratings and scores",
        svg(histogram_spec(distributions, drawn, series_styles, x=axis)),
        "Upwards: mean ratings of the texts; downwards: their scores, over all "
        "aspects, each from the worst to the best value of its aspect. A triangle "
        "marks the mean.",
        [LegendKey("■", "blue", "mean ratings"), LegendKey("■", "red", "scores")],
        table,
    )


# --- pairs of systems -----------------------------------------------------------------


def system_pairs(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[Fold]:
    """Yield per aspect each test, a line per pair and a column for each rater; first as
    figures.
    """
    of_judges = ReportRows(row for row in rows if row.judge != tables.PEOPLE)
    for aspect in of_judges.names("judged"):
        # People's rows have no criterion.
        of_aspect = rows.where(judged=(aspect, aspect.partition(".")[0]))
        name = f"{dataset.name}, {report.aspect(aspect)}"
        by_test = []
        for test in ("p_system_difference", "p_system_rank_sum"):
            by_test.append(_system_test(report, of_aspect, name, test))
        yield Fold(f"{name}: p of every pair of systems", by_test)


def _system_test(
    report: Report, rows: ReportRows, name: str, test: str, most_pairs: int = 45
) -> PageFigure | PageTable:
    """The p of each pair of systems; of more than `most_pairs` the table alone."""
    shown = rows.where(statistic=test)
    present = shown.names("judge")
    raters = known_names(ids_of([PERSON, *report.judges]), present)
    lines = []
    for pair, part in shown.by("system_subset").items():
        of_rater = {row.judge: row for row in part}
        cells = estimates(map(of_rater.get, raters))
        lines.append(TableLine(pair.replace("+", ", "), cells))
    table = PageTable(
        f"{name}; {tables.statistic_caption(test)}.",
        f"Systems, {label(test)}",
        columns_of(map(tables.rater, raters)),
        [Body(lines)],
        source="tables/system_pairs.csv",
    )
    if len(lines) > most_pairs:
        return table
    return tables.chart(
        f"{name}: {label(test)}",
        "Left of the line, the test finds the first system of the pair better at the "
        "5 % level; near 1 the scores favour the second.",
        table,
        line=0.05,
        axis="p of each pair of systems, one-sided; the line marks 5 %",
    )


def pairwise(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield what people and judges prefer, then position bias, accuracy and more."""
    source = "tables/pairwise.csv"
    for aspect in dataset.aspects:
        yield from every_picture(report, dataset, aspect, PAIRS)
    position_figure = AspectFigure(
        statistic="first_position_rate",
        title=": position bias",
        sentence="How often the text that is shown first wins, over both orders.",
        axis="first text chosen, with 95 % interval; the line marks no bias",
        level="pooled",
        line=0.5,
    )
    for cell, part in rows.by("cell").items():
        about = f", {cell}" if cell else ""
        for figure in (position_figure, ACCURACY_FIGURE):
            titled = replace(figure, title=f"{about}{figure.title}")
            yield from tables.aspect_chart(
                report, dataset, part, titled, source=source, cell=cell
            )
        names = (
            "order_consistency",
            position_figure.statistic,
            "nontransitive_share",
            RIGHT,
            HALF_CREDIT,
            "tie_rate",
        )
        caption = f"{dataset.name}{about}."
        yield tables.aspect_table(
            report, dataset, part, names, caption, "pairwise", cell=cell
        )
        if not cell:
            yield from _choices(report, dataset, part)


def _choices(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageFigure | PageTable]:
    """Yield how judges go with people's choices and order systems; nothing without such
    rows.
    """
    present = rows.names("statistic")
    names = (
        "vote_agreement_ties",
        "vote_agreement_decided",
        "kappa_nominal",
        "best_of_n",
        "accuracy_both_orders",
        "kappa_orders",
        "longer_chosen",
        "longer_excess",
        "own_family_chosen",
        "own_family_excess",
    )
    shown = known_names(names, present)
    if not shown:
        return
    columns = tables.statistic_columns([HALF_CREDIT, *shown])
    orders = {"as_listed": "as listed", "swapped": "swapped"}
    if len(rows.where(level=tuple(orders))):
        for level, order in orders.items():
            column = TableColumn(
                f"{label(RIGHT)} {order}",
                "shown in this order only",
                statistic=RIGHT,
                where={"level": level},
            )
            columns.append(column)
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


def _strengths(
    dataset: ShownDataset, rows: ReportRows, aspect: str
) -> Iterator[PageFigure | PageTable]:
    """Yield the strength of each system by people and by judge, and which pairs are in
    order.
    """
    strengths = rows.where(statistic="strength")
    by_judge_and_system = {(row.judge, row.system_subset): row for row in strengths}
    judges = sorted(strengths.names("judge"), key=lambda judge: judge != tables.PEOPLE)
    if not judges:
        return
    lines = []
    for system in strengths.names("system_subset"):
        numbers = [by_judge_and_system.get((judge, system)) for judge in judges]
        lines.append(TableLine(system, estimates(numbers)))
    ordered = rows.where(statistic=RIGHT, level="by_system")
    order = estimates(ordered.where(judge=judge).first for judge in judges)
    columns = columns_of(map(tables.rater, judges))
    meaning = statistic("strength").meaning
    table = PageTable(
        f"{dataset.name}, {aspect}: {meaning}. Last line: share of pairs of systems in "
        "people's order.",
        "System",
        columns,
        [Body(lines), Body([TableLine("pairs in order", order)])],
        source="tables/pairwise.csv",
    )
    title = f"{dataset.name}, {aspect}: strength of each system"
    summary = "Systems that are chosen more often are stronger; the mean of all is 0."
    axis = "strength, with 95 % interval; the line marks the mean of all systems"
    yield tables.chart(title, summary, table, axis=axis, statistics=["strength"])
