"""Which damage do judges notice: kinds as rows, judges as columns, shares as shades."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from judgescope.methods.claims import base
from judgescope.report.answer_data import MOST_NAMED
from judgescope.report.cells import interval
from judgescope.report.claims import ReportedClaim, claims
from judgescope.report.drawing import SIGN_WORDS
from judgescope.report.elements import DamageCell, DamageTable
from judgescope.report.matrix import MOST_LINES
from judgescope.report.questions import level_rank
from judgescope.report.report import Report, ShownDataset, ShownJudge, ShownPerturbation
from judgescope.report.rows import ReportRow, ReportRows
from judgescope.report.standings import href_of, standings
from judgescope.report.unnoticed import unnoticed_damage
from judgescope.report.words import MINUS, label, listed
from judgescope.statistics.verdict import NOTICING

SHADES: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
NUMBER: Final = "net_share"


def damage_table(
    report: Report, dataset: ShownDataset | None = None
) -> DamageTable | None:
    """The table of a dataset, or of all; None where no judge was asked.

    Of more than twelve judges the first twelve are shown; controls stand apart.
    """
    noticed = _noticed(report)
    datasets = [dataset] if dataset else report.datasets
    datasets = [each for each in datasets if noticed.on(each)]
    ids = {each.id for each in datasets}
    judges = []
    for judge in standings(report).shown:
        if any((judge.id, name) in noticed.of_judge for name in ids):
            judges.append(judge)
    judges = judges[:MOST_LINES]
    controls = []
    for judge in report.plain_controls:
        is_rule = report.spec.judges[judge.id].form in ("length", "random")
        if is_rule and any(_of_control(report, judge, name) for name in ids):
            controls.append(judge)
    if not judges:
        return None
    bodies = []
    for each in datasets:
        for level, kinds in _levels(report):
            lines = []
            for kind in kinds:
                if noticed.any_of(each, kind):
                    lines.append(
                        (
                            kind.title,
                            "",
                            _cells(report, noticed, each, kind, judges, controls),
                        )
                    )
            if lines:
                where = ""
                if len(datasets) > 1:
                    where = f", {each.name}"
                bodies.append((f"{level.capitalize()}s{where}", lines))
    heads = [(judge.id, False) for judge in judges]
    heads += [(judge.id, True) for judge in controls]
    return DamageTable(
        title="Which damage do they notice?",
        lead=_lead(report, judges, ids, with_rules=bool(controls)),
        caption="Net share noticed, by kind of damage and judge",
        judges=heads,
        bodies=bodies,
    )


class _Noticed:
    """The claims on damage of all judges, by their place."""

    def __init__(self, report: Report) -> None:
        self.claims: dict[tuple[str, str, str], ReportedClaim] = {}
        self.of_judge: set[tuple[str, str]] = set()
        self.places: set[tuple[str, str]] = set()
        for judge in report.judges:
            for claim in claims(report, judge):
                if claim.kind == base.PERTURBATION:
                    key = (judge.id, claim.dataset, claim.row.cell)
                    self.claims[key] = claim
                    self.of_judge.add((judge.id, claim.dataset))
                    self.places.add((claim.dataset, claim.row.cell))

    def on(self, dataset: ShownDataset) -> bool:
        return any(dataset.id == name for name, _ in self.places)

    def any_of(self, dataset: ShownDataset, kind: ShownPerturbation) -> bool:
        return (dataset.id, kind.cell) in self.places


def _noticed(report: Report) -> _Noticed:
    return report.once("noticed", lambda: _Noticed(report))


def _levels(report: Report) -> Iterator[tuple[str, list[ShownPerturbation]]]:
    """Each level with its kinds of damage, from characters to texts."""
    by_level: dict[str, list[ShownPerturbation]] = {}
    for kind in report.perturbations:
        by_level.setdefault(kind.level, []).append(kind)
    for level in sorted(by_level, key=level_rank):
        yield level, by_level[level]


def _cells(
    report: Report,
    noticed: _Noticed,
    dataset: ShownDataset,
    kind: ShownPerturbation,
    judges: Sequence[ShownJudge],
    controls: Sequence[ShownJudge],
) -> list[DamageCell]:
    cells = []
    for judge in [*judges, *controls]:
        claim = noticed.claims.get((judge.id, dataset.id, kind.cell))
        if judge.control:
            rows = _of_control(report, judge, dataset.id)
            cells.append(_control_cell(rows.where(cell=kind.cell).first))
        else:
            cells.append(_cell(report, judge, claim))
    return cells


def _of_control(report: Report, judge: ShownJudge, dataset: str) -> ReportRows:
    """A control's shares: no claim is made of it, and its first aspect stands for
    all.
    """
    rows = report.rows("discernment", dataset)
    return rows.where(judge=judge.id, statistic=NUMBER).defined


def _control_cell(row: ReportRow | None) -> DamageCell:
    if row is None or row.value is None:
        return DamageCell("", "empty", "not asked")
    look = f"c{sum(row.value >= step for step in SHADES)}"
    return DamageCell(_percent(row.value), look, interval(row))


def _percent(share: float) -> str:
    """A net share as a whole number of percent."""
    number = round(100 * share)
    if number < 0:
        return f"{MINUS}{-number}"
    return str(number)


def _cell(report: Report, judge: ShownJudge, claim: ReportedClaim | None) -> DamageCell:
    row = None
    if claim is not None:
        row = claim.others.get(NUMBER)
    if claim is None or row is None or row.value is None:
        return DamageCell("", "empty", "not asked")
    share = row.value
    # Below this net share the damaged texts are preferred: a warning.
    warned_from = -0.2
    look = "neg" if share < warned_from else f"h{sum(share >= step for step in SHADES)}"
    p = claim.others.get("p_noticed_holm")
    return DamageCell(
        _percent(share),
        look,
        "; ".join(filter(None, (interval(row), SIGN_WORDS[claim.sign]))),
        href_of(report, judge, claim),
        bold=p is not None and p.value is not None and p.value <= NOTICING.level,
    )


def _lead(
    report: Report,
    judges: Sequence[ShownJudge],
    datasets: Collection[str],
    *,
    with_rules: bool,
) -> str:
    """What the numbers are, and which kinds nobody notices or are preferred.

    with_rules: whether rules that ignore quality have columns, too.
    """
    text = (
        f"{label(NUMBER).capitalize()}: the % of damaged texts scored below the "
        "undamaged one minus the % scored above it; 0 is a coin flip. Bold: scores "
        "drop, p ≤ .05 after Holm."
    )
    if with_rules:
        text += " Grey: rules that ignore quality."
    about = []
    for judge in judges:
        for claim in claims(report, judge):
            if claim.kind == base.PERTURBATION and claim.dataset in datasets:
                about.append(claim)
    unnoticed = unnoticed_damage(about)
    if unnoticed.of_any_length:
        kinds = _kinds(unnoticed.of_any_length, unnoticed.kinds)
        text += f" No judge is shown to notice {kinds}."
    preferring = _preferring(about)
    if 0 < len(preferring) <= MOST_NAMED:
        verb = "prefers" if len(preferring) == 1 else "prefer"
        text += f" {listed(preferring)} {verb} some damaged texts."
    if unnoticed.by_length:
        kinds = _kinds(unnoticed.by_length, unnoticed.kinds)
        text += (
            f" Length alone gives away {kinds}: a judge that notices them may only see "
            "the length."
        )
    return text


def _kinds(names: list[str], every: int) -> str:
    """Kinds of damage by their names; of more than three, how many of all."""
    if len(names) <= MOST_NAMED:
        return listed(names)
    return f"{len(names)} of {every} kinds"


def _preferring(about: Sequence[ReportedClaim]) -> list[str]:
    """The judges that are shown to prefer texts with some kind of damage."""
    preferring = dict[str, None]()
    for claim in about:
        row = claim.others.get(NUMBER)
        if row is not None and row.ci_high is not None and row.ci_high < 0:
            preferring[claim.judge] = None
    return [*preferring]
