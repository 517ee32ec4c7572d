"""The numbers of a page as lines: claims with what they had to beat, judges beside each
other, draws, places, and what the file has beside them.
"""

from collections.abc import Iterator, Sequence

from judgescope.cli.audit.corrected_rates import CorrectedRate
from judgescope.cli.audit.findings import AuditFindings
from judgescope.cli.audit.further import (
    ConfidenceColumn,
    StatedCalibration,
    UnratedScores,
)
from judgescope.cli.audit.rubric_scores import RubricScore, why_no_score
from judgescope.cli.audit.wording import SHORT
from judgescope.methods.claims.base import HANGS_ON, LABELS, SOURCES_COUNTED
from judgescope.report.cells import figures
from judgescope.report.claims import FOUND, ReportedClaim
from judgescope.report.literature import line
from judgescope.report.report import Report
from judgescope.report.sections.sentences import (
    class_counts,
    number,
    rival_in_words,
)
from judgescope.report.words import count, label, p_value, plural
from judgescope.statistics.confidence import Calibration
from judgescope.statistics.confidence_bins import Bin
from judgescope.statistics.selective import Guarantee


def about(report: Report, claim: ReportedClaim) -> str:
    """What a claim is about, in a few words."""
    if claim.kind in SHORT and claim.subject:
        return claim.subject
    labels = report.datasets[0].labels_on(claim.row.judged)
    if claim.kind in FOUND and len(labels) == 2:
        return f"“{labels[FOUND[claim.kind]]}” texts found, {claim.subject}"
    return claim.respect.format(claim.subject)


def counted(claim: ReportedClaim) -> str:
    """The texts that count for a claim, and their sources if these are fewer.

    Where a judge makes no error on labels, only the sources with the rarest label
    decide the interval: then these are not the sources of all the texts.
    """
    sources = claim.others.get(SOURCES_COUNTED)
    if sources is None or claim.row.value is None:
        return ""
    unit = "source" if claim.kind == "pairs" else "text"
    texts = plural(claim.row.n, unit)
    if unit == "source" or sources.n == claim.row.n:
        return texts
    if claim.kind == LABELS:
        return f"{texts}; {plural(sources.n, 'source')} decide the interval"
    return f"{texts} of {plural(sources.n, 'source')}"


def limit_or_rival(claim: ReportedClaim) -> str:
    """The system that a claim hangs on, else the strongest rule and what it reaches.

    Of a claim that hangs on one system, another rival's number would not say why its
    sign is that of a limit.
    """
    system = claim.codes.get(HANGS_ON, "")
    if system:
        return f"without the texts of system {system} it is not shown"
    return rival_in_words(claim)


def number_and_rival(report: Report, claim: ReportedClaim) -> str:
    """The number of a claim, what it counts, and the strongest rule beside it."""
    parts = [
        number(claim) or "no number",
        class_counts(report, claim),
        counted(claim),
        limit_or_rival(claim),
    ]
    return "; ".join(filter(None, parts))


def claim_lines(report: Report, claims: Sequence[ReportedClaim]) -> Iterator[str]:
    """Yield a line for each of the first claims about a judge: its sign and number.

    With few claims also the measures of the literature, without their intervals.
    """
    # Claims of a judge that a page in the terminal shows.
    most_claims = 4
    for claim in claims[:most_claims]:
        yield f"{claim.sign} {about(report, claim)}: {number_and_rival(report, claim)}"
    published = [(claim, line(report, claim, intervals=False)) for claim in claims]
    named = [(claim, text) for claim, text in published if text]
    # Claims of a judge for which it shows the literature's measures.
    most_published = 2
    if len(named) <= most_published:
        for claim, text in named:
            yield f"in the literature's measures, {claim.subject}: {text}"
    elif named:
        yield (
            f"in the literature's measures: {plural(len(named), 'aspect')} in the "
            "output of --json or --html"
        )
    if len(claims) > most_claims:
        more = plural(len(claims) - most_claims, "more claim")
        yield f"{more} in the output of --json or --html"


def gap_lines(findings: AuditFindings) -> Iterator[str]:
    """Yield how far judges are from the best one on each aspect."""
    by_aspect: dict[str, list[str]] = {}
    best: dict[str, str] = {}
    for gap in findings.gaps:
        p = gap.p_holm.value
        shown = "" if p is None else f", p {p_value(p)}"
        verdict = "behind" if gap.apart else "cannot tell apart"
        by_aspect.setdefault(gap.aspect, []).append(
            f"{findings.named(gap.other)} {figures(gap.difference)} ({verdict}{shown})"
        )
        best[gap.aspect] = findings.named(gap.best)
    for aspect, others in by_aspect.items():
        name = findings.report.aspect(aspect)
        yield f"{name}: best {best[aspect]}; it minus {'; '.join(others)}"


def place_lines(findings: AuditFindings) -> Iterator[str]:
    """Yield how often judge and people choose the text that is shown first."""
    for choices in findings.place_choices:
        name = findings.report.aspect(choices.aspect)
        verdict = "differs" if choices.differs else "no difference shown"
        yield (
            f"first text chosen, {name}: {findings.named(choices.judge)} "
            f"{figures(choices.of_judge)}, people {figures(choices.of_people)}; "
            f"difference {figures(choices.gap)} ({verdict}), "
            f"n = {count(choices.gap.n)} pairs"
        )


def draw_lines(findings: AuditFindings) -> Iterator[str]:
    """Yield how well the draws of one judge agree."""
    for repeated in findings.repeated_draws:
        name = findings.report.aspect(repeated.aspect)
        judge = findings.named(repeated.judge)
        yield (
            f"{judge} with itself, {name}: {repeated.draws} draws, "
            f"{label(repeated.agreement.statistic)} {figures(repeated.agreement)}; "
            f"draws differ in {figures(repeated.flips)} of "
            f"{plural(repeated.flips.n, 'text')}; its first draw is its score"
        )


def further_lines(findings: AuditFindings) -> Iterator[str]:
    """Yield what else the file has: confidence, scores of texts that nobody rated."""
    for column in findings.confidences:
        if column.why_none:
            judge = findings.named(column.judge)
            whose = f"of {judge}" if column.judge else "of an unknown judge"
            span = ""
            if column.low is not None and column.high is not None:
                span = f", {column.low:g} to {column.high:g}"
            yield (
                f"confidence {whose}: column {column.column}, {count(column.count)} of "
                f"{plural(column.rows, 'row')}{span}; {column.why_none}"
            )
        for stated in column.calibrations:
            yield calibration_line(findings, column, stated)
    for unrated in findings.unrated:
        yield unrated_line(findings, unrated)
    for rate in findings.corrected:
        yield corrected_line(findings, rate)
    for score in findings.rubric_scores:
        yield rubric_line(findings, score)
    without = why_no_score(findings.draft)
    if without:
        yield without


def rubric_line(findings: AuditFindings, score: RubricScore) -> str:
    """How many of the points a judge gives, beside experts."""
    judge = findings.named(score.judge)
    parts = [
        f"score of the rubric, {judge}: {figures(score.score)}",
        f"experts {figures(score.experts)}",
        f"the judge's minus theirs, by response, {figures(score.error)}",
    ]
    if score.unmet.note:
        parts.append(score.unmet.note)
    return f"{'; '.join(parts)} ({plural(score.error.n, 'response')})"


def corrected_line(findings: AuditFindings, rate: CorrectedRate) -> str:
    """What all texts of a judge would have from people, or why nobody can say."""
    report = findings.report
    whose = f" of {rate.system}" if rate.system and findings.texts else ""
    if rate.system and not findings.texts:
        whose = " of a system"
    name = report.aspect(rate.aspect)
    head = f"mean{whose} on {name}, {findings.named(rate.judge)} corrected by people: "
    row = rate.corrected
    if row.value is None:
        return head + row.note
    own = rate.uncorrected
    beside = ""
    if own is not None and own.value is not None:
        beside = f"; uncorrected {figures(own)}"
    noted = f"; {row.note}" if row.note else ""
    return f"{head}{figures(row)}{beside} ({plural(row.n, 'rated source')}{noted})"


def calibration_line(
    findings: AuditFindings, column: ConfidenceColumn, stated: StatedCalibration
) -> str:
    """How a judge's confidence compares with how often it gives people's verdict."""
    name = findings.report.aspect(stated.aspect)
    of_label = f", the chance of “{stated.label}”" if stated.label else ""
    judge = findings.named(stated.judge)
    clause_of = {
        Calibration.OVER: "it is over-confident",
        Calibration.UNDER: "it is under-confident",
        Calibration.EXTREME: "its confidences are too extreme",
        Calibration.TIMID: "its confidences are too timid",
        Calibration.NOT_SHOWN: "not shown to be over- or under-confident",
        Calibration.UNKNOWN: "cannot tell whether it is right as often as it says",
    }
    parts = [
        f"confidence of {judge}, {name} (column {column.column}{of_label}): "
        f"{clause_of[stated.shown]}",
        f"stated chance minus share right {figures(stated.gap)}",
        f"slope {figures(stated.slope)}",
        f"right verdicts are surer than wrong ones: AUROC {figures(stated.auroc)}",
        _surest(stated.surest),
        _accepted(stated.accepted),
        f"n = {plural(stated.gap.n, 'verdict')}",
    ]
    return "; ".join(filter(None, parts))


def _surest(point: Bin | None) -> str:
    """How often the surest verdicts are right."""
    if point is None or point.right.value is None:
        return ""
    right = point.right
    words = f"where it states {_percent(point.confidence)}, it is right in "
    words += _percent(point.right.value)
    if right.ci_low is not None and right.ci_high is not None:
        words += f" [{_percent(right.ci_low)}, {_percent(right.ci_high)}]"
    return words


def _accepted(guarantee: Guarantee) -> str:
    """Which verdicts may be accepted without a person."""
    if guarantee.threshold is None:
        return (
            "from no confidence on are at most 10 % of its verdicts shown to be wrong: "
            f"{guarantee.why}"
        )
    return (
        f"from {guarantee.threshold:.3g} on at most 10 % of its verdicts are wrong "
        f"(95 % sure), which are {_percent(guarantee.coverage)} of its texts"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def unrated_line(findings: AuditFindings, unrated: UnratedScores) -> str:
    """How many scores of a judge are of texts that nobody rated."""
    name = findings.report.aspect(unrated.aspect)
    judge = findings.named(unrated.judge)
    return (
        f"{judge} scored {plural(unrated.scored, 'text')} on {name}; "
        f"{count(unrated.unrated)} of them have no rating and count in no claim"
    )
