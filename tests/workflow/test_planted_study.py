"""A study of planted judges, run whole: the claims in memory are the same to the byte.

The judges' defects are named by the tables of the study, and the report marks them as
planted.
"""

import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.json import decode
from msgspec.structs import replace

from judgescope.core.canonical import canonical
from judgescope.data.planted import PlantedDesign, simulated
from judgescope.methods.base import StatisticsSpec
from judgescope.methods.in_memory import verdict_rows
from judgescope.plan.specs import results
from judgescope.schema.tables import read_table, table_of, write_table
from planted_study import planted_study, worlds
from study import Study

pytestmark = [pytest.mark.slow, pytest.mark.long(40)]

Setup = worlds.JudgeSetup
OWN = ("s00", "s01")
SCORING = [
    Setup("none", family="own"),
    Setup("copy"),
    Setup("noisy", 0.5, draws=5),
    Setup("longer", 0.4),
    Setup("shorter", 0.4),
    Setup("middling", 0.4),
    Setup("longer-only", 0.0),
    Setup("shorter-only", 0.0),
    Setup("middling-only", 0.0),
    Setup("own-family", 0.5, family="own", systems=OWN),
    Setup("halo", 0.9),
    Setup("random"),
    Setup("source-only"),
    Setup("author-only"),
    Setup("dead", 0.06),
    Setup("dead", 0.25),
    Setup("always-pass", 0.98),
    Setup("always-fail", 1.0),
]
LABELLING = [
    Setup("none", family="own"),
    Setup("copy"),
    Setup("source-only"),
    Setup("always-pass", 0.98),
    Setup("always-fail", 1.0),
]
COMPARING = [Setup("none", prefix="pairs"), Setup("first-position", prefix="pairs")]
BROKEN = [Setup("broken-system", systems=("s00",)), Setup("none", family="own")]
DATASETS = {
    "scores-a": (PlantedDesign(prefix="a"), SCORING[:9]),
    "scores-b": (PlantedDesign(prefix="b"), SCORING[9:]),
    "labels-a": (PlantedDesign("labels", prefix="c"), LABELLING),
    "pairs-a": (PlantedDesign("pairs", texts=(3,), prefix="d"), COMPARING),
    "broken-a": (PlantedDesign(systems=8, texts=(8,), broken=True, prefix="e"), BROKEN),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = planted_study(tmp_path_factory.mktemp("planted"), DATASETS)
    run = study.run()
    assert not run.returncode, run.stdout
    return study


@pytest.fixture
def specs(finished: Study) -> Iterator[dict[str, StatisticsSpec]]:
    with chdir(finished.folder):
        plan = finished.plan()
        made = {name: results.statistics(plan, "verdicts", name) for name in DATASETS}
        # as a job reads it: judges in the order of their names
        yield {
            name: decode(canonical(to_builtins(spec)).encode(), type=StatisticsSpec)
            for name, spec in made.items()
        }


def of_judges(path: Path, names: set[str]) -> list[dict[str, Any]]:
    rows = read_table("results", path).to_pylist()
    return [row for row in rows if row["judge"] in names]


@pytest.mark.parametrize("name", DATASETS)
def test_claims_in_memory_equal_the_runs_to_the_byte(
    name: str, finished: Study, specs: dict[str, StatisticsSpec], tmp_path: Path
) -> None:
    design, judges = DATASETS[name]
    names, spec = {judge.name for judge in judges}, specs[name]
    path = finished.out / f"statistics/verdicts/{name}.parquet"
    of_run = of_judges(path, {*names, "human"})
    [data] = {re.search(r"@(\w+)", row["signature"])[1] for row in of_run}  # type: ignore[index]
    spec = replace(spec, judges={name: spec.judges[name] for name in sorted(names)})
    dataset = simulated(design, worlds.SEED, name)
    answers = worlds.answers_of(dataset, name, judges)
    in_memory = verdict_rows(spec, dataset, answers, data)
    assert len(of_run) > 2 * len(judges)
    files = []
    for title, rows in (("run", of_run), ("memory", in_memory)):
        files.append(tmp_path / f"{title}.parquet")
        write_table("results", table_of("results", rows), files[-1])
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("name", DATASETS)
def test_the_spec_in_memory_is_that_of_the_cards(
    name: str, specs: dict[str, StatisticsSpec]
) -> None:
    """Else studies in memory would say nothing of a run."""
    design, judges = DATASETS[name]
    planned = specs[name]
    made = worlds.planted_spec(design, name, judges, families=planned.families)
    of_run = {"code", "versions", "files", "output", "claims", "judges", "compared"}
    fields = set(StatisticsSpec.__struct_fields__) - of_run - {"excluded"}
    assert not {judge for judge, *_ in planned.excluded} & made.judges.keys()
    assert {field: getattr(made, field) for field in fields} == {
        field: getattr(planned, field) for field in fields
    }
    assert set(made.claims) <= set(planned.claims)
    for judge, facts in made.judges.items():
        assert facts == replace(planned.judges[judge], card=facts.card)


def test_the_tables_name_the_defects(finished: Study) -> None:
    def rows(table: str, statistic: str, judge: str) -> list[dict[str, Any]]:
        path = finished.out / f"tables/{table}.parquet"
        result = of_judges(path, {f"planted-{judge}", f"pairs-{judge}"})
        return [row for row in result if row["statistic"] == statistic]

    for row in rows("agreement", "length_slope", "longer-040"):
        assert row["ci_low"] > 0
    for row in rows("agreement", "length_slope", "shorter-040"):
        assert row["ci_high"] < 0
    own_part = rows("agreement", "self_preference", "own-family-050")
    assert len(own_part) == 2 and all(row["ci_low"] > 0 for row in own_part)
    for row in rows("repeatability", "draws_needed", "noisy-050"):
        assert row["ci_low"] > 1
    [position, _] = rows("pairwise", "first_position_rate", "first-position")
    assert position["ci_low"] > 0.5
    for row in rows("coverage", "coverage", "dead-025"):
        assert 0.65 < row["value"] < 0.85


def test_the_report_marks_planted_judges(finished: Study) -> None:
    page = (finished.out / "report/index.html").read_text(encoding="utf-8")
    assert "Planted" in page
    assert "simulated" in page
    card = finished.out / "report/judges/planted-longer-040.html"
    assert "planted" in card.read_text(encoding="utf-8").lower()
