"""The alternative-annotator test of its authors' data: all figures, by their cards."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import running
from data_samples import DATASETS, REAL, needs_real_data
from judgescope.data.alttest import ITEM, SYSTEM, annotations
from judgescope.data.select import read_dataset
from judgescope.extensions.reproduce.reproduce import compare
from judgescope.schema.cards import Publication
from judgescope.schema.loading import read_card
from judgescope.statistics.alt_test import alternative_annotator
from running import HOME
from shelf import SHELF, held, printed

CARD: Publication = read_card("publication", SHELF / "alttest.yaml")
STUDY: dict[str, Any] = CARD.study or {}
SETS = STUDY["datasets"]


def judged(name: str) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield (judge, labels, people's, sources); all (texts,), people's (raters,
    texts).
    """
    card = read_card("dataset", DATASETS / f"{name}.yaml")
    rated = read_dataset(card, DATASETS, REAL)
    targets = {output.target: number for number, output in enumerate(rated.outputs)}
    raters = {
        rater: number
        for number, rater in enumerate(sorted({r.rater for r in rated.ratings}))
    }
    people = np.full((len(raters), len(targets)), np.nan)
    for rating in rated.ratings:
        people[raters[rating.rater], targets[rating.target]] = rating.value
    items = {
        item: number
        for number, item in enumerate(sorted({o.item for o in rated.outputs}))
    }
    source = np.array([items[output.item] for output in rated.outputs])
    named = {
        (rated.names.items[o.item], rated.systems[o.system]): o.target
        for o in rated.outputs
    }
    path = REAL / str(card.files["data"]).removeprefix("{data}/").replace(
        "human_", "llm_"
    )
    judges: dict[str, Any] = {}
    scale = card.aspects["annotation"]
    for _, row in annotations(path):
        location = targets[named[row[ITEM], row[SYSTEM]]]
        for judge in row.keys() - {ITEM, SYSTEM}:
            codes = judges.setdefault(judge, np.full(len(targets), np.nan))
            codes[location] = (
                scale.labels.index(row[judge]) if scale.labels else row[judge]
            )
    for judge, codes in judges.items():
        yield judge, codes, people, source


@pytest.mark.heavy
@needs_real_data
@pytest.mark.parametrize("name", SETS)
def test_the_figures_of_its_authors(name: str) -> None:
    scale = read_card("dataset", DATASETS / f"{name}.yaml").aspects["annotation"]
    n = 0
    for judge, codes, people, source in judged(name):
        rate, advantage = alternative_annotator(
            codes,
            people,
            source,
            weights=None,
            closeness="rmse" if scale.ordered else "accuracy",
            epsilon=STUDY["alt_test"]["epsilon"].get(name, 0.1),
            unit=STUDY["alt_test"]["unit"],
        )
        for statistic, each in (
            ("alt_test_winrate", rate),
            ("alt_test_advantage", advantage),
        ):
            figure = printed("alttest", dataset=name, judge=judge, statistic=statistic)
            assert each.value == pytest.approx(figure, abs=0.005 + 1e-9)
            n += 1
    assert n == 12


@needs_real_data
def test_sources_as_units_do_not_let_more_judges_win() -> None:
    """Where sources have several texts each, texts as units overstate what is known."""
    won = dict.fromkeys(("source", "text"), 0.0)
    for _, codes, people, source in judged("alttest-lgbteen"):
        for unit in won:
            keys: dict[str, Any] = {
                "closeness": "accuracy",
                "epsilon": 0.2,
                "unit": unit,
            }
            rate, _ = alternative_annotator(codes, people, source, weights=None, **keys)
            won[unit] += rate.value or 0
    assert 0 < won["source"] < won["text"]


@pytest.mark.long(25)
@needs_real_data
def test_the_figures_through_a_study(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(HOME / "scripts"))
    monkeypatch.setenv("JUDGESCOPE_PYTHON", running.python())
    held(compare(SHELF / "alttest.yaml", str(REAL)))
