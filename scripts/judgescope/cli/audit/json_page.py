"""The page of an audit for programs: `--json`."""

import json
from typing import Any

from msgspec import convert, to_builtins

from judgescope.cli.audit.columns import columns_of_json
from judgescope.cli.audit.content import (
    AuditPage,
    JudgedNumber,
    LabelCounts,
    LiteratureGroup,
    ShownCalibration,
    ShownChoices,
    ShownClaim,
    ShownColumns,
    ShownConfidence,
    ShownCorrected,
    ShownDisagreement,
    ShownDraws,
    ShownFalseClaims,
    ShownGap,
    ShownJudgment,
    ShownNumber,
    ShownPicture,
    ShownRubricScore,
    ShownSlice,
    ShownSliceTest,
    ShownUnrated,
    SliceBar,
)
from judgescope.cli.audit.disagreements import Disagreement
from judgescope.cli.audit.findings import VERDICTS, AuditFindings
from judgescope.cli.audit.further import StatedCalibration
from judgescope.cli.audit.slices import TableSlice
from judgescope.cli.audit.wording import added, supported
from judgescope.cli.init import notes_on_raters
from judgescope.methods.claims.base import SOURCES_COUNTED
from judgescope.methods.claims.rows import RIVAL
from judgescope.report.claims import ReportedClaim
from judgescope.report.literature import grouped, line
from judgescope.report.report import Report
from judgescope.report.rows import ReportRow
from judgescope.report.sections.sentences import (
    misjudged,
    place_of_class,
    reasons,
    rival_in_words,
    sentence,
)


def as_json(findings: AuditFindings) -> str:
    """Return the contents of the page, with all numbers, as JSON."""
    # Letters beyond ASCII are escaped: any terminal and any pipe can carry the text.
    return json.dumps(to_builtins(content(findings)), indent=2)


def content(findings: AuditFindings) -> AuditPage:
    """Return the contents of the page, with all numbers."""
    report = findings.report
    draft = findings.draft
    judges = {}
    for judge in findings.judges:
        of_judge = findings.claims[judge.id]
        judges[judge.id] = ShownJudgment(
            name=draft.judge_names.get(judge.id, judge.id),
            sentence=sentence(report, judge, of_judge),
            claims=[_claim(report, claim) for claim in of_judge],
        )
    expected = findings.false_claims
    return AuditPage(
        file=str(draft.table.file),
        rows=len(draft.table.rows),
        headline=findings.headline,
        notes=_notes(findings),
        assumed=draft.columns.assumed,
        columns=convert(columns_of_json(draft), ShownColumns),
        judges=judges,
        people=[_number(row) for row in findings.people],
        pictures=_pictures(findings),
        gaps=_gaps(findings),
        first_choices=_choices(findings),
        draws=_draws(findings),
        confidences=_confidences(findings),
        unrated=_unrated(findings),
        corrected=_corrected(findings),
        rubric_scores=_rubric_scores(findings),
        slices=[_slice(part, findings.texts) for part in findings.slices],
        supports=list(supported(findings)),
        adds=list(added(findings)),
        disagreements=[
            _disagreement(row, findings.texts) for row in findings.rows_to_read
        ],
        false_claims=ShownFalseClaims(
            families=expected.families,
            expected=expected.expected,
            hold=expected.hold,
            hold_overall=expected.hold_overall,
        ),
        verdict=_verdict(findings),
        exit_code=_exit_code(findings),
    )


def _notes(findings: AuditFindings) -> list[str]:
    """How the file was read; notes that may quote cells only where texts are shown."""
    notes = []
    if findings.texts:
        notes = list(findings.draft.table.notes)
    return [*notes, *notes_on_raters(findings.draft, "--human")]


def _verdict(findings: AuditFindings) -> Any:
    # A literal type of three words; `VERDICTS` has no others.
    if findings.draft.require:
        return VERDICTS[findings.status]
    return None


def _exit_code(findings: AuditFindings) -> Any:
    # A literal type of three numbers; `status` has no others.
    return findings.status


# --- claims ---------------------------------------------------------------------------


def _claim(report: Report, claim: ReportedClaim) -> ShownClaim:
    counted = claim.others.get(SOURCES_COUNTED)
    groups = []
    for name, rows in grouped(report, claim):
        measures = [_number(row) for row in rows]
        groups.append(LiteratureGroup(group=name, measures=measures))
    rival = claim.others.get(RIVAL)
    return ShownClaim(
        kind=claim.kind,
        outcome=claim.outcome.value,
        sign=claim.sign.value,
        reasons=list(reasons(claim)),
        rival=None if rival is None else rival.note,
        rival_value=_other(claim, f"{RIVAL}_value"),
        rival_difference=_other(claim, f"{RIVAL}_difference"),
        rival_in_words=rival_in_words(claim),
        sources_counted=None if counted is None else counted.n,
        label_counts=_label_counts(report, claim),
        literature=groups,
        literature_line=line(report, claim),
        others={name: _number(row) for name, row in claim.others.items()},
        **_fields(claim.row),
    )


def _other(claim: ReportedClaim, name: str) -> ShownNumber | None:
    row = claim.others.get(name)
    return None if row is None else _number(row)


def _label_counts(report: Report, claim: ReportedClaim) -> LabelCounts | None:
    place = place_of_class(claim)
    labels = report.datasets[0].labels_on(claim.row.judged)
    if place is None or claim.row.value is None or len(labels) != 2:
        return None
    return LabelCounts(label=labels[place], texts=claim.row.n, missed=misjudged(claim))


def _fields(row: ReportRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ShownNumber.__struct_fields__}


def _number(row: ReportRow) -> ShownNumber:
    return ShownNumber(**_fields(row))


# --- what else there is ---------------------------------------------------------------


def _disagreement(row: Disagreement, texts: bool) -> ShownDisagreement:
    return ShownDisagreement(
        judge=row.judge,
        aspect=row.aspect,
        row=row.row,
        judged=row.judged,
        rated=row.rated,
        distance=row.distance,
        text=row.text if texts else None,
    )


def _pictures(findings: AuditFindings) -> list[ShownPicture]:
    return [
        ShownPicture(
            judge=crossing.judge,
            aspect=crossing.aspect,
            kind=crossing.kind,
            people=list(crossing.columns),
            judged=list(crossing.rows),
            counts=[list(row) for row in crossing.counts],
        )
        for crossing in findings.crossings
    ]


def _gaps(findings: AuditFindings) -> list[ShownGap]:
    return [
        ShownGap(
            aspect=gap.aspect,
            best=gap.best,
            other=gap.other,
            difference=_number(gap.difference),
            p_holm=gap.p_holm.value,
            apart=gap.apart,
        )
        for gap in findings.gaps
    ]


def _choices(findings: AuditFindings) -> list[ShownChoices]:
    return [
        ShownChoices(
            judge=choices.judge,
            aspect=choices.aspect,
            of_judge=_number(choices.of_judge),
            of_people=_number(choices.of_people),
            difference=_number(choices.gap),
            differs=choices.differs,
        )
        for choices in findings.place_choices
    ]


def _draws(findings: AuditFindings) -> list[ShownDraws]:
    return [
        ShownDraws(
            judge=repeated.judge,
            aspect=repeated.aspect,
            draws=repeated.draws,
            alpha=_number(repeated.agreement),
            flips=_number(repeated.flips),
        )
        for repeated in findings.repeated_draws
    ]


def _confidences(findings: AuditFindings) -> list[ShownConfidence]:
    return [
        ShownConfidence(
            column=column.column,
            judge=column.judge,
            count=column.count,
            low=column.low,
            high=column.high,
            calibrations=[_calibration(stated) for stated in column.calibrations],
            why_none=column.why_none,
        )
        for column in findings.confidences
    ]


def _calibration(stated: StatedCalibration) -> ShownCalibration:
    return ShownCalibration(
        judge=stated.judge,
        aspect=stated.aspect,
        label=stated.label,
        shown=stated.shown.value,
        gap=_number(stated.gap),
        slope=_number(stated.slope),
        brier=_number(stated.brier),
        auroc=_number(stated.auroc),
        error=_number(stated.error),
        if_calibrated=_number(stated.if_calibrated),
        accept_from=stated.accepted.threshold,
        accepted_share=stated.accepted.coverage,
        why_none_accepted=stated.accepted.why,
    )


def _unrated(findings: AuditFindings) -> list[ShownUnrated]:
    return [
        ShownUnrated(
            judge=one.judge, aspect=one.aspect, scored=one.scored, unrated=one.unrated
        )
        for one in findings.unrated
    ]


def _rubric_scores(findings: AuditFindings) -> list[ShownRubricScore]:
    shown = []
    for each in findings.rubric_scores:
        shown.append(
            ShownRubricScore(
                judge=each.judge,
                score=_number(each.score),
                unmet=_number(each.unmet),
                experts=_number(each.experts),
                error=_number(each.error),
            )
        )
    return shown


def _corrected(findings: AuditFindings) -> list[ShownCorrected]:
    shown = []
    for rate in findings.corrected:
        own = rate.uncorrected
        number = ShownCorrected(
            judge=rate.judge,
            aspect=rate.aspect,
            system=(rate.system or None) if findings.texts else None,
            corrected=_number(rate.corrected),
            uncorrected=None if own is None else _number(own),
        )
        shown.append(number)
    return shown


def _slice(part: TableSlice, texts: bool) -> ShownSlice:
    numbers = [JudgedNumber(judge=row.judge, **_fields(row)) for row in part.numbers]
    return ShownSlice(
        column=part.column,
        value=part.value if texts else None,
        rows=part.rows,
        rated=part.rated,
        numbers=numbers,
        tests=[
            ShownSliceTest(
                judge=test.judge,
                aspect=test.aspect,
                difference=_number(test.gap),
                p_holm=test.p_holm.value,
                worse=test.worse,
            )
            for test in part.tests
        ],
        bars=[
            SliceBar(
                judge=claim.row.judge,
                aspect=claim.row.judged,
                statistic=claim.row.statistic,
                outcome=claim.outcome.value,
                value=claim.row.value,
            )
            for claim in part.bars
        ],
        why_none=part.why_none,
    )
