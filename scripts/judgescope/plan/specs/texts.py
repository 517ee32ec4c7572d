"""The specs of jobs that read texts, perturb them, or let a model write them."""

from judgescope.core.names import ORIGINAL, REFERENCES, SYSTEMS, FilePrefix
from judgescope.core.paths import portable
from judgescope.data.specs import (
    UNREAD,
    IngestSpec,
    RatingFiles,
    ReadRatingsSpec,
    TakePairsSpec,
    TakeSpec,
    TextFiles,
)
from judgescope.engines.subject_files import subject_files
from judgescope.perturb.edits import Amount
from judgescope.perturb.rules import RULES
from judgescope.perturb.specs import MakeTextsSpec, WriteReferencesSpec
from judgescope.perturb.targets import Addition, PerturbSpec, RuleUse
from judgescope.plan import generators
from judgescope.plan.code import Computing, computing
from judgescope.plan.judges import prompt_aspects, rating_scales
from judgescope.plan.study import Plan
from judgescope.prompts import WriterChange, change_of
from judgescope.replies.specs import (
    AnalysedJudge,
    AnalyseSpec,
    ModelSpec,
    PromptSpec,
    WriterSpec,
)
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES

DEGREE = cards.SINGLE
"""The degree of every graded set, and of every set of texts that a dataset contains."""


def ingest(plan: Plan, dataset: str) -> IngestSpec:
    """Read the texts of a dataset."""
    paths = plan.paths
    original = REFERENCES if plan.improved(dataset) else ORIGINAL
    return IngestSpec(
        **_reading_keys(plan, dataset),
        output=TextFiles(
            items=paths.items(dataset),
            systems=paths.targets(dataset, SYSTEMS),
            original=paths.targets(dataset, original),
            names=paths.names(dataset),
        ),
    )


def read_ratings(plan: Plan, dataset: str) -> ReadRatingsSpec:
    """Read the ratings of a dataset."""
    paths = plan.paths
    has_originals = ORIGINAL in plan.target_sets(dataset)
    improved = isinstance(plan.improved(dataset), cards.References)
    return ReadRatingsSpec(
        **_reading_keys(plan, dataset),
        output=RatingFiles(
            ratings=paths.ratings(dataset),
            spans=paths.spans(dataset),
            report=paths.ingested(dataset),
        ),
        perturbs=has_originals and not improved,
    )


class DatasetKeys(Computing):
    """The keys that the specs of all jobs have that read a dataset's files."""

    dataset: dict[str, object]
    format: str
    folder: str
    data: str


class ReadingKeys(DatasetKeys):
    """The keys that the jobs share that read texts, and ratings."""

    seed: int
    part: str


def _dataset_keys(
    plan: Plan, dataset: str, job: str, unread: tuple[str, ...] = UNREAD
) -> DatasetKeys:
    """Return a job's keys; `unread` are the card's keys that do not matter to it."""
    card = plan.datasets[dataset]
    format_target = cards.FORMATS.target(card.format)
    return {
        **computing(job, format_target),
        "dataset": card.model_dump(mode="json", exclude=set(unread)),
        "format": format_target,
        "folder": portable(plan.folders["dataset", dataset]),
        "data": plan.study.data,
    }


def _reading_keys(plan: Plan, dataset: str) -> ReadingKeys:
    """Return the keys of the jobs that read the texts or ratings of a dataset."""
    return {
        # The code of one reading: what a job has read is not read again for the other.
        **_dataset_keys(plan, dataset, "ingest", ("rewrite_references", *UNREAD)),
        "seed": plan.study.seed,
        "part": plan.words(dataset).part,
    }


def take(plan: Plan, dataset: str, given: str) -> TakeSpec:
    """Read a set of texts of known quality from a dataset, with ratings or in order."""
    card = plan.perturbations[given]
    assert isinstance(card, cards.GivenPerturbation)
    rated = card.role == "global"
    return TakeSpec(
        **_dataset_keys(plan, dataset, "take"),
        perturbation=given,
        degree=DEGREE,
        role=card.role,
        aspect=plan.lowered(dataset, given),
        classes=classes(plan, dataset, given) if rated else [],
        items=plan.paths.items(dataset),
        output=plan.paths.targets(dataset, f"{given}.{DEGREE}"),
        graded=plan.paths.graded(dataset, given) if rated else None,
    )


def classes(plan: Plan, dataset: str, name: str) -> list[float]:
    """Return the possible ratings of the aspect of a graded set of texts, the lowest
    first.
    """
    values = plan.scale_of(dataset, plan.lowered(dataset, name)).values()
    assert values is not None  # checks/writer_forms.py, and the datasets' cards
    return values


def perturb(plan: Plan, dataset: str, perturbation: str, degree: str) -> PerturbSpec:
    """Perturb a dataset's originals by a rule or an attack."""
    card = plan.perturbations[perturbation]
    change: Addition | RuleUse
    loaded = list[str]()
    if isinstance(card, cards.AttackPerturbation):
        change = generators.addition(plan, dataset, perturbation, degree)
    else:
        assert isinstance(card, cards.RulePerturbation)
        loaded = [RULES.target(card.rule)]
        change = RuleUse(
            target=loaded[0],
            **card.model_dump(include={"rule", "errors", "steps"}),
            options=plan.amount(dataset, perturbation, degree).model_dump(
                exclude_none=True
            ),
            seed=plan.study.seed,
            items=plan.paths.items(dataset) if RULES[card.rule].meta else None,
        )
    return PerturbSpec(
        **computing("perturb", *loaded),
        dataset=dataset,
        perturbation=perturbation,
        degree=degree,
        change=change,
        input=plan.paths.targets(dataset, ORIGINAL),
        output=plan.paths.targets(dataset, f"{perturbation}.{degree}"),
    )


def take_pairs(
    plan: Plan, dataset: str, perturbation: str, degree: str
) -> TakePairsSpec:
    """Read the texts of a perturbation that a dataset has already."""
    return TakePairsSpec(
        **_dataset_keys(plan, dataset, "take_pairs"),
        perturbation=perturbation,
        degree=degree,
        part=plan.words(dataset).part,
        items=plan.paths.items(dataset),
        input=plan.paths.targets(dataset, ORIGINAL),
        output=plan.paths.targets(dataset, f"{perturbation}.{degree}"),
    )


# ---- texts that a model writes -------------------------------------------------------


def make_texts(
    plan: Plan, dataset: str, perturbation: str, degree: str | None = None
) -> MakeTextsSpec:
    """Let a model make texts from a dataset's originals, or these (no `degree`) from
    references.
    """
    paths = plan.paths
    card = generators.writer_of(plan, dataset, perturbation)
    assert isinstance(card, generators.Maker)
    name = perturbation
    if degree is not None:
        name = f"{perturbation}.{degree}"
    amount = card.degrees_for(dataset)[degree or ""]
    return MakeTextsSpec(
        **computing("write_texts", ENGINES.target(plan.models[card.model].engine)),
        dataset=dataset,
        seed=plan.study.seed,
        share=plan.study.share,
        items=paths.items(dataset),
        perturbation=perturbation,
        degree=degree,
        about=plan.about(dataset),
        writer=writer(plan, card.model, card.form, card),
        change=change(plan, dataset, card),
        amount=Amount(**amount.model_dump()),
        **card.model_dump(
            mode="json", include={"checks", "attempts", "fallback_to_reference"}
        ),
        retry_temperature=card.retry_temperature,
        allow_missing=plan.study.allow_missing,
        language=plan.datasets[dataset].language,
        steps=card.steps,
        input=paths.targets(dataset, REFERENCES if degree is None else ORIGINAL),
        output=paths.targets(dataset, name),
        replies=paths.made(dataset, name),
    )


def write_references(plan: Plan, dataset: str) -> WriteReferencesSpec:
    """Let a model write a dataset's originals as new texts."""
    paths = plan.paths
    card = plan.improved(dataset)
    assert isinstance(card, cards.References)
    return WriteReferencesSpec(
        **computing("write_references", ENGINES.target(plan.models[card.model].engine)),
        dataset=dataset,
        seed=plan.study.seed,
        share=plan.study.share,
        items=paths.items(dataset),
        about=plan.about(dataset),
        writer=writer(plan, card.model, card.form, card),
        **card.model_dump(include={"draws", "keep", "checks", "fallback_to_reference"}),
        allow_missing=plan.study.allow_missing,
        input=paths.targets(dataset, REFERENCES),
        kept=paths.construction(dataset, ORIGINAL),
        output=paths.targets(dataset, ORIGINAL),
        replies=paths.made(dataset, ORIGINAL),
    )


def change(plan: Plan, dataset: str, card: generators.TargetWriter) -> WriterChange:
    """Return the change that a writer's card requests, with the aspect that it
    lowers.
    """
    return change_of(
        {**card.model_dump(mode="json"), **generators.lowered(plan, dataset, card)}
    )


def asked_model(plan: Plan, model: str) -> ModelSpec:
    """Return the part of a spec with which a job asks a model."""
    folder = portable(plan.folders["model", model])
    return ModelSpec(
        engine=ENGINES.target(plan.models[model].engine),
        card=model_identity(plan, model),
        folder=folder,
        data=plan.study.data,
    )


def model_identity(plan: Plan, model: str) -> dict[str, object]:
    """Return the keys of an asked model's card on which its replies depend."""
    card = plan.models[model]
    return card.model_dump(mode="json", include=card.keys_for("asking"))


def writer(plan: Plan, model: str, form: str, card: cards.Decoding) -> WriterSpec:
    """Return how a model is asked to write, with the decoding of a card."""
    return WriterSpec(
        model=asked_model(plan, model),
        form=form,
        decoding=decoding_of(card),
        templates=plan.templates_of(form, card.system),
    )


def decoding_of(card: cards.Decoding) -> dict[str, float | str]:
    """Return the decoding settings of a card."""
    keys: dict[str, float | str] = card.model_dump(
        include=cards.Decoding.keys_for("asking")
    )
    return keys


def system_of(spec: PromptSpec) -> str | None:
    """Return the form of the system message of a prompt, or None."""
    return cards.Decoding.model_validate(spec.decoding).system


# ---- analyses that judges are shown --------------------------------------------------


def analyse(plan: Plan, dataset: str, model: str) -> AnalyseSpec:
    """Let a model explain the ratings of the demonstrations in judges' prompts."""
    judges = {}
    for name in generators.analysts(plan, dataset)[model]:
        card = plan.judges[name]
        analyses = generators.analyses_of(plan, name)
        # analysts() returns only such judges
        assert card.shots is not None and analyses is not None
        judges[name] = AnalysedJudge(
            form=analyses.form,
            decoding=decoding_of(analyses),
            n=card.shots.n,
            share=card.share,
            aspects=plan.rated_by(name, dataset),
            attempts=analyses.attempts,
            retry_temperature=analyses.retry_temperature,
        )
    made = f"{FilePrefix.ANALYSES}{model}"
    return AnalyseSpec(
        **computing("analyse", ENGINES.target(plan.models[model].engine)),
        dataset=dataset,
        seed=plan.study.seed,
        model=asked_model(plan, model),
        judges=judges,
        templates=plan.templates_for(
            (judge.form, system_of(judge)) for judge in judges.values()
        ),
        aspects=prompt_aspects(plan, dataset),
        about=plan.about(dataset),
        scales=rating_scales(plan, dataset),
        subjects=subject_files(plan.paths, dataset, [SYSTEMS], ratings=True),
        output=plan.paths.construction(dataset, made),
        replies=plan.paths.made(dataset, made),
    )
