"""Why a judge has no score at all where one was planned."""

from collections import Counter
from collections.abc import Iterable, Mapping

from judgescope.methods.evaluation_data import EvaluationData
from judgescope.parsing.parsers import CONTEXT
from judgescope.statistics.result import Estimate

NO_PAIRS = "no item has a score for both texts"
MADE = {"ok", "short"}

Ends = Mapping[tuple[str, str, str], Counter[tuple[str, str]]]
"""(perturbation, judge, aspect) -> how many judgments ended with which (status, rule)."""


def ends(study: EvaluationData) -> Ends:
    """Return how the judgments of every cell ended."""
    found: dict[tuple[str, str, str], Counter[tuple[str, str]]] = {}
    for row in study.statuses.to_pylist():
        cell = found.setdefault((row["perturbation"], row["judge"], row["aspect"]), Counter())
        cell[row["status"], row["rule"] or ""] += row["n"]
    return found


def excluded(study: EvaluationData, texts: str = "original") -> dict[str, str]:
    """Return judge -> why it does not score a set of texts at all."""
    return {judge: why for judge, name, why in study.spec["excluded"] if name == texts}


def reasons(
    study: EvaluationData, found: Ends, perturbation: str, judge: str, aspects: Iterable[str]
) -> dict[str, Estimate]:
    """Return aspect -> the undefined estimate of a damage on which it has no pairs of scores."""
    wanted = list(aspects)
    if wanted and (why := nothing_made(study, perturbation)):
        return dict.fromkeys(wanted, Estimate.undefined(why))
    return {aspect: nothing_judged(found, perturbation, judge, aspect) for aspect in wanted}


def nothing_made(study: EvaluationData, perturbation: str) -> str:
    """Return how many texts of a set could not be made, "" where some could."""
    told = study.panel(perturbation).rows["status"].to_pylist()
    outcomes = Counter(status.partition(":")[0] for status in told)
    if MADE & set(outcomes):
        return ""
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return f"no text could be made ({counted or 'none planned'})"


def too_long(found: Ends, perturbation: str, judge: str, aspect: str) -> int:
    """Return how many requests on originals and a damage were longer than the model's context."""
    cells = (found.get((name, judge, aspect)) for name in ("original", perturbation))
    return sum(cell["error", CONTEXT] for cell in cells if cell)


def nothing_judged(found: Ends, perturbation: str, judge: str, aspect: str) -> Estimate:
    """Return the undefined estimate of a cell on which no original and damaged text has a score.

    It says whether the judge could not be asked at all, or what became of its replies.
    """
    if count := too_long(found, perturbation, judge, aspect):
        return Estimate.undefined(f"not run: context ({count} requests are too long for the model)")
    for name in ("original", perturbation):
        cell = found.get((name, judge, aspect), Counter())
        statuses = {status for status, _ in cell}
        if cell and "ok" not in statuses:
            told = ", ".join(sorted({rule or status for status, rule in cell}))
            only = statuses == {"not_applicable"}
            why = f"not applicable: {told}" if only else f"no reply could be read: {told}"
            return Estimate.undefined(why, n_missing=cell.total())
    return Estimate.undefined(NO_PAIRS)
