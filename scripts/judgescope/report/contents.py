"""The table of contents of the report: all sections, in their order."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from judgescope.core.errors import UserError
from judgescope.core.registry import Registry
from judgescope.report.elements import Section
from judgescope.report.items import FEWEST_SHOWN, TEXTS_SHOWN
from judgescope.report.report import Report
from judgescope.report.section import GROUPS, ReportSection
from judgescope.report.sections import (
    agreement,
    confidence,
    confusion,
    corrected,
    cost,
    discernment,
    ensemble,
    first,
    frontier,
    judges,
    labels,
    perspectives,
    perturbations,
    reliability,
    robustness,
    rubrics,
    slices,
    spans,
    study,
    triage,
)
from judgescope.report.tables import AspectFigure

CONTENTS: Final = (
    ReportSection(
        id="judges",
        group="Verdict",
        title="The judges",
        lead="",
        of_study=first.first_screen,
    ),
    ReportSection(
        id="evidence",
        group="Verdict",
        title="Every claim",
        lead=(
            "Every claim about every judge: its outcome, its number, and what limits "
            "it. A line leads to the evidence on the page of its judge."
        ),
        of_study=judges.every_claim,
    ),
    ReportSection(
        id="limits",
        group="Verdict",
        title="Controls and limits",
        lead=(
            "Read this before you use a verdict: a control ignores quality, so a judge "
            "should be better."
        ),
        of_dataset=judges.limits,
        always=True,
    ),
    ReportSection(
        id="agreement",
        group="Evidence",
        title="Agreement",
        lead=(
            "A correlation has a level: over all targets pooled it also rewards a "
            "judge that knows which sources are easy; within one source it asks only "
            "which text is better."
        ),
        of_dataset=agreement.blocks,
        empty="No target of this dataset has ratings.",
    ),
    ReportSection(
        id="labels",
        group="Evidence",
        title="Labels",
        lead=(
            "How far a judge's label can be relied on depends on how many texts are "
            "good: precision, accuracy and agreement beyond chance are valid only at "
            "the base rate of these texts; the shares of bad and of good texts that "
            "are found do not depend on it."
        ),
        of_dataset=labels.blocks,
        after=labels.left_out,
    ),
    ReportSection(
        id="forms",
        group="Evidence",
        title="Prompt forms",
        lead=(
            "The same model judges the same texts in several ways, which differ in the "
            "requested output, the sampling, or the number of rated examples. "
            "Differences are from the model's first judge in the study, with paired "
            "intervals."
        ),
        of_dataset=robustness.forms,
        always=True,
    ),
    ReportSection(
        id="system_pairs",
        group="Evidence",
        title="Pairs of systems",
        lead=(
            "One-sided p-values for the first system of a pair being better, by "
            "people's mean ratings and by each judge's scores. The paired test flips "
            "the signs of differences by source, as soft pairwise accuracy does; the "
            "rank-sum test ignores that both systems wrote about the same sources, and "
            "so finds fewer differences. Neither is corrected for the number of pairs."
        ),
        of_dataset=agreement.system_pairs,
    ),
    ReportSection(
        id="corrected",
        group="Evidence",
        title="What the systems really score",
        lead=(
            "A judge scores all sources, people rated some. Its mean over the others, "
            "corrected by its error on the rated ones, is the mean that people would "
            "give (Angelopoulos et al. 2023). The correction removes the judge's "
            "bias; it seldom saves many ratings: a rating worth 1.25 ratings saves a "
            "fifth of them. The judge's own means stand beside it, uncorrected. Where "
            "rated sources differ from the others in what the judge errs on, there is "
            "neither number."
        ),
        of_dataset=corrected.blocks,
    ),
    ReportSection(
        id="choice",
        group="Evidence",
        title="Which system is best",
        lead=(
            "People's pick, each judge's own and the one by its corrected means. A "
            "share of draws tells how sure a pick is and is no test; a system may be "
            "best if no other is significantly better. The gain of a pick is its mean "
            "rating minus that of all systems, on sources that had no part in it; "
            "regret is what people's pick gains more."
        ),
        of_dataset=corrected.choice,
    ),
    ReportSection(
        id="slices",
        group="Evidence",
        title="Where a judge is worse",
        lead=slices.LEAD,
        of_dataset=slices.blocks,
    ),
    ReportSection(
        id="rubrics",
        group="Evidence",
        title="Criteria of a rubric",
        lead=rubrics.LEAD,
        of_dataset=rubrics.blocks,
    ),
    ReportSection(
        id="triage",
        group="Evidence",
        title="What may pass without a person",
        lead=(
            "From a score on, a judge may pass texts alone, and up to another one "
            "reject them, so that with a chance of 95 % at most 10 % of them are wrong "
            "(or as the study says); all others go to people. The promise is for texts "
            "like the rated ones: another system, task or judge needs a new test."
        ),
        of_dataset=triage.blocks,
    ),
    ReportSection(
        id="reliability",
        group="Evidence",
        title="How reliable people's ratings are",
        lead=(
            "Ratings differ because texts do, because some raters are milder, and for "
            "other reasons. The more of the last two, the lower the ceiling: no judge "
            "can correlate with people's mean beyond it, however good it is. A plan "
            "says how many sources and ratings a text settle the order of systems."
        ),
        of_dataset=reliability.blocks,
    ),
    ReportSection(
        id="criteria",
        group="Evidence",
        title="Correlated criteria",
        lead=(
            "Does a judge that is asked about one aspect rate another (Hu et al. "
            "2024)? If so, its scores of two aspects correlate, or its scores of one "
            "aspect follow the ratings of the other more than its own."
        ),
        of_dataset=confusion.criteria,
    ),
    ReportSection(
        id="discernment",
        group="Evidence",
        title="Discernment",
        lead=(
            "Does a judge score perturbed texts below their originals (Wang et al. "
            "2024)? The number is the net share noticed; the published index D, in six "
            "forms, is folded below it."
        ),
        of_dataset=discernment.noticed,
        empty="This dataset has no perturbations.",
    ),
    ReportSection(
        id="confusion",
        group="Evidence",
        title="Criterion confusion",
        lead=(
            "Does perturbing one quality lower the scores of others (Hu et al. 2024)? "
            "Δ is the mean drop of a score; S_T is the mean of Δ where a drop is "
            "wanted, S_F where none is. A judge that separates qualities has a "
            "confusion index, S_F over S_T, near 0 and an AUC near 1."
        ),
        of_dataset=confusion.blocks,
    ),
    ReportSection(
        id="perspectives",
        group="Evidence",
        title="Perspectives",
        lead=(
            "Does a judge find a known rating, and a known order (Hu et al. 2025)? "
            "Correlation with the mean rating of all texts is the traditional view. "
            "The direct view keeps the texts on whose rating all raters agree, and "
            "asks two separate questions: does the judge find that rating (κ, "
            "CEM-ORD), and does it order texts of one source that are rated "
            "differently? Judges that are good at one need not be good at the other. "
            "Error-injection chains, each text with one more error than the last, ask "
            "the second question without ratings; graded sets, texts of every rating "
            "made with more or fewer errors, ask the first."
        ),
        of_dataset=perspectives.blocks,
        before=perspectives.over_datasets,
    ),
    ReportSection(
        id="robustness",
        group="Evidence",
        title="Robustness",
        lead=(
            "How much do a judge's ratings depend on the form of the prompt and on a "
            "rating in it (Chaudhary et al. 2024)? All forms ask about the same texts; "
            "some give the judge a rating first, either a wrong one or people's. A "
            "judge that follows a wrong rating as readily as a right one follows the "
            "hint, not the text."
        ),
        of_dataset=robustness.blocks,
    ),
    ReportSection(
        id="ensemble",
        group="Evidence",
        title="Ensembles",
        lead=(
            "An ensemble's score is the mean of its members' scores (Kartáč et al. "
            "2025); its label is the one that most members give (a tie counts as "
            "missing). Does it agree with people more than its members do, with how "
            "many members, and which of them does it need? Members with correlated "
            "errors are worth fewer independent judges: their effective number."
        ),
        of_dataset=ensemble.blocks,
    ),
    ReportSection(
        id="distilled",
        group="Evidence",
        title="The distilled judge",
        lead=(
            "A small model was trained to reproduce its teacher's error lists and "
            "scores, from 0 to 100. Held-out replies were not used for training. Their "
            "loss shows how well the model predicts the teacher's words, not whether "
            "it judges well: see Agreement for that."
        ),
        of_study=ensemble.distilled,
    ),
    ReportSection(
        id="faults",
        group="Evidence",
        title="Planned faults",
        lead=(
            "The authors of these texts planned a fault into some of them. A judge "
            "notices a fault when it scores the faulty text strictly below the clean "
            "text of the same item."
        ),
        of_dataset=perturbations.faults,
    ),
    ReportSection(
        id="spans",
        group="Evidence",
        title="Error spans",
        lead=(
            "Some judges list errors and quote the erroneous words (Kartáč et al. "
            "2025). Do the quotes occur in the text, and do they match the errors that "
            "people marked? An annotation is one list of errors with its verdict: a "
            "judge's reply, or the list that an ensemble merges from its members' "
            "lists. Every annotation counts, even if a text has several. Below the "
            f"tables are {TEXTS_SHOWN} texts of each dataset with their errors, spread "
            f"over its aspects, but at least {FEWEST_SHOWN} for each aspect."
        ),
        of_dataset=spans.blocks,
    ),
    ReportSection(
        id="repeatability",
        group="Evidence",
        title="Repeatability",
        lead=(
            "Several replies to the same request: how often they differ, and how many "
            "must be averaged to reach 95 % of the correlation with people that "
            "infinitely many would have."
        ),
        figure=AspectFigure(
            statistic="flip_rate",
            title=": replies that differ",
            sentence="Texts with different scores in two replies to the same request.",
            axis="share of texts with differing replies, with 95 % interval",
            level="pooled",
        ),
        when="flip_rate",
        fold="all numbers",
        columns=(
            "alpha_draws",
            "flip_rate",
            "tied_modes",
            "reliability",
            "draws_needed",
        ),
    ),
    ReportSection(
        id="pairwise",
        group="Evidence",
        title="Position bias and pairwise comparison",
        lead=(
            "Judges that choose between two texts are asked in both orders. A "
            "first-position rate of 50 % is fair; accuracy covers the pairs in which "
            "people prefer one text."
        ),
        of_dataset=agreement.pairwise,
    ),
    ReportSection(
        id="confidence",
        group="Evidence",
        title="Confidence",
        lead=(
            "When a judge says 90 %, is it right nine times in ten? Right means that "
            "its verdict is people's, who differ among themselves. Gap (stated chance "
            "minus share right) and slope decide whether a judge is too sure or not "
            "sure enough; the other numbers describe. From the threshold on at most "
            "10 % of its verdicts are wrong, with a chance of 95 %, on texts like "
            "these."
        ),
        of_dataset=confidence.blocks,
    ),
    ReportSection(
        id="cost",
        group="Evidence",
        title="Cost",
        lead=cost.lead,
        of_study=cost.blocks,
    ),
    ReportSection(
        id="frontier",
        group="Evidence",
        title="What to buy",
        lead=frontier.LEAD,
        of_dataset=frontier.blocks,
    ),
    ReportSection(
        id="perturbations",
        group="Data quality",
        title="Perturbations",
        lead=(
            "Every perturbed text differs from its original. Short means that fewer "
            "edits took effect than planned, impossible that the text offers no place "
            "for the perturbation."
        ),
        of_dataset=perturbations.perturbations,
    ),
    ReportSection(
        id="construction",
        group="Data quality",
        title="Construction",
        lead=(
            "How texts with known quality were made for this study. A graded set has "
            "texts of every rating: errors are put into references, and a text's "
            "rating follows from their number or from comparing it with anchors, texts "
            "on whose rating people (and a judge) agree. The texts of an "
            "error-injection chain have one more error each. No number here is about a "
            "judge."
        ),
        of_dataset=perturbations.construction,
    ),
    ReportSection(
        id="coverage",
        group="Data quality",
        title="Coverage",
        lead=(
            "All judgments that were planned for existing texts, by outcome. A reply "
            "that could not be read never counts as a score."
        ),
        of_dataset=study.coverage,
    ),
    ReportSection(
        id="unmeasured",
        group="Data quality",
        title="Planned, not measured",
        lead=(
            "Undefined numbers are left out, never replaced: this section lists all of "
            "them, by table and reason. Coverage lists the planned judgments without a "
            "score."
        ),
        of_study=study.unmeasured,
    ),
    ReportSection(
        id="data",
        group="Data quality",
        title="Data and licences",
        lead="Every dataset keeps its own terms; its texts are not part of this file.",
        of_study=study.data,
    ),
    ReportSection(
        id="reproduce",
        group="Reproduce",
        title="How to reproduce",
        lead=(
            "The same lock file and the same replies give the same bytes: the tables, "
            "and this file. Intervals are 95 %, jackknife-t over the sources, unless a "
            "table's method says otherwise."
        ),
        of_study=study.reproduce,
    ),
    ReportSection(
        id="legend",
        group="Reproduce",
        title="Legend",
        lead="Signs, letters and shades mean the same on every page of this report.",
        of_study=judges.legend,
    ),
)
"""The sections of this package; those of others come last in the group they name."""

SECTIONS: Final = Registry("sections", ReportSection, "judgescope.report.sections")
"""The sections of other packages: the built-in ones are listed above."""


def sections_of(report: Report) -> list[Section]:
    """The sections that a study has something for, in the order of the contents."""
    records = [*CONTENTS, *_added(report)]
    # The order of a group's records is kept: those of other packages come last.
    records.sort(key=lambda record: GROUPS.index(record.group))
    sections = []
    for record in records:
        section = record.made(report)
        if section is not None:
            sections.append(replace(section, group=record.group))
    return sections


def section_named(name: str, report: Report) -> Section | None:
    """One built-in section by its id, in no group: for pages that have no contents.

    None: the study has nothing for it.

    KeyError: there is no such section.
    """
    return _built_in()[name].made(report)


def _built_in() -> dict[str, ReportSection]:
    return {record.id: record for record in CONTENTS}


def _added(report: Report) -> Iterator[ReportSection]:
    """The sections of the packages that the study uses.

    UserError: an id of a section of ours, or a group that the contents do not have.
    """
    where = f"entry points of {SECTIONS.group}"
    for name, point in SECTIONS.add_ons.items():
        if point.value not in report.spec.add_ons:
            continue
        if name in _built_in():
            raise UserError(
                "a package provides a section that the report already has",
                where=where,
                got=name,
                todo="let the author of the package rename the section",
            )
        record = SECTIONS.load(point.value)
        if record.group not in GROUPS:
            raise UserError(
                "a section of a package names an unknown group of the contents",
                where=f"{where}, {name}",
                got=record.group,
                allowed=GROUPS,
            )
        yield record
