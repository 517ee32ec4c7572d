"""The specs of jobs that build graded sets: texts of every rating, part by part."""

from judgescope.core.names import ORIGINAL, SYSTEMS, FilePrefix, GradedPart
from judgescope.engines.computing import ReplaySpec
from judgescope.methods.base import AnchoredSet, GradedTexts
from judgescope.perturb import specs
from judgescope.plan.code import computing
from judgescope.plan.generators import graded, parts_of
from judgescope.plan.specs import texts
from judgescope.plan.specs.judging import ask, reading, replay
from judgescope.plan.study import CellAspect, Plan
from judgescope.replies.specs import AskSpec
from judgescope.schema.cards import Anchoring, References
from judgescope.schema.cards.engines import ENGINES
from judgescope.scoring.anchors import ChooseAnchorsSpec, JudgedTexts


def anchoring(plan: Plan, name: str) -> Anchoring:
    """Return the settings by which the texts of a set are rated in comparisons."""
    anchors = graded(plan)[name].anchors
    assert anchors is not None  # only the rules of anchored sets call this
    return anchors


def candidates(plan: Plan, dataset: str, name: str, part: str) -> specs.CandidatesSpec:
    """Make a part of a set's candidates, by rule or by a model."""
    card = graded(plan)[name]
    rest = part == GradedPart.REST
    by_model = None
    if card.model is not None:
        assert card.form is not None  # the card's own check
        by_model = specs.ModelErrors(
            writer=texts.writer(plan, card.model, card.form, card),
            about=plan.about(dataset),
            change=texts.change(plan, dataset, card),
            attempts=card.attempts,
            retry_temperature=card.retry_temperature,
        )
    modules = []
    if card.model:
        modules = [ENGINES.target(plan.models[card.model].engine)]
    written = isinstance(plan.improved(dataset), References)
    return specs.CandidatesSpec(
        **computing("candidates", *modules),
        dataset=dataset,
        seed=plan.study.seed,
        share=plan.study.share,
        allow_missing=card.model is not None and plan.study.allow_missing,
        items=plan.paths.items(dataset),
        perturbation=name,
        degree=texts.DEGREE,
        references=card.references,
        input=plan.paths.targets(dataset, ORIGINAL),
        written=plan.paths.construction(dataset, ORIGINAL) if written else None,
        output=plan.paths.set_part(dataset, name, part),
        part=_part(plan, dataset, name, part),
        tried=plan.paths.set_part(dataset, name, GradedPart.TRIAL) if rest else None,
        compared=plan.paths.compared(dataset, name, GradedPart.TRIAL) if rest else None,
        by_model=by_model,
        errors=[] if card.model else [*card.errors],
        replies=plan.paths.made(dataset, f"{name}.{part}") if card.model else None,
    )


def _part(
    plan: Plan, dataset: str, name: str, part: str
) -> specs.Even | specs.OnTrial | specs.OfEachRating:
    """Return the settings of a part's candidates."""
    card = graded(plan)[name]
    ratings = texts.classes(plan, dataset, name)
    if card.anchors is None:
        counts = [step * card.errors_per_rating for step in range(len(ratings))]
        return specs.Even(targets=card.targets, counts=counts)
    if part == GradedPart.TRIAL:
        return specs.OnTrial(
            share=card.anchors.calibration_share, max_errors=card.anchors.max_errors
        )
    return specs.OfEachRating(
        targets=card.targets, oversample=card.anchors.oversample, classes=ratings
    )


def rate(plan: Plan, dataset: str, name: str) -> AskSpec | ReplaySpec:
    """Let a judge rate the possible anchors."""
    judge = anchoring(plan, name).judge
    assert judge is not None  # only sets with such a judge have this job
    cells = [CellAspect(dataset, SYSTEMS, judge, plan.lowered(dataset, name))]
    model = plan.judges[judge].model
    replies = plan.paths.set_part(dataset, name, "rated")
    if plan.is_asked(model):
        return ask(plan, dataset, model, cells=cells, replies=replies)
    return replay(plan, dataset, model, cells=cells, replies=replies)


def anchors(plan: Plan, dataset: str, name: str) -> ChooseAnchorsSpec:
    """Choose the anchors of a set."""
    aspect = plan.lowered(dataset, name)
    anchored = anchoring(plan, name)
    judged = None
    if anchored.judge is not None:
        judged = JudgedTexts(
            judge=anchored.judge,
            reading=reading(plan, dataset, anchored.judge, aspect),
            replies=plan.paths.set_part(dataset, name, "rated"),
        )
    return ChooseAnchorsSpec(
        **computing("anchors", *([judged.reading.parser] if judged else [])),
        dataset=dataset,
        perturbation=name,
        seed=plan.study.seed,
        aspect=aspect,
        classes=texts.classes(plan, dataset, name),
        per_rating=anchored.per_rating,
        targets=plan.paths.targets(dataset, SYSTEMS),
        ratings=plan.paths.ratings(dataset),
        judged=judged,
        output=plan.paths.set_part(dataset, name, "anchors"),
    )


def compare(plan: Plan, dataset: str, name: str, part: str) -> specs.CompareAnchorsSpec:
    """Compare anchors with each other, or candidates with them."""
    anchored = anchoring(plan, name)
    aspect = plan.lowered(dataset, name)
    card = plan.aspect_of(dataset, aspect)
    engine = ENGINES.target(plan.models[anchored.model].engine)
    return specs.CompareAnchorsSpec(
        **computing("compare_anchors", engine),
        dataset=dataset,
        perturbation=name,
        seed=plan.study.seed,
        name=f"{FilePrefix.COMPARED}{name}",
        aspect=specs.ComparedAspect(
            aspect=card.aspect, name=card.name, definition=card.definition
        ),
        about=plan.about(dataset),
        source_visible=plan.scale_of(dataset, aspect).source_visible,
        classes=texts.classes(plan, dataset, name),
        least_accuracy=anchored.least_accuracy,
        comparator=texts.writer(plan, anchored.model, anchored.form, anchored),
        items=plan.paths.items(dataset),
        targets=plan.paths.targets(dataset, SYSTEMS),
        anchors=plan.paths.set_part(dataset, name, "anchors"),
        candidates=None
        if part == GradedPart.REFEREE
        else plan.paths.set_part(dataset, name, part),
        output=plan.paths.compared(dataset, name, part),
        replies=plan.paths.made(dataset, f"{FilePrefix.COMPARED}{name}.{part}"),
    )


def grade(plan: Plan, dataset: str, name: str) -> specs.GradeSpec:
    """Rate the candidates of a set, and choose its targets."""
    card = graded(plan)[name]
    parts = parts_of(card)
    compared = [plan.paths.compared(dataset, name, part) for part in parts]
    return specs.GradeSpec(
        **computing("grade"),
        seed=plan.study.seed,
        aspect=plan.lowered(dataset, name),
        classes=texts.classes(plan, dataset, name),
        targets=card.targets,
        errors_per_rating=None if card.anchors else card.errors_per_rating,
        candidates=[plan.paths.set_part(dataset, name, part) for part in parts],
        compared=compared if card.anchors else [],
        output=plan.paths.targets(dataset, f"{name}.{texts.DEGREE}"),
        graded=plan.paths.graded(dataset, name),
    )


def graded_texts(plan: Plan, dataset: str, name: str) -> GradedTexts:
    """Return what statistics need to know of a graded set."""
    return GradedTexts(
        perturbation=name,
        degree=texts.DEGREE,
        aspect=plan.lowered(dataset, name),
        classes=texts.classes(plan, dataset, name),
        file=plan.paths.graded(dataset, name),
    )


def anchored_sets(plan: Plan, dataset: str) -> dict[str, AnchoredSet]:
    """Return the sets of a dataset's texts that were rated by anchors, with these."""
    cards = graded(plan)
    sets = {}
    # The parts in which anchors are compared; in the first part with each other.
    comparing = (GradedPart.REFEREE, GradedPart.TRIAL, GradedPart.REST)
    for name, _ in plan.perturbed(dataset, "graded"):
        if name in cards and cards[name].anchors is not None:
            sets[name] = AnchoredSet(
                anchors=plan.paths.set_part(dataset, name, "anchors"),
                compared=[
                    plan.paths.compared(dataset, name, part) for part in comparing
                ],
            )
    return sets
