"""The verdicts on a judge in sentences: the same on every page, in tables and in the
terminal.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from judgescope.methods.claims import base
from judgescope.methods.claims.base import LENGTH_NOT_TESTED
from judgescope.methods.claims.rows import RIVAL
from judgescope.methods.measures import LARGEST_CEILING
from judgescope.parsing.judgment import OFF_GRID
from judgescope.report import words
from judgescope.report.cells import figures
from judgescope.report.claims import (
    FIRST,
    FOUND,
    GOOD,
    KINDS,
    ReportedClaim,
    details_of,
    own_claims,
)
from judgescope.report.prices import free, price_in_words
from judgescope.report.report import Report, ShownJudge
from judgescope.report.rows import ReportRow
from judgescope.report.tally import tally_of
from judgescope.statistics import raters
from judgescope.statistics.result import REASONS
from judgescope.statistics.verdict import CODES, EXPLAINED_BY, MOST, Outcome, Sign

FEW = 4
"""Up to this many subjects are named; of more, only the number is given."""
BARS = {
    Outcome.MEETS: "May be trusted, because it meets the required bar:",
    Outcome.CANNOT_TELL: "Cannot tell whether it meets the required bar:",
    Outcome.MISSES: "Misses the required bar:",
}
"""How a sentence about bars begins."""
OF_KIND = {
    (base.PERTURBATION, "chance"): "p > .05",
    (base.PERTURBATION, "length"): "noticed, but comparing lengths detects it, too",
    (base.HINTS, "chance"): "neither withstanding nor following is shown",
    (base.CAUGHT, "length"): "so does a rule of length",
    (base.PASSED, "length"): "so does a rule of length",
    (base.LABELS, base.CONSTANT): "one label for all texts",
    (base.PAIRS, base.CONSTANT): "a tie for all pairs",
    (base.CAUGHT, "chance"): "its labels are not shown to be better than chance",
    (base.PASSED, "chance"): "its labels are not shown to be better than chance",
}
"""Kind and reason -> its words, if they differ from those of most kinds."""
WHY = {
    "chance": "not shown to be above chance",
    "length": "not shown to be better than the texts' length",
    "brevity": "not shown to be better than a preference for short texts",
    base.BEST_LENGTH: "not shown to be more than a preference for some length",
    base.IS_LENGTH: "its scores are a function of the texts' length (R² {})",
    base.QUALITY_IS_LENGTH: "this quality is a function of the texts' length (R² {})",
    LENGTH_NOT_TESTED: "length not tested",
    base.LENGTHS_PARTLY: "length tested on {}",
    base.WORSE_THAN_CHANCE: "significantly worse than chance",
    base.NO_CEILING: "people are not shown to agree with each other",
    base.MANY_RATERS: (
        f"not compared with one more rater: {{}} raters are more than {LARGEST_CEILING}"
    ),
    base.HANGS_ON: "hangs on system {}: without its texts it is not shown",
    base.SINGLE_TEXTS: "over all texts",
    base.SAYS: "says “{}” to {} of all texts",
    "systems": "a judge that only prefers certain systems could do as well",
    "within": "it may only tell sources apart",
    "lost": "not if every lost reply had the worst score",
    "too_many_lost": "more than a fifth of its judgments are lost",
    base.CONSTANT: "one score for all texts",
    REASONS.continuous: "the scores are continuous and have no classes",
    "no_interval": "too few sources for an interval",
    "these_systems": "for these {} systems; among texts of one system not shown",
    base.HINTED: "it is given a rating of the text",
    "index": "not shown that unwanted drops are smaller than wanted ones",
    "rarely": "rarely: for fewer than a quarter of the texts",
    "asked_once": "each text was judged only once without the hint",
    "not_judged": "some of its scores are missing",
    "not_computed": "the study does not compute it",
}
"""Reason -> its words, `{}` for its detail; other reasons are written as they are."""


def length_not_tested(claim: ReportedClaim) -> bool:
    """Return whether a claim was decided without a test against length."""
    return LENGTH_NOT_TESTED in claim.codes and claim.outcome != Outcome.NO_CLAIM


def sentence(report: Report, judge: ShownJudge, claims: Sequence[ReportedClaim]) -> str:
    """Return the verdicts of a judge in full, with what is missing and the price.

    It is the same whatever other judges there are: no claim of rank is in it.
    """
    claims = [claim for claim in claims if claim.kind != FIRST]
    tally = tally_of(report, judge)
    parts = [no_score(report, judge)]
    if not parts[0]:
        if judge.hint:
            which = "a wrong rating"
            if judge.hint == "right":
                which = "the right rating"
            parts.append(
                f"It receives {which} of the text it judges (hint: {judge.hint}), so "
                "its agreement shows nothing: no claim of agreement, and no rank."
            )
        for title, respects in verdicts(report, claims):
            parts.append(f"{title} {respects}.")
        parts.append(_caution(claims))
        lost = tally.asked - tally.counts["ok"]
        if lost:
            of_all = words.plural(tally.asked, "judgment")
            parts.append(f"Of its {of_all} {words.count(lost)} have no score.")
    rows = report.rows("cost").where(judge=judge.id)
    if len(rows) and not free(rows):
        parts.append(f"Cost: {price_in_words(rows)}.")
    return " ".join(filter(None, parts))


def _caution(claims: Sequence[ReportedClaim]) -> str:
    """What else explains claims over all texts, said once for all of them."""
    # What is added once if a claim that holds does not compare texts of one source.
    over_all_texts = (
        "Over all texts, a judge that only knows how hard a source is could do as well."
    )
    for claim in claims:
        if base.SINGLE_TEXTS in claim.reasons and claim.outcome in GOOD:
            return over_all_texts
    return ""


def sentences(report: Report) -> dict[str, str]:
    """Return judge -> its verdicts in full; controls, and judges without a claim, have
    none.
    """
    by_judge = {}
    for judge in report.real_judges:
        of_judge = own_claims(report, judge)
        if of_judge:
            by_judge[judge.id] = sentence(report, judge, of_judge)
    return by_judge


def no_score(report: Report, judge: ShownJudge) -> str:
    """Return the sentence about a judge that gave no score, "" for others."""
    tally = tally_of(report, judge)
    if not tally.asked or tally.counts["ok"]:
        return ""
    cut = ""
    if judge.max_tokens:
        cut = f"cut at max_tokens {judge.max_tokens}"
    failures = []
    for name, n in sorted(tally.failed.items(), key=lambda item: -item[1]):
        failure = f"{words.count(n)} {words.STATUSES.get(name, words.spoken(name))}"
        if cut and name == "truncated":
            failure += f": {cut}"
        failures.append(failure)
    why = "; ".join(failures)
    if [*tally.failed] == ["truncated"]:
        why = cut or "cut"
    remedy = ""
    if OFF_GRID in tally.failed:
        remedy = f" {words.OFF_GRID_SENTENCE}"
    replies = words.plural(tally.asked, "reply", "replies")
    return (
        f"Gave no score ({words.count(tally.asked)} of {replies} could not be read: "
        f"{why}).{remedy}"
    )


def verdicts(
    report: Report, claims: Sequence[ReportedClaim]
) -> Iterator[tuple[str, str]]:
    """Yield the beginning and the subject of each sentence.

    A subject has the respects with the sentence's outcomes. Where the number of claims
    that hold is given, the others are not listed as not shown.
    """
    # Outcomes -> how a sentence about them begins, in the order of the sentences.
    titles: dict[tuple[Outcome, ...], str] = {
        (Outcome.MEETS,): "May be trusted for",
        (Outcome.AS_RATER,): "As good as one more rater at",
        (Outcome.BETTER, Outcome.NOTICED): "Better than chance at",
        (Outcome.WITHSTANDS,): "Succeeds at",
        (
            Outcome.NOT_SHOWN,
        ): "Not shown to be better than a rule that ignores quality at",
        (Outcome.CANNOT_TELL,): "Not decided, more texts are needed:",
        (Outcome.MISSES, Outcome.SWAYED): "Fails at",
        (Outcome.NO_CLAIM,): "No claim about",
    }
    for (outcomes, title), bar in product(titles.items(), (False, True)):
        by_respect: dict[str, list[ReportedClaim]] = {}
        for claim in claims:
            of_bar = claim.kind.startswith(base.BAR)
            if of_bar == bar and base.HINTED not in claim.reasons:
                by_respect.setdefault(claim.respect, []).append(claim)
        quiet = Outcome.NOT_SHOWN in outcomes or Outcome.NO_CLAIM in outcomes
        respects = []
        for respect, every in by_respect.items():
            chosen = [claim for claim in every if outcome_in_words(claim) in outcomes]
            held = [claim for claim in every if claim.outcome in GOOD]
            counted = len(held) > FEW
            if chosen and not (quiet and counted):
                respects.append(_with_subjects(report, respect, chosen, every))
        if respects:
            if bar:
                title = BARS.get(outcomes[0], title)
            yield title, "; ".join(respects)


def outcome_in_words(claim: ReportedClaim) -> Outcome:
    """Return the outcome that a sentence states: worse than chance is a failure."""
    if claim.sign is Sign.FAILS:
        return Outcome.MISSES
    return claim.outcome


def _with_subjects(
    report: Report,
    respect: str,
    chosen: Sequence[ReportedClaim],
    every: Sequence[ReportedClaim],
) -> str:
    """Return a respect with the subjects of the chosen claims, or with their number."""
    if "{}" not in respect:
        subjects = dict.fromkeys(claim.subject for claim in chosen if claim.subject)
        about = _details(report, chosen, every, words.listed([*subjects]))
        return f"{respect}{about}"
    if len(chosen) > FEW:
        sets = len({claim.dataset for claim in every})
        where = f" on {sets} datasets" if sets > 1 else ""
        kind = KINDS.get(chosen[0].kind)
        noun = kind.subjects if kind else "cases"
        share = f"{words.count(len(chosen))} of"
        if len(chosen) == len(every):
            share = "all"
        return respect.format(f"{share} {words.count(len(every))} {noun}{where}")
    named = []
    for subject in dict.fromkeys(claim.subject for claim in chosen):
        mine = [claim for claim in chosen if claim.subject == subject]
        among = [claim for claim in every if claim.subject == subject]
        named.append(f"{subject}{_details(report, mine, among)}")
    return respect.format(words.listed(named))


def _details(
    report: Report,
    chosen: Sequence[ReportedClaim],
    every: Sequence[ReportedClaim],
    *parts: str,
) -> str:
    """Return in brackets: `parts`, number and reasons of a single claim, and datasets'
    names.

    There are no names if the outcome is the same on all datasets that have the claim.
    """
    details = list(parts)
    if len(chosen) == 1:
        details.append(number(chosen[0]))
        details.append(class_counts(report, chosen[0]))
        details.append(unbeaten_rival(chosen[0]))
        details += joined_reasons(reasons(chosen[0]))
    datasets = dict.fromkeys(claim.dataset for claim in chosen)
    everywhere = {claim.dataset for claim in every}
    if len(chosen) < len(every) and {*datasets} != everywhere:
        names = list(map(report.names.__getitem__, datasets))
        if len(names) <= FEW:
            details.append(words.listed(names))
        else:
            details.append(f"on {words.count(len(names))} datasets")
    text = "; ".join(filter(None, details))
    return f" ({text})" if text else ""


def number(claim: ReportedClaim) -> str:
    """Return the deciding number of a claim; D is not an effect size, few texts give
    none.
    """
    row = claim.row
    if claim.kind == base.PERTURBATION:
        row = claim.others.get("net_share", row)
    if row.value is None or row.statistic == "D_exact":
        return ""
    # A correlation of fewer texts or sources is left out.
    fewest_for_number = 10
    if row.n < fewest_for_number:
        return f"n = {words.count(row.n)}"
    text = f"{words.label(row.statistic)} {figures(row)}"
    gap = against_rater(claim)
    if gap is None:
        return text
    text += f"; difference from one more rater {figures(gap)}"
    if claim.outcome == Outcome.BETTER:
        text += f", {beside_rater(claim, gap)}"
    return text


def rival_in_words(claim: ReportedClaim) -> str:
    """The number of the strongest rule that ignores quality, "" if it has none.

    Such as "text length alone reaches 0.313 [0.17, 0.45]".
    """
    strongest = claim.others.get(RIVAL)
    value = claim.others.get(f"{RIVAL}_value")
    # Null hypothesis -> the words for its number, the one that a claim had to beat.
    rivals = {
        base.LENGTH: "text length alone reaches {}",
        base.BREVITY: "shortness alone reaches {}",
        base.BEST_LENGTH: "{} remains once text length is accounted for",
        base.SYSTEMS: "{} among texts of one system",
    }
    if strongest is None or strongest.note not in rivals:
        return ""
    if value is None or value.value is None:
        return ""
    of_rule = strongest.note in (base.LENGTH, base.BREVITY)
    # These rules have the claim's own number; the others leave a correlation.
    statistic = claim.row.statistic if of_rule else base.BEYOND_SYSTEMS
    value = value._replace(statistic=statistic)
    return rivals[strongest.note].format(figures(value))


def unbeaten_rival(claim: ReportedClaim) -> str:
    """The rule's number where it withholds praise, "" for other claims."""
    strongest = claim.others.get(RIVAL)
    codes = claim.codes
    withholds = strongest is not None and strongest.note in codes
    if claim.outcome in GOOD or not withholds or base.WORSE_THAN_CHANCE in codes:
        return ""
    return rival_in_words(claim)


def class_counts(report: Report, claim: ReportedClaim) -> str:
    """How many texts have a label, and how many of them the judge calls otherwise.

    "" for claims that are not about the texts of one of two labels.
    """
    class_index = place_of_class(claim)
    labels = next(
        dataset.labels_on(claim.row.judged)
        for dataset in report.datasets
        if dataset.id == claim.dataset
    )
    if class_index is None or claim.row.value is None or len(labels) != 2:
        return ""
    missed = words.count(misjudged(claim))
    of_class = words.count(claim.row.n)
    right = labels[class_index]
    wrong = labels[1 - class_index]
    return f"of {of_class} “{right}” texts it calls {missed} “{wrong}”"


def place_of_class(claim: ReportedClaim) -> int | None:
    """Which of two labels a share is about, 0 for the bad one; None for others."""
    of_share = {"tnr": 0, "tpr": 1}
    if claim.kind in FOUND:
        return FOUND[claim.kind]
    if claim.kind.startswith(base.BAR):
        return of_share.get(claim.row.statistic)
    return None


def misjudged(claim: ReportedClaim) -> int:
    """How many texts of a label the judge calls otherwise."""
    return round((1 - (claim.row.value or 0.0)) * claim.row.n)


def beside_rater(claim: ReportedClaim, gap: ReportRow) -> str:
    """Return what the difference from one more rater says."""
    if raters.RaterVerdict.AS_GOOD in gap.note and claim.outcome != Outcome.AS_RATER:
        return "not shown after Holm's correction"
    open_gap = claim.undecided
    if open_gap is not None:
        sources = words.count(open_gap.sources)
        return (
            f"as good within {open_gap.margin:g} is open: about {sources} sources "
            "would decide"
        )
    return gap.note


def reasons(claim: ReportedClaim) -> Iterator[str]:
    """Yield the words of a claim's reasons; on what it rests only where it holds.

    Without any, the reason is that of its undefined number.
    """
    if not claim.reasons and claim.row.value is None and claim.row.note:
        yield WHY.get(claim.row.note, words.spoken(claim.row.note))
    # These limit a claim that holds, and say nothing of one that does not hold.
    rests_on = {base.THESE_SYSTEMS, base.HANGS_ON, base.MANY_RATERS, base.SINGLE_TEXTS}
    worse = base.WORSE_THAN_CHANCE in claim.reasons
    # Reasons that a claim worse than chance implies: its sentence leaves them out.
    not_above = {base.CHANCE, *EXPLAINED_BY, LENGTH_NOT_TESTED}
    for code in claim.reasons:
        [(name, detail)] = details_of([code]).items()
        if name in rests_on and claim.outcome not in GOOD:
            continue
        if name == LENGTH_NOT_TESTED and not length_not_tested(claim):
            continue
        if worse and name in not_above:
            continue
        if name == CODES.holm and base.P_HOLM in claim.others:
            p = claim.others[base.P_HOLM].value
            tested = "" if p is None else f"p {words.p_value(p)}, "
            yield f"{tested}{claim.family}"
            continue
        text = OF_KIND.get((claim.kind, name)) or WHY.get(name, words.spoken(name))
        if name == base.SAYS:
            yield text.format(detail, figures(claim.others["says_share"]))
            continue
        if "{}" in text:
            text = text.format(detail)
        elif detail:
            text = f"{text}: {detail}"
        yield f"{text}{_number_behind(claim, name)}"
    if _beyond_systems(claim):
        yield "also among texts of one system"
    if "more_needed" in claim.others:
        yield more_needed(claim.others["more_needed"])


def joined_reasons(of_claim: Iterable[str]) -> Iterator[str]:
    """Yield reasons; those that begin with `not shown to be` are one list.

    >>> list(joined_reasons(["not shown to be above chance", "length not tested"]))
    ['not shown to be above chance', 'length not tested']
    >>> list(joined_reasons(["not shown to be a", "not shown to be b"]))
    ['not shown to be a, or b']
    """
    unshown = []
    others = []
    # How several reasons begin; a list says it once.
    unshown_words = "not shown to be "
    for reason in of_claim:
        if reason.startswith(unshown_words):
            unshown.append(reason.removeprefix(unshown_words))
        else:
            others.append(reason)
    if unshown:
        *first, last = unshown
        listed = f"{', '.join(first)}, or {last}" if first else last
        yield f"{unshown_words}{listed}"
    yield from others


def _number_behind(claim: ReportedClaim, reason: str) -> str:
    """The number that a reason rests on, in brackets; "" if it has none."""
    names = {
        base.THESE_SYSTEMS: base.BEYOND_SYSTEMS,
        base.NO_CEILING: f"{base.CEILING}_{claim.row.statistic}",
    }
    row = claim.others.get(names.get(reason, ""))
    if row is None or row.value is None:
        return ""
    return f" ({figures(row)})"


def _beyond_systems(claim: ReportedClaim) -> bool:
    """Whether a claim that holds does so among texts of one system, too."""
    codes = claim.codes
    shown = claim.others.get(f"p_{base.BEYOND_SYSTEMS}_holm")
    if claim.outcome not in GOOD:
        return False
    return shown is not None and base.THESE_SYSTEMS not in codes


def more_needed(row: ReportRow) -> str:
    """Return how much more data would decide whether a bar is met."""
    units, _, how = row.method.partition(", ")
    if row.value is None:
        return f"needs more than {words.count(MOST)} more {units}"
    return f"{words.count(round(row.value))} more {units} would decide it, {how}"


def against_rater(claim: ReportedClaim) -> ReportRow | None:
    """Return the difference from one more rater, None if it is not known."""
    row = claim.others.get(f"{base.AS_RATER}_{claim.row.statistic}")
    if row and row.value is not None:
        return row
    return None
