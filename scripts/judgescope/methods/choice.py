"""Which system is best: table choice.

People's pick, the judge's raw one and the corrected one; what a pick gains, and
what the judge's costs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from judgescope.core.cells import split
from judgescope.core.rng import stream
from judgescope.methods.base import HUMAN, Method
from judgescope.methods.corrected import (
    ASSUMED,
    LEVEL,
    NO_SYSTEMS,
    ONE_SYSTEM,
    chosen_how,
    why_not_corrected,
)
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.rated_systems import (
    JudgedSystems,
    judged_cells,
    rated_aspects,
    systems_rated_alone,
)
from judgescope.schema.rows import ResultRow
from judgescope.statistics.arrays import Codes, Floats
from judgescope.statistics.choice import (
    SystemMeans,
    best_set,
    corrected_means,
    p_best,
    picks,
    plain_means,
    system_pearson_true,
)
from judgescope.statistics.corrected import (
    NO_RATED_SOURCE,
    RatedSample,
    RatedTexts,
    judge_weight,
    source_means,
)
from judgescope.statistics.recalibrated import recalibrated
from judgescope.statistics.result import Estimate, clauses

UNCORRECTED: Final = "uncorrected"
"""The column `form` of a judge's rows: which pick they are about."""
DRAWN: Final = "10,000 draws from a multivariate t: no test"


@dataclass(frozen=True, eq=False)
class SystemTables:
    """Complete tables (sources, systems), in which more is better.

    judged, used, rated: of rated sources, the judge's scores, those that the estimator
    uses, people's ratings; others, others_used: of unrated ones. `note` names systems
    that are left out, or says that no source is rated.
    """

    names: list[str]
    judged: Floats
    used: Floats
    rated: Floats
    others: Floats
    others_used: Floats
    note: str

    @cached_property
    def weights(self) -> Floats:
        """λ of each system, (systems,); 0 where the judge is not used."""
        if len(self.others) < 2:
            return np.zeros(len(self.names))
        columns = zip(self.used.T, self.rated.T, self.others_used.T, strict=True)
        return np.array([judge_weight(RatedSample(*each)) for each in columns])

    @cached_property
    def corrected(self) -> SystemMeans:
        """The corrected means of the systems."""
        return corrected_means(self.used, self.rated, self.others_used, self.weights)

    @property
    def why_not(self) -> str:
        """Why nothing is chosen, "" if something is."""
        if len(self.names) < 2:
            return clauses(self.note, ONE_SYSTEM if self.names else "")
        fewest_rated = 10
        if len(self.rated) < fewest_rated:
            return (
                f"{len(self.rated)} rated sources have all systems: {fewest_rated} are "
                "needed"
            )
        return ""


def rows(data: EvaluationData) -> Iterator[ResultRow]:
    """Yield the rows of choice.csv: people's, then every judge's.

    The column `system_subset` has the system, `form` whether a judge's row is about its
    corrected means or its own. Controls have no rows.
    """
    aspects = rated_aspects(data)
    for aspect, why in aspects.items():
        if why:
            yield data.row(HUMAN, aspect, "p_best", LEVEL, Estimate.undefined(why))
        else:
            people = systems_rated_alone(data, aspect)
            yield from _people_rows(data, aspect, people)
    for judge, aspect, judged in judged_cells(data, aspects):
        if isinstance(judged, JudgedSystems):
            yield from _judge_rows(data, judge, aspect, judged)
        else:
            nothing = Estimate.undefined(judged)
            yield data.row(judge, aspect, "p_best", LEVEL, nothing)


def _people_rows(
    data: EvaluationData, aspect: str, people: JudgedSystems
) -> Iterator[ResultRow]:
    made = _tables(people, _is_turned(data, aspect))
    if isinstance(made, str) or made.why_not:
        why = made if isinstance(made, str) else made.why_not
        yield data.row(HUMAN, aspect, "p_best", LEVEL, Estimate.undefined(why))
        return
    means = plain_means(made.rated)
    yield from _best_rows(data, HUMAN, aspect, made, means, None, made.note)
    gain = picks(made.rated, made.rated, _stream(data, aspect)).people.estimate
    estimate = gain.with_note(made.note)
    yield data.row(HUMAN, aspect, "choice_gain", LEVEL, estimate)


def _judge_rows(
    data: EvaluationData, judge: str, aspect: str, judged: JudgedSystems
) -> Iterator[ResultRow]:
    """Yield the judge's corrected choice, its raw one, and what a pick gains."""
    made = _tables(judged, _is_turned(data, aspect))
    if isinstance(made, str) or made.why_not:
        why = made if isinstance(made, str) else made.why_not
        yield data.row(judge, aspect, "p_best", LEVEL, Estimate.undefined(why))
        return
    note = clauses(made.note, data.share_note(judge))
    refused = why_not_corrected(data, judged)
    corrected = "corrected"
    if refused:
        nothing = Estimate.undefined(f"not corrected: {refused}", n=len(made.rated))
        yield data.row(judge, aspect, "p_best", LEVEL, nothing, form=corrected)
        return  # nor is the judge's own choice given in its place
    means = made.corrected
    weights = made.weights
    assumed = ""
    if len(made.others) and chosen_how(data) == "unknown":
        assumed = ASSUMED
    unused = int((weights == 0).sum())
    how = ""
    if unused:
        how = f"judge not used for {unused} of {weights.size} systems"
    yield from _best_rows(
        data, judge, aspect, made, means, corrected, clauses(note, how, assumed)
    )
    alone = plain_means(np.concatenate([made.judged, made.others]))
    raw = clauses("uncorrected: the judge's bias is in it", note)
    yield from _best_rows(data, judge, aspect, made, alone, UNCORRECTED, raw)
    chosen = picks(made.judged, made.rated, _stream(data, aspect))
    numbers = {
        "choice_gain": chosen.judge,
        "choice_regret": chosen.regret,
        "system_pearson_true": system_pearson_true(made.judged, made.rated),
    }
    for name, result in numbers.items():
        yield data.row(
            judge,
            aspect,
            name,
            LEVEL,
            result.estimate.with_note(note),
            form=UNCORRECTED,
        )


def _best_rows(
    data: EvaluationData,
    judge: str,
    aspect: str,
    made: SystemTables,
    means: SystemMeans,
    form: str | None,
    note: str,
) -> Iterator[ResultRow]:
    """Yield of each system its share of draws as the best, and whether it may be it."""
    shares = p_best(means, _stream(data, aspect))
    kept = best_set(means)
    n = len(made.rated)
    if form == UNCORRECTED:
        n += len(made.others)
    for name, share, may_be in zip(
        made.names, shares.tolist(), kept.tolist(), strict=True
    ):
        drawn = Estimate(share, n=n, method=DRAWN, note=note)
        left = Estimate(float(may_be), n=n, method="Holm over all ordered pairs")
        for statistic, estimate in (("p_best", drawn), ("may_be_best", left)):
            yield data.row(
                judge, aspect, statistic, LEVEL, estimate, system_subset=name, form=form
            )


def _stream(data: EvaluationData, aspect: str) -> np.random.Generator:
    """Return the random numbers of an aspect: the same for people and every judge."""
    return stream(data.spec.seed, "choice", data.dataset, split(aspect)[0])


def _is_turned(data: EvaluationData, aspect: str) -> bool:
    """Return whether the lowest value of people's scale is the best."""
    turned = data.spec.turned
    return turned is not None and split(aspect)[0] in turned.ratings


# --- tables ---------------------------------------------------------------------------


def _tables(judged: JudgedSystems, turned: bool) -> SystemTables | str:
    """Return complete tables of the systems, or why there are none."""
    if not judged.names:
        return NO_SYSTEMS
    texts = {name: judged.texts(name) for name in judged.names}
    return system_tables(texts, turned)


def system_tables(texts: Mapping[str, RatedTexts], turned: bool) -> SystemTables:
    """Return complete tables of systems (name -> its texts), at least one."""
    rated = {name: np.unique(each.both.source) for name, each in texts.items()}
    every = np.unique(np.concatenate([*rated.values()]))
    names = list[str]()
    dropped = list[str]()
    # A system with texts of a smaller share of the rated sources is left out.
    least_present = 0.8
    for name, sources in rated.items():
        enough = every.size and sources.size >= least_present * every.size
        (names if enough else dropped).append(name)
    note = ""
    if not every.size:
        note = NO_RATED_SOURCE
    elif dropped:
        note = f"left out, in fewer than 80 % of rated sources: {', '.join(dropped)}"
    used = {name: recalibrated(texts[name]) for name in names}
    shared = _shared([rated[name] for name in names])
    others = _shared([np.unique(texts[name].unrated.source) for name in names])
    sign = -1.0 if turned else 1.0

    def table(parts: list[tuple[Floats, Codes]], sources: Codes) -> Floats:
        columns = []
        for values, source in parts:
            codes, means = source_means(values, source)
            columns.append(sign * means[np.searchsorted(codes, sources)])
        return np.array(columns).reshape(len(columns), sources.size).T

    def scores(
        tables: Mapping[str, RatedTexts], sources: Codes, *, of_rated: bool
    ) -> Floats:
        parts = []
        for name in names:
            parts.append(tables[name].both if of_rated else tables[name].unrated)
        return table([(part.judged, part.source) for part in parts], sources)

    ratings = [(texts[name].both.rated, texts[name].both.source) for name in names]
    return SystemTables(
        names=names,
        judged=scores(texts, shared, of_rated=True),
        used=scores(used, shared, of_rated=True),
        rated=table(ratings, shared),
        others=scores(texts, others, of_rated=False),
        others_used=scores(used, others, of_rated=False),
        note=note,
    )


def _shared(sources: list[Codes]) -> Codes:
    """Return the sources that all systems have, ascending."""
    if not sources:
        return np.empty(0, np.int64)
    kept = sources[0]
    for each in sources[1:]:
        kept = np.intersect1d(kept, each)
    return kept


METHOD = Method(
    name="choice",
    rows=rows,
    selectable=True,
    texts=("systems",),
    settings="estimate",
    unordered="yes",
)
