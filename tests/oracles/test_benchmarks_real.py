"""Both benchmarks of Hu et al. (2025), built by rule from 20 sources of SummEval and 20
of USR.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

import trusting
from asking import AskedStudy
from data_samples import REAL, needs_real_data
from judgescope.perturb.inject import OFF_TOPIC
from running import HOME
from scripted import Body, Said, prompt_of, reply, serve, text_in

pytestmark = [pytest.mark.slow, pytest.mark.long(25), needs_real_data]
SETS = {"summeval": ("coherence", 15, 5), "usr": ("maintains-context", 7, 3)}
"""Dataset -> aspect, texts in chains, ratings."""
Row = dict[str, Any]


def counting(body: Body) -> Said:
    """Rate by what the prompt alone shows: how many sentences belong to no text."""
    prompt = prompt_of(body)
    text, _, question = text_in(prompt).rpartition("\n\nAnswer with")
    worst, best = (int(word.strip(",")) for word in question.split()[6:9:2])
    return reply(str(max(worst, best - sum(each in text for each in OFF_TOPIC))))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(counting) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("both"), endpoint)
        study.card("judges", "rater", model="loop", form="score-only")
        hundred = {"min": 1, "max": 100, "step": 1}
        study.card("judges", "counter", model="loop", form="score-only", scale=hundred)
        for name, (aspect, steps, _) in SETS.items():
            path = HOME / "config" / "datasets" / f"{name}.yaml"
            card = yaml.safe_load(path.read_text("utf-8"))
            study.card("datasets", name, **own_card(card))
            shared: Row = {
                "level": "sentence",
                "tasks": [card["task"]],
                "aspects": [aspect],
            }
            row: Row = {
                "name": "a row",
                "method": "rule",
                "rule": "inject_errors",
                "steps": steps,
            }
            row |= {"errors": ["off-topic"], "degrees": {"single": {}}, **shared}
            study.card("perturbations", f"row-{name}", **row)
            graded: Row = {
                "name": "every rating",
                "method": "graded",
                "errors": ["off-topic"],
            }
            graded |= {"targets": 15, "references": 3, **shared}
            study.card("perturbations", f"graded-{name}", **graded)
        study.write(
            data=str(REAL),
            datasets=[*SETS],
            aspects=[aspect for aspect, *_ in SETS.values()],
            judges=["rater", "counter", "oracle", "rules", "rouge-l-source"],
            perturbations=[
                f"{kind}-{name}" for kind in ("row", "graded") for name in SETS
            ],
            methods=["perspectives"],
        )
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
        assert sum(trusting.held(study.folder, "study.yaml").values())
        yield study


def own_card(card: Row) -> Row:
    """Return 20 items of a shipped dataset; what people wrote is the original of a
    dialogue.
    """
    select = {**card["select"], "n": 20}
    if card["dataset"] == "usr":
        select |= {"original": "system", "original_system": "Original Ground Truth"}
    kept = {key: value for key, value in card.items() if key != "dataset"}
    return {**kept, "select": select}


def judge_row(
    study: AskedStudy, name: str, judge: str, statistic: str, level: str
) -> Row:
    """Return a judge's row of a statistic on the benchmark of a dataset."""
    [row] = [
        row
        for row in study.rows("perspectives")
        if (row["dataset"], row["judge"], row["statistic"]) == (name, judge, statistic)
        and (row["level"], row["aspect"], row["k"]) == (level, SETS[name][0], None)
    ]
    return row


@pytest.mark.parametrize("name", SETS)
def test_whoever_counts_the_errors_finds_every_rating_and_the_order(
    study: AskedStudy, name: str
) -> None:
    for judge in ("rater", "oracle"):
        kappa = judge_row(study, name, judge, "kappa_linear", "global")
        assert (kappa["value"], kappa["n_missing"]) == (1, 0) and 0.6 < kappa[
            "ci_low"
        ] < 1
    for judge in ("counter", "oracle"):
        order = judge_row(study, name, judge, "accuracy_adjacent", "local")
        assert (order["value"], order["n"]) == (1, 20 * SETS[name][1])
    far = [
        row["value"]
        for row in study.rows("perspectives")
        if (row["dataset"], row["judge"], row["statistic"])
        == (name, "counter", "accuracy_by_distance")
        and row["level"] == "local"
    ]
    assert far == [1] * SETS[name][1]


@pytest.mark.parametrize("name", SETS)
def test_controls_reach_what_chance_gives_and_the_length_is_shown(
    study: AskedStudy, name: str
) -> None:
    assert (
        judge_row(study, name, "constant-top", "kappa_linear", "global")["value"] == 0
    )
    assert (
        judge_row(study, name, "constant-top", "accuracy_adjacent", "local")["value"]
        == 0
    )
    assert (
        judge_row(study, name, "constant-top", "accuracy_adjacent_half", "local")[
            "value"
        ]
        == 0.5
    )
    for statistic, level, chance in (
        ("kappa_linear", "global", 0),
        ("accuracy_adjacent_half", "local", 0.5),
    ):
        row = judge_row(study, name, "random", statistic, level)
        assert row["ci_low"] < chance < row["ci_high"]
    # each error makes a text longer: to the length alone, the worse is the better
    assert judge_row(study, name, "length", "accuracy_adjacent", "local")["value"] == 0
    for judge in ("rules", "rouge-l-source"):
        assert (
            judge_row(study, name, judge, "accuracy_adjacent", "local")["value"]
            is not None
        )


@pytest.mark.parametrize("name", SETS)
def test_ratings_are_balanced_as_far_as_there_are_references(
    study: AskedStudy, name: str
) -> None:
    counts = {
        row["k"]: row["value"]
        for row in study.rows("construction")
        if (row["dataset"], row["statistic"]) == (name, "class_count")
    }
    classes = SETS[name][2]
    for k in range(1, classes):  # of a short text, two candidates may come out the same
        assert 0.95 * 20 * 15 / classes <= counts[k] <= 20 * 15 / classes
    # a text without errors is a reference: SummEval has eleven of an article, a
    # dialogue one
    assert counts[classes] == (60 if name == "summeval" else 20)
