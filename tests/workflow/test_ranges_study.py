"""One model on scales of 5, 10 and 100 points, and comparing two texts: a study run
whole.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from asking import DEMO, AskedStudy
from judgescope.data.sentences import frequency
from report_setup import text_of_pages
from scripted import (
    PAIR_HEAD,
    TEXT_HEAD,
    Body,
    Said,
    prompt_of,
    reply,
    serve,
    text_in,
    texts_in,
)

pytestmark = [pytest.mark.slow, pytest.mark.long(20)]
ITEMS, STEPS = 12, 6
WORDS = re.compile(r"[a-z]{5,}")
SLIP = " wqzzk"
FINEST = 12
"""So many slips take a text to the bottom of any scale."""
SCALES = {"five": None, "ten": 10, "hundred": 100}


def slips(text: str, source: str) -> int:
    known = {*WORDS.findall(source)}
    return sum(
        not frequency(match) and match not in known for match in WORDS.findall(text)
    )


def between(prompt: str, start: str, *ends: str) -> str:
    result = prompt.split(start)[1]
    return re.split("|".join(map(re.escape, ends)), result)[0]


def reply_to(body: Body) -> Said:
    """Rate by the slips, as finely as the scale allows; of two texts see two slips, not
    one.
    """
    prompt = prompt_of(body)
    if both := texts_in(prompt):
        source = PAIR_HEAD.split(prompt)[0]
        first, second = (slips(name.partition("\n\n")[0], source) for name in both)
        far = abs(first - second) > 1
        return reply("Choice: " + (("A" if first < second else "B") if far else "tie"))
    source = TEXT_HEAD.split(prompt)[0]
    result = slips(text_in(prompt).partition("\n\nAnswer with")[0], source)
    top = int(between(prompt, "(worst) to ", " (best)"))
    return reply(str(round(top - (top - 1) * min(result, FINEST) / FINEST)))


def write_data(study: AskedStudy) -> None:
    lines = (DEMO / "confusion_news.jsonl").read_text("utf-8").splitlines()
    rows = []
    for item in map(json.loads, lines[:ITEMS]):
        for system in range(5):
            row = {"id": item["item"], "source": item["article"]}
            row |= {"model": item["reference"], "system": f"s{system}"}
            row["text"] = item["reference"] + SLIP * (3 * system)
            rows.append(row | dict.fromkeys(["r1", "r2"], 5 - system))
    study.rated_table(
        "own",
        rows,
        ratings={"fluency": ["r1", "r2"]},
        aspects={"fluency": {"min": 1, "max": 5, "step": 1}},
        references="model",
        name="Own",
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(reply_to) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("ranges"), endpoint)
        write_data(study)
        for name, top in SCALES.items():
            scale = {"scale": {"min": 1, "max": top, "step": 1}} if top else {}
            study.card("judges", name, model="loop", form="score-only", **scale)
        study.card("judges", "pair", model="loop", form="compare", pairs="all")
        row = {
            "name": "slips",
            "level": "sentence",
            "method": "rule",
            "rule": "inject_errors",
        }
        study.card(
            "perturbations",
            "slips",
            **row,
            errors=["spelling"],
            steps=STEPS,
            degrees={"single": {}},
            aspects=["fluency"],
        )
        methods = ["perspectives"]
        study.write(
            datasets=["own"],
            aspects=["fluency"],
            judges=[*SCALES, "pair"],
            perturbations=["slips"],
            methods=methods,
        )
        done = study.run()
        assert done.returncode == 0, done.stdout[-3000:]
        yield study


def rows(
    study: AskedStudy, table: str, statistic: str, **where: Any
) -> list[dict[str, Any]]:
    return [
        row
        for row in study.rows(table)
        if row["statistic"] == statistic
        and all(row[name] == value for name, value in where.items())
    ]


def test_comparisons_of_texts_in_a_row_are_reported_by_how_far_they_are_separately(
    study: AskedStudy,
) -> None:
    result = rows(study, "pairwise", "accuracy_comparison_by_distance", judge="pair")
    by_k = {row["k"]: (row["value"], row["n"]) for row in result}
    assert by_k == {k: (float(k > 1), ITEMS * (STEPS - k)) for k in range(1, STEPS)}
    assert all(
        row["perturbation"] == "slips" and row["ci_low"] is not None for row in result
    )


def test_a_finer_scale_sees_smaller_differences(study: AskedStudy) -> None:
    order = {
        name: rows(
            study,
            "perspectives",
            "accuracy_adjacent",
            judge=name,
            aspect="fluency",
            level="local",
        )[0]
        for name in SCALES
    }
    assert (
        order["five"]["value"] < order["ten"]["value"] < order["hundred"]["value"] == 1
    )
    assert {row["n"] for row in order.values()} == {ITEMS * STEPS}


def test_the_report_draws_both(study: AskedStudy) -> None:
    page = text_of_pages(study.folder / "results/asked/report")
    assert "Own, slips.single: Fluency, scored and compared." in page
    assert "pair (compares)" in page and "hundred (scores)" in page
    assert "of the judges that compare at 1 error is 0" in page
    assert "Own: range of the scale, loop." in page
    assert "on scales of 5, 10 and 100 points" in page
    assert "n counts pairs of texts" in page and "n counts aspects, or chains" in page
