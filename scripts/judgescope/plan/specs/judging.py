"""The specs of the jobs of judges: asking, computing, scoring, deriving, collecting."""

from collections.abc import Iterable, Sequence

from msgspec.structs import asdict

from judgescope.core.cells import DERIVED, pack, split
from judgescope.core.names import SYSTEMS, FilePrefix
from judgescope.core.paths import portable
from judgescope.engines.base import ErrorCounts
from judgescope.engines.computing import EngineSpec, JoinsFile, ReplaySpec
from judgescope.methods.registry import METHODS
from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.plan.code import computing
from judgescope.plan.generators import (
    analyses_of,
    graded,
    made_of,
    spender,
    supervisors,
)
from judgescope.plan.judges import (
    annotators,
    confident_judges,
    engine_of,
    parser_of,
    prompt_aspects,
    rating_scales,
    replied_confidence,
    scale_of,
    settings_of,
    voted_labels,
)
from judgescope.plan.specs.subjects import files_to_judge, files_to_rate
from judgescope.plan.specs.texts import (
    asked_model,
    decoding_of,
    model_identity,
    system_of,
)
from judgescope.plan.study import CellAspect, Plan, StudyCell, is_selected
from judgescope.replies.specs import AskSpec
from judgescope.schema.cards import (
    TRAINED,
    Judge,
    PlantedModel,
    RecordedModel,
    VllmModel,
)
from judgescope.schema.cards.engines import ENGINES
from judgescope.scoring import specs
from judgescope.scoring.computed import ComputeSpec, ValuesScale
from judgescope.scoring.merge_specs import MemberFiles, MergedJudge, MergeSpec

AspectsOfScales = tuple[tuple[Scale | None, tuple[str, ...]], ...]
"""(scale, the aspects whose values are read on it)."""


# ---- files ---------------------------------------------------------------------------


def hashes_file(plan: Plan, dataset: str, model: str) -> str:
    """Return the file of the hashes of a model's outputs: replies, or computed
    scores.
    """
    kind = "scores" if plan.computes(model) else "replies"
    return plan.paths.hashes(kind, dataset, model)


def joined_files(plan: Plan, dataset: str) -> list[str]:
    """Return the files with the numbers of joined rows of a dataset's recorded
    models.
    """
    files = []
    for name, card in plan.models.items():
        if isinstance(card, RecordedModel) and plan.cells_of(dataset, name):
            files.append(plan.paths.joined(dataset, name))
    return files


def adapter_folder(plan: Plan, model: str) -> str | None:
    """Return the folder of a model's adapter if the study trains it, or None."""
    card = plan.models[model]
    trained = isinstance(card, VllmModel) and card.adapter == TRAINED
    if trained:
        return plan.paths.distill("adapter")
    return None


def cell_files(plan: Plan, cell: StudyCell) -> specs.CellFiles:
    """Return the files of a cell's judgments and scores."""
    return specs.CellFiles(
        **cell._asdict(),
        judgments=plan.file(plan.results, "judgments", cell),
        scores=plan.file(plan.results, "scores", cell),
    )


def files_of_scores(plan: Plan, cells: Iterable[StudyCell]) -> list[str]:
    """Return the files that change with the judgments and scores of these cells.

    For judges that share a model this is one file of hashes; a derived judge's cell has
    its own job, so its files stand for themselves.
    """
    files = dict[str, None]()
    for cell in cells:
        model = plan.model_of(cell.judge)
        if model == DERIVED:
            files[plan.file(plan.results, "judgments", cell)] = None
            files[plan.file(plan.results, "scores", cell)] = None
        else:
            files[plan.paths.hashes("scores", cell.dataset, model)] = None
    return [*files]


# ---- asking and computing ------------------------------------------------------------


def ask(
    plan: Plan,
    dataset: str,
    model: str,
    *,
    cells: Sequence[CellAspect] | None = None,
    replies: str = "",
) -> AskSpec:
    """Ask a model everything about a dataset; this spec does not depend on parsing.

    `cells`: only about these; `replies` is then the file of its replies.
    """
    if cells is None:
        asked: Sequence[CellAspect] = plan.cell_aspects_of(dataset, model)
        subjects = files_to_judge(plan, dataset, model)
        hashes = hashes_file(plan, dataset, model)
    else:
        asked = cells
        subjects = files_to_rate(plan, dataset, model, cells)
        hashes = None
    judges = {}
    forms = list[tuple[str, str | None]]()
    analysts = {}
    for name in dict.fromkeys(cell.judge for cell in asked):
        judge = plan.judges[name]
        judges[name] = judge.model_dump(
            mode="json",
            include=Judge.keys_for("asking"),
            exclude={"shots": {"analyses": True}},
        )
        if plan.is_prompted(model):
            forms.append((judge.form, judge.system))
        analyses = analyses_of(plan, name)
        if analyses:
            analysts[name] = analyses.model
    engine = ENGINES.target(plan.models[model].engine)
    return AskSpec(
        **computing("ask", engine),
        dataset=dataset,
        engine=engine,
        model=model_identity(plan, model),
        folder=portable(plan.folders["model", model]),
        data=plan.study.data,
        seed=plan.study.seed,
        templates=plan.templates_for(forms),
        aspects=prompt_aspects(plan, dataset),
        about=plan.about(dataset),
        judges=judges,
        analysts=analysts,
        prefers=plan.datasets[dataset].prefers,
        subjects=subjects,
        trained=adapter_folder(plan, model),
        scales=rating_scales(plan, dataset),
        cells=pack(cell[1:] for cell in asked),
        log=plan.paths.log(f"ask/{dataset}/{model}"),
        part=plan.paths.part(dataset, model, "{}"),
        replies=replies or plan.paths.cell_pattern("replies", dataset, model),
        hashes=hashes,
    )


def _engine_spec(
    plan: Plan, dataset: str, model: str, only: Sequence[CellAspect] | None = None
) -> EngineSpec:
    """Return the common part of the specs for computing and replaying (`only` some
    cells).
    """
    card = plan.models[model]
    joined = None
    if only is None:
        cells: Sequence[CellAspect] = plan.cell_aspects_of(dataset, model)
        subjects = files_to_judge(plan, dataset, model)
        hashes = hashes_file(plan, dataset, model)
        if isinstance(card, RecordedModel):
            path = plan.paths.joined(dataset, model)
            joined = JoinsFile(path=path, selected=is_selected(plan, dataset))
    else:
        cells = only
        subjects = files_to_rate(plan, dataset, model, only)
        hashes = None
    keys = Judge.keys_for("computing")
    judges = {}
    for name in dict.fromkeys(cell.judge for cell in cells):
        judges[name] = plan.judges[name].model_dump(mode="json", include=keys)
    engine = ENGINES.target(card.engine)
    return EngineSpec(
        **computing("compute", engine),
        dataset=dataset,
        engine=engine,
        # A price changes no answer.
        model=card.model_dump(mode="json", exclude={"prices"}),
        judges=judges,
        scales=rating_scales(plan, dataset),
        cells=pack(cell[1:] for cell in cells),
        seed=plan.study.seed,
        folder=portable(plan.folders["model", model]),
        data=plan.study.data,
        subjects=subjects,
        counted=_error_counts(plan, dataset, cells),
        joined=joined,
        language=plan.datasets[dataset].language,
        hashes=hashes,
    )


def _error_counts(
    plan: Plan, dataset: str, cells: Sequence[CellAspect]
) -> dict[str, ErrorCounts]:
    """Return set of texts -> the errors in them, if the control that knows these is
    among the judges.
    """
    counts = dict[str, ErrorCounts]()
    if any(plan.is_oracle(cell.judge) for cell in cells):
        for cell in cells:
            name = cell.perturbation.partition(".")[0]
            if name not in counts:
                maximum = plan.most_errors(dataset, name)
                in_classes = name in graded(plan)
                counts[name] = ErrorCounts(maximum=maximum, in_classes=in_classes)
    return counts


def compute(plan: Plan, dataset: str, model: str) -> ComputeSpec:
    """Compute the scores of a model's judges, or read recorded ones."""
    by_scale: dict[Scale | None, list[CellAspect]] = {}
    for cell in sorted(plan.cell_aspects_of(dataset, model)):
        scale = reading_scale(plan, dataset, cell.judge, cell.aspect, cell.perturbation)
        by_scale.setdefault(scale, []).append(cell)
    read = []
    for scale, same in by_scale.items():
        read.append(ValuesScale(cells=pack(cell[1:] for cell in same), scale=scale))
    return ComputeSpec(
        **asdict(_engine_spec(plan, dataset, model)),
        judgments=plan.paths.cell_pattern("judgments", dataset, model),
        scores=plan.paths.cell_pattern("scores", dataset, model),
        read=read,
        unread=_unread(plan, dataset) if _can_be_unread(plan, model) else None,
    )


def replay(
    plan: Plan,
    dataset: str,
    model: str,
    *,
    cells: Sequence[CellAspect] | None = None,
    replies: str = "",
) -> ReplaySpec:
    """Write the recorded replies of a model in the same form as requested ones.

    `cells`: only about these; `replies` is then the file of its replies.
    """
    pattern = replies or plan.paths.cell_pattern("replies", dataset, model)
    return ReplaySpec(
        **asdict(_engine_spec(plan, dataset, model, cells)), replies=pattern
    )


def _can_be_unread(plan: Plan, model: str) -> bool:
    """Return whether a model that computes may give a value that cannot be read.

    A measure or a control gives a value or does not apply, so its scores do not depend
    on what the study does with unread judgments.
    """
    return isinstance(plan.models[model], RecordedModel | PlantedModel)


def _unread(plan: Plan, dataset: str) -> specs.Unread | None:
    """Return how judgments that were not read count, or None if they are left out.

    In training datasets they are.
    """
    study = plan.study
    if study.unread == "missing" or dataset in plan.taught:
        return None
    return specs.Unread(policy=study.unread, seed=study.seed)


# ---- scoring -------------------------------------------------------------------------


def score(plan: Plan, dataset: str, model: str) -> specs.ScoreSpec:
    """Parse and aggregate the replies of a model about a dataset, cell by cell."""
    cells = _scored_cells(plan, dataset, model)
    parsers = set[str]()
    for cell in cells:
        parsers.update(reading.parser for reading in cell.readings)
    return specs.ScoreSpec(
        **computing("score", *sorted(parsers)),
        dataset=dataset,
        cells=cells,
        replies=plan.paths.cell_pattern("replies", dataset, model),
        replied=plan.paths.hashes("replies", dataset, model),
        targets=_texts_to_score(plan, dataset, model),
        judgments=plan.paths.cell_pattern("judgments", dataset, model),
        scores=plan.paths.cell_pattern("scores", dataset, model),
        hashes=plan.paths.hashes("scores", dataset, model),
        unread=_unread(plan, dataset),
    )


def _texts_to_score(plan: Plan, dataset: str, model: str) -> dict[str, str]:
    """Return set of texts -> its file, for sets that scores are not made without.

    Errors are located in the texts, and log probabilities of a text are put together
    from those of its tokens.
    """
    files = {}
    for cell in plan.cells_of(dataset, model):
        card = plan.judges[cell.judge]
        if plan.annotates(cell.judge) or card.scores_texts:
            name = cell.perturbation
            files[name] = plan.paths.targets(dataset, name)
    return files


def _scored_cells(plan: Plan, dataset: str, model: str) -> list[specs.ScoredCells]:
    """Return the cells of a model's judges; a judge's cells that are read in the same
    way together.

    A cell is read once per scale, for all aspects on that scale. The order of the
    study's judges does not matter.
    """
    alike: dict[tuple[str, AspectsOfScales], list[str]] = {}
    for cell in sorted(plan.cells_of(dataset, model)):
        by_scale: dict[Scale | None, tuple[str, ...]] = {}
        for aspect in plan.aspects_in(cell):
            scale = reading_scale(plan, dataset, cell.judge, aspect, cell.perturbation)
            by_scale[scale] = (*by_scale.get(scale, ()), aspect)
        read_alike = (cell.judge, tuple(by_scale.items()))
        alike.setdefault(read_alike, []).append(cell.perturbation)
    cells = []
    for (judge, by_aspects), perturbations in alike.items():
        readings = []
        for scale, aspects in by_aspects:
            readings.append(_reading(plan, judge, aspects, scale))
        cells.append(
            specs.ScoredCells(
                judge=judge,
                perturbations=perturbations,
                readings=readings,
                located=plan.annotates(judge),
            )
        )
    return cells


def reading(
    plan: Plan, dataset: str, judge: str, aspect: str, perturbation: str = SYSTEMS
) -> specs.ReplyReading:
    """Return how the replies of a judge on an aspect are parsed and aggregated."""
    scale = reading_scale(plan, dataset, judge, aspect, perturbation)
    return _reading(plan, judge, [aspect], scale)


def _reading(
    plan: Plan, judge: str, aspects: Iterable[str], scale: Scale | None
) -> specs.ReplyReading:
    card = plan.judges[judge]
    return specs.ReplyReading(
        pairs=[split(aspect) for aspect in aspects],
        scale=scale,
        parser=PARSERS.target(parser_of(plan, judge)),
        settings=settings_of(plan, judge),
        estimator=card.estimator,
        samples=card.fallback is not None,
        cut=card.cut == "read",
        confidence=replied_confidence(plan, judge),
    )


def reading_scale(
    plan: Plan, dataset: str, judge: str, aspect: str, perturbation: str
) -> Scale | None:
    """Return the scale on which a judge's values are read; None: any number."""
    scale = scale_of(plan, dataset, judge, aspect, perturbation)
    if scale is None:
        return None
    card = plan.judges[judge]
    words = {}
    if scale.categorical:
        words = scale.words(card.read_as)
    return Scale(
        min=scale.min,
        max=scale.max,
        step=scale.step,
        labels=tuple(scale.labels),
        off_grid="keep" if engine_of(plan, judge) == "control" else card.off_grid,
        words=tuple(words.items()),
        best=scale.best,
    )


# ---- judges that are made from others ------------------------------------------------


def derive(plan: Plan, dataset: str, perturbation: str, judge: str) -> specs.DeriveSpec:
    """Make one cell of a derived judge from its members' cells."""
    cell = StudyCell(dataset, perturbation, judge)
    members = [cell._replace(judge=name) for name in plan.derived[judge].members]
    labels = {}
    for aspect in plan.aspects_in(cell):
        voted = voted_labels(plan, dataset, judge, aspect)
        if voted:
            labels[split(aspect)[0]] = voted
    return specs.DeriveSpec(
        **computing("derive"),
        cell=specs.WrittenCell(**asdict(cell_files(plan, cell))),
        pairs=[split(aspect) for aspect in plan.aspects_in(cell)],
        min_annotators=plan.derived[judge].min_annotators,
        members=[cell_files(plan, member) for member in members],
        judged=files_of_scores(plan, members),
        labels=labels,
        errors=listed_errors(plan, cell),
    )


def listed_errors(plan: Plan, cell: StudyCell) -> specs.Errors | None:
    """Return the files for the errors of an ensemble's cell, or None if it lists no
    errors.
    """
    if not plan.annotates(cell.judge):
        return None
    merged = None
    supervisor = plan.derived[cell.judge].supervisor
    if supervisor:
        merged = plan.paths.made(cell.dataset, f"{FilePrefix.MERGES}{supervisor.model}")
    targets = plan.paths.targets(cell.dataset, cell.perturbation)
    return specs.Errors(targets=targets, merged=merged)


def merge(plan: Plan, dataset: str, model: str) -> MergeSpec:
    """Let a supervisor merge the error lists of ensembles' members."""
    ensembles = {}
    members = dict[str, MemberFiles]()
    for name in supervisors(plan, dataset)[model]:
        ensemble = plan.derived[name]
        card = ensemble.supervisor
        assert card is not None  # supervisors() returns only such ensembles
        ensembles[name] = MergedJudge(
            form=card.form,
            decoding=decoding_of(card),
            members=ensemble.members,
            min_annotators=ensemble.min_annotators,
            stop=card.stop,
        )
        for member in ensemble.members:
            members[member] = _member_files(plan, dataset, member)
    cells = []
    for cell in plan.cell_aspects_of(dataset):
        if cell.judge in ensembles:
            cells.append(cell)
    return MergeSpec(
        **computing("merge", ENGINES.target(plan.models[model].engine)),
        dataset=dataset,
        seed=plan.study.seed,
        about=plan.about(dataset),
        model=asked_model(plan, model),
        ensembles=ensembles,
        members=members,
        cells=pack(cell[1:] for cell in cells),
        templates=plan.templates_for(
            (ensemble.form, system_of(ensemble)) for ensemble in ensembles.values()
        ),
        targets={
            cell.perturbation: plan.paths.targets(dataset, cell.perturbation)
            for cell in cells
        },
        output=plan.paths.made(dataset, f"{FilePrefix.MERGES}{model}"),
    )


def _member_files(plan: Plan, dataset: str, judge: str) -> MemberFiles:
    """Return the files of the cells of an ensemble's member."""
    model = plan.model_of(judge)
    return MemberFiles(
        judgments=plan.paths.cell_pattern("judgments", dataset, model),
        scores=plan.paths.cell_pattern("scores", dataset, model),
        hashes=plan.paths.hashes("scores", dataset, model),
    )


# ---- all cells of a dataset ----------------------------------------------------------


def collect(plan: Plan, dataset: str) -> specs.CollectSpec:
    """Collect the results of a dataset's cells."""
    cells = plan.cell_aspects_of(dataset)
    # The study's order of its judges must not collect anything again.
    names = sorted({cell.judge for cell in cells})
    models = {name: plan.model_of(name) for name in names}
    plain = [name for name in names if name in plan.judges]
    explained = list[str]()
    if any("robust" in METHODS[name].parts for name in plan.study.methods):
        for name, card in sorted(plan.judges.items()):
            if plan.samples(card.model) and not plan.compares(name):
                explained.append(name)
    return specs.CollectSpec(
        **computing("collect"),
        dataset=dataset,
        cells=pack(cell[1:] for cell in cells),
        models=models,
        asked=[name for name in plain if plan.is_asked(models[name])],
        replied=[name for name in plain if not plan.computes(models[name])],
        judged=sorted(files_of_scores(plan, plan.cells_of(dataset))),
        made=_made_files(plan, dataset),
        explained=explained,
        annotators=sorted(annotators(plan)),
        repeated=[name for name in sorted(plan.judges) if plan.repeats(name)],
        confident=sorted(confident_judges(plan)),
        results=plan.results,
        output=collected_files(plan, dataset),
    )


def _made_files(plan: Plan, dataset: str) -> dict[str, list[str]]:
    """Return the name that the cost of texts goes to -> the files of the replies from
    which models made them.
    """
    files: dict[str, list[str]] = {}
    for name in made_of(plan, dataset):
        files.setdefault(spender(name), []).append(plan.paths.made(dataset, name))
    return files


def collected_files(plan: Plan, dataset: str) -> specs.CollectedFiles:
    """Return the tables of all cells of a dataset."""
    paths = plan.paths
    return specs.CollectedFiles(
        scores=paths.collected(dataset, "scores"),
        draws=paths.collected(dataset, "draws"),
        rationales=paths.collected(dataset, "rationales"),
        marked=paths.collected(dataset, "marked"),
        confidences=paths.collected(dataset, "confidences"),
        statuses=paths.collected(dataset, "statuses"),
        bought=paths.collected(dataset, "bought"),
        cells=paths.cell_hashes(dataset),
    )
