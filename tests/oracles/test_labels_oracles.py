"""scikit-learn and statsmodels say the same of labels and preferences, 0 being our
undefined.
"""

import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)
from statsmodels.discrete.discrete_model import Logit
from statsmodels.stats.contingency_tables import mcnemar as of_table

from judgescope.statistics.labels import NO_LABEL, by_label, on_labels
from judgescope.statistics.preferences import Comparisons, mcnemar, strengths
from judgescope.statistics.resampling import Replicated

Codes = NDArray[np.int64]
TABLES = 1000


def drawn(rng: np.random.Generator) -> tuple[Codes, Codes, int]:
    """Return people's and a judge's labels of up to 40 texts, rare and unused ones
    among them.
    """
    labels = int(rng.integers(2, 5))
    chances = rng.dirichlet(np.full(labels, 0.4), 2)
    gold, predicted = (rng.choice(labels, rng.integers(1, 41), p=p) for p in chances)
    n = min(gold.size, predicted.size)
    gold, predicted = gold[:n], predicted[:n]
    copied = rng.random(n) < rng.choice([0, 0.5, 1])
    return gold, np.where(copied, gold, predicted), labels


def learned(gold: Codes, predicted: Codes, labels: int) -> dict[Any, float]:
    """Return scikit-learn's values; it has 0 for what is undefined here, and one
    NaN.
    """
    keys: dict[str, Any] = {
        "labels": range(labels),
        "average": None,
        "zero_division": 0,
    }
    recalls = recall_score(gold, predicted, **keys)
    precisions = precision_score(gold, predicted, **keys)
    f1 = f1_score(gold, predicted, **keys)
    used = np.unique(gold)
    either = np.union1d(gold, predicted)
    values: dict[Any, float] = {
        "label_accuracy": accuracy_score(gold, predicted),
        "balanced_accuracy": balanced_accuracy_score(gold, predicted),
        "mcc": matthews_corrcoef(gold, predicted),
        "kappa_nominal": cohen_kappa_score(gold, predicted, labels=range(labels)),
        "f1": f1[1]
        if labels == 2
        else f1_score(gold, predicted, labels=used, average="macro"),
        "f1_macro": f1_score(
            gold, predicted, labels=either, average="macro", zero_division=0
        ),
    }
    for k in range(labels):
        values["label_recall", k], values["label_precision", k] = (
            recalls[k],
            precisions[k],
        )
    if labels == 2:
        values |= {"tnr": recalls[0], "tpr": recalls[1]}
        values |= {"npv": precisions[0], "precision": precisions[1]}
    return values


@pytest.mark.simulation
def test_a_thousand_tables_of_labels() -> None:
    rng, undefined = np.random.default_rng(32), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, on what is undefined
        for _ in range(TABLES):
            gold, predicted, labels = drawn(rng)
            source, data = (
                np.zeros(gold.size, np.int64),
                (gold.astype(float), predicted.astype(float)),
            )
            collected: dict[Any, Replicated] = {}
            collected.update(on_labels(*data, labels, source, None))
            collected.update(by_label(*data, labels, source, None))
            for name, wanted in learned(gold, predicted, labels).items():
                value = collected[name].estimate.value
                if value is not None:
                    assert value == pytest.approx(wanted, rel=1e-12, abs=1e-12)
                    continue
                undefined += 1
                assert name_of_undefined(name, gold, predicted), (name, gold, predicted)
                if (
                    name != "balanced_accuracy"
                ):  # of one label it has the recall of that one
                    assert np.isnan(wanted) or wanted == 0 or name == "kappa_nominal"
    assert undefined > TABLES  # rare labels are not rare here


@pytest.mark.filterwarnings("ignore:A single label")
def test_an_unread_verdict_is_one_more_label_without_an_f1() -> None:
    """scikit-learn on tables in which the judge has one label more than people."""
    rng = np.random.default_rng(48)
    for _ in range(100):
        gold, predicted, labels = drawn(rng)
        unread = rng.random(gold.size) < 0.3
        other = np.where(unread, labels, predicted)
        codes = np.where(unread, NO_LABEL, predicted.astype(float))
        source = np.zeros(gold.size, np.int64)
        by_statistic = on_labels(gold.astype(float), codes, labels, source, None)
        either = np.union1d(gold, predicted[~unread])
        keys: dict[str, Any] = {"labels": either, "average": "macro"}
        wanted = {
            "f1_macro": f1_score(gold, other, **keys, zero_division=0),
            "label_accuracy": accuracy_score(gold, other),
            "mcc": matthews_corrcoef(gold, other),
        }
        for name, value in wanted.items():
            estimate = by_statistic[name].estimate
            assert (estimate.value or 0.0) == pytest.approx(value, abs=1e-12)
            assert (estimate.n, estimate.n_missing) == (gold.size, 0)


def name_of_undefined(name: Any, gold: Codes, predicted: Codes) -> bool:
    """Return whether there is nothing to divide by."""
    empty = {
        "tpr": not (gold == 1).any(),
        "tnr": not (gold == 0).any(),
        "precision": not (predicted == 1).any(),
        "npv": not (predicted == 0).any(),
        "f1": not ((gold == 1) | (predicted == 1)).any(),
        "balanced_accuracy": np.unique(gold).size < 2,
        "mcc": min(np.unique(gold).size, np.unique(predicted).size) < 2,
        "kappa_nominal": np.unique(np.append(gold, predicted)).size < 2,
    }
    if isinstance(name, tuple):
        return not ((gold if name[0] == "label_recall" else predicted) == name[1]).any()
    return bool(empty[name])


@pytest.mark.parametrize("seed", range(12))
def test_mcnemar_of_single_cases_is_that_of_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 2, (2, 40)).astype(float)
    table = np.array(
        [[((first == i) & (second == j)).sum() for j in (1, 0)] for i in (1, 0)]
    )
    assert mcnemar(first, second, np.arange(40)).value == pytest.approx(
        of_table(table).pvalue
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("placed", [False, True])
def test_strengths_without_ties_are_a_logistic_regression(
    seed: int, placed: bool
) -> None:
    rng, systems = np.random.default_rng(seed), 4
    pairs = np.array([*combinations(range(systems), 2)] * 20)
    first, second = pairs.T
    shown = rng.choice([1, -1], first.size) * placed
    d = 0.4 * (second - first) + 0.6 * shown
    vote = np.where(rng.random(first.size) < 1 / (1 + np.exp(-d)), 1.0, -1.0)
    result = strengths(
        Comparisons(first, second, vote, shown, np.arange(first.size)), systems, None
    )
    design = np.eye(systems)[first] - np.eye(systems)[second]
    x = np.column_stack([design[:, 1:], shown] if placed else [design[:, 1:]])
    fitted = Logit((vote > 0).astype(float), x).fit(disp=False).params
    values = np.array([system.estimate.value for system in result.systems], dtype=float)
    assert values[1:] - values[0] == pytest.approx(fitted[: systems - 1], abs=1e-6)
    assert result.ties.estimate.value == 0
    if placed:
        assert result.position is not None
        assert result.position.estimate.value == pytest.approx(fitted[-1], abs=1e-6)
