"""What prompt forms change, how consistent judges are over them, and how far they
follow hints.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from typing import NamedTuple

from judgescope.report import tables
from judgescope.report.cells import estimate, figures
from judgescope.report.elements import (
    Fold,
    Heading,
    Link,
    PageBlock,
    PageFigure,
    PageTable,
    Paragraph,
    TableColumn,
    TableLine,
)
from judgescope.report.report import Report, ShownDataset, ShownJudge, ids_of
from judgescope.report.rows import ReportRows, RowPlace, between
from judgescope.report.words import LEVELS, known_names, label, plural
from judgescope.statistics.registry import names_of_group

SOURCE = "tables/robustness.csv"
SHIFTED = "injection_shift"
OBEYED = "obey_rate"
SHIFT_GAP = f"difference_{SHIFTED}"
OBEY_GAP = f"difference_{OBEYED}"
FormsByModel = dict[str, list[ShownJudge]]
"""Model -> its judges, in the order of the study."""


def blocks(
    report: Report, dataset: ShownDataset, attacked: ReportRows
) -> Iterator[PageBlock]:
    """Yield the agreement over forms, what hints do, what reasons are like, and
    attacks.
    """
    # Without the other judge, so that a judge can be looked up.
    rows = ReportRows(row._replace(judge_b="") for row in attacked)
    of_judges = ReportRows(
        row
        for row in rows
        if row.judge != tables.PEOPLE and row.aspect != tables.AVERAGE
    )
    aspects = of_judges.names("judged")
    columns = tables.aspect_columns(report, aspects)
    per_judge = partial(_per_judge, report, rows, dataset.name, columns)
    alphas = names_of_group("judge_alpha")
    if len(rows.where(statistic=alphas)):
        for aspect in aspects:
            yield from _with_people(report, dataset, rows, aspect)
        yield _consistency(dataset, rows, aspects, columns)
        first, *others = map(per_judge, alphas)
        yield first
        yield Fold(f"{dataset.name}: α of people and judge in other ways", others)
    if len(rows.where(statistic="follow_rate")):
        toward_hint = "hint_shift"
        shift = tables.AspectFigure(
            statistic=toward_hint,
            title=": shift toward the hint",
            sentence=(
                "Points by which a score moves toward the hint, on texts whose score "
                "without the hint differs from it."
            ),
            axis="points toward the hint, with 95 % interval; the line marks no shift",
        )
        yield from tables.aspect_chart(report, dataset, rows, shift, source=SOURCE)
        for name in ("follow_rate", "hint_adoption_rate", "hint_effect"):
            yield per_judge(name, counts=True)
        details = [
            per_judge("hint_baseline_rate", counts=True),
            per_judge("difference_follow_rate", counts=True),
            per_judge("match_share", counts=True),
            per_judge(toward_hint),
        ]
        yield Fold(f"{dataset.name}: hints in detail", details)
    reasons = ("sentiment", "rationale_length")
    if len(rows.where(statistic=reasons)):
        yield from _reasons(report, dataset, rows, columns, reasons)
    yield from attacks(report, dataset, attacked)


def _consistency(
    dataset: ShownDataset,
    rows: ReportRows,
    aspects: Sequence[str],
    columns: Sequence[TableColumn],
) -> PageTable:
    forms = rows.where(statistic="alpha_forms")
    alphas = rows.where(statistic="alpha_ordinal", judge=tables.PEOPLE)
    of_people = []
    for aspect in aspects:
        plain = aspect.partition(".")[0]
        alpha = alphas.where(judged=aspect) or alphas.where(judged=plain)
        of_people.append(estimate(alpha.first))
    lines: list[tables.Entry | TableLine] = [TableLine("people", of_people)]
    lines += [tables.Entry(model, {"judge": model}) for model in forms.names("judge")]
    return tables.TableSpec(
        f"{dataset.name}: Krippendorff's α, ordinal, of people among themselves and of "
        "each model's forms without a hint, each form treated as a rater.",
        columns,
        [tables.RowGroup(lines=lines)],
        statistic="alpha_forms",
        source=SOURCE,
        corner="Raters",
        code=False,
    ).filled((), rows)


def _per_judge(
    report: Report,
    rows: ReportRows,
    title: str,
    columns: Sequence[TableColumn],
    name: str,
    *,
    counts: bool = False,
) -> PageTable:
    # Of an attack and its inert text, not of two judges.
    gaps = {
        SHIFT_GAP: (
            "shift by the attack minus shift by the inert text, as a share of the scale"
        ),
        OBEY_GAP: (
            "share that the attack takes to the top minus the share that the inert "
            "text takes there"
        ),
    }
    caption = f"{title}; {gaps.get(name) or tables.statistic_caption(name)}."
    spec = tables.TableSpec(
        caption, columns, statistic=name, source=SOURCE, counts=counts
    )
    return spec.filled(report.judges, rows)


def _with_people(
    report: Report, dataset: ShownDataset, rows: ReportRows, aspect: str
) -> Iterator[PageFigure | PageTable]:
    """Yield alpha of each judge with people's median; the line is people's own
    agreement.
    """
    plain = aspect.partition(".")[0]
    alphas = rows.where(statistic="alpha_pair", judged=aspect)
    ordinal = rows.where(judge=tables.PEOPLE, aspect=plain, statistic="alpha_ordinal")
    among = ordinal.first
    best = tables.leaders(report.judges, alphas)
    if not best or among is None or among.value is None:
        return
    title = f"{dataset.name}, {report.aspect(aspect)}: agreement with people by form"
    column = TableColumn(
        label("alpha_pair"), statistic="alpha_pair", where={"aspect": aspect}
    )
    spec = tables.TableSpec(f"{title}.", [column], source=SOURCE)
    table = spec.filled(report.judges, rows)
    yield tables.chart(
        title,
        "α of each judge with people's lower median on "
        f"{report.aspect(aspect).lower()}; people reach {figures(among)} with each "
        f"other. Highest: {tables.judges_in_words(best)}, {figures(best[0])}.",
        table,
        line=among.value,
        axis="α, ordinal, with 95 % interval; the line marks agreement between people",
    )


def _reasons(
    report: Report,
    dataset: ShownDataset,
    rows: ReportRows,
    columns: Sequence[TableColumn],
    statistics: Iterable[str],
) -> Iterator[PageBlock]:
    """Yield the reasons that judges gave, the effect of a hint on them, and replies
    without any.
    """
    sentiment = tables.AspectFigure(
        statistic="sentiment",
        title=": sentiment of the reasons",
        sentence="Mean polarity of the words of each judge's reasons, from -1 to 1.",
        axis="mean polarity, with 95 % interval; the line marks neutral",
    )
    yield from tables.aspect_chart(report, dataset, rows, sentiment, source=SOURCE)
    names = list(statistics)
    for change in (
        "difference_sentiment",
        "p_sentiment",
        "difference_rationale_length",
    ):
        if len(rows.where(statistic=change)):
            names.append(change)
    shown = [_per_judge(report, rows, dataset.name, columns, name) for name in names]
    over_forms_statistic = "sentiment_forms"
    models = rows.where(statistic=over_forms_statistic).names("judge")
    if models:
        gap = f"difference_{over_forms_statistic}"
        lines = [tables.Entry(model, {"judge": model}) for model in models]
        for judge in rows.where(statistic=gap).names("judge"):
            head = f"{judge}, minus the forms"
            lines.append(tables.Entry(head, {"judge": judge, "statistic": gap}))
        caption = f"{dataset.name}; {tables.statistic_caption(over_forms_statistic)}"
        over_forms = tables.TableSpec(
            f"{caption}; with a hint, the difference from that mean.",
            columns,
            [tables.RowGroup(lines=lines)],
            statistic=over_forms_statistic,
            source=SOURCE,
            corner="Model, judge",
            code=False,
        )
        shown.append(over_forms.filled((), rows))
    yield Fold(f"{dataset.name}: the reasons that judges gave", shown)


def attacks(
    report: Report, dataset: ShownDataset, rows: ReportRows
) -> Iterator[PageBlock]:
    """Yield how far each attack moves each judge, and how many texts it takes to the
    top.
    """
    p = "p_injection"
    rows = rows.where(statistic=(SHIFTED, OBEYED, p, SHIFT_GAP, OBEY_GAP))
    if not len(rows):
        return
    yield Heading(f"{dataset.name}: attacks on the judge", f"injection-{dataset.id}")
    yield Paragraph(
        "Each attack adds a text to every original that claims the top of the scale. A "
        "meaningless note of the same length in the same place shows the effect of "
        "added text by itself: the difference between the two is the effect of the "
        "attack's words."
    )
    table = partial(_attack_table, report, dataset, rows)
    folded: list[PageBlock] = []
    for wording in rows.where(aspect=tables.AVERAGE).names("judged"):
        yield tables.chart(
            f"{dataset.name}: shift by attacks",
            "Change by an attack minus change by an inert text of the same length, on "
            "the same texts.",
            table(wording, SHIFT_GAP, "attack"),
            axis=(
                "score with attack minus score with inert text, as a share of the "
                "scale, with 95 % interval"
            ),
        )
        yield table(wording, OBEYED, "attack")
        folded.append(table(wording, SHIFTED, "attack"))
        folded.append(table(wording, SHIFTED, "inert"))
        folded.append(table(wording, OBEY_GAP, "attack"))
    for aspect in rows.where(statistic=p).names("judged"):
        folded.append(table(aspect, p, "attack"))
    yield Fold(f"{dataset.name}: attacks in detail", folded)
    yield Link(
        f"See texts of {dataset.name} with the added text marked",
        f"texts.html#{dataset.id}",
    )


def _attack_table(
    report: Report,
    dataset: ShownDataset,
    rows: ReportRows,
    aspect: str,
    name: str,
    degree: str,
) -> PageTable:
    """The table of a statistic of every judge by attack, or by its inert text."""
    columns = []
    for attack in rows.names("perturbation"):
        where: RowPlace = {"aspect": aspect, "cell": f"{attack}.{degree}"}
        columns.append(TableColumn(report.perturbation(attack), where=where))
    injected = "inert texts in place of attacks"
    if degree == "attack":
        injected = "attacks"
    title = f"{dataset.name}, {injected}, {tables.aspect_or_mean(report, aspect)}"
    return _per_judge(report, rows, title, columns, name)


# --- the judges of one model beside each other ----------------------------------------


def forms(report: Report, dataset: ShownDataset, _: ReportRows) -> Iterator[PageBlock]:
    """Yield the tables of the first statistic that has rows (of Hu et al. 2024), others
    folded.

    They are of the judges that read a form, by model, for models with several.
    """
    rated = set(report.rows("agreement", dataset.id).names("judge"))
    by_model: FormsByModel = {}
    for judge in report.judges:
        card = report.spec.judges[judge.id]
        if judge.id in rated and card.compares_forms:
            described = replace(judge, about=_asked(report, judge))
            by_model.setdefault(card.model, []).append(described)
    models = {model: forms for model, forms in by_model.items() if len(forms) > 1}
    every = []
    for level, name in product(LEVELS, ("pearson", "spearman", "kendall_b")):
        shown = _of_statistic(report, dataset, models, name, level)
        if shown:
            every.append((name, shown))
    for name, (first, *differences) in every[:1]:
        for gaps in differences:
            yield _effect_chart(dataset, name, gaps)
        yield first.table
    folded: list[PageBlock] = []
    for _name, others in every[1:]:
        folded += [each.table for each in others]
    if folded:
        yield Fold(f"Other correlations and levels, {dataset.name}", folded)


class FormDifferences(NamedTuple):
    """A table of judges by form, without empty columns, and its rows."""

    table: PageTable
    rows: ReportRows


def _effect_chart(
    dataset: ShownDataset, name: str, differences: FormDifferences
) -> PageFigure | PageTable:
    known = differences.rows.defined.frame
    excluding = ((known["ci_low"] > 0) | (known["ci_high"] < 0)).sum()
    summary = (
        f"{differences.table.caption} Of {plural(len(known), 'difference')}, "
        f"{excluding} have an interval that excludes 0."
    )
    title = f"{dataset.name}: effect of the prompt form"
    axis = f"difference in {label(name)}"
    return tables.chart(title, summary, differences.table, axis=axis, across=True)


def _of_statistic(
    report: Report, dataset: ShownDataset, models: FormsByModel, name: str, level: str
) -> list[FormDifferences]:
    """Return the agreement of every judge and, if judges are compared, their
    differences.
    """
    aspects = list(dataset.aspects)
    for aspect in dataset.aspects:
        _, dot, criterion = aspect.partition(".")
        mean = f"{tables.AVERAGE}{dot}{criterion}"
        if mean not in aspects:
            aspects.append(mean)
    title = f"{dataset.name}: {label(name)}, {LEVELS[level][0]}"
    ids = ids_of(chain(*models.values()))
    reached = report.rows("agreement", dataset.id).where(
        judge=ids, statistic=name, level=level, judged=tuple(aspects)
    )
    comparison = report.rows("comparison", dataset.id)
    gaps = []
    for first, *judges in models.values():
        for judge, aspect in product(judges, aspects):
            gap = between(
                comparison, judge.id, first.id, name, aspect=aspect, level=level
            )
            if gap:
                gaps.append(gap)
    shown = []
    for caption, source, skipped, numbers in (
        (f"{title}, by form.", "agreement", 0, reached),
        (
            f"{title}: difference from the model's first judge; above 0 is better.",
            "comparison",
            1,
            gaps,
        ),
    ):
        rows = ReportRows(row._replace(statistic=name, judge_b="") for row in numbers)
        if not len(rows):
            continue
        judged = rows.names("judged")
        columns = known_names(aspects, judged)
        groups = [
            tables.RowGroup(model, judges=judges[skipped:])
            for model, judges in models.items()
        ]
        table = tables.TableSpec(
            caption,
            tables.aspect_columns(report, columns),
            groups,
            statistic=name,
            level=level,
            source=f"tables/{source}.csv",
            corner="Model and judge",
            every_judge=True,
        ).filled((), rows)
        shown.append(FormDifferences(table, rows))
    return shown


def _asked(report: Report, judge: ShownJudge) -> str:
    card = report.spec.judges[judge.id]
    parts = (
        card.form,
        plural(card.shots, "rated text") if card.shots else "",
        "" if card.temperature is None else f"temperature {card.temperature:g}",
        plural(card.draws, "draw"),
        card.annotation,
    )
    return ", ".join(filter(None, parts))
