"""Drafts of the steps or sub-aspects that a card lacks, written by a model for people to read."""

from collections.abc import Sequence
from typing import Any

import yaml

from judgescope.core.errors import UserError
from judgescope.core.job_spec import JobSpec
from judgescope.engines.requests import Request
from judgescope.parsing.steps import read_steps
from judgescope.parsing.sub_aspects import read_sub_aspects
from judgescope.perturb.made import Made, make_texts
from judgescope.prompts import PARTS
from judgescope.replies.asking import Obtain, RequestFor
from judgescope.replies.specs import WriterSpec

ATTEMPTS = 3


class DraftSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model drafts what a card lacks for a task."""

    kind: str
    """A key of prompts.DRAFTING."""
    card: str
    """The card that lacks something."""
    lacks: str
    """What it lacks, in words."""
    task: str
    shown: dict[str, Any]
    """The variables of the form."""
    drafter: WriterSpec
    output: str

    @property
    def model(self) -> str:
        """Return the id of the drafter."""
        return str(self.drafter.model.card["model"])


def drafted(spec: DraftSpec, request_for: RequestFor, obtain: Obtain) -> str:
    """Return a draft as a piece of its card, in YAML; UserError where no reply can be used."""

    def ask_for(about: str, _: str, problem: str | None) -> Request:
        return request_for(about, {**spec.shown, "problem": problem})

    [made] = make_texts(
        {f"{spec.lacks} of {spec.card}": ""},
        ask_for=ask_for,
        obtain=obtain,
        checks=[spec.kind if spec.kind == PARTS else "steps"],
        attempts=ATTEMPTS,
    ).values()
    if made.status != "ok":
        raise _useless(spec, made)
    return _head(spec, [reply.key for _, reply in made.tries]) + _piece(spec, made.text)


def _head(spec: DraftSpec, keys: Sequence[str]) -> str:
    """Return the comment above a draft; only ids stand in it, nothing that a model wrote."""
    lines = [
        f"A model's draft of {spec.lacks} for the task {spec.task}. Nothing uses it as it is:",
        f"read it, mend it, and paste it into {spec.card}.",
        f"model: {spec.model}",
        f"prompt: {spec.drafter.form}",
        "replies (the last is this one):",
        *(f"  {key}" for key in keys),
    ]
    return "".join(f"# {line}\n" for line in lines)


def _piece(spec: DraftSpec, text: str) -> str:
    """Return what a reply says as YAML, at its place in the card."""
    if spec.kind == PARTS:
        keys: dict[str, Any] = {PARTS: [one._asdict() for one in read_sub_aspects(text)]}
    else:
        name = "instructions" if spec.kind == "perturbation" else "steps"
        keys = {name: read_steps(text).texts}
    if spec.kind != "perturbation":
        keys = {"tasks": {spec.task: keys}}
    return yaml.safe_dump(keys, allow_unicode=True, sort_keys=False, width=100)


def _useless(spec: DraftSpec, made: Made) -> UserError:
    return UserError(
        f"{len(made.tries)} replies of the drafter cannot be used: the last, because "
        + made.status.removeprefix("failed: "),
        where=f"models/{spec.model}.yaml, asked for the {spec.lacks} of {spec.card} for the task "
        f"{spec.task}",
        got=made.reply.text,
        todo="the replies are kept, and the same come again: name another `drafter`, write a "
        f"prompts/{spec.drafter.form}.jinja of your own, or write the {spec.lacks} yourself",
    )
