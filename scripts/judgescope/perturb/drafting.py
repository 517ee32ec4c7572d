"""Texts that a model writes for cards and judges: drafts of steps, analyses of ratings."""

from collections.abc import Sequence
from typing import Any

import yaml

from judgescope.core.errors import UserError
from judgescope.core.job_spec import JobSpec
from judgescope.engines.requests import Request
from judgescope.parsing.judgment import Scale
from judgescope.parsing.written import problem_with_analysis, read_steps, read_sub_aspects
from judgescope.perturb.writing import Made, make_texts
from judgescope.prompts import PARTS
from judgescope.replies.asking import Obtain, RequestFor, prompted
from judgescope.replies.few_shot import Question
from judgescope.replies.specs import AnalyseSpec, WriterSpec
from judgescope.schema.cards import PromptedModel

ATTEMPTS = 3


class DraftSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model drafts the missing part of a card for a task."""

    kind: str
    """A key of prompts.DRAFTING."""
    card: str
    lacks: str
    """The missing part, in words."""
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
    """Return a draft as a piece of its card, in YAML; UserError if no reply is usable."""

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
        raise UserError(
            f"{len(made.tries)} replies of the drafter are unusable; reason for the last: "
            + made.status.removeprefix("failed: "),
            where=f"models/{spec.model}.yaml, asked for the {spec.lacks} of {spec.card} for the "
            f"task {spec.task}",
            got=made.reply.text,
            todo=(
                "a new run reuses the stored replies: name another `drafter`, write a "
                f"prompts/{spec.drafter.form}.jinja of your own, or write the {spec.lacks} "
                "yourself"
            ),
        )
    # only ids stand in the comment, nothing that a model wrote
    comment = [
        (
            f"A model's draft of {spec.lacks} for the task {spec.task}. The study does not use it "
            "yet:"
        ),
        f"check it, correct it, and paste it into {spec.card}.",
        f"model: {spec.model}",
        f"prompt: {spec.drafter.form}",
        "replies (the last is this one):",
        *(f"  {reply.key}" for _, reply in made.tries),
    ]
    return "".join(f"# {line}\n" for line in comment) + _card_part(spec, made.text)


def _card_part(spec: DraftSpec, text: str) -> str:
    """Return the content of a reply as YAML, at its place in the card."""
    if spec.kind == PARTS:
        keys: dict[str, Any] = {PARTS: [part._asdict() for part in read_sub_aspects(text)]}
    else:
        name = "instructions" if spec.kind == "perturbation" else "steps"
        keys = {name: read_steps(text).texts}
    if spec.kind != "perturbation":
        keys = {"tasks": {spec.task: keys}}
    return yaml.safe_dump(keys, allow_unicode=True, sort_keys=False, width=100)


def explained(
    spec: AnalyseSpec, questions: Sequence[Question], model: PromptedModel, obtain: Obtain
) -> list[tuple[Question, Made]]:
    """Return a judge's questions, each with its analysis.

    UserError if one failed: another text in its place would be another study, since all judges with
    as many demonstrations are shown the same ones, with analyses or without.
    """
    if not questions:
        return []
    judge = spec.judges[questions[0].judge]
    by_name = {
        f"{question.judge} {question.aspect} {question.target}": question for question in questions
    }

    def ask_for(name: str, _: str, problem: str | None) -> Request:
        variables = {**by_name[name].shown, "problem": problem}
        about, templates = f"analysis of {name}", spec.templates[judge.form]
        return prompted(judge, templates, model, variables, seed=spec.seed, about=about)

    def problem_with(name: str, text: str) -> str | None:
        scale = by_name[name].scale
        read = Scale(scale.min, scale.max, scale.step, tuple(scale.labels))
        return problem_with_analysis(text, by_name[name].shown["rating"], read)

    made = make_texts(
        {name: question.shown["text"] for name, question in by_name.items()},
        ask_for=ask_for,
        obtain=obtain,
        checks=["not_refusal"],
        attempts=judge.attempts,
        also=problem_with,
    )
    failed = {name: text for name, text in made.items() if text.status != "ok"}
    if failed:
        name, first = next(iter(failed.items()))
        reason = first.status.removeprefix("failed: ")
        raise UserError(
            f"{len(failed)} of {len(made)} analyses of demonstrations are unusable; reason for "
            f"the first, after {len(first.tries)} attempts: {reason}",
            where=f"judges/{by_name[name].judge}.yaml, key shots.analyses: "
            f"{spec.model.card['model']} on {name}",
            got=first.reply.text,
            todo=(
                "the judge received no request; a new run reuses the stored replies: name "
                "another model or form, allow more `attempts`, or show only the ratings (form "
                "score-shots)"
            ),
        )
    return [(question, made[name]) for name, question in by_name.items()]
