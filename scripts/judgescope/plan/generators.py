"""How the texts of a study are made: which models write what, and what attacks add to
texts.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from judgescope.core import names
from judgescope.core.errors import UserError
from judgescope.perturb.targets import TOP, Addition, inert
from judgescope.plan.extending import Writing, study_extensions
from judgescope.plan.study import Plan
from judgescope.schema import cards

Maker = cards.MadePerturbation | cards.Improvement
"""Cards by which a model writes one text from another."""
TargetWriter = Maker | cards.GradedPerturbation
"""Cards by which a model writes targets."""
WriterCard = TargetWriter | cards.Analyses | cards.Anchoring | cards.Supervisor
"""Cards that name a model that writes."""


def writers(
    study: cards.Study,
    datasets: Mapping[str, cards.Dataset],
    perturbations: Mapping[str, cards.AnyPerturbation],
    judges: Mapping[str, cards.Judge],
    derived: Mapping[str, cards.DerivedJudge],
) -> dict[str, WriterCard]:
    """Return every card that names a model that writes, under the place of its keys."""
    named: dict[str, WriterCard] = {}
    for name, card in perturbations.items():
        if (
            isinstance(card, cards.MadePerturbation | cards.GradedPerturbation)
            and card.model
        ):
            named[f"perturbations/{name}.yaml, key "] = card
    for name, card in perturbations.items():
        if isinstance(card, cards.GradedPerturbation) and card.anchors:
            named[f"perturbations/{name}.yaml, key anchors."] = card.anchors
    for name, dataset in datasets.items():
        if dataset.rewrite_references and perturbations and not study.references:
            key = f"datasets/{name}.yaml, key rewrite_references."
            named[key] = dataset.rewrite_references
    if study.references and perturbations:
        named["the study, key references."] = study.references
    for name, judge in judges.items():
        if judge.shots and judge.shots.analyses:
            named[f"judges/{name}.yaml, key shots.analyses."] = judge.shots.analyses
    for name, ensemble in derived.items():
        if ensemble.supervisor:
            named[f"judges/{name}.yaml, key supervisor."] = ensemble.supervisor
    return named


def improvements(plan: Plan) -> dict[str, cards.Improvement]:
    """Return dataset -> how its references are improved, for datasets with such a
    card.
    """
    by_name = {name: plan.improved(name) for name in plan.datasets}
    return {name: card for name, card in by_name.items() if card is not None}


def analyses_of(plan: Plan, judge: str) -> cards.Analyses | None:
    """Return how the demonstrations of a judge are analysed, or None."""
    shots = None
    if judge in plan.judges:
        shots = plan.judges[judge].shots
    return shots.analyses if shots else None


def analysts(plan: Plan, dataset: str) -> dict[str, list[str]]:
    """Return model -> the judges of a dataset whose prompts show its analyses."""
    return _judges_by_model(
        plan, dataset, {name: analyses_of(plan, name) for name in plan.judges}
    )


def supervisors(plan: Plan, dataset: str) -> dict[str, list[str]]:
    """Return model -> the ensembles on a dataset whose lists of errors it merges."""
    named = {name: card.supervisor for name, card in plan.derived.items()}
    return _judges_by_model(plan, dataset, named)


def _judges_by_model(
    plan: Plan,
    dataset: str,
    named: Mapping[str, cards.Analyses | cards.Supervisor | None],
) -> dict[str, list[str]]:
    """Return the model of each card -> the judges of a dataset with such cards."""
    by_model: dict[str, list[str]] = {}
    for judge in dict.fromkeys(cell.judge for cell in plan.cell_aspects_of(dataset)):
        if (card := named.get(judge)) is not None:
            by_model.setdefault(card.model, []).append(judge)
    return by_model


WritingJob = Literal[
    "write_texts",
    "write_references",
    "candidates",
    "compare_anchors",
    "analyse",
    "merge",
    "ask",
]
"""A job in which a model writes (jobs/); `ask`: a judge rates possible
anchors. Extensions have others."""


def writings(plan: Plan, dataset: str) -> dict[str, Writing]:
    """Return the name of a dataset's file -> the job in which a model writes it."""
    files = dict[str, Writing]()
    for name in plan.written(dataset):
        writer = writer_of(plan, dataset, name)
        if name == names.ORIGINAL and isinstance(writer, cards.Improvement):
            new = isinstance(writer, cards.References)
            files[name] = Writing(
                "write_references" if new else "write_texts", writer.model, name
            )
        elif isinstance(writer, Maker):
            files[name] = Writing("write_texts", writer.model, *name.split("."))
    # After the id of a graded set: the name of files with a judge's ratings of possible
    # anchors.
    rated_suffix = ".rated"
    for name in graded_sets_of(plan, dataset):
        card = graded(plan)[name]
        parts = parts_of(card)
        anchors = card.anchors
        for part in parts if card.model else []:
            files[f"{name}.{part}"] = Writing("candidates", str(card.model), name, part)
        if anchors is None:
            continue
        for part in (names.GradedPart.REFEREE, *parts):
            files[f"{names.FilePrefix.COMPARED}{name}.{part}"] = Writing(
                "compare_anchors", anchors.model, name, part
            )
        if anchors.judge:
            files[f"{name}{rated_suffix}"] = Writing(
                "ask", plan.judges[anchors.judge].model, name
            )
    for model in analysts(plan, dataset):
        files[f"{names.FilePrefix.ANALYSES}{model}"] = Writing("analyse", model)
    for model in supervisors(plan, dataset):
        files[f"{names.FilePrefix.MERGES}{model}"] = Writing("merge", model)
    for extension in study_extensions():
        files |= extension.writings(plan, dataset)
    return files


def made_of(plan: Plan, dataset: str) -> dict[str, str]:
    """Return the name of each file in a dataset's folder `made` -> the model that
    writes it.
    """
    jobs = writings(plan, dataset).items()
    return {name: writing.model for name, writing in jobs if writing.job != "ask"}


def made_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield (pattern of files in the folder `made`, the model whose replies are in
    these files).

    For texts, the patterns also match files of degrees that a card no longer has.
    """
    for name, card in plan.perturbations.items():
        if isinstance(card, cards.MadePerturbation):
            yield f"*/{name}.*.parquet", card.model
    for dataset in plan.datasets:
        for name, writing in writings(plan, dataset).items():
            of_set = writing.job == "write_texts" and name != names.ORIGINAL
            if writing.job != "ask" and not of_set:
                yield f"{dataset}/{name}.parquet", writing.model


def makers_of(plan: Plan, dataset: str, name: str) -> list[str]:
    """Return the models on which a set of targets, or judges' analyses, depend."""
    jobs = writings(plan, dataset)
    perturbation = name.partition(".")[0]
    made = []
    for file, job in jobs.items():
        if job.job != "ask":
            made.append((file, job))
    models = {
        job.model for file, job in made if file == name or job.name == perturbation
    }
    return sorted(models) or [jobs[names.ORIGINAL].model]


def spender(made: str) -> str:
    """Return the name of a file's writer (folder `made`) in the table of costs."""
    if made.startswith(
        (names.FilePrefix.ANALYSES, names.FilePrefix.MERGES, names.FilePrefix.WRITTEN)
    ):
        return made
    if made.startswith(names.FilePrefix.COMPARED):
        return made.rpartition(".")[0]
    return made.partition(".")[0]


def graded(plan: Plan) -> dict[str, cards.GradedPerturbation]:
    """Return the graded sets of a study."""
    return {
        name: card
        for name, card in plan.perturbations.items()
        if isinstance(card, cards.GradedPerturbation)
    }


def graded_sets_of(plan: Plan, dataset: str) -> list[str]:
    """Return the graded sets that a study builds from a dataset."""
    built = dict(plan.perturbed(dataset, "graded"))
    return [name for name in graded(plan) if name in built]


def parts_of(card: cards.GradedPerturbation) -> list[str]:
    """Return the parts in which a set's candidates are made."""
    if card.anchors:
        return [names.GradedPart.TRIAL, names.GradedPart.REST]
    return [names.GradedPart.ALL]


def waiting(plan: Plan, dataset: str) -> list[str]:
    """Return the sets of targets that do not exist before a model has written
    something.
    """
    if plan.improved(dataset) is None:
        return [*plan.written(dataset), *plan.new_sets(dataset)]
    return [name for name in plan.target_sets(dataset) if name != names.SYSTEMS]


def writer_of(plan: Plan, dataset: str, name: str) -> TargetWriter:
    """Return the card by which a set of targets is written, or the originals that it
    needs.
    """
    card = plan.perturbations.get(name.partition(".")[0])
    if isinstance(card, cards.MadePerturbation | cards.GradedPerturbation):
        return card
    return improvements(plan)[dataset]


def lowered_by(plan: Plan, dataset: str, writer: TargetWriter) -> str | None:
    """Return the aspect that a writer lowers: the first of its aspects that the study
    has there.
    """
    named = getattr(writer, "aspects", ())
    return next((name for name in named if name in plan.plain_aspects(dataset)), None)


def lowered(plan: Plan, dataset: str, writer: TargetWriter) -> dict[str, object]:
    """Return what a writer's prompt shows of the lowered aspect; {} if it has no
    sub-aspects.
    """
    aspect = lowered_by(plan, dataset, writer)
    if aspect is None:
        return {}
    card = plan.aspects[aspect]
    task = plan.datasets[dataset].task
    parts = []
    if task in card.tasks:
        parts = card.tasks[task].sub_aspects
    if not parts:
        return {}
    shown = card.in_task(task).model_dump(include={"name", "definition"})
    return {"aspect": {**shown, "sub_aspects": [part.model_dump() for part in parts]}}


# ---- attacks -------------------------------------------------------------------------


def attacks_of(plan: Plan, dataset: str) -> dict[str, bool]:
    """Return attack -> whether it names a number, for the attacks on a dataset."""
    attacks = dict(plan.perturbed(dataset, "attack"))
    return {name: TOP in _attack(plan, name).text for name in attacks}


def addition(plan: Plan, dataset: str, name: str, degree: str) -> Addition:
    """Return what is added to a dataset's originals, and where: the attack or its inert
    text.

    Raises UserError for an attack that names the top of the scale if the aspects'
    scales differ.
    """
    card = _attack(plan, name)
    text = card.text
    if TOP in text:
        scales = []
        for aspect in plan.judged_on(dataset, name):
            scales.append(plan.scale_of(dataset, aspect))
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
    return Addition(
        text=inert(text) if degree == "inert" else text, position=card.position
    )


def _attack(plan: Plan, name: str) -> cards.AttackPerturbation:
    card = plan.perturbations[name]
    assert isinstance(card, cards.AttackPerturbation)
    return card
