"""Drafts of steps and sub-aspects for cards, and analyses of ratings for judges."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml

from judgescope.core.canonical import JobSpec
from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.core.files import write_text
from judgescope.core.job_files import OUT
from judgescope.engines.requests import Request
from judgescope.engines.subjects import Subjects
from judgescope.parsing.judgment import Scale
from judgescope.parsing.written import (
    problem_with_analysis,
    read_steps,
    read_sub_aspects,
    without_rating,
)
from judgescope.perturb.writing import MadeText, answers_of, make_texts, unlike_parent
from judgescope.prompts import PARTS
from judgescope.replies.asking import Obtain, RequestFor, asker, prompted, writer
from judgescope.replies.few_shot import AnalysisQuestion, questions
from judgescope.replies.specs import AnalyseSpec, WriterSpec
from judgescope.schema.cards import PromptedModel
from judgescope.schema.tables import table_of, write_table


class DraftSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a model drafts the missing part of a card for a task."""

    kind: str
    """A key of prompts.DRAFTING."""
    card: str
    lacks: str
    """The name of the missing part, for messages."""
    task: str
    shown: dict[str, Any]
    """The variables of the form."""
    drafter: WriterSpec
    output: Annotated[str, OUT]

    @property
    def model(self) -> str:
        """Return the id of the drafter."""
        return str(self.drafter.model.card["model"])


def drafted(spec: DraftSpec, request_for: RequestFor, obtain: Obtain) -> str:
    """Return a draft as YAML to paste into its card; UserError if no reply is
    usable.
    """

    def ask_for(about: str, _: str, problem: str | None) -> Request:
        return request_for(about, {**spec.shown, "problem": problem})

    [made] = make_texts(
        {f"{spec.lacks} of {spec.card}": ""},
        ask_for=ask_for,
        obtain=obtain,
        checks=[spec.kind if spec.kind == PARTS else "steps"],
        attempts=3,
        read=lambda name: unlike_parent,
    ).values()
    if made.status != "ok":
        raise UserError(
            f"no reply of the drafter is usable ({len(made.tries)} tried); reason for "
            "the last: " + made.status.removeprefix("failed: "),
            where=f"models/{spec.model}.yaml, asked for the {spec.lacks} of "
            f"{spec.card} for the task {spec.task}",
            got=made.reply.text,
            todo=(
                "running again reuses the stored replies: name another `drafter`, "
                f"write your own prompts/{spec.drafter.form}.jinja, or write the "
                f"{spec.lacks} yourself"
            ),
        )
    # the comment contains only ids, not a model's text
    comment = [
        (
            f"A model's draft of {spec.lacks} for the task {spec.task}. The study does "
            "not use it yet:"
        ),
        f"check it, correct it, and paste it into {spec.card}.",
        f"model: {spec.model}",
        f"prompt: {spec.drafter.form}",
        "replies (the last is this one):",
        *(f"  {reply.key}" for _, reply in made.tries),
    ]
    return "".join(f"# {line}\n" for line in comment) + _card_part(spec, made.text)


def _card_part(spec: DraftSpec, text: str) -> str:
    """Return the content of a reply as YAML, under its key in the card."""
    if spec.kind == PARTS:
        keys: dict[str, Any] = {
            PARTS: [part._asdict() for part in read_sub_aspects(text)]
        }
    else:
        name = "instructions" if spec.kind == "perturbation" else "steps"
        keys = {name: read_steps(text).texts}
    if spec.kind != "perturbation":
        keys = {"tasks": {spec.task: keys}}
    return yaml.safe_dump(keys, allow_unicode=True, sort_keys=False, width=100)


def explained(
    spec: AnalyseSpec,
    questions: Sequence[AnalysisQuestion],
    model: PromptedModel,
    obtain: Obtain,
) -> list[tuple[AnalysisQuestion, MadeText]]:
    """Return a judge's questions, each with its analysis.

    UserError if one failed. It is not replaced by another text, since all judges with
    the same number of demonstrations are shown the same ones, with or without analyses.
    """
    if not questions:
        return []
    judge = spec.judges[questions[0].judge]
    by_name = {
        f"{question.judge} {question.aspect} {question.target}": question
        for question in questions
    }

    def ask_for(name: str, _: str, problem: str | None) -> Request:
        variables = {**by_name[name].shown, "problem": problem}
        about = f"analysis of {name}"
        templates = spec.templates[judge.form]
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
        retry_temperature=judge.retry_temperature,
        read=lambda name: unlike_parent,
        also=problem_with,
    )
    failed = {name: text for name, text in made.items() if text.status != "ok"}
    if failed:
        name, first = next(iter(failed.items()))
        reason = first.status.removeprefix("failed: ")
        raise UserError(
            f"{len(failed)} of {len(made)} analyses of demonstrations are unusable; "
            f"the reason for the first, after {len(first.tries)} attempts: {reason}",
            where=f"judges/{by_name[name].judge}.yaml, key shots.analyses: "
            f"{spec.model.card['model']} on {name}",
            got=first.reply.text,
            todo=(
                "the judge received no request; running again reuses the stored "
                "replies: name another model or prompt form, allow more `attempts`, or "
                "show only the ratings (form score-shots)"
            ),
        )
    return [(question, made[name]) for name, question in by_name.items()]


def analyse(spec: AnalyseSpec, *, card: str, store: str, budget: str) -> None:
    """Find the demonstrations of every judge; write analyses and the underlying
    replies.
    """
    subjects = Subjects(spec.subjects, spec.dataset, spec.seed)
    analyses = []
    answers = []
    with asker(spec.model, card=card, store=store, budget=budget) as asked:
        for judge in spec.judges:
            for question, made in explained(
                spec, list(questions(spec, judge, subjects)), *asked
            ):
                aspect, criterion = split(question.aspect)
                known = {"aspect": aspect, "criterion": criterion}
                analyses.append(
                    {
                        "dataset": spec.dataset,
                        "judge": judge,
                        **known,
                        "target": question.target,
                        "rating": question.shown["rating"],
                        "text": without_rating(made.text),
                    }
                )
                answers += answers_of(judge, question.target, made, "analyze", **known)
    write_table("analyses", table_of("analyses", analyses), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)


def draft(spec: DraftSpec, *, card: str, store: str, budget: str) -> None:
    """Ask for a draft until a reply is usable; write it as a part of the card."""
    with writer(spec.drafter, 0, card=card, store=store, budget=budget) as asked:
        text = drafted(spec, *asked)
    write_text(Path(spec.output), text)
