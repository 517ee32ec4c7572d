"""What supervisors still have to be asked: exactly where members' lists are there, else at most."""

import math
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

from msgspec.json import decode

from judgescope.core.cells import unpack
from judgescope.plan.generators import supervisors
from judgescope.plan.placeholders import Imagined
from judgescope.plan.specs import Specs
from judgescope.plan.study import Plan
from judgescope.plan.writing import Asked, at_most
from judgescope.prompts import messages, to_merge_names
from judgescope.replies.pricing import CHARACTERS
from judgescope.replies.store import Store
from judgescope.schema.cards import PromptedModel, Supervisor
from judgescope.scoring.supervising import Cell, MergeSpec, questions

NO_ERROR = dict.fromkeys(("location", "explanation", "severity", "category"))


def asked_of_supervisor(
    specs: Specs, card: PromptedModel, store: Store, texts: Imagined, open_: Set[str]
) -> Iterator[Asked]:
    """Yield what a model has to be asked to merge errors in the texts of a dataset.

    `open_` are the judges that have yet to be asked about it: what they will list is not known.
    """
    plan, dataset = specs.plan, texts.dataset
    if card.model not in supervisors(plan, dataset):
        return
    spec = decode(specs.merge(dataset, card.model), type=MergeSpec)
    for judge, ensemble in spec.ensembles.items():
        own = [cell for cell in unpack(spec.cells) if cell[1] == judge]
        settled = open_.isdisjoint(ensemble.members)
        there = [cell for cell in own if settled and _is_there(spec, cell)]
        if there:
            yield _exactly(spec, card, store, judge, there)
        if left := [cell for cell in own if cell not in there]:
            yield _at_most(plan, texts, judge, left)


def _is_there(spec: MergeSpec, cell: Cell) -> bool:
    every = [path for paths in spec.members_files(cell).values() for path in paths]
    return all(Path(path).is_file() for path in [*every, spec.texts_file(cell)])


def _exactly(
    spec: MergeSpec, card: PromptedModel, store: Store, judge: str, cells: Sequence[Cell]
) -> Asked:
    """Return what is asked of the lists that are there, and is not in the store."""
    asked = {one.key: one for cell in cells for _, one in questions(spec, card, cell)}
    found = store.read(dict.fromkeys(asked, 1))
    missing = [one for key, one in asked.items() if (key, 0) not in found]
    most = int(spec.ensembles[judge].decoding["max_tokens"])
    length = sum(len(one.prompt) for one in missing) / max(1, len(missing))
    return Asked(
        dataset=spec.dataset,
        name=named(judge),
        model=card.model,
        wanted=len(asked),
        missing=len(missing),
        prompts=len(missing),
        characters=sum(len(one.prompt) for one in missing),
        max_tokens=most,
        usual=min(most, math.ceil(length / CHARACTERS)),
        replied=None,
        bound=False,
    )


def _at_most(plan: Plan, texts: Imagined, judge: str, cells: Sequence[Cell]) -> Asked:
    """Return what is asked at most: about every text, with the longest lists."""
    card = plan.derived[judge]
    members, told = [plan.judges[name] for name in card.members], card.supervisor
    assert told is not None
    most = ("?" * one.max_tokens * CHARACTERS for one in members)
    lists = [[{**NO_ERROR, "explanation": explanation}] for explanation in most]
    share = min(one.share for one in members)
    lengths = [
        _length(plan, told, subject.text, lists)
        for perturbation, _, aspect in cells
        for subject in texts.of(perturbation, share, aspect)
    ]
    n = len(lengths)
    counts = (n, n, n, sum(lengths))
    return at_most(texts.dataset, named(judge), told.model, counts, told.max_tokens)


def _length(plan: Plan, told: Supervisor, text: str, lists: Any) -> int:
    [message] = messages(told.form, plan.templates[told.form], **to_merge_names(text, lists))
    return len(message["content"])


def named(judge: str) -> str:
    """Return what a bill calls the merging of errors for an ensemble."""
    return f"errors merged for {judge}"
