"""What prompt forms change, how consistent judges are over them, and how far they
follow hints.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product

from judgescope.report import tables
from judgescope.report.cells import estimate, figures
from judgescope.report.elements import (
    Block,
    Column,
    Figure,
    Fold,
    Heading,
    Line,
    Link,
    Table,
    Text,
)
from judgescope.report.report import Dataset, Judge, Report
from judgescope.report.rows import Rows
from judgescope.report.words import LEVELS, label, listed, plural

SOURCE = "tables/robustness.csv"
ALPHAS = ("alpha_pair", "alpha_joint", "alpha_pairs_mean")
HINT_RATES = ("follow_rate", "hint_adoption_rate", "hint_effect")
HINT_DETAILS = (
    "hint_baseline_rate",
    "difference_follow_rate",
    "match_share",
    "hint_shift",
)
SHIFT = "hint_shift"
REASONS = ("sentiment", "rationale_length")
OVER_FORMS = "sentiment_forms"
CHANGES = ("difference_sentiment", "p_sentiment", "difference_rationale_length")
LEAD = (
    "How much do a judge's ratings depend on the form of the prompt and on a rating in "
    "it (Chaudhary et al. 2024)? All forms ask about the same texts; some give the "
    "judge a rating first, either a wrong one or people's. A judge that follows a "
    "wrong rating as readily as a right one follows the hint, not the text."
)
SHIFTED, OBEYED, P = "injection_shift", "obey_rate", "p_injection"
GAPS = {
    f"difference_{SHIFTED}": (
        "shift by the attack minus shift by the inert text, as a share of the scale"
    ),
    f"difference_{OBEYED}": (
        "share that the attack takes to the top minus the share that the inert text "
        "takes there"
    ),
}
ATTACK, INERT = "attack", "inert"
INJECTED = {ATTACK: "attacks", INERT: "inert texts in place of attacks"}
ATTACK_LEAD = (
    "Each attack adds a text to every original that claims the top of the scale. A "
    "meaningless note of the same length in the same place shows the effect of added "
    "text by itself: the difference between the two is the effect of the attack's "
    "words."
)
GAP = (
    "Change by an attack minus change by an inert text of the same length, on the "
    "same texts."
)
SHIFT_AXIS = (
    "score with attack minus score with inert text, as a share of the scale, "
    "with 95 % interval"
)
READ = {"openai", "vllm", "llama", "recorded"}
"""Engines whose judges may be a model that reads a form; a recorded score has none."""
FORM_STATISTICS = ("pearson", "spearman", "kendall_b")
FORMS_LEAD = (
    "The same model judges the same texts in several ways, which differ in the "
    "requested output, the sampling, or the number of rated examples. Differences are "
    "from the model's first judge in the study, with paired intervals."
)
Models = dict[str, list[Judge]]


@tables.section_of("Evidence", 70, "robustness", "Robustness", LEAD)
def section(report: Report, dataset: Dataset, attacked: Rows) -> Iterator[Block]:
    """Yield the agreement over forms, what hints do, what reasons are like, and
    attacks.
    """
    rows = Rows(attacked.frame.assign(judge_b=""))  # so that a judge can be looked up
    of_people = rows.frame["judge"] == tables.PEOPLE
    of_means = rows.frame["aspect"] == tables.AVERAGE
    aspects = Rows(rows.frame[~(of_people | of_means)]).names("judged")
    columns = tables.aspect_columns(report, aspects)
    per_judge = partial(_per_judge, report, rows, dataset.name, columns)
    if len(rows.where(statistic=ALPHAS)):
        for aspect in aspects:
            yield from _with_people(report, dataset, rows, aspect)
        yield _consistency(dataset, rows, aspects, columns)
        first, *others = map(per_judge, ALPHAS)
        yield first
        yield Fold(f"{dataset.name}: α of people and judge in other ways", others)
    if len(rows.where(statistic="follow_rate")):
        yield from tables.aspect_chart(
            *(report, dataset, rows, SHIFT, ": shift toward the hint"),
            "Points by which a score moves toward the hint, on texts whose score "
            "without the hint differs from it.",
            "points toward the hint, with 95 % interval; the line marks no shift",
            source=SOURCE,
        )
        yield from map(partial(per_judge, counts=True), HINT_RATES)
        details = [per_judge(name, counts=name != SHIFT) for name in HINT_DETAILS]
        yield Fold(f"{dataset.name}: hints in detail", details)
    if len(rows.where(statistic=REASONS)):
        yield from _reasons(report, dataset, rows, columns)
    yield from attacks(report, dataset, attacked)


def _consistency(
    dataset: Dataset, rows: Rows, aspects: Sequence[str], columns: Sequence[Column]
) -> Table:
    forms = rows.where(statistic="alpha_forms")
    alphas = rows.where(statistic="alpha_ordinal", judge=tables.PEOPLE)
    people = (
        alphas.where(judged=one) or alphas.where(judged=one.partition(".")[0])
        for one in aspects
    )
    lines: list[tables.Entry | Line] = [
        Line("people", [estimate(found.first) for found in people])
    ]
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
    rows: Rows,
    title: str,
    columns: Sequence[Column],
    name: str,
    *,
    counts: bool = False,
) -> Table:
    caption = f"{title}; {GAPS.get(name) or tables.statistic_caption(name)}."
    spec = tables.TableSpec(
        caption, columns, statistic=name, source=SOURCE, counts=counts
    )
    return spec.filled(report.judges, rows)


def _with_people(
    report: Report, dataset: Dataset, rows: Rows, aspect: str
) -> Iterator[Figure | Table]:
    """Yield alpha of each judge with people's median; the line is people's own
    agreement.
    """
    plain, alphas = (
        aspect.partition(".")[0],
        rows.where(statistic="alpha_pair", judged=aspect),
    )
    among = rows.where(
        judge=tables.PEOPLE, aspect=plain, statistic="alpha_ordinal"
    ).first
    best = tables.leaders(report.judges, alphas)
    if not best or among is None or among.value is None:
        return
    title = f"{dataset.name}, {report.aspect(aspect)}: agreement with people by form"
    table = tables.TableSpec(
        f"{title}.",
        [Column(label("alpha_pair"), statistic="alpha_pair", where={"aspect": aspect})],
        source=SOURCE,
    ).filled(report.judges, rows)
    yield tables.chart(
        title,
        "α of each judge with people's lower median on "
        f"{report.aspect(aspect).lower()}; people reach {figures(among)} with each "
        f"other. Highest: {listed([r.judge for r in best])}, {figures(best[0])}.",
        table,
        line=among.value,
        axis="α, ordinal, with 95 % interval; the line marks agreement between people",
    )


def _reasons(
    report: Report, dataset: Dataset, rows: Rows, columns: Sequence[Column]
) -> Iterator[Block]:
    """Yield the reasons that judges gave, the effect of a hint on them, and replies
    without any.
    """
    yield from tables.aspect_chart(
        *(report, dataset, rows, "sentiment", ": sentiment of the reasons"),
        "Mean polarity of the words of each judge's reasons, from -1 to 1.",
        "mean polarity, with 95 % interval; the line marks neutral",
        source=SOURCE,
    )
    changed = [name for name in CHANGES if len(rows.where(statistic=name))]
    per_judge = partial(_per_judge, report, rows, dataset.name, columns)
    shown = [*map(per_judge, (*REASONS, *changed))]
    if models := rows.where(statistic=OVER_FORMS).names("judge"):
        gap = f"difference_{OVER_FORMS}"
        lines = [tables.Entry(one, {"judge": one}) for one in models]
        lines += [
            tables.Entry(
                f"{judge}, minus the forms", {"judge": judge, "statistic": gap}
            )
            for judge in rows.where(statistic=gap).names("judge")
        ]
        caption = f"{dataset.name}; {tables.statistic_caption(OVER_FORMS)}"
        over_forms = tables.TableSpec(
            f"{caption}; with a hint, the difference from that mean.",
            columns,
            [tables.RowGroup(lines=lines)],
            statistic=OVER_FORMS,
            source=SOURCE,
            corner="Model, judge",
            code=False,
        )
        shown.append(over_forms.filled((), rows))
    yield Fold(f"{dataset.name}: the reasons that judges gave", shown)


def attacks(report: Report, dataset: Dataset, rows: Rows) -> Iterator[Block]:
    """Yield how far each attack moves each judge, and how many texts it takes to the
    top.
    """
    shift_gap, obey_gap = f"difference_{SHIFTED}", f"difference_{OBEYED}"
    rows = rows.where(statistic=(SHIFTED, OBEYED, P, shift_gap, obey_gap))
    if not len(rows):
        return
    yield Heading(f"{dataset.name}: attacks on the judge", f"injection-{dataset.id}")
    yield Text(ATTACK_LEAD)

    def table(aspect: str, name: str, degree: str) -> Table:
        columns = [
            Column(
                report.perturbation(attack),
                where={"aspect": aspect, "cell": f"{attack}.{degree}"},
            )
            for attack in rows.names("perturbation")
        ]
        title = (
            f"{dataset.name}, {INJECTED[degree]}, "
            f"{tables.aspect_or_mean(report, aspect)}"
        )
        return _per_judge(report, rows, title, columns, name)

    folded: list[Block] = []
    for wording in rows.where(aspect=tables.AVERAGE).names("judged"):
        made = table(wording, shift_gap, ATTACK)
        yield tables.chart(
            f"{dataset.name}: shift by attacks", GAP, made, axis=SHIFT_AXIS
        )
        yield table(wording, OBEYED, ATTACK)
        folded += [table(wording, SHIFTED, degree) for degree in (ATTACK, INERT)]
        folded.append(table(wording, obey_gap, ATTACK))
    folded += [
        table(aspect, P, ATTACK) for aspect in rows.where(statistic=P).names("judged")
    ]
    yield Fold(f"{dataset.name}: attacks in detail", folded)
    yield Link(
        f"See texts of {dataset.name} with the added text marked",
        f"texts.html#{dataset.id}",
    )


# --- the judges of one model beside each other ----------------------------------------


@tables.section_of("Evidence", 20, "forms", "Prompt forms", FORMS_LEAD, always=True)
def forms(report: Report, dataset: Dataset, _: Rows) -> Iterator[Block]:
    """Yield the tables of the first statistic that has rows (of Hu et al. 2024), others
    folded.

    They are of the judges that read a form, by model, for models with several.
    """
    rated = set(report.rows("agreement", dataset.id).names("judge"))
    models: Models = {}
    for judge in report.judges:
        card = report.spec.judges[judge.id]
        if judge.id in rated and judge.engine in READ and card.parser != "number":
            described = replace(judge, about=_asked(report, judge))
            models.setdefault(card.model, []).append(described)
    models = {model: judges for model, judges in models.items() if len(judges) > 1}
    every = [
        (name, found)
        for level, name in product(LEVELS, FORM_STATISTICS)
        if (found := _of_statistic(report, dataset, models, name, level))
    ]
    for name, found in every[:1]:
        for table, rows in found[1:]:
            known = rows.defined.frame
            apart = ((known["ci_low"] > 0) | (known["ci_high"] < 0)).sum()
            summary = (
                f"{table.caption} Of {plural(len(known), 'difference')}, {apart} have "
                "an interval that excludes 0."
            )
            title = f"{dataset.name}: effect of the prompt form"
            axis = f"difference in {label(name)}"
            yield tables.chart(title, summary, table, axis=axis, across=True)
        yield found[0][0]
    if rest := [table for _, found in every[1:] for table, _ in found]:
        yield Fold(f"Other correlations and levels, {dataset.name}", rest)


def _of_statistic(
    report: Report, dataset: Dataset, models: Models, name: str, level: str
) -> list[tuple[Table, Rows]]:
    """Return the agreement of every judge and, if judges are compared, their
    differences.

    Each is a table without empty columns, with its rows.
    """
    means = [
        "".join((tables.AVERAGE, *one.partition(".")[1:])) for one in dataset.aspects
    ]
    aspects = [*dict.fromkeys([*dataset.aspects, *means])]
    title = f"{dataset.name}: {label(name)}, {LEVELS[level][0]}"
    agreement = report.rows("agreement", dataset.id)
    ids = tuple(judge.id for judge in chain(*models.values()))
    reached = agreement.where(
        judge=ids, statistic=name, level=level, judged=tuple(aspects)
    )
    comparison = report.rows("comparison", dataset.id)
    differences = [
        tables.between(comparison, judge, first, name, aspect=aspect, level=level)
        for first, *judges in models.values()
        for judge in judges
        for aspect in aspects
    ]
    caption = f"{title}: difference from the model's first judge; above 0 is better."
    made = []
    for about, source, skipped, numbers in (
        (f"{title}, by form.", "agreement", 0, reached),
        (caption, "comparison", 1, differences),
    ):
        rows = Rows.from_records(
            row._replace(statistic=name, judge_b="") for row in numbers if row
        )
        if len(rows):
            columns = [aspect for aspect in aspects if aspect in rows.names("judged")]
            spec = tables.TableSpec(
                about,
                tables.aspect_columns(report, columns),
                [
                    tables.RowGroup(model, judges=judges[skipped:])
                    for model, judges in models.items()
                ],
                statistic=name,
                level=level,
                source=f"tables/{source}.csv",
                corner="Model and judge",
                every_judge=True,
            )
            made.append((spec.filled((), rows), rows))
    return made


def _asked(report: Report, judge: Judge) -> str:
    card = report.spec.judges[judge.id]
    parts = (
        card.form,
        plural(card.shots, "rated text") if card.shots else "",
        "" if card.temperature is None else f"temperature {card.temperature:g}",
        plural(card.draws, "draw"),
        card.annotation,
    )
    return ", ".join(filter(None, parts))
