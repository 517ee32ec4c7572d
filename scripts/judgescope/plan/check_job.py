"""The job `check`: it prints what a run of a study will do, and sends no request."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from judgescope.core import trust
from judgescope.core.errors import UserError, coded
from judgescope.core.paths import HOME
from judgescope.data.files import absent
from judgescope.engines.recorded_joins import join_lines
from judgescope.plan import add_ons, notices, writing
from judgescope.plan.access import access, keys_sent
from judgescope.plan.bill import bill
from judgescope.plan.cost import estimates
from judgescope.plan.inputs import joins
from judgescope.plan.languages import language_lines
from judgescope.plan.loading import load_plan
from judgescope.plan.preflight import CheckSpec
from judgescope.plan.specs.results import tables_of, without_data
from judgescope.plan.specs.study import key_sources
from judgescope.plan.study import Plan
from judgescope.plan.unread import StudyReplies
from judgescope.schema.tables import read_table


def check(spec: CheckSpec) -> None:
    """Print datasets, judges, cells, requests, tokens and prices; send no request."""
    print_check(spec, load_plan(spec.config, HOME, source=spec.source))


def print_check(spec: CheckSpec, plan: Plan) -> None:
    """Print what `check` does, with the plan of the study that the spec names."""
    covered = json.loads(Path(spec.preflight).read_text(encoding="utf-8"))
    print(f"study {covered['study']['study']}: all cards and files are in order")
    for line in _overview(covered["cells"], covered["judges"]):
        print(f"  {line}")
    for host in access(plan):
        print(host)
    for line in _notices_of_study(plan):
        print(f"  {line}")
    unread = StudyReplies(plan)
    for name in plan.datasets:
        if name not in spec.unfetched:
            for line in _notices_of_dataset(plan, name, unread):
                print(f"  {name}: {line}")
    for name in spec.unfetched:
        for file in absent(plan.datasets[name].files).values():
            print(f"  a run downloads for {name}: {file}")
    if not covered["asked"]:
        print("  requests to models: 0, price: 0 USD (no judge sends requests)")
        _print_unread(unread)
        return
    _print_bill(plan, spec, unread)
    _print_unread(unread)
    for line in _before_a_run(plan, covered["asked"]):
        print(f"  before a run: {line}")


def _overview(cells: Mapping[str, int], judges: Mapping[str, str]) -> Iterator[str]:
    """Yield the datasets with their numbers of cells, and the engines of judges."""
    for dataset, count in cells.items():
        yield f"{dataset:<24}{count:>6} cells"
    engines = [engine for engine in judges.values() if engine != "control"]
    controls = len(judges) - len(engines)
    kinds = ", ".join(sorted(set(engines)))
    yield f"judges: {len(engines)} ({kinds}), and {controls} controls"


def _notices_of_study(plan: Plan) -> Iterator[str]:
    yield from add_ons.lines(plan, tables_of(plan))
    yield from notices.hiding(plan)
    yield from without_data(plan)
    yield from notices.unjudged(plan)
    yield from notices.texts_as_given(plan)
    yield from notices.unordered(plan)
    yield from notices.undescribed(plan)
    yield from notices.uncut(plan)
    yield from notices.policies(plan)
    yield from notices.asked_once(plan)
    yield from notices.scored_alone(plan)
    yield from notices.not_estimated(plan)
    yield from notices.untriaged(plan)


def _notices_of_dataset(
    plan: Plan, dataset: str, unread: StudyReplies
) -> Iterator[str]:
    """Yield the notices of a dataset, and how many rows of recorded models were
    joined; `unread` gets the recorded replies.
    """
    most_problems = 12
    ingested = json.loads(Path(plan.paths.ingested(dataset)).read_text("utf-8"))
    problems = ingested["problems"]
    for problem in problems[:most_problems]:
        yield coded(problem)
    if len(problems) > most_problems:
        yield f"and {len(problems) - most_problems} more notices"
    rated = Path(plan.paths.targets(dataset, "systems"))
    if rated.is_file():
        yield from _notices_of_texts(plan, dataset, rated)
    yield from join_lines(joins(plan, dataset, unread.add_recorded))


def _notices_of_texts(plan: Plan, dataset: str, rated: Path) -> Iterator[str]:
    """Yield what cannot be computed with the texts that people rated."""
    rows = read_table("targets", str(rated), columns=["target", "item", "system"])
    items = rows["item"].to_pylist()
    systems = rows["system"].to_pylist()
    yield from notices.systems_untested(plan, dataset, items, systems)
    ratings = Path(plan.paths.ratings(dataset))
    if ratings.is_file():
        targets = read_table("ratings", str(ratings), columns=["target"])["target"]
        yield from notices.estimated(plan, dataset, rows, set(targets.to_pylist()))
    texts = read_table("targets", str(rated), columns=["text"])["text"].to_pylist()
    yield from language_lines(plan, dataset, [text for text in texts if text])


def _print_bill(plan: Plan, spec: CheckSpec, unread: StudyReplies) -> None:
    """Print the requests about all datasets that can be read; `unread` gets the stored
    replies.
    """
    if spec.unfetched:
        names = ", ".join(spec.unfetched)
        print(
            f"  warning: the requests for {names} are unknown before that, and not "
            "counted"
        )
    readable = {}
    for name, card in plan.datasets.items():
        if name not in spec.unfetched:
            readable[name] = card
    plan = dataclasses.replace(plan, datasets=readable)
    items = {name: len(writing.Imagined(plan, name).items) for name in plan.evaluated}
    for line in notices.too_few(plan, items):
        print(f"  {line}")
    models = estimates(plan, unread)
    for line in bill(plan, models):
        print(line)
    for model in models:
        for line in model.cut_states():
            print(f"  {line}")


def _print_unread(unread: StudyReplies) -> None:
    for line in unread.lines():
        print(f"  {line}")


def _before_a_run(plan: Plan, asked: dict[str, int]) -> Iterator[str]:
    """Yield what a user must do before a run: give keys, and trust addresses."""
    for key in key_sources(plan, asked):
        try:
            key.check_without_running()
        except UserError as error:
            yield str(error)
    record = trust.TrustRecord.read()
    for source, url in keys_sent(plan, asked):
        crossing = record.crossing(source, url)
        if crossing:
            yield str(crossing.error())
