"""Claims about every judge in sentences, with their evidence."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from judgescope.methods.claims import base
from judgescope.methods.claims.base import LENGTH_NOT_TESTED
from judgescope.parsing.judgment import OFF_GRID
from judgescope.report import literature, words
from judgescope.report.cells import NO_CELL, Cell, estimate, figures, short, words_cell
from judgescope.report.claims import FIRST, FOUND, GOOD, KINDS, Claim
from judgescope.report.elements import Body, Column, Line, Table
from judgescope.report.report import Judge, Report
from judgescope.report.rows import Row
from judgescope.report.sections.cost import free, price_in_words
from judgescope.report.sections.study import tally_of
from judgescope.statistics import raters
from judgescope.statistics.result import CONTINUOUS
from judgescope.statistics.verdict import HOLM, MOST, Outcome, Sign

MOST_ASPECTS = 6
"""Of more aspects, agreement is counted by dataset."""
RULE = "rule"
"""The step of what agrees, but may be explained by less than quality."""
STEP_WORDS = {
    "missed": ("✕", "missed, failed, or worse than chance or than a rater"),
    "unshown": ("○", "not shown to be better than chance"),
    "unknown": ("?", "no claim, or cannot tell"),
    RULE: ("◐", Sign.RULE.meaning),
    "better": ("◕", "better than chance, and than a rule that ignores quality"),
    "rater": ("●", "as good as one more rater"),
    "meets": ("★", "meets the required bar"),
}
"""Step, the worst first -> its sign and its meaning."""
STEP_OF = {
    **dict.fromkeys((Outcome.MISSES, Outcome.SWAYED), "missed"),
    Outcome.NOT_SHOWN: "unshown",
    **dict.fromkeys((Outcome.NO_CLAIM, Outcome.CANNOT_TELL), "unknown"),
    **dict.fromkeys((Outcome.BETTER, Outcome.NOTICED, Outcome.WITHSTANDS), "better"),
    Outcome.AS_RATER: "rater",
    Outcome.MEETS: "meets",
}
"""Outcome -> the step of a claim whose sign limits it no further."""
LITERATURE = "In the literature's measures"
FEW = 4
"""Up to this many subjects are named; of more, only the number is given."""
TITLES: dict[tuple[Outcome, ...], str] = {
    (Outcome.MEETS,): "May be trusted for",
    (Outcome.AS_RATER,): "As good as one more rater at",
    (Outcome.BETTER, Outcome.NOTICED): "Better than chance at",
    (Outcome.WITHSTANDS,): "Succeeds at",
    (Outcome.NOT_SHOWN,): "Not shown to be better than a rule that ignores quality at",
    (Outcome.CANNOT_TELL,): "Cannot tell for",
    (Outcome.MISSES, Outcome.SWAYED): "Fails at",
    (Outcome.NO_CLAIM,): "No claim about",
}
"""Outcomes -> how a sentence about them begins, in the order of the sentences."""
BARS = {
    Outcome.MEETS: "May be trusted, because it meets the required bar:",
    Outcome.CANNOT_TELL: "Cannot tell whether it meets the required bar:",
    Outcome.MISSES: "Misses the required bar:",
}
"""How a sentence about bars begins."""
FEWEST_FOR_NUMBER = 10
"""A correlation of fewer texts or sources is left out."""
OF_KIND = {
    (base.PERTURBATION, "chance"): "p > .05",
    (base.PERTURBATION, "length"): "noticed, but comparing lengths detects it, too",
    (base.HINTS, "chance"): "neither withstanding nor following is shown",
    (base.CAUGHT, "length"): "so does a rule of length",
    (base.PASSED, "length"): "so does a rule of length",
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
    base.WORSE_THAN_CHANCE: "significantly worse than chance",
    base.NO_CEILING: "people are not shown to agree with each other",
    base.HANGS_ON: "hangs on system {}: without its texts it is not shown",
    base.SINGLE_TEXTS: (
        "over all texts: a judge that only knows how hard a source is could do as well"
    ),
    base.SAYS: "says “{}” to {} of all texts",
    "systems": "a judge that only prefers certain systems could do as well",
    "within": "it may only tell sources apart",
    "lost": "not if every lost reply had the worst score",
    "too_many_lost": "more than a fifth of its judgments are lost",
    "constant": "one score for all texts",
    CONTINUOUS: "the scores are continuous and have no classes",
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
RESTS_ON = {base.THESE_SYSTEMS, base.HANGS_ON, base.SINGLE_TEXTS}
"""Reasons that limit a claim that holds; left out if it does not hold."""
BEYOND = "also among texts of one system"
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


BLIND = "a rule that ignores quality"
ANSWER_WORDS = 25
"""Maximum number of words of an answer on the first screen."""


def answer(report: Report, judge: Judge, claims: Sequence[Claim]) -> str:
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
    on_aspects = [one for one in every if one.kind in (base.AGREEMENT, base.LABELS)]
    whom = report.raters(one.dataset for one in on_aspects)
    kinds = {
        kind: Counter(
            claim.outcome for claim in every if claim.kind.partition(" ")[0] == kind
        )
        for kind in (
            base.BAR,
            base.AGREEMENT,
            base.LABELS,
            base.PAIRS,
            base.PERTURBATION,
        )
    }
    counted = {*kinds, *FOUND}
    others = [claim for claim in every if claim.kind.partition(" ")[0] not in counted]
    parts = [*misses(report, every), *_counted(kinds, whom)]
    if others:
        held = sum(claim.outcome in GOOD for claim in others)
        verb = "holds" if held == 1 else "hold"
        parts.append(f"{held} of {words.plural(len(others), 'further claim')} {verb}")
    untested = [WHY[LENGTH_NOT_TESTED]] * any(map(length_not_tested, every))
    most_words = ANSWER_WORDS - len(" ".join(untested).split())
    kept = parts[:1] or ["no claim about its labels could be decided"]
    for part in parts[1:]:
        if len("; ".join([*kept, part]).split()) <= most_words:
            kept.append(part)
    kept += untested
    text = "; ".join(kept)
    return f"{text[0].upper()}{text[1:]}."


def length_not_tested(claim: Claim) -> bool:
    """Return whether a claim was decided without a test against length."""
    codes = (code.partition(": ")[0] for code in claim.reasons)
    return LENGTH_NOT_TESTED in codes and claim.outcome != Outcome.NO_CLAIM


def misses(report: Report, claims: Sequence[Claim]) -> Iterator[str]:
    """Yield the share of bad texts that the judge lets through, and of good ones that
    it rejects.

    Only if the claim fails; of several aspects the worst one, and how many more there
    are.
    """
    for kind, template in (
        (base.CAUGHT, "lets {} of bad texts through"),
        (base.PASSED, "rejects {} of good texts"),
    ):
        missed = [
            one for one in claims if one.kind == kind and one.outcome == Outcome.MISSES
        ]
        if not missed:
            continue
        worst = min(missed, key=lambda one: one.row.value or 0.0)
        dataset = next(one for one in report.datasets if one.id == worst.dataset)
        names = dataset.labels_on(worst.row.judged)
        says = "the authors' plan says" if dataset.planned else "people say"
        given = f" where {says} ".join(
            f"“{names[k]}”" for k in (1 - FOUND[kind], FOUND[kind])
        )
        more = f", and {len(missed) - 1} further" if len(missed) > 1 else ""
        share = words.percent(1 - (worst.row.value or 0.0))
        yield f"{template.format(share)} ({worst.subject}: {given}{more})"


def _counted(kinds: Mapping[str, Counter[Outcome]], whom: str) -> Iterator[str]:
    bars, pairs, texts = kinds[base.BAR], kinds[base.PAIRS], kinds[base.PERTURBATION]
    if n := bars.total():
        met, missed = bars[Outcome.MEETS], bars[Outcome.MISSES]
        yield f"meets {met} of {words.plural(n, 'required bar')}, misses {missed}"
    if n := (on_aspects := kinds[base.AGREEMENT] + kinds[base.LABELS]).total():
        aspects = words.plural(n, "aspect")
        rater, better, open_ = (
            on_aspects[one]
            for one in (Outcome.AS_RATER, Outcome.BETTER, Outcome.NO_CLAIM)
        )
        if rater:
            yield f"as good as one more rater on {rater} of {aspects}"
        if better:
            yield f"better than chance on {better} of {aspects}"
        if n == open_:
            yield (
                f"no claim of agreement with {whom}{f' on {aspects}' if n > 1 else ''}"
            )
        elif not rater and not better:
            on_any = f" on any of {aspects}" if n > 1 else ""
            yield f"not shown to agree with {whom} better than {BLIND}{on_any}"
    if n := pairs.total():
        held = sum(pairs[one] for one in GOOD)
        yield (
            f"finds the better of two texts on {held or 'none'} of "
            f"{words.plural(n, 'aspect')}"
        )
    if n := texts.total():
        noticed, missed = texts[Outcome.NOTICED], texts[Outcome.MISSES]
        misses = f", misses {missed}" if missed else ""
        yield f"notices {noticed} of {words.plural(n, 'perturbation')}{misses}"


def sentence(report: Report, judge: Judge, claims: Sequence[Claim]) -> str:
    """Return the verdicts of a judge in full, with what is missing and the price.

    It is the same whatever other judges there are: no claim of rank is in it.
    """
    claims = [claim for claim in claims if claim.kind != FIRST]
    parts, tally = [no_score(report, judge)], tally_of(report, judge)
    if not parts[0]:
        if judge.hint:
            which = "the right rating" if judge.hint == "right" else "a wrong rating"
            parts.append(
                f"It receives {which} of the text it judges (hint: {judge.hint}), so "
                "its agreement shows nothing: no claim of agreement, and no rank."
            )
        parts += [
            f"{title} {respects}." for title, respects in verdicts(report, claims)
        ]
        if lost := tally.asked - tally.counts["ok"]:
            of_all = words.plural(tally.asked, "judgment")
            parts.append(f"Of its {of_all} {words.count(lost)} have no score.")
    rows = report.rows("cost").where(judge=judge.id)
    if len(rows) and not free(rows):
        parts.append(f"Cost: {price_in_words(rows)}.")
    return " ".join(filter(None, parts))


def no_score(report: Report, judge: Judge) -> str:
    """Return the sentence about a judge that gave no score, "" for others."""
    tally = tally_of(report, judge)
    if not tally.asked or tally.counts["ok"]:
        return ""
    cut = f"cut at max_tokens {judge.max_tokens}" if judge.max_tokens else ""
    why = "; ".join(
        f"{words.count(n)} {words.STATUSES.get(name, words.spoken(name))}"
        + (f": {cut}" if cut and name == "truncated" else "")
        for name, n in sorted(tally.failed.items(), key=lambda item: -item[1])
    )
    if [*tally.failed] == ["truncated"]:
        why = cut or "cut"
    remedy = f" {words.OFF_GRID_SENTENCE}" if OFF_GRID in tally.failed else ""
    replies = words.plural(tally.asked, "reply", "replies")
    return (
        f"Gave no score ({words.count(tally.asked)} of {replies} could not be read: "
        f"{why}).{remedy}"
    )


def verdicts(report: Report, claims: Sequence[Claim]) -> Iterator[tuple[str, str]]:
    """Yield the beginning and the subject of each sentence.

    A subject has the respects with the sentence's outcomes. Where the number of claims
    that hold is given, the others are not listed as not shown.
    """
    for (outcomes, title), bar in product(TITLES.items(), (False, True)):
        by_respect: dict[str, list[Claim]] = {}
        for claim in claims:
            if (
                base.HINTED not in claim.reasons
                and claim.kind.startswith(base.BAR) == bar
            ):
                by_respect.setdefault(claim.respect, []).append(claim)
        quiet = Outcome.NOT_SHOWN in outcomes or Outcome.NO_CLAIM in outcomes
        respects = []
        for respect, every in by_respect.items():
            chosen = [claim for claim in every if claim.outcome in outcomes]
            counted = sum(claim.outcome in GOOD for claim in every) > FEW
            if chosen and not (quiet and counted):
                respects.append(_with_subjects(report, respect, chosen, every))
        if respects:
            yield (BARS.get(outcomes[0], title) if bar else title), "; ".join(respects)


def _with_subjects(
    report: Report, respect: str, chosen: Sequence[Claim], every: Sequence[Claim]
) -> str:
    """Return a respect with the subjects of the chosen claims, or with their number."""
    if "{}" not in respect:
        subjects = words.listed(
            list(dict.fromkeys(one.subject for one in chosen if one.subject))
        )
        return f"{respect}{_details(report, chosen, every, subjects)}"
    if len(chosen) > FEW:
        sets = len({claim.dataset for claim in every})
        where = f" on {sets} datasets" if sets > 1 else ""
        kind = KINDS.get(chosen[0].kind)
        noun = kind.subjects if kind else "cases"
        share = "all" if len(chosen) == len(every) else f"{words.count(len(chosen))} of"
        return respect.format(f"{share} {words.count(len(every))} {noun}{where}")
    named = []
    for subject in dict.fromkeys(claim.subject for claim in chosen):
        mine, among = (
            [claim for claim in part if claim.subject == subject]
            for part in (chosen, every)
        )
        named.append(f"{subject}{_details(report, mine, among)}")
    return respect.format(words.listed(named))


def _details(
    report: Report, chosen: Sequence[Claim], every: Sequence[Claim], *parts: str
) -> str:
    """Return in brackets: `parts`, number and reasons of a single claim, and datasets'
    names.

    There are no names if the outcome is the same on all datasets that have the claim.
    """
    if len(chosen) == 1:
        parts += (number(chosen[0]), *reasons(chosen[0]))
    datasets = dict.fromkeys(claim.dataset for claim in chosen)
    if len(chosen) < len(every) and {*datasets} != {claim.dataset for claim in every}:
        names = [report.names[dataset] for dataset in datasets]
        parts += (
            words.listed(names)
            if len(names) <= FEW
            else f"on {words.count(len(names))} datasets",
        )
    text = "; ".join(filter(None, parts))
    return f" ({text})" if text else ""


def number(claim: Claim) -> str:
    """Return the deciding number of a claim; D is not an effect size, few texts give
    none.
    """
    row = (
        claim.others.get("net_share", claim.row)
        if claim.kind == base.PERTURBATION
        else claim.row
    )
    if row.value is None or row.statistic == "D_exact":
        return ""
    if row.n < FEWEST_FOR_NUMBER:
        return f"n = {words.count(row.n)}"
    text = f"{words.label(row.statistic)} {figures(row)}"
    if (gap := _against_rater(claim)) is None:
        return text
    text += f"; against one more rater {figures(gap)}"
    if claim.outcome == Outcome.BETTER:
        text += f", {_beside_rater(claim, gap)}"
    return text


def _beside_rater(claim: Claim, gap: Row) -> str:
    """Return what the difference from one more rater says."""
    if raters.AS_GOOD in gap.note and claim.outcome != Outcome.AS_RATER:
        return "not shown after Holm's correction"
    return gap.note


def reasons(claim: Claim) -> Iterator[str]:
    """Yield the words of a claim's reasons; on what it rests only where it holds.

    Without any, the reason is that of its undefined number.
    """
    if not claim.reasons and claim.row.value is None and claim.row.note:
        yield WHY.get(claim.row.note, words.spoken(claim.row.note))
    for code in claim.reasons:
        name, _, detail = code.partition(": ")
        if name in RESTS_ON and claim.outcome not in GOOD:
            continue
        if name == LENGTH_NOT_TESTED and not length_not_tested(claim):
            continue
        if name == HOLM and base.P_HOLM in claim.others:
            p = claim.others[base.P_HOLM].value
            yield (
                f"p {words.p_value(p)}, {claim.family}"
                if p is not None
                else claim.family
            )
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
        yield BEYOND
    if "more_needed" in claim.others:
        yield more_needed(claim.others["more_needed"])


def _number_behind(claim: Claim, reason: str) -> str:
    """The number that a reason rests on, in brackets; "" if it has none."""
    names = {
        base.THESE_SYSTEMS: base.BEYOND_SYSTEMS,
        base.NO_CEILING: f"{base.CEILING}_{claim.row.statistic}",
    }
    row = claim.others.get(names.get(reason, ""))
    if row is None or row.value is None:
        return ""
    return f" ({figures(row)})"


def _beyond_systems(claim: Claim) -> bool:
    """Whether a claim that holds does so among texts of one system, too."""
    codes = {code.partition(": ")[0] for code in claim.reasons}
    shown = claim.others.get(f"p_{base.BEYOND_SYSTEMS}_holm")
    return (
        claim.outcome in GOOD and shown is not None and base.THESE_SYSTEMS not in codes
    )


def more_needed(row: Row) -> str:
    """Return how much more data would decide whether a bar is met."""
    units, _, how = row.method.partition(", ")
    if row.value is None:
        return f"needs more than {words.count(MOST)} more {units}"
    return f"{words.count(round(row.value))} more {units} would decide it, {how}"


@dataclass(frozen=True)
class Question:
    """What several claims answer together: a column of the matrix, under a heading."""

    title: str
    rank: int
    """The number of its kind in the order of the columns."""
    group: str = ""
    as_rater: bool = False
    """Whether the number is the difference from one more rater."""


def question(report: Report, claim: Claim) -> Question:
    """Return the question that a claim answers."""
    kind = claim.kind.partition(" ")[0]
    if kind == base.BAR:
        return Question(claim.respect.format(claim.subject), 0, "Required bar")
    if kind == base.AGREEMENT:
        if sum(len(dataset.aspects) for dataset in report.datasets) > MOST_ASPECTS:
            return Question(report.names[claim.dataset], 1, "Agreement")
        return Question(claim.subject, 1, f"Agreement: {report.names[claim.dataset]}")
    if kind == base.LABELS:
        return Question(claim.subject, 1, f"Labels: {report.names[claim.dataset]}")
    if kind in FOUND:
        return Question(KINDS[kind].question, 0)
    if kind == base.PERTURBATION:
        levels = {one.cell: one.level for one in report.perturbations}
        return Question(f"of {levels[claim.row.cell]}s", 3, "Perturbations noticed")
    return Question(KINDS[kind].question, 4 + [*KINDS].index(kind))


AGAINST_RATER = Question("As good as a rater", 2, as_rater=True)


def answered(report: Report, claims: Sequence[Claim]) -> dict[Question, list[Claim]]:
    """Return the claims by the question that they answer, without those of rank."""
    found: dict[Question, list[Claim]] = {}
    for claim in claims:
        if claim.kind != FIRST:
            found.setdefault(question(report, claim), []).append(claim)
            if claim.kind in (base.AGREEMENT, base.LABELS) and _against_rater(claim):
                found.setdefault(AGAINST_RATER, []).append(claim)
    return found


def _against_rater(claim: Claim) -> Row | None:
    """Return the difference from one more rater, None if it is not known."""
    row = claim.others.get(f"{base.AS_RATER}_{claim.row.statistic}")
    return row if row and row.value is not None else None


def deciding(asked: Question, claim: Claim) -> Row:
    """Return the row of the number that answers the question."""
    return (_against_rater(claim) if asked.as_rater else None) or claim.row


def figure_of(asked: Question, claims: Sequence[Claim]) -> str:
    """Return the number of a cell of the matrix: the deciding one, or how many claims
    hold.

    D is not an effect size, and few texts give no number.
    """
    if len(claims) > 1 or claims[0].kind == base.PERTURBATION:
        good = {Outcome.AS_RATER} if asked.as_rater else GOOD
        return f"{sum(claim.outcome in good for claim in claims)} of {len(claims)}"
    row = deciding(asked, claims[0])
    few = row.value is not None and row.n < FEWEST_FOR_NUMBER
    return f"n = {words.count(row.n)}" if few else short(row)


def step_of_claim(claim: Claim) -> str:
    """Return the step that a claim reaches: by its outcome, and no further than its
    sign.
    """
    if claim.sign is Sign.FAILS:
        return "missed"
    return RULE if claim.sign is Sign.RULE else STEP_OF[claim.outcome]


def step_of(asked: Question, claims: Sequence[Claim]) -> str:
    """Return the step that all these claims reach."""
    steps = [step_of_claim(claim) for claim in claims]
    if asked.as_rater:  # being better than chance does not answer this question
        notes = [deciding(asked, claim).note for claim in claims]
        steps = [
            _beside_a_rater(step, claim.outcome, note)
            for step, claim, note in zip(steps, claims, notes, strict=True)
        ]
    return min(steps, key=[*STEP_WORDS].index)


def _beside_a_rater(step: str, outcome: Outcome, note: str) -> str:
    """Return the step of a claim where the question is whether it is as good as a
    rater.
    """
    if note == raters.WORSE:
        return "missed"
    return step if outcome is Outcome.AS_RATER else "unknown"


def evidence(
    report: Report, claims: Sequence[Claim], prefix: str = "", card: str = ""
) -> Table:
    """Return every claim, by question: its outcome by the rules, its numbers, n and p.

    Where there is a `card` each claim leads to the texts on which the judge does worst.
    `prefix` begins the ids of the questions.
    """
    bodies = []
    for number, (asked, part) in enumerate(answered(report, claims).items()):
        lines = [
            Line(
                claim.respect.format(claim.subject),
                _evidence_cells(report, asked, claim),
                report.names[claim.dataset],
                href=card and f"{card}#worst-{claim.dataset}",
            )
            for claim in part
        ]
        about = asked.group and f"{asked.group}, "
        reached = STEP_WORDS[step_of(asked, part)][1]
        title = f"{about}{asked.title}: {figure_of(asked, part)}, {reached}"
        bodies.append(Body(lines, title, id=f"{prefix}-{number}" if prefix else ""))
    columns = [Column("Number"), Column("p")]
    columns += [
        Column(name, style="words")
        for name in ("Verdict", "Because", "Further numbers", LITERATURE)
    ]
    caption = "Every claim with its outcome and its numbers."
    return Table(caption, "Claim", columns, bodies, code=False, whole=True)


def _evidence_cells(report: Report, asked: Question, claim: Claim) -> list[Cell]:
    shown = deciding(asked, claim)
    names = (f"{base.AS_RATER}_{claim.row.statistic}", "net_share")
    numbers = [
        f"{words.label(row.statistic)} {figures(row)}, n = {words.count(row.n)}"
        for row in (claim.row, *map(claim.others.get, names))
        if row and row is not shown
    ]
    ps = ["p_rater"] if asked.as_rater else ["p_noticed_holm", base.P_HOLM]
    p, tested = next(filter(None, map(claim.others.get, ps)), None), NO_CELL
    if p and p.value is not None:
        how = "not corrected" if asked.as_rater else claim.family
        tested = Cell(words.p_value(p.value), notes=(how,) * bool(how), sort=p.value)
    verdict = (
        _beside_rater(claim, shown) if asked.as_rater else words.spoken(claim.outcome)
    )
    other = (
        asked.as_rater and claim.outcome != Outcome.AS_RATER
    )  # its reasons are another claim's
    why = "" if other else "; ".join(reasons(claim))
    published = "" if asked.as_rater else literature.line(report, claim)
    texts = (verdict, why, "; ".join(numbers), published)
    return [estimate(shown, counts=True), tested, *map(words_cell, texts)]
