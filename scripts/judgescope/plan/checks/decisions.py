"""Checks of judges whose model gives decisions, not texts (engine systemone)."""

from collections.abc import Mapping
from typing import Final

from judgescope import prompts
from judgescope.core.errors import UserError
from judgescope.schema import cards

WRITTEN: Final = "a decision model writes no reply"
SAMPLED: Final = "nothing is sampled"
SHOWN: Final = "the texts are in the state of the request, not in a prompt"
UNFIT: Final[Mapping[str, str]] = {
    "draws": "a decision is the same in every draw",
    "temperature": SAMPLED,
    "top_p": SAMPLED,
    "max_tokens": WRITTEN,
    "seed": SAMPLED,
    "system": "a decision model gets one instruction and no messages",
    "structured": "a decision is one of its options",
    "stop": WRITTEN,
    "parser": WRITTEN,
    "read": WRITTEN,
    "examples": WRITTEN,
    "read_as": WRITTEN,
    "tie": "a tie is the option `tie`",
    "severities": WRITTEN,
    "annotation": WRITTEN,
    "cut": WRITTEN,
    "off_grid": "the score is the mean of the scale's values",
    "estimator": "the probabilities come with the decision",
    "fallback": "there is no other way to ask for it",
    "top_logprobs": "the probabilities come with the decision",
    "spotlight": SHOWN,
    "shots": SHOWN,
    "hint": SHOWN,
}
"""Key of a judge's card that such a judge must leave out -> the reason."""


def check_decisions(
    judge: cards.Judge,
    model: cards.Model,
    rated: Mapping[str, cards.RatedAspect],
    form: prompts.Templates | None,
    *,
    pairs: bool,
) -> None:
    """Check a judge's card against a model that decides; `rated`: dataset and aspect in
    errors -> people's scale; `form`: its templates.
    """
    where = f"judges/{judge.judge}.yaml"
    if not isinstance(model, cards.SystemOneModel):
        if judge.question is not None:
            raise UserError(
                "`question` is for models of engine systemone",
                where=f"{where}, key question",
                got=f"{judge.model} (engine {model.engine})",
                todo="leave `question` out",
            )
        return
    for key, why in UNFIT.items():
        default = cards.Judge.model_fields[key].get_default(call_default_factory=True)
        if getattr(judge, key) != default:
            raise UserError(
                f"`{key}` cannot be used with a decision model: {why}",
                where=f"{where}, key {key}",
                got=getattr(judge, key),
                todo=f"leave `{key}` out",
            )
    if judge.confidence not in (None, "none"):
        raise UserError(
            "the confidence of a decision is its probability",
            where=f"{where}, key confidence",
            got=judge.confidence,
            allowed=["none"],
            todo="leave `confidence` out",
        )
    _check_form(judge, form)
    if pairs:
        if judge.question not in (None, "choice"):
            raise _unfit_question(judge, "two texts are compared by a choice")
        return
    for title, people in rated.items():
        scale = judge.scale_on(title.rpartition(", ")[2]) or people
        _check_scale(judge, title, scale)


def _check_form(judge: cards.Judge, form: prompts.Templates | None) -> None:
    # Names that a form of such a judge may not print.
    hidden_keys = frozenset(
        ("parts", "source", "source_plain", "given", "shots", "hint", "annotation")
    )
    shown = prompts.needed_names(form or {}) & hidden_keys
    if shown:
        first = min(shown)
        raise UserError(
            f"this prompt shows the variable `{first}`, and a decision model gets the "
            "texts beside its instructions",
            where=f"prompts/{judge.form}{prompts.SUFFIX}",
            got=f"form of judges/{judge.judge}.yaml",
            todo="write `form: decide`, `form: decide-pair` or your own form that "
            "prints neither texts nor sources",
        )


def _unfit_question(judge: cards.Judge, why: str) -> UserError:
    return UserError(
        f"this question does not fit: {why}",
        where=f"judges/{judge.judge}.yaml, key question",
        got=judge.question,
        todo="leave `question` out",
    )


def _check_scale(judge: cards.Judge, title: str, scale: cards.RatingScale) -> None:
    """Check that a question can have the values of a scale as its options."""
    values = scale.values()
    where = f"judges/{judge.judge}.yaml, key scale"
    most_levels = 10
    if values is None:
        raise UserError(
            "a decision needs a scale with steps",
            where=where,
            got=f"{title}: any number from {scale.min:g} to {scale.max:g}",
            todo="give the judge its own `scale` with a `step` and at most "
            f"{most_levels} values",
        )
    scored = judge.question == "score" or not (scale.categorical or judge.question)
    # The most options that any known server takes; some take 26.
    most_options = 255
    limit = most_levels if scored else most_options
    if len(values) > limit:
        raise UserError(
            f"a question of type {'score' if scored else 'choice'} has at most {limit} "
            "options",
            where=where,
            got=f"{title}: {len(values)} values",
            todo="give the judge its own `scale` with a larger `step`"
            if scored
            else "exclude the aspect with `aspects`",
        )
    two = len(values) == 2
    if judge.question == "noul" and not (two and scale.ordered):
        raise _unfit_question(
            judge, f"noul is for two ordered values, and {title} has {len(values)}"
        )
    if judge.question == "score" and not scale.ordered:
        raise _unfit_question(judge, f"the labels of {title} have no order")
    if judge.threshold is not None and scale.categorical:
        _check_threshold(judge, title, two=two and scale.ordered)


def _check_threshold(judge: cards.Judge, title: str, *, two: bool) -> None:
    """Check a threshold on the probability of the better of two labels."""
    if not two or judge.question not in (None, "noul"):
        raise UserError(
            "a threshold is on the probability of the better of two labels",
            where=f"judges/{judge.judge}.yaml, key threshold",
            got=f"{title}, question {judge.question or 'choice'}",
            todo="leave `threshold` out",
        )
    if isinstance(judge.threshold, float) and not 0 < judge.threshold < 1:
        raise UserError(
            "a threshold on a probability lies between 0 and 1",
            where=f"judges/{judge.judge}.yaml, key threshold",
            got=judge.threshold,
            todo="write a share, such as 0.7 for 70 %",
        )
