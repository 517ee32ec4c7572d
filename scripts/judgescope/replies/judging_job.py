"""The steps of a job that asks a model for judgments; jobs/ask.py has their order."""

import hashlib
from pathlib import Path
from typing import cast

from judgescope.core.canonical import canonical
from judgescope.core.cells import by_cell
from judgescope.core.files import write_hashes, write_text
from judgescope.core.paths import located_folder
from judgescope.engines.factory import settled
from judgescope.engines.requests import Probed
from judgescope.replies.asking import AskingJob
from judgescope.replies.lookup import StoredReplies
from judgescope.replies.probing import Findings, read_findings, try_out, untested
from judgescope.replies.progress_note import write_note
from judgescope.replies.questions import QuestionPlan
from judgescope.replies.specs import AskSpec
from judgescope.replies.store import Store
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES
from judgescope.schema.loading import read_card
from judgescope.schema.tables import table_of, write_parts


def read_model(spec: AskSpec, card: Path) -> cards.AskedModel:
    """The model of a job, with the paths and hashes of its files."""
    ENGINES.load(spec.engine)
    model = read_card("model", card).model_copy(update=spec.model)
    return settled(model, located_folder(spec.folder), Path(spec.data), spec.trained)


def known_findings(store: Store, model: cards.AskedModel) -> Findings | None:
    """What earlier probes showed about the model's endpoint; None if it has none."""
    if not isinstance(model, cards.ProbedModel):
        return None
    return read_findings(store, model)


def new_findings(
    job: AskingJob,
    spec: AskSpec,
    model: cards.AskedModel,
    findings: Findings | None,
) -> Findings | None:
    """Probe the endpoint for what the judges need; None if nothing has to be tested."""
    if not isinstance(model, cards.ProbedModel) or not model.probe:
        return None
    judges = [cards.Judge(**judge) for judge in spec.judges.values()]
    if not untested(findings, judges):
        return None
    return try_out(job.store, cast(Probed, job.engine), judges)


def announce(spec: AskSpec, part: str, plan: QuestionPlan, store: Store) -> None:
    """Write the note with which other commands can follow this job."""
    log = Path(spec.log)
    if part:
        log = log.with_suffix(f".{part}{log.suffix}")
    write_note(log, spec.dataset, plan, store)


def write_part(spec: AskSpec, part: str, replies: StoredReplies) -> None:
    """Write the output of a part of a job: the same bytes for the same requests."""
    keys = hashlib.sha256(replies.key_table.keys.tobytes()).hexdigest()
    note = canonical({"replies": replies.count, "keys": keys}) + "\n"
    write_text(Path(spec.part.format(part)), note)


def write_replies(spec: AskSpec, plan: QuestionPlan, replies: StoredReplies) -> None:
    """Write the replies of every cell, and the hashes of these files."""
    paths = {}
    for (perturbation, judge), aspects in by_cell(spec.cells).items():
        cell = f"{perturbation}/{judge}"
        paths[cell] = spec.replies.format(cell)
        tables = (
            table_of("answers", plan.rows((perturbation, judge, aspect), replies))
            for aspect in aspects
        )
        write_parts("answers", tables, paths[cell])
    if spec.hashes:
        write_hashes(paths, spec.hashes)
