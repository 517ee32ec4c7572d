"""Checks of what makes texts: perturbations, writers, graded sets."""

from collections.abc import Iterable, Mapping

from judgescope.core.errors import UserError, check_known
from judgescope.core.names import SYSTEMS
from judgescope.engines import PROMPTED
from judgescope.perturb.inject import ERRORS
from judgescope.perturb.rules import RULES, check_options
from judgescope.perturb.validation import CHECKS
from judgescope.plan.generators import graded
from judgescope.plan.study import Plan
from judgescope.schema.cards import (
    Anchoring,
    Dataset,
    GradedPerturbation,
    Judge,
    MadePerturbation,
    Model,
    Perturbation,
    RulePerturbation,
)


def check_perturbation(
    card: Perturbation, datasets: Iterable[str], used: Mapping[str, Dataset]
) -> None:
    """Check a perturbation's datasets and aspects, and its rule with its degrees.

    `datasets` are all that have a card, `used` those of the study.
    """
    where = f"perturbations/{card.perturbation}.yaml"
    rated = {aspect for dataset in used.values() for aspect in dataset.aspects}
    if card.aspects and rated.isdisjoint(card.aspects):
        raise UserError(
            "no dataset of the study has an aspect on which these texts are judged",
            where=f"{where}, key aspects",
            got=card.aspects[0],
            allowed=sorted(rated),
            todo="name one of them, or leave the perturbation out of the study",
        )
    problem = "unknown dataset card"
    check_known(card.datasets, datasets, problem, where=f"{where}, key datasets")
    if isinstance(card, RulePerturbation):
        _check_rule(card, where)
    elif isinstance(card, MadePerturbation):
        check_known(card.checks, CHECKS, "unknown check", where=f"{where}, key checks")
    if isinstance(card, RulePerturbation | GradedPerturbation):
        problem = "unknown kind of error"
        check_known(card.errors, ERRORS, problem, where=f"{where}, key errors")


def _check_rule(card: RulePerturbation, where: str) -> None:
    check_known([card.rule], RULES, "unknown rule", where=f"{where}, key rule")
    if card.level != RULES[card.rule].level:
        raise UserError(
            f"the rule {card.rule} works on another level",
            where=f"{where}, key level",
            got=card.level,
            allowed=[RULES[card.rule].level],
        )
    for owner in [None, *card.datasets]:
        degrees = card.datasets[owner] if owner else card.degrees
        for degree, options in degrees.items():
            place = f"{where}, key {f'datasets.{owner}' if owner else 'degrees'}.{degree}"
            check_options(card.rule, options.model_dump(exclude_none=True), where=place)


def check_writer(model: Model, where: str) -> None:
    """Check that a model reads prompts, and so can write."""
    if model.engine not in PROMPTED:
        raise UserError(
            "this model cannot write texts",
            where=where,
            got=f"{model.model} (engine {model.engine})",
            allowed=f"a model of engine {' or '.join(PROMPTED)}",
        )


def check_graded(plan: Plan) -> None:
    """Check the aspect's scale and the anchors of every graded set."""
    for name, card in graded(plan).items():
        where = f"perturbations/{name}.yaml"
        for dataset in plan.datasets:
            if name not in dict(plan.perturbed(dataset, "graded")):
                continue
            _check_scale(plan, card, dataset, where)
            if card.anchors:
                _check_anchors(plan, card, card.anchors, dataset, where)


def _check_scale(plan: Plan, card: GradedPerturbation, dataset: str, where: str) -> None:
    """Ratings are classes, and there are at least two."""
    aspect = plan.lowered(dataset, card)
    values = plan.datasets[dataset].aspects[aspect].values()
    if values is None or len(values) < 2:
        raise UserError(
            "texts of every rating need a scale with steps",
            where=f"{where}, key aspects",
            got=f"{aspect} of the dataset {dataset}, any number",
            todo=f"give datasets/{dataset}.yaml, aspects.{aspect}, a `step`",
        )


def _check_anchors(
    plan: Plan, card: GradedPerturbation, anchors: Anchoring, dataset: str, where: str
) -> None:
    """Anchors are rated texts; a judge that agrees with people must rate them on their scale."""
    aspect = plan.lowered(dataset, card)
    data = plan.datasets[dataset]
    if not data.has_systems or not data.has_texts or data.ratings == "none":
        raise UserError(
            "anchors are texts that people rated, and this dataset has none",
            where=f"{where}, key rating",
            got=dataset,
            todo="use `rating: errors`, or name `tasks` that leave the dataset out",
        )
    if anchors.judge is None:
        return
    judge = plan.judges.get(anchors.judge)
    if judge is None or not _rates_anchors(plan, judge, dataset, aspect):
        raise UserError(
            "the anchors need a judge of the study that rates their aspect on the aspect's own "
            "scale",
            where=f"{where}, key anchors.judge",
            got=anchors.judge,
            allowed=list(plan.judges),
            todo="name a judge that is not a control, without `scale`, `hint` or analyses, in a "
            "study without `criteria`; or leave it out",
        )


def _rates_anchors(plan: Plan, judge: Judge, dataset: str, aspect: str) -> bool:
    """Return whether a judge says on people's scale, and by itself, how good rated texts are."""
    plain = judge.own_scale is None and judge.hint is None and not plan.compares(judge.judge)
    analysed = judge.shots is not None and judge.shots.analyses is not None
    return (
        plain
        and not analysed
        and plan.models[judge.model].engine != "control"
        and judge.judge in plan.judges_of(dataset)
        and plan.excluded(dataset, judge.judge, SYSTEMS) is None
        and aspect in plan.rated_by(judge.judge, dataset)
    )
