"""Checks of judges whose score is how probable a text is (likelihood, pmi)."""

from collections.abc import Iterable

from judgescope.core.errors import UserError
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES

SAMPLED = "nothing is sampled"
WRITTEN = "the model writes no reply"
SCALED = "a log probability has no scale"
FORMED = "the form shows only what the text was made from"
UNFIT = {
    "draws": "the probability of a text is the same in every draw",
    "temperature": SAMPLED,
    "top_p": SAMPLED,
    "seed": SAMPLED,
    "structured": WRITTEN,
    "stop": WRITTEN,
    "parser": WRITTEN,
    "read": WRITTEN,
    "examples": WRITTEN,
    "tie": WRITTEN,
    "severities": WRITTEN,
    "cut": WRITTEN,
    "fallback": "there is no other way to ask for it",
    "top_logprobs": "only the text's own tokens are read",
    "scale": SCALED,
    "off_grid": SCALED,
    "threshold": SCALED,
    "read_as": SCALED,
    "hint": FORMED,
    "shots": FORMED,
    "annotation": FORMED,
    "spotlight": FORMED,
    "use_reference": FORMED,
    "pairs": "texts are scored one by one",
    "orders": "texts are scored one by one",
}
"""Key of a judge's card that such a judge must leave out -> the reason."""


def check_scoring(
    judge: cards.Judge, model: cards.Model, rated: Iterable[tuple[str, cards.Dataset]]
) -> None:
    """Check a judge that scores texts against its model and the datasets.

    rated: (dataset and aspect in errors, dataset) of what the judge may score.
    """
    if not judge.scores_texts:
        return
    where = f"judges/{judge.judge}.yaml"
    named = f"`estimator: {judge.estimator}`"
    # Engine -> why it cannot score a text; others read no prompts.
    no_values = {
        "openai": "an endpoint returns no probabilities of a given text: some accept "
        "`echo` and ignore it",
        "command": "a program gets no prompt",
        "python": "a function gets no prompt",
        "recorded": "recorded replies are not scored again",
    }
    if not ENGINES[model.engine].scores_texts:
        why = no_values.get(model.engine, "it reads no prompts")
        raise UserError(
            f"{named} needs the probabilities of a given text: {why}",
            where=f"{where}, key estimator",
            got=f"{judge.model} (engine {model.engine})",
            allowed=f"a model of engine {' or '.join(_scoring_engines())}",
            todo="name such a model, or another estimator",
        )
    for key, why in UNFIT.items():
        default = cards.Judge.model_fields[key].get_default(call_default_factory=True)
        if getattr(judge, key) != default:
            raise UserError(
                f"`{key}` cannot be used with {named}: {why}",
                where=f"{where}, key {key}",
                got=getattr(judge, key),
                todo=f"leave `{key}` out",
            )
    if judge.form == cards.COMPARE:
        raise UserError(
            f"{named} needs a form that shows no text, but this one shows two",
            where=f"{where}, key form",
            got=judge.form,
            todo="write `form: likelihood`",
        )
    # Fields of `extra_body` that restrict what a model writes.
    grammars = ("grammar", "json_schema")
    for field in grammars:
        if field in getattr(model, "extra_body", {}):
            raise UserError(
                f"{named} replaces the grammar of the model's card",
                where=f"models/{model.model}.yaml, key extra_body.{field}; {where}",
                todo=f"leave `{field}` out, or write a model card without it for this "
                "judge",
            )
    if judge.estimator == "pmi":
        for title, dataset in rated:
            _check_source(dataset, title, where)


def _check_source(dataset: cards.Dataset, title: str, where: str) -> None:
    """Check that a dataset has sources, without which pmi is 0."""
    if dataset.columns is None or dataset.columns.source:
        return
    raise UserError(
        "`estimator: pmi` compares a text's probability with and without its source, "
        "and this dataset has no sources",
        where=f"{where}, key estimator",
        got=title,
        todo="write `estimator: likelihood`, or map `columns.source` in "
        f"datasets/{dataset.dataset}.yaml",
    )


def check_seen(judge: cards.Judge, title: str, scale: cards.RatedAspect) -> None:
    """Check that the raters of an aspect saw the source that pmi shows."""
    if judge.estimator == "pmi" and not scale.source_visible:
        raise UserError(
            "`estimator: pmi` shows the source, and the raters of this aspect did not "
            "see it (`source_visible: false`)",
            where=f"judges/{judge.judge}.yaml, key estimator",
            got=title,
            todo="write `estimator: likelihood`, or exclude the aspect with `aspects`",
        )


def _scoring_engines() -> list[str]:
    """Return the engines that say how probable a given text is."""
    return [name for name, each in ENGINES.working().items() if each.scores_texts]
