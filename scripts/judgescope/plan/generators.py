"""How the texts of a study are made: which models write what, and what attacks add to texts."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from judgescope.core.errors import UserError
from judgescope.core.names import (
    ALL,
    ANALYSES,
    COMPARED,
    MERGES,
    ORIGINAL,
    REFEREE,
    REST,
    SYSTEMS,
    TRIAL,
    WRITTEN,
)
from judgescope.perturb.rules import TOP, Addition, inert
from judgescope.plan.study import Plan
from judgescope.schema.cards import (
    Analyses,
    Anchoring,
    AnyPerturbation,
    AttackPerturbation,
    Dataset,
    DerivedJudge,
    GradedPerturbation,
    Improvement,
    Judge,
    MadePerturbation,
    References,
    Study,
    Supervisor,
)

RATED = ".rated"
"""After the id of a graded set: the name of files with a judge's ratings of possible anchors."""
Maker = MadePerturbation | Improvement
"""Cards by which a model writes one text from another."""
Writer = Maker | GradedPerturbation
"""Cards by which a model writes targets."""


def writers(
    study: Study,
    datasets: Mapping[str, Dataset],
    perturbations: Mapping[str, AnyPerturbation],
    judges: Mapping[str, Judge],
    derived: Mapping[str, DerivedJudge],
) -> dict[str, Writer | Analyses | Anchoring | Supervisor]:
    """Return every card that names a model that writes, under the place of its keys."""
    rewritten: dict[str, MadePerturbation | GradedPerturbation | Anchoring] = {
        f"perturbations/{name}.yaml, key ": card
        for name, card in perturbations.items()
        if isinstance(card, MadePerturbation | GradedPerturbation) and card.model
    }
    rewritten |= {
        f"perturbations/{name}.yaml, key anchors.": card.anchors
        for name, card in perturbations.items()
        if isinstance(card, GradedPerturbation) and card.anchors
    }
    improved: dict[str, Writer] = {
        f"datasets/{name}.yaml, key rewrite_references.": card.rewrite_references
        for name, card in datasets.items()
        if card.rewrite_references and perturbations and not study.references
    }
    if study.references and perturbations:
        improved["the study, key references."] = study.references
    analysed = {
        f"judges/{name}.yaml, key shots.analyses.": card.shots.analyses
        for name, card in judges.items()
        if card.shots and card.shots.analyses
    }
    merged = {
        f"judges/{name}.yaml, key supervisor.": card.supervisor
        for name, card in derived.items()
        if card.supervisor
    }
    return {**rewritten, **improved, **analysed, **merged}


def improvements(plan: Plan) -> dict[str, Improvement]:
    """Return dataset -> how its references are improved, for datasets with such a card."""
    found = {name: plan.improved(name) for name in plan.datasets}
    return {name: card for name, card in found.items() if card is not None}


def analyses_of(plan: Plan, judge: str) -> Analyses | None:
    """Return how the demonstrations of a judge are analysed, or None."""
    shots = plan.judges[judge].shots if judge in plan.judges else None
    return shots.analyses if shots else None


def analysts(plan: Plan, dataset: str) -> dict[str, list[str]]:
    """Return model -> the judges of a dataset whose prompts show its analyses."""
    found: dict[str, list[str]] = {}
    for judge in dict.fromkeys(cell.judge for cell in plan.cell_aspects_of(dataset)):
        if (analyses := analyses_of(plan, judge)) is not None:
            found.setdefault(analyses.model, []).append(judge)
    return found


def supervisors(plan: Plan, dataset: str) -> dict[str, list[str]]:
    """Return model -> the ensembles on a dataset whose lists of errors it merges."""
    found: dict[str, list[str]] = {}
    for judge in dict.fromkeys(cell.judge for cell in plan.cell_aspects_of(dataset)):
        card = plan.derived.get(judge)
        if card is not None and card.supervisor is not None:
            found.setdefault(card.supervisor.model, []).append(judge)
    return found


Kind = Literal[
    "texts",
    "originals",
    "references",
    "new",
    "candidates",
    "comparisons",
    "analyses",
    "merges",
    "rated",
]
"""What a job in which a model writes produces."""


class Writing(NamedTuple):
    """One job in which a model writes for a dataset: its product, and of which set and part."""

    kind: Kind
    model: str
    name: str = ""
    part: str = ""


def writings(plan: Plan, dataset: str) -> dict[str, Writing]:
    """Return the name of a dataset's file -> the job in which a model writes it."""
    files = {}
    for name in plan.written(dataset):
        writer = writer_of(plan, dataset, name)
        if name == ORIGINAL and isinstance(writer, Improvement):
            kind: Kind = "references" if isinstance(writer, References) else "originals"
            files[name] = Writing(kind, writer.model)
        elif isinstance(writer, Maker):
            files[name] = Writing("texts", writer.model, *name.split("."))
    for name in graded_sets_of(plan, dataset):
        files |= _writings_of_graded(plan, name)
    for model in analysts(plan, dataset):
        files[f"{ANALYSES}{model}"] = Writing("analyses", model)
    for model in supervisors(plan, dataset):
        files[f"{MERGES}{model}"] = Writing("merges", model)
    for name in plan.new_sets(dataset):
        files[name] = Writing("new", name.removeprefix(WRITTEN))
    return files


def _writings_of_graded(plan: Plan, name: str) -> dict[str, Writing]:
    card = graded(plan)[name]
    found = {}
    for part in parts_of(card) if card.model else []:
        found[f"{name}.{part}"] = Writing("candidates", str(card.model), name, part)
    if (anchors := card.anchors) is None:
        return found
    for part in (REFEREE, *parts_of(card)):
        found[f"{COMPARED}{name}.{part}"] = Writing("comparisons", anchors.model, name, part)
    if anchors.judge:
        found[f"{name}{RATED}"] = Writing("rated", plan.judges[anchors.judge].model, name)
    return found


def made_of(plan: Plan, dataset: str) -> dict[str, str]:
    """Return the name of each file in the folder `made` of a dataset -> the model that writes
    it."""
    jobs = writings(plan, dataset).items()
    return {name: writing.model for name, writing in jobs if writing.kind != "rated"}


def made_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield (pattern of files in the folder `made`, the model whose replies are in these files).

    For texts, the patterns also match files of degrees that a card no longer has.
    """
    for name, card in plan.perturbations.items():
        if isinstance(card, MadePerturbation):
            yield f"*/{name}.*.parquet", card.model
    for dataset in plan.datasets:
        for name, writing in writings(plan, dataset).items():
            if writing.kind not in {"texts", "rated"}:
                yield f"{dataset}/{name}.parquet", writing.model


def makers_of(plan: Plan, dataset: str, name: str) -> list[str]:
    """Return the models on which a set of targets, or judges' analyses, depend."""
    for kind in (ANALYSES, WRITTEN):
        if name.startswith(kind):
            return [name.removeprefix(kind)]
    writer = writer_of(plan, dataset, name)
    if isinstance(writer, GradedPerturbation):
        comparator = writer.anchors.model if writer.anchors else None
        own = {model for model in (writer.model, comparator) if model}
        return sorted(own) or [improvements(plan)[dataset].model]
    return [writer.model]


def spender(made: str) -> str:
    """Return the name of a file's writer (folder `made`) in the table of costs."""
    if made.startswith((ANALYSES, MERGES, WRITTEN)):
        return made
    return made.rpartition(".")[0] if made.startswith(COMPARED) else made.partition(".")[0]


def graded(plan: Plan) -> dict[str, GradedPerturbation]:
    """Return the graded sets of a study."""
    return {
        name: card
        for name, card in plan.perturbations.items()
        if isinstance(card, GradedPerturbation)
    }


def graded_sets_of(plan: Plan, dataset: str) -> list[str]:
    """Return the graded sets that a study builds from a dataset."""
    names = dict(plan.perturbed(dataset, "graded"))
    return [name for name in graded(plan) if name in names]


def parts_of(card: GradedPerturbation) -> list[str]:
    """Return the parts in which a set's candidates are made."""
    return [TRIAL, REST] if card.anchors else [ALL]


def waiting(plan: Plan, dataset: str) -> list[str]:
    """Return the sets of targets that do not exist before a model has written something."""
    if plan.improved(dataset) is None:
        return [*plan.written(dataset), *plan.new_sets(dataset)]
    return [name for name in plan.target_sets(dataset) if name != SYSTEMS]


def writer_of(plan: Plan, dataset: str, name: str) -> Writer:
    """Return the card by which a set of targets is written, or the originals that it needs."""
    card = plan.perturbations.get(name.partition(".")[0])
    if isinstance(card, MadePerturbation | GradedPerturbation):
        return card
    return improvements(plan)[dataset]


def lowered_by(plan: Plan, dataset: str, writer: Writer) -> str | None:
    """Return the aspect that a writer lowers: the first of its aspects that the study has there."""
    named = getattr(writer, "aspects", ())
    return next((name for name in named if name in plan.plain_aspects(dataset)), None)


def lowered(plan: Plan, dataset: str, writer: Writer) -> dict[str, object]:
    """Return what a writer's prompt shows of the lowered aspect; {} if it has no sub-aspects."""
    aspect = lowered_by(plan, dataset, writer)
    if aspect is None:
        return {}
    card, task = plan.aspects[aspect], plan.datasets[dataset].task
    parts = card.tasks[task].sub_aspects if task in card.tasks else []
    if not parts:
        return {}
    shown = card.in_task(task).model_dump(include={"name", "definition"})
    return {"aspect": {**shown, "sub_aspects": [one.model_dump() for one in parts]}}


# ---- attacks ------------------------------------------------------------------------------------


def attacks_of(plan: Plan, dataset: str) -> dict[str, bool]:
    """Return attack -> whether it names a number, for the attacks on a dataset."""
    names = dict.fromkeys(name for name, _ in plan.perturbed(dataset, "attack"))
    return {name: TOP in _attack(plan, name).text for name in names}


def addition(plan: Plan, dataset: str, name: str, degree: str) -> Addition:
    """Return what is added to a dataset's originals, and where: the attack or its inert text.

    Raises UserError for an attack that names the top of the scale if the aspects' scales differ.
    """
    card = _attack(plan, name)
    text = card.text
    if TOP in text:
        scales = [plan.scale_of(dataset, aspect) for aspect in plan.judged_on(dataset, name)]
        tops = {str(scale.shown(scale.max)) for scale in scales}
        if len(tops) != 1:
            scale = "different scales" if tops else "labels without an order"
            raise UserError(
                "this attack names the top of the scale, but the aspects of "
                f"{dataset} have {scale}",
                where=f"perturbations/{name}.yaml, key text",
                got=", ".join(sorted(tops)),
                todo=f"name `aspects` with the same scale, or leave out {TOP}",
            )
        text = text.replace(TOP, tops.pop())
    return Addition(text=inert(text) if degree == "inert" else text, position=card.position)


def _attack(plan: Plan, name: str) -> AttackPerturbation:
    card = plan.perturbations[name]
    assert isinstance(card, AttackPerturbation)
    return card
