"""Every job's spec of the shipped studies, by the package beside a folder `config`.

As a program: `planned_specs.py SCRIPTS STUDY…` prints a line for each study (default:
all that are shipped), its name and a hash of its jobs: what each is about, its spec and
the files that it waits for.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])

from msgspec.json import encode

from judgescope.core.paths import HOME
from judgescope.plan.dag import Dag
from judgescope.plan.generators import graded_sets_of
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
from judgescope.schema.loading import load_yaml

Job = tuple[Any, ...]
"""What a job is about, its spec, and the files that it waits for."""


def jobs_of(dag: Dag) -> Iterator[Job]:
    """Yield the jobs of a study, whose data need not exist."""
    plan = dag.plan
    for function in (study.preflight, pages.tables, judge_cards.judge_cards):
        yield function.__name__, function(plan)
    for page in (text_pages.spotcheck, text_pages.explore):
        yield page.__name__, page(plan)
    yield "report", pages.report(plan, "judgescope run")
    for (dataset, made), writing in dag.writings.items():
        waits = dag.before_writing(dataset, made)
        yield writing, dataset, dag.spec(dataset, made), waits
    for table in results.tables_of(plan):
        for dataset in results.datasets_of(plan, table):
            yield table, dataset, results.statistics(plan, table, dataset)
    for dataset in plan.datasets:
        yield from _of_dataset(dag, dataset)
    yield "before texts", dag.before_texts()


def _of_dataset(dag: Dag, dataset: str) -> Iterator[Job]:
    plan = dag.plan
    yield "ingest", dataset, texts.ingest(plan, dataset)
    yield "ratings", dataset, texts.read_ratings(plan, dataset)
    for name, degree in plan.perturbed(dataset, "once"):
        if plan.perturbations[name].method == "rule":
            yield name, degree, dataset, texts.perturb(plan, dataset, name, degree)
    for name in graded_sets_of(plan, dataset):
        yield "grade", dataset, name, graded_sets.grade(plan, dataset, name)
    for model in plan.models:
        if plan.cells_of(dataset, model):
            waits = dag.before_judging(dataset, model)
            yield "judge", dataset, model, _judging(dag, dataset, model), waits
    yield "collect", dataset, judging.collect(plan, dataset)


def _judging(dag: Dag, dataset: str, model: str) -> Any:
    """The spec of the job in which a model's judges judge."""
    if dag.plan.is_asked(model):
        return judging.ask(dag.plan, dataset, model)
    if dag.plan.computes(model):
        return judging.compute(dag.plan, dataset, model)
    return judging.replay(dag.plan, dataset, model)


def shipped_studies() -> list[str]:
    """The files of the shipped studies, without suffix."""
    paths = sorted((HOME / "config" / "studies").glob("*.yaml"))
    return ["config", *(f"studies/{path.stem}" for path in paths)]


def hash_of_jobs(name: str) -> str:
    """A hash of the jobs of a shipped study."""
    path = HOME / "config" / f"{name}.yaml"
    plan = load_plan(load_yaml(path)[0], HOME, source=path.name)
    digest = hashlib.sha256()
    for job in jobs_of(Dag(plan, {})):
        digest.update(encode(job))
    return digest.hexdigest()


if __name__ == "__main__":
    package = Path(study.__file__).parents[2]
    assert package == Path(sys.argv[1]) / "judgescope"
    for shipped in sys.argv[2:] or shipped_studies():
        print(shipped, hash_of_jobs(shipped))
