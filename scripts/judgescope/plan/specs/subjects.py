"""The files of a dataset's texts, ratings and analyses."""

from collections.abc import Iterable

from judgescope.core.names import ORIGINAL, REFERENCES, SYSTEMS
from judgescope.core.paths import Paths
from judgescope.engines.computing import reads_ratings
from judgescope.engines.subject_files import SubjectFiles, subject_files
from judgescope.plan.extending import drawn_texts
from judgescope.plan.generators import analyses_of, analysts
from judgescope.plan.study import CellAspect, Plan
from judgescope.schema.cards import COMPARE, RecordedModel


def sample_file(plan: Plan, dataset: str) -> str | None:
    """Return the file that lists a dataset's judged texts; None if all are judged."""
    return drawn_texts(plan, dataset, plan.paths)


def every_file(plan: Plan, dataset: str, paths: Paths | None = None) -> SubjectFiles:
    """Return all files of a dataset's texts, which need not exist yet.

    paths: those of other results than the study's.
    """
    paths = paths or plan.paths
    known = [SYSTEMS, ORIGINAL, REFERENCES, *plan.target_sets(dataset)]
    return subject_files(
        paths,
        dataset,
        dict.fromkeys(known),
        ratings=True,
        names=True,
        sample=drawn_texts(plan, dataset, paths),
        analysts=analysts(plan, dataset),
    )


def files_to_judge(plan: Plan, dataset: str, model: str) -> SubjectFiles:
    """Return the files that a model's judges need to judge a dataset."""
    judged = plan.cells_of(dataset, model)
    needed = {SYSTEMS, ORIGINAL}
    needed.update(cell.perturbation for cell in judged)
    judges = dict.fromkeys(cell.judge for cell in judged)
    analyses = [analyses_of(plan, judge) for judge in judges]
    return subject_files(
        plan.paths,
        dataset,
        [name for name in plan.target_sets(dataset) if name in needed],
        ratings=_read_ratings(plan, dataset, model, judges),
        names=isinstance(plan.models[model], RecordedModel),
        sample=sample_file(plan, dataset),
        analysts=sorted({card.model for card in analyses if card}),
    )


def files_to_rate(
    plan: Plan, dataset: str, model: str, cells: Iterable[CellAspect]
) -> SubjectFiles:
    """Return the files that a model needs to rate the possible anchors of a set."""
    judges = [cell.judge for cell in cells]
    return subject_files(
        plan.paths,
        dataset,
        [SYSTEMS],
        ratings=_read_ratings(plan, dataset, model, judges),
        sample=sample_file(plan, dataset),
    )


def _read_ratings(plan: Plan, dataset: str, model: str, judges: Iterable[str]) -> bool:
    """Return whether these judges of a model are shown people's ratings, are computed
    from them, or compare the pairs that people compared.
    """
    if not plan.is_asked(model):
        return reads_ratings(plan.models[model])
    people_compare = plan.datasets[dataset].prefers
    for name in judges:
        judge = plan.judges[name]
        compares = people_compare and judge.form == COMPARE
        if judge.shots or judge.hint or compares:
            return True
    return False
