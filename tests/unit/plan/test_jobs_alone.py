"""Every kind of job runs in a folder that holds nothing but the inputs of its spec.

Jobs that ask models run so in the test of golden keys (tests/support/golden.py).
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct, to_builtins

from inputs_alone import inputs_alone
from judgescope.core.job_files import job_files
from judgescope.plan.jobs import job, modules_of_jobs, typed
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import (
    graded_sets,
    judge_cards,
    judging,
    pages,
    results,
    study,
    text_pages,
    texts,
)
from judgescope.plan.study import Plan
from running import HOME
from study import SMALL, Study

GRADED = "global-rule-knowledge"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A study of computed judges, one of which is made from two others."""
    folder = Study(tmp_path)
    members = ["rouge-l-source", "random"]
    folder.card("judges", "both", judge="both", members=members, min_annotators=1)
    monkeypatch.chdir(tmp_path)
    judges = ["rouge-l-source", "rules", "random", "both"]
    methods = ["agreement", "discernment", "perspectives"]
    keys = SMALL | {
        "judges": judges,
        "perturbations": ["random-typos", "reordering", GRADED],
        "methods": methods,
    }
    return load_plan(keys, HOME, source="study.yaml", results=str(tmp_path / "out"))


def jobs_in_order(plan: Plan) -> Iterator[tuple[str, Struct]]:
    """Yield the jobs of a study without requests, each with its spec."""
    [dataset] = plan.datasets
    yield "preflight", study.preflight(plan)
    yield "ingest", texts.ingest(plan, dataset)
    yield "read_ratings", texts.read_ratings(plan, dataset)
    for name, degree in plan.perturbed(dataset, "once"):
        yield "perturb", texts.perturb(plan, dataset, name, degree)
    yield "candidates", graded_sets.candidates(plan, dataset, GRADED, "all")
    yield "grade", graded_sets.grade(plan, dataset, GRADED)
    for model in plan.models:
        if plan.cells_of(dataset, model):
            yield "compute", judging.compute(plan, dataset, model)
    for cell in plan.cells_of(dataset):
        if cell.judge in plan.derived:
            yield "derive", judging.derive(plan, dataset, cell.perturbation, cell.judge)
    yield "collect", judging.collect(plan, dataset)
    tables = results.tables_of(plan)
    # Claims rest on the parts of other tables.
    for table in sorted(tables, key=lambda name: name == "verdicts"):
        yield "statistics", results.statistics(plan, table, dataset)
    yield "tables", pages.tables(plan)
    yield "report", pages.report(plan, "judgescope run study.yaml")
    yield "judge_card", judge_cards.judge_cards(plan)
    yield "spotcheck", text_pages.spotcheck(plan)
    yield "explore", text_pages.explore(plan)


@pytest.mark.heavy
def test_jobs_need_nothing_but_their_inputs(plan: Plan) -> None:
    run = set()
    for name, spec in jobs_in_order(plan):
        main = job(name)
        with inputs_alone(Path(plan.results), spec):
            main(typed(main, to_builtins(spec)))
        files = job_files(spec)
        missing = [path for path in files.outputs if not Path(path).exists()]
        assert not missing, f"{name} did not write {missing}"
        run.add(name)
    assert len(run) == 15


def test_a_name_that_two_jobs_have_is_an_error(tmp_path: Path) -> None:
    values = [tmp_path / "jobs", tmp_path / "extensions" / "other" / "jobs"]
    for folder, name in zip(values, ("ask", "teach"), strict=True):
        folder.mkdir(parents=True)
        (folder / f"{name}.py").touch()
    result = modules_of_jobs(tmp_path, values)
    assert result == {"ask": "jobs.ask", "teach": "extensions.other.jobs.teach"}
    (values[1] / "ask.py").touch()
    with pytest.raises(RuntimeError, match=r"extensions\.other\.jobs\.ask"):
        modules_of_jobs(tmp_path, values)
