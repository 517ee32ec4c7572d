"""Judges that are trained for evaluation keep their prompt and scale, whatever people's
is.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import yaml

from asking import AskedStudy
from judgescope.schema.tables import read_table
from running import HOME
from scripted import Body, Said, prompt_of, replies, serve

pytestmark = [pytest.mark.slow, pytest.mark.long(12)]
SYSTEMS = ("poor", "fair", "good")
LOW = [1] * 6 + [2] * 4
LESS_LOW = [2] * 6 + [1] * 4
MIDDLE = [3] * 7 + [2] * 3
HIGH = [5] * 6 + [4] * 4
DRAWS = {
    "i0.poor": LOW,
    "i0.fair": [3] * 6
    + [5] * 4,  # mean 3.8: above that of the good text, the mode below it
    "i0.good": [4] * 6 + [3] * 4,  # mean 3.6
    "i1.poor": LESS_LOW,
    "i1.fair": MIDDLE,
    "i1.good": HIGH,
    "i2.poor": LOW,
    "i2.fair": MIDDLE,
    "i2.good": HIGH,
    "i3.poor": LESS_LOW,
    "i3.fair": MIDDLE,
    "i3.good": [3] * 4
    + [4] * 3
    + [5] * 3,  # the mode is 3: the middle of people's three
}
"""Text -> what the judge says of it in ten draws, on its own scale of 1 to 5."""
PEOPLE = {"fluency": (1, 2, 3), "coherence": (0, 0, 1)}
"""Aspect -> what both raters say of each system's texts, on a scale of 1 to 3 and of 0
to 1."""
KAPPA = {"fluency": 28 / 31, "coherence": 0.4}
"""1 - sum d O / sum d E, by hand.

On 3 classes the ratings 1 and 2 are the first, 3 the second, 4 and 5 the third: of
twelve texts the good one of i3 is one class off, 1 - 1 / (124 / 12). On 2 classes 1 and
2 are the first: the fair text of every item is one off, 1 - 4 / (80 / 12).
"""
JUDGES = ("critique", "rubric")


def reply_to(body: Body) -> Said:
    """Rate by the text in ten draws, in the words that the prompt asks for."""
    prompt = prompt_of(body)
    [draws] = [draw for text, draw in DRAWS.items() if f"Words of {text}." in prompt]
    mark = "[RESULT]" if "[RESULT]" in prompt else "It goes 2 of 3 ways.\nRating:"
    return replies(*(f"It goes well. {mark} {rating}" for rating in draws))


def write_data(study: AskedStudy) -> None:
    rows = []
    for text in DRAWS:
        item, system = text.split(".")
        row: dict[str, Any] = {"id": item, "source": f"Source {item}."}
        row |= {"model": f"Model of {item}.", "system": system}
        row["text"] = f"Words of {text}."
        for aspect, ratings in PEOPLE.items():
            rating = ratings[SYSTEMS.index(system)]
            row |= {f"{aspect}1": rating, f"{aspect}2": rating}
        rows.append(row)
    scales = {
        "fluency": {"min": 1, "max": 3, "step": 1},
        "coherence": {"min": 0, "max": 1, "step": 1},
    }
    raters = {aspect: [f"{aspect}1", f"{aspect}2"] for aspect in PEOPLE}
    columns: dict[str, Any] = {"references": "model", "ratings": raters}
    study.rated_table("own", rows, aspects=scales, name="Own", **columns)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(reply_to) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("own"), endpoint)
        write_data(study)
        study.change("judges", "critique", model="loop")
        like = yaml.safe_load((HOME / "config/judges/critique.yaml").read_text("utf-8"))
        same = {key: like[key] for key in ("scale", "draws", "temperature")}
        study.change("judges", "rubric", model="loop", **same)
        methods = ["perspectives", "agreement"]
        study.write(datasets=["own"], aspects=[], judges=[*JUDGES], methods=methods)
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
        yield study


def test_every_reply_is_read_on_the_judges_own_scale(run: AskedStudy) -> None:
    assert len(run.endpoint.asked) == 2 * 2 * 12
    assert {(body["n"], body["temperature"]) for body in run.endpoint.asked} == {
        (10, 1)
    }
    for prompt in run.endpoint.prompts:
        assert "from 1 (" in prompt and "to 5" in prompt and "to 3" not in prompt
    for judge in JUDGES:
        rows = [
            row
            for path in run.folder.glob(
                f"results/asked/judgments/own/*/*/{judge}.parquet"
            )
            for row in read_table("judgments", path).to_pylist()
        ]
        assert len(rows) == 240 and {row["status"] for row in rows} == {"ok"}
        assert {row["value"] for row in rows} == {1, 2, 3, 4, 5}
    out = [
        row for row in run.rows("coverage") if row["statistic"] == "count_out_of_range"
    ]
    assert not any(row["value"] for row in out if row["judge"] in JUDGES)


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("aspect", PEOPLE)
def test_its_modes_fall_into_peoples_classes_and_its_means_tell_the_order(
    run: AskedStudy, judge: str, aspect: str
) -> None:
    by_key = {
        (row["statistic"], row["level"]): row
        for row in run.rows("perspectives")
        if (row["judge"], row["aspect"], row["judge_b"]) == (judge, aspect, None)
    }
    means = [np.mean(draws) for draws in DRAWS.values()]
    gold = [PEOPLE[aspect][SYSTEMS.index(text.split(".")[1])] for text in DRAWS]
    assert by_key["pearson", "traditional"]["value"] == pytest.approx(
        np.corrcoef(means, gold)[0, 1]
    )
    kappa = by_key["kappa_linear", "direct"]
    assert kappa["value"] == pytest.approx(KAPPA[aspect]) and kappa["n"] == 12
    order = by_key[
        "accuracy_adjacent", "direct"
    ]  # only i0 puts its fair text above the good one
    assert (order["value"], order["n"], order["n_missing"]) == (7 / 8, 8, 0)


def test_agreement_gives_it_correlations_alone(run: AskedStudy) -> None:
    for judge in JUDGES:
        by_statistic = {
            row["statistic"]: row
            for row in run.rows("agreement")
            if (row["judge"], row["aspect"], row["level"])
            == (judge, "fluency", "pooled")
        }
        assert by_statistic["pearson"]["value"] > 0.8
        assert (
            by_statistic["kappa_linear"]["value"],
            by_statistic["kappa_linear"]["note"],
        ) == (
            None,
            "the judge's scale differs from people's",
        )
