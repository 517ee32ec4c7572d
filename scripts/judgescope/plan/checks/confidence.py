"""Checks whether a judge can have the confidence that the cards name."""

from collections.abc import Mapping

from judgescope.core.errors import UserError, check_known
from judgescope.plan.applicable import replays
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES

TWO = 2
"""The labels of which one has the probability that the other lacks."""


def check_confidence(
    judge: cards.Judge,
    model: cards.Model,
    labelled: Mapping[str, cards.RatedAspect],
    *,
    pairs: bool,
) -> None:
    """Check a judge's key `confidence`, and the columns of recorded confidences.

    labelled: dataset and aspect -> people's scale, of the aspects that it judges.
    """
    where = f"judges/{judge.judge}.yaml, key confidence"
    asked = judge.confidence
    if asked == "logprobs" and not ENGINES[model.engine].reads_prompts:
        raise UserError(
            "log-probabilities are those of replies, and this model writes none",
            where=where,
            got=f"model {judge.model}, engine {model.engine}",
            todo="leave `confidence` out; for recorded scores name the column under "
            f"`rows.confidence` in models/{judge.model}.yaml",
        )
    if asked == "logprobs" and not pairs:
        for title, scale in labelled.items():
            if (judge.scale_on(title.rpartition(", ")[2]) or scale).step is None:
                raise UserError(
                    "the probability of a verdict needs a scale with steps",
                    where=where,
                    got=f"{title}: any number from {scale.min:g} to {scale.max:g}",
                    todo="give the judge its own `scale` with a `step`, or leave "
                    "`confidence` out",
                )
    reads = ENGINES[model.engine].reads_prompts or replays(model)
    if asked in ("logprobs", "stated") and (judge.scores_texts or not reads):
        raise UserError(
            "only a reply can state a confidence, and this judge has none",
            where=where,
            got=f"model {judge.model}, engine {model.engine}",
            todo="leave `confidence` out; for recorded scores name the column under "
            f"`rows.confidence` in models/{judge.model}.yaml",
        )
    if asked == "draws" and judge.draws < TWO:
        raise UserError(
            "the share of equal draws needs several draws",
            where=where,
            got=f"draws: {judge.draws}",
            todo="set `draws` to 5 or more (the share of few draws is too high), with "
            "a temperature above 0",
        )
    if isinstance(model, cards.RecordedModel) and model.rows.confidence:
        _check_columns(judge, model, labelled)


def _check_columns(
    judge: cards.Judge,
    model: cards.RecordedModel,
    labelled: Mapping[str, cards.RatedAspect],
) -> None:
    """Check the aspects and the label of recorded confidences."""
    rows = model.rows
    where = f"models/{model.model}.yaml, key rows.confidence"
    known = ["*", *rows.scores]
    problem = "a confidence of an aspect without recorded scores"
    if "*" not in rows.scores:
        check_known(list(rows.confidence), known, problem, where=where)
    about = rows.confidence_about
    if about is None:
        return
    where = f"models/{model.model}.yaml, key rows.confidence_about; judge {judge.judge}"
    for title, scale in labelled.items():
        if not scale.categorical or len(scale.labels) != TWO or judge.threshold:
            raise UserError(
                "the probability of a named label needs verdicts of two labels",
                where=where,
                got=f"{title}, {about}",
                todo="name the column with the probability of the verdict itself, and "
                "leave `confidence_about` out",
            )
        check_known([about], scale.labels, "not a label of the aspect", where=where)
