"""What to buy, from the replies of a whole study: a table, and a section of it."""

import re
from pathlib import Path

import numpy as np
import pytest

from asking import FAST, AskedStudy
from report_setup import text_of_pages
from scripted import Body, Endpoint, Said, prompt_of, reply, serve, text_in
from study import Card

SOURCES, TEXTS = 24, 4
PRICES = {"cheap": 1.0, "dear": 10.0, "unknown": None}
NOISE = {"cheap": 0.8, "dear": 0.1, "unknown": 0.5}
RNG = np.random.default_rng(2)
GRADES = RNG.uniform(1, 5, SOURCES * TEXTS).round(2)
OFF = {name: RNG.normal(0, size, GRADES.size) for name, size in NOISE.items()}


def rate(body: Body) -> Said:
    """Rate a text by the grade that stands in it, as well as the model can."""
    result = re.search(r"number (\d+) of grade ([\d.]+\d)", text_in(prompt_of(body)))
    assert result is not None
    value = float(result[2]) + OFF[body["model"]][int(result[1])]
    return reply(f"Rating: {min(max(round(value), 1), 5)}")


def priced_study(folder: Path, endpoint: Endpoint) -> AskedStudy:
    """Return a study of three models of an endpoint: cheap, dear, without a price."""
    study = AskedStudy(folder, endpoint)
    rows = []
    for at, grade in enumerate(GRADES.tolist()):
        source, system = divmod(at, TEXTS)
        row: Card = {
            "id": f"t{source:02}",
            "source": "A source.",
            "system": f"s{system}",
        }
        row["text"] = f"Text number {at} of grade {grade}" + "." * int(RNG.integers(9))
        for rater in ("a", "b"):
            row[rater] = min(max(round(grade + RNG.normal(0, 0.3)), 1), 5)
        rows.append(row)
    study.rated_table(
        "texts",
        rows,
        ratings={"fluency": ["a", "b"]},
        aspects={"fluency": {"min": 1, "max": 5, "step": 1}},
    )
    for name, price in PRICES.items():
        fields: Card = {"engine": "openai", "base_url": endpoint.url, "name": name}
        fields |= {"limits": FAST, "probe": False}
        if price is not None:
            fields["price"] = {"input": price, "output": price}
        study.card("models", name, **fields)
        study.card("judges", name, model=name, form="score-only")
    study.write(datasets=["texts"], aspects=["fluency"], judges=[*PRICES, "random"])
    return study


@pytest.mark.long(20)
def test_a_study_of_priced_judges_says_what_to_buy(tmp_path: Path) -> None:
    with serve(rate) as endpoint:
        study = priced_study(tmp_path, endpoint)
        done = study.run()
        assert done.returncode == 0, done.stdout
        assert len(endpoint.asked) == GRADES.size * len(PRICES)
    rows = study.rows("frontier")
    [count] = [row for row in rows if row["statistic"] == "candidates"]
    assert count["value"] == 3 and "1 without a price: unknown" in count["note"]
    prices = {row["judge"]: row["value"] for row in rows if row["k"]}
    assert {"cheap", "dear", "cheap+dear"} == {*prices}
    each = {
        row["judge"]: row["value"] for row in rows if row["statistic"] == "usd_per_1000"
    }
    assert each["dear"] == pytest.approx(10 * each["cheap"])
    assert each["cheap+dear"] == pytest.approx(11 * each["cheap"])
    best = [row["judge"] for row in rows if row["statistic"] == "budget"]
    assert best[:2] == ["cheap", "dear"]
    page = text_of_pages(study.out / "report")
    assert "What to buy" in page and "10 times as much as" in page


def test_free_judges_have_no_table_unless_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judgescope.plan.specs.results import tables_of

    monkeypatch.chdir(tmp_path)
    with serve(rate) as endpoint:
        study = priced_study(tmp_path, endpoint)
    assert "frontier" in tables_of(study.plan(**_judges("cheap", "dear")))
    assert "frontier" not in tables_of(study.plan(**_judges("unknown", "random")))
    free = _judges("unknown", "random") | {"methods": ["frontier"]}
    assert {"frontier", "agreement"} <= {*tables_of(study.plan(**free))}


def _judges(*names: str) -> Card:
    return {"datasets": ["texts"], "aspects": ["fluency"], "judges": [*names]}
