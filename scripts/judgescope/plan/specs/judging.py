"""The specs of the jobs of judges: asking, computing, scoring, deriving, collecting."""

from collections.abc import Sequence

from msgspec.structs import asdict

from judgescope.core.cells import pack, split
from judgescope.core.names import MERGES, SYSTEMS
from judgescope.engines import ENGINES
from judgescope.engines.base import ErrorCounts
from judgescope.engines.computing import EngineSpec, JoinsFile, ReplaySpec
from judgescope.methods.registry import METHODS
from judgescope.parsing.judgment import Scale
from judgescope.plan.code import computing
from judgescope.plan.generators import analyses_of, graded, made_of, spender, supervisors
from judgescope.plan.judges import (
    annotators,
    off_grid_of,
    parser_of,
    prompt_aspects,
    rating_scales,
    scale_of,
    settings_of,
    voted_labels,
)
from judgescope.plan.specs.texts import asked_model, decoding_of, model_identity
from judgescope.plan.study import Cell, CellAspect, Plan, is_selected
from judgescope.replies.specs import AskSpec
from judgescope.schema.cards import COMPARE, TRAINED, Judge, RecordedModel, VllmModel
from judgescope.scoring.computed import ComputeSpec, Read
from judgescope.scoring.specs import (
    CollectSpec,
    DeriveSpec,
    Errors,
    Missing,
    Place,
    Reading,
    ScoredCells,
    ScoreSpec,
)
from judgescope.scoring.supervising import MergedJudge, MergeSpec

# ---- files --------------------------------------------------------------------------------------


def hashes_file(plan: Plan, dataset: str, model: str) -> str:
    """Return the file of the hashes of a model's outputs: replies, or computed scores."""
    return plan.paths.hashes("scores" if plan.computes(model) else "replies", dataset, model)


def joined_file(plan: Plan, dataset: str, model: str) -> str | None:
    """Return the file with the number of joined rows of a recorded model, None for other models."""
    recorded = isinstance(plan.models[model], RecordedModel)
    return plan.paths.joined(dataset, model) if recorded else None


def joined_files(plan: Plan, dataset: str) -> list[str]:
    """Return the files with the numbers of joined rows of a dataset's recorded models."""
    models = (name for name in plan.models if plan.cells_of(dataset, name))
    return [path for name in models if (path := joined_file(plan, dataset, name))]


def sample_file(plan: Plan, dataset: str) -> str | None:
    """Return the file that lists a dataset's judged texts; None if all are judged."""
    return plan.paths.sample() if dataset in plan.taught else None


def adapter_folder(plan: Plan, model: str) -> str | None:
    """Return the folder of a model's adapter if the study trains it, or None."""
    card = plan.models[model]
    trained = isinstance(card, VllmModel) and card.adapter == TRAINED
    return plan.paths.distill("adapter") if trained else None


def member_files(plan: Plan, cell: Cell, kind: str) -> list[str]:
    """Return the files of the cells from which a derived judge's cell is made."""
    names = plan.derived[cell.judge].members
    return [plan.file(plan.results, kind, cell._replace(judge=name)) for name in names]


def merged_file(plan: Plan, dataset: str, model: str) -> str:
    """Return the file of the lists of errors that a supervisor merged."""
    return plan.paths.made(dataset, f"{MERGES}{model}")


# ---- asking and computing -----------------------------------------------------------------------


def ask(plan: Plan, dataset: str, model: str) -> AskSpec:
    """Ask a model everything about a dataset; this spec does not depend on parsing."""
    return ask_cells(
        plan,
        dataset,
        model,
        plan.cell_aspects_of(dataset, model),
        replies=plan.paths.cell_pattern("replies", dataset, model),
        hashes=hashes_file(plan, dataset, model),
    )


def ask_cells(
    plan: Plan,
    dataset: str,
    model: str,
    cells: Sequence[CellAspect],
    *,
    replies: str,
    hashes: str | None,
) -> AskSpec:
    """Ask a model about some cells; `replies` is a path with {} for the cell."""
    judges = {name: plan.judges[name] for name in dict.fromkeys(cell.judge for cell in cells)}
    engine = plan.models[model].engine
    annotates = any(judge.annotation for judge in judges.values())
    return AskSpec(
        **computing("ask", ENGINES[engine]),
        dataset=dataset,
        model=model_identity(plan, model),
        folder=plan.folders["model", model],
        data=plan.study.data,
        seed=plan.study.seed,
        templates={
            judge.form: dict(plan.templates[judge.form])
            for judge in judges.values()
            if plan.is_prompted(model)
        },
        aspects=prompt_aspects(plan, dataset),
        judges={
            name: judge.model_dump(
                mode="json", include=Judge.keys_for("asking"), exclude={"shots": {"analyses": True}}
            )
            for name, judge in judges.items()
        },
        analysts={
            name: analyses.model
            for name in judges
            if (analyses := analyses_of(plan, name)) is not None
        },
        task=plan.datasets[dataset].task if annotates else "",
        sample=sample_file(plan, dataset),
        trained=adapter_folder(plan, model),
        scales=rating_scales(plan, dataset),
        cells=pack(cell[1:] for cell in cells),
        output=plan.results,
        replies=replies,
        hashes=hashes,
    )


def _engine_spec(
    plan: Plan,
    dataset: str,
    model: str,
    cells: Sequence[CellAspect],
    joined: JoinsFile | None,
    hashes: str | None,
) -> EngineSpec:
    """Return the common part of the specs for computing and for replaying."""
    engine = plan.models[model].engine
    return EngineSpec(
        **computing("compute", ENGINES[engine]),
        dataset=dataset,
        model=plan.models[model].model_dump(mode="json"),
        judges={
            name: plan.judges[name].model_dump(mode="json", include=Judge.keys_for("computing"))
            for name in dict.fromkeys(cell.judge for cell in cells)
        },
        scales=rating_scales(plan, dataset),
        cells=pack(cell[1:] for cell in cells),
        seed=plan.study.seed,
        folder=plan.folders["model", model],
        data=plan.study.data,
        results=plan.results,
        sample=sample_file(plan, dataset),
        counted=_error_counts(plan, dataset, cells),
        joined=joined,
        hashes=hashes,
    )


def _error_counts(plan: Plan, dataset: str, cells: Sequence[CellAspect]) -> dict[str, ErrorCounts]:
    """Return the maximum number of errors per text, for an oracle that counts them."""
    if not any(plan.is_oracle(cell.judge) for cell in cells):
        return {}
    sets = dict.fromkeys(cell.perturbation.partition(".")[0] for cell in cells)
    return {
        name: ErrorCounts(maximum=plan.most_errors(dataset, name), in_classes=name in graded(plan))
        for name in sets
    }


def compute(plan: Plan, dataset: str, model: str) -> ComputeSpec:
    """Compute the scores of a model's judges, or read recorded ones."""
    cells, joined = plan.cell_aspects_of(dataset, model), _joined(plan, dataset, model)
    by_scale: dict[Scale | None, list[CellAspect]] = {}
    for cell in cells:
        scale = reading_scale(plan, dataset, cell.judge, cell.aspect, cell.perturbation)
        by_scale.setdefault(scale, []).append(cell)
    hashes = hashes_file(plan, dataset, model)
    return ComputeSpec(
        **asdict(_engine_spec(plan, dataset, model, cells, joined, hashes)),
        judgments=plan.paths.cell_pattern("judgments", dataset, model),
        scores=plan.paths.cell_pattern("scores", dataset, model),
        read=[
            Read(cells=pack(cell[1:] for cell in same), scale=scale)
            for scale, same in by_scale.items()
        ],
        missing=_missing(plan),
    )


def replay(plan: Plan, dataset: str, model: str) -> ReplaySpec:
    """Write the recorded replies of a model in the same form as requested ones."""
    return replayed(
        plan,
        dataset,
        model,
        plan.cell_aspects_of(dataset, model),
        replies=plan.paths.cell_pattern("replies", dataset, model),
        joined=_joined(plan, dataset, model),
        hashes=hashes_file(plan, dataset, model),
    )


def replayed(
    plan: Plan,
    dataset: str,
    model: str,
    cells: Sequence[CellAspect],
    *,
    replies: str,
    joined: JoinsFile | None = None,
    hashes: str | None = None,
) -> ReplaySpec:
    """Write an engine's answers about some cells as replies; `replies` is a path with {} for the
    cell."""
    engine = _engine_spec(plan, dataset, model, cells, joined, hashes)
    return ReplaySpec(**asdict(engine), replies=replies)


def _joined(plan: Plan, dataset: str, model: str) -> JoinsFile | None:
    path = joined_file(plan, dataset, model)
    return JoinsFile(path=path, selected=is_selected(plan, dataset)) if path else None


def _missing(plan: Plan) -> Missing | None:
    """Return what replaces missing judgments, or None if nothing does."""
    study = plan.study
    return None if study.missing == "drop" else Missing(policy=study.missing, seed=study.seed)


# ---- scoring ------------------------------------------------------------------------------------


def score(plan: Plan, dataset: str, model: str) -> ScoreSpec:
    """Parse and aggregate the replies of a model about a dataset, cell by cell."""
    return ScoreSpec(
        **computing("score"),
        dataset=dataset,
        cells=_scored_cells(plan, dataset, model),
        replies=plan.paths.cell_pattern("replies", dataset, model),
        targets=plan.paths.targets(dataset, "{}"),
        judgments=plan.paths.cell_pattern("judgments", dataset, model),
        scores=plan.paths.cell_pattern("scores", dataset, model),
        hashes=plan.paths.hashes("scores", dataset, model),
        missing=_missing(plan),
    )


def _scored_cells(plan: Plan, dataset: str, model: str) -> list[ScoredCells]:
    """Return the cells of a model's judges; a judge's cells that are read in the same way
    together."""
    alike: dict[tuple[str, tuple[tuple[Scale | None, str], ...]], list[str]] = {}
    for cell in plan.cells_of(dataset, model):
        scales = tuple(
            (reading_scale(plan, dataset, cell.judge, aspect, cell.perturbation), aspect)
            for aspect in plan.aspects_in(cell)
        )
        alike.setdefault((cell.judge, scales), []).append(cell.perturbation)
    return [
        ScoredCells(
            judge=judge,
            perturbations=perturbations,
            readings=_readings(plan, judge, scales),
            located=plan.annotates(judge),
        )
        for (judge, scales), perturbations in alike.items()
    ]


def _readings(plan: Plan, judge: str, scales: Sequence[tuple[Scale | None, str]]) -> list[Reading]:
    """Return how a judge's replies are read, once per scale for all its aspects."""
    by_scale: dict[Scale | None, list[str]] = {}
    for scale, aspect in scales:
        by_scale.setdefault(scale, []).append(aspect)
    return [_reading(plan, judge, aspects, scale) for scale, aspects in by_scale.items()]


def reading(
    plan: Plan, dataset: str, judge: str, aspect: str, perturbation: str = SYSTEMS
) -> Reading:
    """Return how the replies of a judge on an aspect are parsed and aggregated."""
    scale = reading_scale(plan, dataset, judge, aspect, perturbation)
    return _reading(plan, judge, [aspect], scale)


def _reading(plan: Plan, judge: str, aspects: Sequence[str], scale: Scale | None) -> Reading:
    card = plan.judges[judge]
    return Reading(
        pairs=[split(aspect) for aspect in aspects],
        scale=scale,
        parser=parser_of(plan, judge),
        settings=settings_of(plan, judge),
        estimator=card.estimator,
        samples=card.fallback is not None,
        cut=card.cut == "read",
    )


def reading_scale(
    plan: Plan, dataset: str, judge: str, aspect: str, perturbation: str
) -> Scale | None:
    """Return the scale on which a judge's values are read; None: any number."""
    scale = scale_of(plan, dataset, judge, aspect, perturbation)
    if scale is None:
        return None
    words = scale.words(plan.judges[judge].read_as) if scale.categorical else {}
    return Scale(
        min=scale.min,
        max=scale.max,
        step=scale.step,
        labels=tuple(scale.labels),
        off_grid=off_grid_of(plan, judge),
        words=tuple(words.items()),
    )


# ---- judges that are made from others -----------------------------------------------------------


def derive(plan: Plan, dataset: str, perturbation: str, judge: str) -> DeriveSpec:
    """Make one cell of a derived judge from its members' cells."""
    cell = Cell(dataset, perturbation, judge)
    judgments, scores = (plan.file(plan.results, kind, cell) for kind in ("judgments", "scores"))
    return DeriveSpec(
        **computing("derive"),
        cell=Place(**cell._asdict(), judgments=judgments, scores=scores),
        pairs=[split(aspect) for aspect in plan.aspects_in(cell)],
        min_annotators=plan.derived[judge].min_annotators,
        members=member_files(plan, cell, "scores"),
        labels={
            name: labels
            for aspect in plan.aspects_in(cell)
            for name in [split(aspect)[0]]
            if (labels := voted_labels(plan, dataset, judge, aspect))
        },
        errors=listed_errors(plan, cell),
    )


def listed_errors(plan: Plan, cell: Cell) -> Errors | None:
    """Return the files for the errors of an ensemble's cell, or None if it lists no errors."""
    if not plan.annotates(cell.judge):
        return None
    supervisor = plan.derived[cell.judge].supervisor
    return Errors(
        lists=member_files(plan, cell, "judgments"),
        targets=plan.paths.targets(cell.dataset, cell.perturbation),
        merged=merged_file(plan, cell.dataset, supervisor.model) if supervisor else None,
    )


def merge(plan: Plan, dataset: str, model: str) -> MergeSpec:
    """Let a supervisor merge the error lists of ensembles' members."""
    ensembles = {name: _merged_judge(plan, name) for name in supervisors(plan, dataset)[model]}
    cells = [cell for cell in plan.cell_aspects_of(dataset) if cell.judge in ensembles]
    members = dict.fromkeys(name for ensemble in ensembles.values() for name in ensemble.members)
    return MergeSpec(
        **computing("merge", ENGINES[plan.models[model].engine]),
        dataset=dataset,
        seed=plan.study.seed,
        model=asked_model(plan, model),
        ensembles=ensembles,
        models={name: plan.model_of(name) for name in members},
        cells=pack(cell[1:] for cell in cells),
        templates={
            ensemble.form: dict(plan.templates[ensemble.form]) for ensemble in ensembles.values()
        },
        results=plan.results,
        output=merged_file(plan, dataset, model),
    )


def _merged_judge(plan: Plan, judge: str) -> MergedJudge:
    card = plan.derived[judge]
    assert card.supervisor is not None  # supervisors() returns only such judges
    return MergedJudge(
        form=card.supervisor.form,
        decoding=decoding_of(card.supervisor),
        members=card.members,
        min_annotators=card.min_annotators,
    )


# ---- all cells of a dataset ---------------------------------------------------------------------


def collect(plan: Plan, dataset: str) -> CollectSpec:
    """Collect the results of a dataset's cells."""
    cells = plan.cell_aspects_of(dataset)
    names = list(dict.fromkeys(cell.judge for cell in cells))
    models = {name: plan.model_of(name) for name in names}
    plain = [name for name in names if name in plan.judges]
    return CollectSpec(
        **computing("collect"),
        dataset=dataset,
        cells=pack(cell[1:] for cell in cells),
        models=models,
        asked=[name for name in plain if plan.is_asked(models[name])],
        replied=[name for name in plain if not plan.computes(models[name])],
        made={name: spender(name) for name in made_of(plan, dataset)},
        explained=_explained(plan),
        annotators=annotators(plan),
        repeated=[name for name in plan.judges if plan.repeats(name)],
        results=plan.results,
    )


def _explained(plan: Plan) -> list[str]:
    """Return the judges that read prompts and give reasons, if a table needs these reasons."""
    if not any("robust" in METHODS[name].parts for name in plan.study.methods):
        return []
    return [
        name
        for name, card in plan.judges.items()
        if plan.is_prompted(card.model) and card.form != COMPARE
    ]
