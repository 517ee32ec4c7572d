"""What pages show of a study's judges and perturbations, and the look of pages."""

import hashlib

from msgspec.structs import replace

from judgescope.core import paths
from judgescope.data.planted import DEFECTS
from judgescope.plan.applicable import ALONE
from judgescope.plan.judges import (
    card_hash,
    engine_of,
    parser_of,
    scale_of,
    shares_score,
    voted_labels,
)
from judgescope.plan.study import Plan
from judgescope.report import specs
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES

UNPERTURBED = {"original": "originals", "systems": "texts by systems"}
"""Unperturbed sets of texts, and their names on the page of all judgments."""


def look_of(*patterns: str) -> str:
    """Return a hash of templates, style sheets and the common templates of all
    pages.
    """
    look = ""
    for pattern in ("*.html.jinja", *patterns):
        for path in sorted(paths.WORKFLOW.glob(pattern)):
            if path.is_file():
                look += path.read_text(encoding="utf-8")
    return hashlib.sha256(look.encode()).hexdigest()[:16]


# --- texts ----------------------------------------------------------------------------


def perturbed_sets(plan: Plan) -> dict[str, list[tuple[str, str]]]:
    """Return dataset -> its perturbed sets, (perturbation, degree); only datasets with
    any.

    Constructed texts in a dataset are left out, because they have no edits to inspect.
    """
    perturbed = {}
    for dataset in plan.evaluated:
        if plan.datasets[dataset].gives_texts:
            continue
        sets = list[tuple[str, str]]()
        for cell in plan.target_sets(dataset):
            if cell not in UNPERTURBED:
                name, _, degree = cell.partition(".")
                sets.append((name, degree))
        if sets:
            perturbed[dataset] = sets
    return perturbed


def perturbation_cards(plan: Plan) -> dict[str, specs.PerturbationCard]:
    """Return the perturbations of a study, with who or what makes their texts."""
    return {name: _perturbation_card(card) for name, card in plan.perturbations.items()}


def _perturbation_card(card: cards.AnyPerturbation) -> specs.PerturbationCard:
    if isinstance(card, cards.MadePerturbation):
        by = f"by the model {card.model}, form {card.form}"
    elif isinstance(card, cards.GradedPerturbation):
        made = "rule"
        if card.model:
            made = f"the model {card.model}, form {card.form}"
        by = f"by {made}; rated by {card.rating}"
    elif isinstance(card, cards.GivenPerturbation):
        by = f"by the authors of {card.dataset}"
    elif isinstance(card, cards.ReadyPerturbation):
        by = f"texts as given in {', '.join(card.by)}"
    elif isinstance(card, cards.AttackPerturbation):
        by = f"by adding a text at the {card.position}"
    else:
        by = f"by the rule {card.rule}"
    return specs.PerturbationCard(
        **card.model_dump(include={"name", "level", "issue", "method"}),
        kind=card.kind,
        by=by,
    )


def perturbation_degrees(plan: Plan) -> dict[str, specs.PerturbationCard]:
    """Return the perturbations of a study, with their degrees."""
    described = {}
    for name, card in plan.perturbations.items():
        degrees = plan.degrees_of(name)
        doses = {}
        for each, degree in degrees.items():
            if isinstance(degree.k, int):
                doses[each] = degree.k
        described[name] = specs.PerturbationCard(
            name=card.name, level=card.level, degrees=list(degrees), doses=doses
        )
    return described


# --- judges ---------------------------------------------------------------------------


def judge_facts(plan: Plan) -> dict[str, specs.JudgeCard]:
    """Return what pages show about each judge and each derived one."""
    facts = {name: _judge_card(plan, name, card) for name, card in plan.judges.items()}
    for name, card in plan.derived.items():
        facts[name] = _derived_card(plan, card)
    return facts


def is_thresholded(judge: cards.Judge) -> bool:
    """Return whether a judge's scores are numbers even if people give labels."""
    return judge.threshold is not None or judge.form == "length"


def _judge_card(plan: Plan, name: str, judge: cards.Judge) -> specs.JudgeCard:
    parser = parser_of(plan, name)
    compared = ENGINES[plan.models[judge.model].engine].compares_forms
    card = specs.JudgeCard(
        engine=engine_of(plan, name),
        form=judge.form,
        against=None if judge.form in ALONE else judge.against,
        parser=parser,
        # A recorded score was read by nobody here.
        compares_forms=compared and parser != "number",
        draws=judge.draws,
        model=judge.model,
        hint=judge.hint.rating if judge.hint else "",
        planted=_planted(plan.models[judge.model]),
        thresholded=is_thresholded(judge),
    )
    if not plan.samples(judge.model):
        return card
    annotation = ""
    listed = judge.annotation
    if listed is not None:
        rules = "" if listed.rules else ", no rules"
        annotation = f"score in {listed.score}, severity in {listed.severity}{rules}"
    all_points = {}
    for dataset in plan.evaluated:
        points = _points(plan, dataset, name)
        if points:
            all_points[dataset] = points
    return replace(
        card,
        temperature=judge.temperature,
        max_tokens=judge.max_tokens,
        scores_texts=judge.estimator if judge.scores_texts else "",
        one_score=shares_score(plan, judge) and _scores_aspects(plan, name),
        shots=judge.shots.n if judge.shots else 0,
        annotation=annotation,
        alike=card_hash(judge.model_copy(update={"judge": "", "scale": None})),
        points=all_points,
    )


def _planted(model: cards.Model) -> str:
    """Return the defect of a planted judge in words, "" for other judges."""
    if not isinstance(model, cards.PlantedModel):
        return ""
    defect = DEFECTS[model.defect]
    if not defect.unit:
        return defect.does
    strength = defect.stated if model.strength is None else model.strength
    return f"{defect.does} ({defect.unit}: {strength:g})"


def _scores_aspects(plan: Plan, judge: str) -> bool:
    """Return whether a judge scores several aspects of a dataset."""
    return any(len(plan.rated_by(judge, each)) > 1 for each in plan.evaluated)


def _points(plan: Plan, dataset: str, judge: str) -> list[int]:
    """Return the numbers of values that a judge can give, by aspect; [] for any
    number.
    """
    numbers = set[int]()
    for aspect in plan.rated_by(judge, dataset):
        scale = scale_of(plan, dataset, judge, aspect)
        values = scale.values() if scale else None
        if values is None:
            return []
        if values:
            numbers.add(len(values))
    return sorted(numbers)


def _derived_card(plan: Plan, card: cards.DerivedJudge) -> specs.JudgeCard:
    """Return a derived judge's members and method in words, and the hint of a member,
    if any.
    """
    most_named = 3
    votes = set[bool]()
    for dataset in plan.evaluated:
        for aspect in plan.rated_by(card.judge, dataset):
            votes.add(bool(voted_labels(plan, dataset, card.judge, aspect)))
    how = "mean"
    if True in votes:
        how = "mean or majority" if False in votes else "majority"
    members = f"{len(card.members)} judges"
    if len(card.members) <= most_named:
        members = ", ".join(card.members)
    merged = ""
    if card.supervisor:
        merged = f"; errors merged by {card.supervisor.model}"
    hints = [plan.judges[name].hint for name in card.members]
    ratings = [hint.rating for hint in hints if hint is not None]
    return specs.JudgeCard(
        engine="derived",
        form=f"{how} of {members}{merged}",
        hint=ratings[0] if ratings else "",
    )
