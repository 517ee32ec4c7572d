"""Do people confirm the known quality of texts: which of two is better, or how good one
is?
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator

from judgescope.core.rng import stream
from judgescope.extensions.people import answers, form
from judgescope.extensions.people.answers import (
    FormResults,
    FormTable,
    Response,
    Statistics,
)
from judgescope.extensions.people.form import FormQuestion
from judgescope.extensions.people.known_quality import (
    GRADED,
    NEEDS,
    NEW,
    ORIGINAL,
    RATED,
    ROW,
    Case,
    RecheckedText,
    blocks_of,
    case_of,
    drawn,
    files_of,
    name_of,
    pair_of,
    sampled,
    texts_of,
)
from judgescope.plan.study import Plan
from judgescope.statistics.intervals import deletions
from judgescope.statistics.means import SHARE, share
from judgescope.statistics.registry import scale_of
from judgescope.statistics.result import Estimate
from judgescope.statistics.source_rows import Weights

BOTH: Final = "constructed"
"""The group of all constructed texts, if there are both chains and graded sets."""
GROUPS: Final = {
    NEW: {NEW},
    ORIGINAL: {ORIGINAL},
    ROW: {ROW},
    GRADED: {GRADED},
    BOTH: {ROW, GRADED},
}
"""Group of statistics -> the groups of cases that it needs."""
AGREEMENT = "reevaluation_agreement"
NO_DIFFERENCE = "reevaluation_no_difference"
Shown = tuple[Case, bool]
"""The subject of a question: a case, and whether its better text comes first."""


# --- pages ----------------------------------------------------------------------------


def make(
    plan: Plan,
    out: Path,
    folder: Path,
    *,
    kinds: Sequence[str],
    pairs: int | None,
    voters: int,
    force: bool = False,
) -> form.Made[Case]:
    """Write the pages of a study about texts of some `kinds` into a folder.

    `pairs` is the number of drawn pairs: of rated texts for each dataset, aspect and
    group, of texts in rows for each dataset; also of single texts of graded sets. By
    default 50 if there are rated texts, else 100.
    """
    if pairs is None:
        pairs = 50 if RATED in kinds else 100
    form.check_numbers(pairs=pairs, voters=voters)
    texts: list[RecheckedText] = []
    for kind in kinds:
        texts += texts_of(plan, out, kind)
    drawn = _drawn(plan.study.seed, texts, pairs)
    if not any(drawn.values()):
        needs = "; or ".join(NEEDS[kind] for kind in kinds)
        raise form.nothing_to_ask(plan, todo=f"use {needs}")
    items = partial(_items, plan)
    made = form.ask(
        plan, folder, "reevaluation", drawn, items, voters=voters, force=force
    )
    for labels, cases in drawn.items():
        if len(cases) < pairs:
            what = "texts" if GRADED in labels else "pairs"
            group = ", ".join(filter(None, labels))
            made.lines.append(f"{group}: only {len(cases)} of {pairs} {what} available")
    return made


def _drawn(
    seed: int, texts: Iterable[RecheckedText], limit: int
) -> form.DrawnRecords[Case]:
    """Return dataset, aspect ("": any) and group -> up to `limit` pairs, or single
    texts.
    """

    def origin(text: RecheckedText) -> tuple[str, str, str]:
        return text.kind, text.dataset, text.aspect if text.kind == RATED else ""

    drawn_cases: form.DrawnRecords[Case] = {}
    for (kind, *labels), alike in form.grouped(texts, origin).items():
        rngs = partial(stream, seed, "reevaluation", *labels)
        if kind == GRADED:
            single = sampled(alike, rngs(GRADED), limit)
            drawn_cases[*labels, GRADED] = [case_of(GRADED, text) for text in single]
            continue
        for group, blocks in blocks_of(alike).items():
            drawn_cases[*labels, group] = drawn(group, blocks, rngs(group), limit)
    return drawn_cases


def _items(plan: Plan, cases: list[Case], rng: Generator) -> list[form.FormItem]:
    """Return a voter's questions by aspect: for each, first pairs, then single
    texts.
    """
    items = []
    for group in form.by_aspect(cases, rng):
        for is_pair in (True, False):
            alike = [case for case in group if case.is_pair == is_pair]
            if not alike:
                continue
            for case, swapped in form.half_swapped(alike, rng):
                texts = case.texts
                if swapped:
                    texts = case.texts[::-1]
                sources = [text.source for text in texts[: len(case.sources)]]
                shown = [text.text for text in texts]
                questions = questions_on(plan, texts)
                items.append(form.item_about(plan, case, questions, shown, *sources))
    return items


def questions_on(
    plan: Plan, texts: tuple[RecheckedText, ...]
) -> list[FormQuestion[Shown]]:
    """Return the question on texts as they are shown, or none if they are not a
    case.
    """
    case = None
    options = form.COMPARED
    if len(texts) == 2:
        case = pair_of(*texts)
    elif len(texts) == 1 and texts[0].kind == GRADED:
        case = case_of(GRADED, *texts)
        options = form.rating_options(plan, case.dataset, case.aspect)
    if case is None:
        return []
    names = "-".join(name_of(plan, text) for text in texts)
    return [FormQuestion(f"q{names}", options, (case, case.texts == texts))]


# --- answers --------------------------------------------------------------------------


class CountedJudgments(NamedTuple):
    """People's judgments of a case, and how many are missing.

    For a pair, 1: the better text was chosen, -1: the worse text, 0: neither. For a
    single text: by how many steps of the scale people's rating is above the known one.
    """

    judgments: Sequence[int]
    missing: int


JudgedCases = Mapping[Case, CountedJudgments]


def finder(plan: Plan, texts: Iterable[RecheckedText]) -> answers.Find[Shown]:
    """Return a function that finds questions about texts by their ids."""
    named = {name_of(plan, text): text for text in texts}
    return answers.finder(named, partial(questions_on, plan))


def read(plan: Plan, out: Path, folder: Path) -> FormResults:
    """Return the results of a folder of answers, about texts of all kinds that were
    made.
    """
    texts: list[RecheckedText] = []
    for kind in _made_kinds(plan, out) or NEEDS:
        texts += texts_of(plan, out, kind)
    find = finder(plan, texts)
    responses = answers.read_responses(
        folder, lambda _: find, answers.voter_page, one_voter=True
    )
    tally = _tallied(responses)
    statistics: Statistics = {}
    for dataset in plan.evaluated:
        statistics |= _statistics(dataset, tally)
    pairs, single = _tables(tally)
    tables = {
        "reevaluation.csv": answers.measured_table(
            ["dataset", "aspect", "group", "statistic"], statistics
        ),
        "pairs.csv": pairs,
        "texts.csv": single,
    }
    lines = [*_lines(statistics), *answers.absent(responses)]
    about = f"about {len(pairs.rows)} pairs of texts"
    if single.rows:
        about += f" and {len(single.rows)} single texts"
    return FormResults("reevaluation", len(responses), about, tables, lines)


def _made_kinds(plan: Plan, out: Path) -> list[str]:
    """Return the kinds of texts of which the study has all files."""
    kinds = []
    for kind in NEEDS:
        files: list[Path] = []
        for dataset in plan.evaluated:
            files += files_of(plan, out, kind, dataset)
        if files and all(path.is_file() for path in files):
            kinds.append(kind)
    return kinds


def _tables(tally: JudgedCases) -> tuple[FormTable, FormTable]:
    """Return the tables of judgments on pairs and on single texts."""
    pairs: list[Sequence[object]] = []
    texts: list[Sequence[object]] = []
    for case, (judgments, missing) in tally.items():
        levels = [text.level for text in case.texts]
        signs = Counter((judgment > 0) - (judgment < 0) for judgment in judgments)
        same = signs[0]
        worse = signs[-1]
        better = signs[1]
        if case.is_pair:
            pairs.append((*case.labels, *levels, better, worse, same, missing))
        else:
            dataset, aspect, _, name, target = case.labels
            rated = [dataset, aspect, name, target, *levels]
            steps = sum(map(abs, judgments))
            texts.append((*rated, same, worse, better, missing, steps))
    pair_columns = ["dataset", "aspect", "group", "set", "better", "worse"]
    pair_columns += ["level_better", "level_worse"]
    pair_columns += ["for_better", "for_worse", "no_difference", "n_missing"]
    text_columns = ["dataset", "aspect", "set", "target", "rating"]
    text_columns += ["same", "lower", "higher", "n_missing", "steps"]
    return FormTable(pair_columns, pairs), FormTable(text_columns, texts)


def _lines(statistics: Statistics) -> Iterator[str]:
    """Yield a line with the statistics of each dataset and group over all aspects."""
    groups: dict[tuple[str, str], list[str]] = {}
    for (dataset, aspect, group, statistic), estimate in statistics.items():
        if aspect:
            continue
        if statistic == AGREEMENT:
            number = f"agreement {answers.formatted(estimate)}"
        elif statistic == NO_DIFFERENCE:
            number = f"no difference {estimate.value:.3f}"
        else:
            number = f"mean distance {estimate.value:.3f} steps of the scale"
        groups.setdefault((dataset, group), []).append(number)
    for (dataset, group), numbers in groups.items():
        yield f"{dataset}, {group}: {'; '.join(numbers)}"


def _tallied(responses: Iterable[Response[Shown]]) -> JudgedCases:
    """Return people's judgments of each case, by dataset, aspect, group and texts.

    Pages contain the number of voters: judgments of voters who did not answer are
    missing. The pages of a round ask about the same cases; each round has its own
    voters.
    """
    judgments: dict[Case, list[int]] = {}
    planned: dict[Case, Counter[frozenset[Case]]] = {}
    for response in responses:
        cases = frozenset(question.subject[0] for question, _ in response.given)
        for question, answer in response.given:
            case = question.subject[0]
            judgments.setdefault(case, []).append(_judgment(question, answer))
            voters = planned.setdefault(case, Counter())
            voters[cases] = max(response.voter[1], voters[cases])
    tally = {}
    for case in sorted(judgments, key=lambda case: case.labels):
        missing = planned[case].total() - len(judgments[case])
        tally[case] = CountedJudgments(judgments[case], max(0, missing))
    return tally


def _judgment(question: FormQuestion[Shown], answer: str) -> int:
    """Return an answer as a number, see CountedJudgments."""
    case, better_first = question.subject
    position = question.values.index(answer)
    if not case.is_pair:
        return position - case.texts[0].positions[0]
    for_first = (1, -1, 0)[position]
    return for_first if better_first else -for_first


def _statistics(dataset: str, tally: JudgedCases) -> Statistics:
    """Return a dataset's statistics by group, over all aspects ("") and for each
    aspect.
    """
    cases = {case: judged for case, judged in tally.items() if case.dataset == dataset}
    items = sorted(set(chain.from_iterable(case.sources for case in cases)))
    weights = deletions(len(items))
    statistics: Statistics = {}
    for aspect in ["", *sorted({case.aspect for case in cases})]:
        for group, parts in GROUPS.items():
            of_group: dict[Case, CountedJudgments] = {}
            for case, judged in cases.items():
                if case.group in parts and aspect in ("", case.aspect):
                    of_group[case] = judged
            if {case.group for case in of_group} == parts:
                estimates = _estimates(group, of_group, items, weights)
                for name, estimate in estimates.items():
                    statistics[dataset, aspect, group, name] = estimate
    return statistics


def _estimates(
    group: str, tally: JudgedCases, items: Sequence[str], weights: Weights
) -> dict[str, Estimate]:
    """Return the shares of judgments that confirm the known quality, and that see no
    difference.

    Ratings of single texts have, instead of the second, their mean distance from the
    known rating.
    """
    confirming: list[int] = []
    equal: list[int] = []
    steps: list[int] = []
    sizes: list[int] = []
    for case, (judgments, _) in tally.items():
        confirming.append(judgments.count(1 if case.is_pair else 0))
        equal.append(judgments.count(0))
        steps.append(sum(map(abs, judgments)))
        sizes.append(len(judgments))
    counts = {AGREEMENT: confirming}
    distance = "reevaluation_distance"
    if group == GRADED:
        counts[distance] = steps
    elif group != BOTH:
        counts[NO_DIFFERENCE] = equal
    averaged = "of judgments"
    if GRADED not in GROUPS[group]:
        averaged = (
            "share of judgments; a pair of two sources counts for the source with more "
            "pairs"
        )
    source = np.searchsorted(items, sources_of(list(tally)))
    missing = sum(judged.missing for judged in tally.values())
    estimates = {}
    for name, values in counts.items():
        estimates[name] = share(
            np.array(values, dtype=np.float64),
            np.array(sizes, dtype=np.float64),
            source,
            weights,
            missing,
            averaged=averaged,
            ends=None if name == distance else SHARE,
            scale=scale_of(name),
        ).estimate
    return estimates


def sources_of(cases: Sequence[Case]) -> list[str]:
    """Return the source that each case counts for: of two, the one with more cases.

    If few texts have a rating, many pairs share a text and carry less information.
    """
    counts = Counter(chain.from_iterable(case.sources for case in cases))
    sources = []
    for case in cases:
        busiest = max(case.sources, key=lambda source: (counts[source], source))
        sources.append(busiest)
    return sources
