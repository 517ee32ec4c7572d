"""Ask one model all that a study asks it about one dataset; write a reply file for each cell.

With `--part 2-of-8`, ask one of eight parts, and write only a note of what it was.
"""

import hashlib
from pathlib import Path
from typing import cast

from judgescope.core.canonical import canonical
from judgescope.core.cells import by_cell
from judgescope.core.files import write_hashes, write_text
from judgescope.core.paths import Paths
from judgescope.engines.factory import asking, settled
from judgescope.engines.requests import Probed
from judgescope.replies.asking import complete
from judgescope.replies.budget import spending
from judgescope.replies.lookup import KeyTable, StoredReplies
from judgescope.replies.planning import Job, planned, write_note
from judgescope.replies.probing import read_findings, try_out
from judgescope.replies.specs import AskSpec
from judgescope.replies.store import Store
from judgescope.schema.cards import Judge, ProbedModel
from judgescope.schema.loading import read_card
from judgescope.schema.tables import table_of, write_parts


def main(spec: AskSpec, *, card: str, store: str, budget: str, part: str = "") -> None:
    """Plan the requests of all cells, ask for what the store lacks, write every cell's replies."""
    model = read_card("model", Path(card)).model_copy(update=spec.model)
    model = settled(model, Path(spec.folder), Path(spec.data), spec.trained)
    endpoint = model if isinstance(model, ProbedModel) else None
    paths = Paths(spec.output)
    with Store(Path(store), model.served_name) as shard:
        findings = read_findings(shard, endpoint) if endpoint else None
        job = planned(spec, model, findings)
        replies = shard.find(_key_table(job, part))
        with spending(budget, shard, model) as allowed:
            missing = replies.count < replies.key_table.slots
            engine = asking(model, allowed)
            if endpoint and endpoint.probe and findings is None and missing:
                judges = [Judge(**judge) for judge in spec.judges.values()]
                findings = try_out(shard, cast(Probed, engine), judges)
                job = planned(spec, model, findings)
                replies = shard.find(_key_table(job, part))
            if missing:
                name = ".".join(filter(None, (model.model, part)))
                log = Path(paths.log(f"ask/{spec.dataset}/{name}"))
                write_note(log, spec.dataset, job, shard)
            complete(replies, job.work(replies), shard, engine, model.price)
        if part:  # the same bytes for the same requests
            keys = hashlib.sha256(replies.key_table.keys.tobytes()).hexdigest()
            note = canonical({"replies": replies.count, "keys": keys}) + "\n"
            write_text(Path(paths.part(spec.dataset, model.model, part)), note)
        else:
            _write(spec, job, replies)


def _key_table(job: Job, part: str) -> KeyTable:
    """Return all that a job wants, or a part of it such as 2-of-8."""
    return job.part(*map(int, part.split("-of-"))) if part else job.key_table


def _write(spec: AskSpec, job: Job, replies: StoredReplies) -> None:
    """Write the replies of every cell, and the hashes of these files."""
    paths = {}
    for (perturbation, judge), aspects in by_cell(spec.cells).items():
        cell = f"{perturbation}/{judge}"
        paths[cell] = spec.replies.format(cell)
        tables = (
            table_of("answers", job.rows((perturbation, judge, aspect), replies))
            for aspect in aspects
        )
        write_parts("answers", tables, paths[cell])
    if spec.hashes:
        write_hashes(paths, spec.hashes)
