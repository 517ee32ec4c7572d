"""Analyses of rated texts, written by a model: each must give the rating that people gave."""

from collections.abc import Mapping, Sequence

from judgescope.core.errors import UserError
from judgescope.engines.requests import Request
from judgescope.parsing.analysis import problem_of
from judgescope.parsing.judgment import Scale
from judgescope.perturb.made import Made, make_texts
from judgescope.replies.asking import Obtain, prompted
from judgescope.replies.few_shot import Question
from judgescope.replies.specs import AnalyseSpec
from judgescope.schema.cards import PromptedModel


def explained(
    spec: AnalyseSpec, questions: Sequence[Question], model: PromptedModel, obtain: Obtain
) -> list[tuple[Question, Made]]:
    """Return a judge's questions, each with its analysis; UserError where one failed."""
    if not questions:
        return []
    judge = spec.judges[questions[0].judge]
    known = {f"{one.judge} {one.aspect} {one.target}": one for one in questions}

    def ask_for(name: str, _: str, problem: str | None) -> Request:
        variables = {**known[name].shown, "problem": problem}
        about, templates = f"analysis of {name}", spec.templates[judge.form]
        return prompted(judge, templates, model, variables, seed=spec.seed, about=about)

    def problem_with(name: str, text: str) -> str | None:
        scale = known[name].scale
        read = Scale(scale.min, scale.max, scale.step, tuple(scale.labels))
        return problem_of(text, known[name].shown["rating"], read)

    made = make_texts(
        {name: one.shown["text"] for name, one in known.items()},
        ask_for=ask_for,
        obtain=obtain,
        checks=["not_refusal"],
        attempts=judge.attempts,
        also=problem_with,
    )
    _check(spec, known, made)
    return [(one, made[name]) for name, one in known.items()]


def _check(spec: AnalyseSpec, known: Mapping[str, Question], made: Mapping[str, Made]) -> None:
    """Raise UserError where an analysis failed: another text in its place would be another study.

    All judges of as many demonstrations are shown the same ones, with analyses or without.
    """
    failed = {name: one for name, one in made.items() if one.status != "ok"}
    if not failed:
        return
    name, last = next(iter(failed.items()))
    judge, why = known[name].judge, last.status.removeprefix("failed: ")
    raise UserError(
        f"{len(failed)} of {len(made)} analyses of demonstrations cannot be used: after "
        f"{len(last.tries)} attempts at the first, {why}",
        where=f"judges/{judge}.yaml, key shots.analyses: {spec.model.card['model']} on {name}",
        got=last.reply.text,
        todo="the judge was not asked; the replies are kept, and the same come again: name another "
        "model or form, allow more `attempts`, or show the ratings alone (form score-shots)",
    )
