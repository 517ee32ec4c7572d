"""Claims about every judge in sentences, with their evidence."""

from collections import Counter
from collections.abc import Iterator, Sequence

from judgescope.methods.claims import base
from judgescope.methods.claims.base import LENGTH_NOT_TESTED
from judgescope.report import cell_words, literature, words
from judgescope.report.cells import (
    NO_CELL,
    ReportCell,
    estimate,
    figures,
    words_cell,
)
from judgescope.report.claims import FIRST, FOUND, GOOD, KINDS, ReportedClaim
from judgescope.report.drawing import SIGN_WORDS
from judgescope.report.elements import Body, PageTable, TableLine, columns_of
from judgescope.report.questions import answers_of
from judgescope.report.report import Report, ShownJudge
from judgescope.report.sections.sentences import (
    WHY,
    against_rater,
    length_not_tested,
    no_score,
    outcome_in_words,
    reasons,
)
from judgescope.statistics.verdict import Outcome

RULES = (
    "The sentences are written by rules from the numbers, the same rules for every "
    "study. “Better than chance” means that a one-sided test at .025 rules out chance, "
    "the length of the texts in both directions, any curve of it and, if texts come "
    "from enough named systems, a preference for systems, after Holm's correction over "
    "the judge's claims of one kind; it also says whether the judge agrees among texts "
    "of one system, or for these systems only. A claim says if length is not tested "
    "because the data has neither texts nor lengths. “As good as one more rater” means "
    "more: within a margin, the judge agrees with people as well as another rater "
    "would. The number shows how good that is; “may be trusted” is used only for a bar "
    "that the study requires and the judge meets. A claim that is not shown may still "
    "be true. Agreement is the pairwise correlation: of the judge's differences with "
    "people's over the pairs of texts of a source; it is Spearman's correlation over "
    "all texts if most texts are alone in their source or too few sources have "
    "different ratings. A source to which people give one rating, and the judge "
    "several scores, lowers it. For labels it is balanced accuracy; of two labels, a "
    "judge fails to find the texts of one if the interval ends below 90 %, and passes "
    "if it begins at or above 90 % and its balanced accuracy is above chance. Controls "
    "ignore quality."
)


def answer(report: Report, judge: ShownJudge, claims: Sequence[ReportedClaim]) -> str:
    """Return one short sentence on the claims that hold for a judge, most decisive
    first.

    It counts outcomes, so that no name makes it longer; `sentence` has the details.
    """
    if no_score(report, judge):
        return "Gave no score: none of its replies could be read."
    if judge.hint:
        return (
            "Receives a rating of the text it judges: no claim of agreement, and no "
            "rank."
        )
    every = [claim for claim in claims if claim.kind != FIRST]
    if not every:
        return "No number that decides a claim was measured."
    parts = [*misses(report, every), *_counted(report, every)]
    untested = ""
    if any(map(length_not_tested, every)):
        untested = WHY[LENGTH_NOT_TESTED]
    # Maximum number of words of an answer on the first screen.
    answer_words = 25
    most_words = answer_words - len(untested.split())
    kept = parts[:1] or ["no claim about its labels could be decided"]
    for part in parts[1:]:
        if len("; ".join([*kept, part]).split()) <= most_words:
            kept.append(part)
    if untested:
        kept.append(untested)
    text = "; ".join(kept)
    return f"{text[0].upper()}{text[1:]}."


def misses(report: Report, claims: Sequence[ReportedClaim]) -> Iterator[str]:
    """Yield the share of bad texts that the judge lets through, and of good ones that
    it rejects.

    Only if the claim fails; of several aspects the worst one, and how many more there
    are.
    """
    for kind, template in (
        (base.CAUGHT, "lets {} of bad texts through"),
        (base.PASSED, "rejects {} of good texts"),
    ):
        share = KINDS[
            kind
        ].number  # of the default bar, or of one that the study states
        missed = [
            claim
            for claim in claims
            if claim.outcome is Outcome.MISSES
            and (claim.kind == kind or claim.kind == f"{base.BAR} {share}")
        ]
        if not missed:
            continue
        worst = min(missed, key=lambda claim: claim.row.value or 0.0)
        dataset = next(
            dataset for dataset in report.datasets if dataset.id == worst.dataset
        )
        names = dataset.labels_on(worst.row.judged)
        label = names[FOUND[kind]]
        other = names[1 - FOUND[kind]]
        says = dataset.rated_by.says
        given = f"“{other}” where {says} “{label}”"
        more = ""
        if len(missed) > 1:
            more = f", and {len(missed) - 1} further"
        wrong = words.percent(1 - (worst.row.value or 0.0))
        yield f"{template.format(wrong)} ({worst.subject}: {given}{more})"


def _counted(report: Report, claims: Sequence[ReportedClaim]) -> Iterator[str]:
    """Yield how many claims of each kind hold, the most decisive kind first."""
    outcomes = dict[str, Counter[Outcome]]()
    for claim in claims:
        kind = claim.kind.partition(" ")[0]
        outcomes.setdefault(kind, Counter())[outcome_in_words(claim)] += 1
    none = Counter[Outcome]()
    bars = outcomes.pop(base.BAR, none)
    if bars:
        met = bars[Outcome.MEETS]
        missed = bars[Outcome.MISSES]
        required = words.plural(bars.total(), "required bar")
        yield f"meets {met} of {required}, misses {missed}"
    on_aspects = outcomes.pop(base.AGREEMENT, none) + outcomes.pop(base.LABELS, none)
    if on_aspects:
        kinds = (base.AGREEMENT, base.LABELS)
        whom = report.raters(claim.dataset for claim in claims if claim.kind in kinds)
        yield from _agreement_counted(on_aspects, whom)
    pairs = outcomes.pop(base.PAIRS, none)
    if pairs:
        held = _held(pairs)
        aspects = words.plural(pairs.total(), "aspect")
        yield f"finds the better of two texts on {held or 'none'} of {aspects}"
    texts = outcomes.pop(base.PERTURBATION, none)
    if texts:
        perturbations = words.plural(texts.total(), "perturbation")
        part = f"notices {texts[Outcome.NOTICED]} of {perturbations}"
        missed = texts[Outcome.MISSES]
        yield f"{part}, misses {missed}" if missed else part
    for kind in FOUND:
        outcomes.pop(kind, None)  # `misses` has them
    further = sum(outcomes.values(), Counter())
    if further:
        held = _held(further)
        verb = "holds" if held == 1 else "hold"
        yield f"{held} of {words.plural(further.total(), 'further claim')} {verb}"


def _held(outcomes: Counter[Outcome]) -> int:
    """How many claims with these outcomes are in favour of a judge."""
    return sum(outcomes[outcome] for outcome in GOOD)


def _agreement_counted(outcomes: Counter[Outcome], whom: str) -> Iterator[str]:
    n = outcomes.total()
    aspects = words.plural(n, "aspect")
    as_rater = outcomes[Outcome.AS_RATER]
    better = outcomes[Outcome.BETTER]
    worse = outcomes[Outcome.MISSES]
    if as_rater:
        yield f"as good as one more rater on {as_rater} of {aspects}"
    if better:
        yield f"better than chance on {better} of {aspects}"
    if worse:
        yield f"worse than chance on {worse} of {aspects}"
    blind = "a rule that ignores quality"
    if n == outcomes[Outcome.NO_CLAIM]:
        on_all = f" on {aspects}" if n > 1 else ""
        yield f"no claim of agreement with {whom}{on_all}"
    elif not as_rater and not better and not worse:
        on_any = f" on any of {aspects}" if n > 1 else ""
        yield f"not shown to agree with {whom} better than {blind}{on_any}"


def evidence(
    report: Report, claims: Sequence[ReportedClaim], prefix: str = "", card: str = ""
) -> PageTable:
    """Return every claim, by question: its outcome by the rules, its numbers, n and p.

    Where there is a `card` each claim leads to the texts on which the judge does worst.
    `prefix` begins the ids of the questions.
    """
    bodies = []
    for number, (asked, part) in enumerate(answers_of(report, claims).items()):
        lines = []
        for claim in part:
            line = TableLine(
                claim.respect.format(claim.subject),
                _evidence_cells(report, claim),
                report.names[claim.dataset],
                href=card and f"{card}#worst-{claim.dataset}",
            )
            lines.append(line)
        title = f"{asked.group}, {asked.title}: {_held_in_words(part)}"
        bodies.append(Body(lines, title, id=f"{prefix}-{number}" if prefix else ""))
    literature_head = "In the literature's measures"
    reasoning = ("Verdict", "Because", "Further numbers", literature_head)
    columns = [*columns_of(("Number", "p")), *columns_of(reasoning, style="words")]
    caption = "Every claim with its outcome and its numbers."
    return PageTable(caption, "Claim", columns, bodies, code=False, whole=True)


def _held_in_words(part: Sequence[ReportedClaim]) -> str:
    """The outcome of one claim, or how many of several hold."""
    if len(part) == 1:
        return SIGN_WORDS[part[0].sign]
    held, more = cell_words.counted(part)
    return f"{held} {more}"


def _evidence_cells(report: Report, claim: ReportedClaim) -> list[ReportCell]:
    shown = cell_words.number_row(claim)
    numbers = []
    for row in (claim.row, claim.others.get("net_share")):
        if row and row is not shown:
            n = words.count(row.n)
            numbers.append(f"{words.label(row.statistic)} {figures(row)}, n = {n}")
    gap = against_rater(claim)
    if gap is not None:
        beside = cell_words.beside_person(claim)
        tested = claim.others.get("p_rater")
        if tested is not None and tested.value is not None:
            beside += f", p {words.p_value(tested.value)} (not corrected)"
        numbers.append(f"{words.label(gap.statistic)} {figures(gap)}: {beside}")
    return [
        estimate(shown, counts=True),
        _tested_cell(claim),
        words_cell(words.spoken(claim.outcome)),
        words_cell("; ".join(reasons(claim))),
        words_cell("; ".join(numbers)),
        words_cell(literature.line(report, claim)),
    ]


def _tested_cell(claim: ReportedClaim) -> ReportCell:
    """The p-value of a claim, and how it is corrected; empty without a test."""
    names = ["p_noticed_holm", base.P_HOLM]
    how = claim.family
    tests = [claim.others[name] for name in names if name in claim.others]
    p = tests[0].value if tests else None
    if p is None:
        return NO_CELL
    return ReportCell(words.p_value(p), notes=(how,) if how else (), sort=p)
