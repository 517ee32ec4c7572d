"""`judgescope.labels` and `judgescope.pairs`: values by hand and by other packages."""

import doctest
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import judgescope as js
from judgescope.api import labels as labels_module
from judgescope.core.errors import UserError

RNG = np.random.default_rng(8)
WORDS = np.array(["poor", "fair", "good"])
HUMAN = WORDS[RNG.integers(0, 3, 80)]
JUDGE = np.where(RNG.random(80) < 0.7, HUMAN, WORDS[RNG.integers(0, 3, 80)])


def test_the_worked_examples_are_right() -> None:
    failed, tried = doctest.testmod(
        labels_module, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0 and tried > 8


def test_values_are_those_of_scikit_learn() -> None:
    result = js.labels(JUDGE, HUMAN)
    value = result.numbers["value"]
    assert value["label_accuracy", ""] == pytest.approx(np.mean(JUDGE == HUMAN))
    expected = {
        "balanced_accuracy": metrics.balanced_accuracy_score(HUMAN, JUDGE),
        "mcc": metrics.matthews_corrcoef(HUMAN, JUDGE),
        "kappa_nominal": metrics.cohen_kappa_score(HUMAN, JUDGE),
        "f1_macro": metrics.f1_score(HUMAN, JUDGE, average="macro"),
    }
    for name, number in expected.items():
        assert value[name, ""] == pytest.approx(number), name
    recalls = metrics.recall_score(HUMAN, JUDGE, labels=WORDS, average=None)
    assert value["label_recall"][WORDS].tolist() == pytest.approx(recalls.tolist())
    matrix = metrics.confusion_matrix(HUMAN, JUDGE, labels=WORDS)
    assert result.matrix.loc[WORDS, WORDS].to_numpy().tolist() == matrix.tolist()
    assert "ac1" in value and "tpr" not in value


def test_several_raters_count_by_their_lower_median_or_majority() -> None:
    human = [["fair", "good"], ["poor", "good"], ["good", "good"]]
    ordered = js.labels(["fair", "poor", "good"], human)
    assert ordered.numbers.loc[("label_accuracy", ""), "value"] == 1.0
    unordered = js.labels(["fair", "poor", "good"], human, ordered=False)
    # Two raters who differ have no majority.
    assert unordered.matrix.to_numpy().sum() == 1


@pytest.mark.parametrize(
    ("given", "bad"),
    [({"positive": "cat"}, "dog"), ({"ordered": ["dog", "cat"]}, "dog")],
)
def test_which_label_is_positive_can_be_reported(
    given: dict[str, object], bad: str
) -> None:
    judge = ["cat", "dog", "dog", "cat"]
    human = ["cat", "cat", "dog", "dog"]
    assert "tpr" not in js.labels(judge, human).numbers.index
    named = js.labels(judge, human, **given)
    assert named.matrix.index.tolist() == [bad, "cat"]
    assert named.numbers.loc[("tpr", ""), "value"] == 0.5


def test_cells_are_compared_without_case_and_missing_ones_are_left_out() -> None:
    judge = pd.Series([True, False, None, True])
    human = pd.Series(["TRUE", "false", "true", ""])
    result = js.labels(judge, human)
    assert result.matrix.to_numpy().sum() == 2
    accuracy = result.numbers.loc[("label_accuracy", "")]
    assert accuracy["value"] == 1.0 and accuracy["n_missing"] == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"positive": "great"}, "one of two labels"),
        ({"ordered": ["pass"]}, "not in the given order"),
    ],
)
def test_labels_that_do_not_fit_are_refused(
    given: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        js.labels(["pass", "fail"], ["pass", "pass"], **given)
    with pytest.raises(UserError, match="at least two labels"):
        js.labels(["pass", "pass"], ["pass", "pass"])
    with pytest.raises(UserError, match="order of these labels is not known"):
        js.labels(["a1", "b2", "c3"], ["a1", "b2", "c3"], ordered=True)
    with pytest.raises(ValueError, match="lengths differ"):
        js.labels(["pass", "fail"], ["pass"])


def test_agreement_of_words_is_that_of_labels() -> None:
    with pytest.warns(UserWarning, match="words have no place on a scale"):
        result = js.agreement(JUDGE, HUMAN)
    pd.testing.assert_frame_equal(result, js.labels(JUDGE, HUMAN).numbers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        js.agreement(["1", "2", "4"], [1, 2, 3])


def test_choices_count_half_where_the_judge_says_tie() -> None:
    human = ["A", "B", "A", "tie", "B", "A"]
    judge = ["A", "A", "tie", "A", "B", None]
    numbers = js.pairs(judge, human).numbers
    half = numbers.loc[("accuracy_comparison_half", "judge")]
    # Of four pairs with a better text and a choice: right, wrong, tie, right.
    assert half["value"] == 2.5 / 4 and half["n"] == 4 and half["n_missing"] == 1
    decided = numbers.loc[("accuracy_comparison_decided", "judge")]
    assert decided["value"] == pytest.approx(2 / 3)
    first = numbers["value"]["first_position_rate"]
    assert first["judge"] == pytest.approx(3 / 4)
    assert first["people"] == pytest.approx(3 / 5)
    assert numbers.loc[("tie_rate", "people"), "value"] == pytest.approx(1 / 6)
    assert "order_consistency" not in numbers.index


def test_a_judge_that_always_takes_the_first_text_contradicts_itself() -> None:
    result = js.pairs([1] * 6, [1, 2] * 3, swapped=[1] * 6)
    value = result.numbers["value"]
    assert value["order_consistency", "judge"] == 0.0
    assert value["first_position_rate", "judge"] == 1.0
    assert value["accuracy_comparison_half", "judge"] == 0.5
    assert result.matrix["tie"].tolist() == [3, 0, 3]


def test_the_majority_of_people_counts() -> None:
    result = js.pairs([1, 2], [[1, 1, 2], [1, 2, "tie"]])
    assert result.matrix.loc["first", "first"] == 1
    assert result.matrix.loc["tie", "second"] == 1


def test_a_word_that_is_no_choice_is_refused() -> None:
    with pytest.raises(UserError, match="not a choice between two texts") as raised:
        js.pairs([1, "maybe"], [1, 2])
    assert raised.value.where == "judge, value 2" and "maybe" in str(raised.value)
