"""The commands `judgescope batch …`: requests answered within a day, at a lower
price.
"""

import argparse
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from judgescope.cli.context import (
    agrees,
    check_input,
    command_on,
    plan_and_results,
    snakemake,
)
from judgescope.cli.terminal import aligned, plain, plural
from judgescope.core.errors import UserError, UserErrors
from judgescope.engines.factory import settled
from judgescope.engines.openai.engine import OpenAIEngine
from judgescope.engines.requests import Work
from judgescope.extensions.batch import batch
from judgescope.extensions.batch.batch import Results
from judgescope.extensions.batch.batches import Batches, Fetched
from judgescope.plan.access import admit, check_keys
from judgescope.plan.asking_jobs import StudyJob, of_endpoints
from judgescope.plan.checks.study import caps_of
from judgescope.plan.extending import before_requests
from judgescope.plan.generators import makers_of, supervisors
from judgescope.plan.study import Plan
from judgescope.replies.budget import Spending
from judgescope.replies.caps import NANOS
from judgescope.replies.inspection import check
from judgescope.replies.ledger import shown
from judgescope.replies.lookup import KeyTable
from judgescope.replies.open_batches import Batch, close_lost, under_way
from judgescope.replies.probing import read_findings, try_out, untested
from judgescope.replies.store import Store
from judgescope.schema.cards import OpenAIModel

# --- batches in progress --------------------------------------------------------------


def submit(args: argparse.Namespace) -> int:
    """Send the requests of a study without a stored reply; first make texts that need
    no model.

    A new endpoint is first probed with a few requests at the usual price.
    """
    plan, _ = plan_and_results(args.study)
    admit(plan, agrees)
    code = _make_texts(args.study, plan)
    if code:
        return code
    _probe(plan)
    for card, work in _requests(plan):
        batches = _batches(plan, card)
        submitted = batches.submit(work, caps_of(plan.study))
        for each in submitted:
            record = each.record
            line = f"{record.requests:,} requests in batch {record.batch}"
            if batches.price:
                line += f", at most {shown(record.held[NANOS], NANOS)} (reserved)"
            print(f"{card.model}: {line}")
        if not submitted:
            print(f"{card.model}: every request has a stored reply or is in a batch")
    if under_way(Path(plan.study.store), plan.study.ledger):
        print(command_on("batch status", args.study))
    else:
        run = command_on("run", args.study)
        print(f"no batch is in progress, and there is nothing to send: {run}")
    return 0


def _probe(plan: Plan) -> None:
    """Probe how endpoints treat request fields, unless an earlier job has."""
    for card, jobs in of_endpoints(plan):
        store = _store(plan, card)
        judges = []
        for judge in plan.judges.values():
            if judge.model == card.model:
                judges.append(judge)
        tested = not untested(read_findings(store, card), judges)
        if tested or not card.probe or not _is_missing(store, jobs):
            continue
        caps = caps_of(plan.study)
        spending = Spending(store, plan.study.ledger, card.model, card.price, caps)
        with store, spending as budget:
            try_out(store, OpenAIEngine(card, budget=budget), judges)


def _is_missing(store: Store, jobs: Iterable[StudyJob]) -> bool:
    """Return whether any request of some jobs has no stored reply."""
    for job in jobs:
        requests = job.job.key_table
        if requests.slots > store.find(requests).count:
            return True
    return False


def status(args: argparse.Namespace) -> int:
    """Print the study's batches."""
    rows = [["model", "batch", "status", "requests", "done"]]
    errors: list[UserError] = []
    for batches, each in _under_way(args.study, errors):
        with _collected(errors):
            state = batches.look(each)
            record = each.record
            row = [plain(record.model), plain(record.batch or "-"), plain(state.status)]
            rows.append([*row, f"{record.requests:,}", f"{state.done:,}"])
            _print_messages(state)
    if len(rows) > 1:
        print("\n".join(aligned(rows)))
    if errors:
        raise UserErrors(errors)
    return 0


def fetch(args: argparse.Namespace) -> int:
    """Store the replies of finished batches; return 1 while a batch is not finished."""
    waiting = 0
    errors: list[UserError] = []
    for batches, each in _under_way(args.study, errors):
        with _collected(errors):
            state = batches.fetch(each)
            waiting += state.results is None
            _print_fetched(args.study, each, state)
    if waiting:
        print(f"not finished: {waiting}; fetch again later")
    if errors:
        raise UserErrors(errors)
    return int(waiting > 0)


def _print_fetched(study: Path, each: Batch, state: Fetched) -> None:
    record = each.record
    if record.batch is None:
        print(
            f"{record.model}, {record.requests:,} requests were not sent: "
            f"judgescope batch submit {study} sends them, `batch cancel` drops them"
        )
        return
    name = f"{record.model}, batch {record.batch}: {state.status}"
    _print_messages(state)
    if state.results is None:
        print(f"{name}, {state.done:,} of {record.requests:,} done")
        return
    print(name)
    _print_counts(state.results)
    if state.spent and NANOS in state.spent:
        print(f"  cost: {shown(state.spent[NANOS], NANOS)}")


def cancel(args: argparse.Namespace) -> int:
    """Ask the endpoints to cancel the study's batches."""
    errors: list[UserError] = []
    to_cancel = list(_under_way(args.study, errors))
    for batches, each in to_cancel:
        with _collected(errors):
            print(f"{each.record.model}, {plain(batches.cancel(each))}")
    if to_cancel:
        stores = "stores received replies and releases unspent budget"
        print(f"{command_on('batch fetch', args.study)}: {stores}")
    if errors:
        raise UserErrors(errors)
    return 0


@contextmanager
def _collected(errors: list[UserError]) -> Iterator[None]:
    """Keep an error until the other batches were treated."""
    try:
        yield
    except UserError as error:
        errors.append(error)


def _under_way(study: Path, errors: list[UserError]) -> Iterator[tuple[Batches, Batch]]:
    """Yield the batches of a study, each with its endpoint; say so if there are none.

    Adds to `errors` those of batches without an endpoint.
    """
    plan, _ = plan_and_results(study)
    close_lost(Path(plan.study.store), plan.study.ledger)
    batches = under_way(Path(plan.study.store), plan.study.ledger)
    made: dict[str, Batches] = {}
    for each in batches:
        with _collected(errors):
            if each.record.model not in made:
                made[each.record.model] = _batches(plan, _card(plan, each))
            yield made[each.record.model], each
    if not batches:
        print(
            "no batch is in progress: all results were fetched, or no batch was "
            "submitted"
        )


def _card(plan: Plan, each: Batch) -> OpenAIModel:
    """Return the card of a batch's model."""
    model = each.record.model
    endpoints = {}
    for name, candidate in plan.models.items():
        if isinstance(candidate, OpenAIModel):
            endpoints[name] = candidate
    if model not in endpoints:
        raise UserError(
            "a batch belongs to a model that the study no longer has",
            where=str(each.path.with_suffix(".json")),
            got=model,
            allowed=list(endpoints),
            todo="put a judge of this model back into the study until the batch is "
            "fetched",
        )
    folder = Path(plan.folders["model", model])
    card = settled(endpoints[model], folder, Path(plan.study.data))
    assert isinstance(card, OpenAIModel)
    return card


def _batches(plan: Plan, card: OpenAIModel) -> Batches:
    check_keys(plan, [card.model])
    return Batches(Path(plan.study.store), plan.study.ledger, card)


def _store(plan: Plan, card: OpenAIModel) -> Store:
    return Store(Path(plan.study.store), card.served_name)


def _print_messages(state: Fetched) -> None:
    for message in state.messages:
        print(f"  {plain(message)}")


# --- batch files ----------------------------------------------------------------------


def export_batch(args: argparse.Namespace) -> int:
    """Write the requests without a stored reply; first make texts that need no
    model.
    """
    plan, _ = plan_and_results(args.study)
    admit(plan, agrees)
    code = _make_texts(args.study, plan)
    if code:
        return code
    for card, work in _requests(plan):
        written = batch.write(args.folder, card.model, batch.lines(card, work))
        requests = plural(sum(written.values()), "request")
        print(f"{card.model}: {requests} in {plural(len(written), 'file')}")
        for path, count in written.items():
            print(f"  {path}: {count:,}")
    return 0


def _make_texts(study: Path, plan: Plan) -> int:
    """Make the texts that need no model, and what extensions need before requests
    cost.
    """
    return snakemake(study, ["texts_unasked", *before_requests(plan)])


def _requests(plan: Plan) -> Iterator[tuple[OpenAIModel, Iterator[Work]]]:
    """Yield each endpoint with its requests without a stored reply; print what is not
    included.

    These are cells whose texts a model has to write first, and merged error lists.
    """
    endpoints = of_endpoints(plan)
    if not endpoints:
        print(
            "no judge of this study asks a model behind an endpoint: there are no "
            "requests"
        )
    for card, jobs in endpoints:
        store = _store(plan, card)
        check(store.shard)  # before money is spent
        yield card, _missing(store, jobs)
        for job in jobs:
            for target_set, count in job.later.items():
                maker = " and ".join(makers_of(plan, job.dataset, target_set))
                print(
                    f"  not included: {count} cells of {job.dataset} about "
                    f"{target_set}, whose texts {maker} must write first (judgescope "
                    "run)"
                )
    for dataset in plan.datasets:
        for model, ensembles in supervisors(plan, dataset).items():
            lists = f"the error lists of {', '.join(ensembles)} on {dataset}"
            print(f"not included: {model} merges {lists} at the end (judgescope run)")


def _missing(store: Store, jobs: Iterable[StudyJob]) -> Iterator[Work]:
    for job in jobs:
        yield from job.job.work(store.find(job.job.key_table))


def import_batch(args: argparse.Namespace) -> int:
    """Add the results of batch files to the store."""
    plan, _ = plan_and_results(args.study)
    for path in args.files:
        check_input(path)
    with ExitStack() as stack:
        models = []
        for card, jobs in of_endpoints(plan):
            requested = KeyTable.together(job.job.key_table for job in jobs)
            store = stack.enter_context(_store(plan, card))
            models.append((card, store, requested))
        done = batch.read(args.files, models)
    _print_counts(done)
    empty = [str(path) for path in args.files if not done.of_files[path]]
    if empty:
        raise UserError(
            "a file contains no result for this study",
            where=", ".join(empty),
            got=f"{done.foreign:,} lines of other requests, {done.torn:,} without a "
            "result",
            allowed=[
                "a line for each request of `judgescope batch export`, with its "
                "custom_id"
            ],
            todo="name the file of results instead of the requests, and the study that "
            "it belongs to",
        )
    return 0


def _print_counts(done: Results) -> None:
    known = f"{done.known:,} already stored"
    print(f"{done.new:,} replies and {done.refused:,} refusals added, {known}")
    print(
        f"lines of other requests: {done.foreign:,}; lines without a result: "
        f"{done.torn:,}"
    )
    for reason, count in done.failed.most_common():
        print(f"  {count:,} without a reply, to be requested again: {plain(reason)}")
