"""Everything that a study reads, read once before anything is asked: then no fault of it costs."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from judgescope.core.cells import split
from judgescope.core.paths import Paths
from judgescope.core.set_names import SYSTEMS
from judgescope.data import Rated
from judgescope.data.files import absent
from judgescope.data.rated import Names
from judgescope.data.select import originals, read_selected
from judgescope.engines.base import EngineInputs, Subject
from judgescope.engines.recorded import Join, RecordedEngine
from judgescope.engines.subjects import Subjects
from judgescope.perturb.sentences import split_sentences
from judgescope.plan.inputs import Files, data_files
from judgescope.plan.study import CellAspect, Plan, is_selected
from judgescope.schema.cards import RecordedModel


def read_all(plan: Plan, out: str) -> None:
    """Read every dataset of a study that asks, and join recorded rows to it; keep nothing of it.

    What the results in `out` were made of since it last changed is passed over, and what lies on a
    hub. Raises UserError or UserErrors for what is wrong with the data.
    """
    if not any(map(plan.is_asked, plan.models)):
        return
    files = data_files(plan)
    for name, card in plan.datasets.items():
        recorded = _recorded(plan, name, out, files)
        done = _is_done(plan, "dataset", name, files, [Paths(out).ingested(name)])
        if absent(card.files) or (done and not recorded):
            continue
        folder, data = Path(plan.folders["dataset", name]), Path(plan.study.data)
        rated = read_selected(card, folder, data, plan.study.seed, split_sentences)
        originals(rated, card.select, split_sentences, where=str(folder / f"{name}.yaml"))
        for model, cells in recorded:
            _replay(plan, name, model, cells, rated)


def _recorded(
    plan: Plan, dataset: str, out: str, files: Files
) -> list[tuple[RecordedModel, list[CellAspect]]]:
    """Return the recorded models with cells of a dataset's own texts that are yet to be made."""
    found = []
    for name, card in plan.models.items():
        if isinstance(card, RecordedModel) and dataset not in plan.taught:
            own = plan.cell_aspects_of(dataset, name)
            kind = "scores" if plan.computes(name) else "replies"
            made = list(dict.fromkeys(plan.file(out, kind, cell) for cell in own))
            cells = [cell for cell in own if cell.perturbation == SYSTEMS]
            if cells and not _is_done(plan, "model", name, files, made):
                found.append((card, cells))
    return found


def _is_done(plan: Plan, kind: str, name: str, files: Files, made: Iterable[str]) -> bool:
    """Return whether files were made since a card, or a file of its, changed."""
    told = [path for paths in files[name].values() for path in paths]
    of = [Path(plan.folders[kind, name]) / f"{name}.yaml", *map(Path, told)]
    paths = list(map(Path, made))
    there = all(path.is_file() for path in paths)
    return there and min(map(_changed, paths)) >= max(map(_changed, of))


def _changed(path: Path) -> int:
    return path.stat().st_mtime_ns


def _replay(
    plan: Plan, dataset: str, model: RecordedModel, cells: Sequence[CellAspect], rated: Rated
) -> None:
    """Let a recorded model judge the systems' texts; raises what its job would."""
    sources = {one.item: one.source for one in rated.items}
    texts = [
        Subject(one.target, one.item, one.system, SYSTEMS, one.text, sources[one.item])
        for one in rated.outputs
    ]
    _joined(plan, dataset, model, rated.names, [(cell, texts) for cell in cells])


def joins(plan: Plan, out: str, dataset: str) -> list[Join]:
    """Return how many rows of a dataset's recorded models belong to its texts that are in `out`.

    Raises UserError or UserErrors for what is wrong with them.
    """
    found: list[Join] = []
    for name, card in plan.models.items():
        cells = [
            cell
            for cell in plan.cell_aspects_of(dataset, name)
            if Path(Paths(out).targets(dataset, cell.perturbation)).is_file()
        ]
        if isinstance(card, RecordedModel) and cells:
            sample = Paths(out).sample() if dataset in plan.taught else None
            texts = Subjects(out, dataset, plan.study.seed, sample)
            pairs = [
                (cell, texts.of(cell.perturbation, plan.judges[cell.judge].share, cell.aspect))
                for cell in cells
            ]
            found += _joined(plan, dataset, card, texts.names, pairs)
    return found


def _joined(
    plan: Plan,
    dataset: str,
    model: RecordedModel,
    names: Names,
    cells: Iterable[tuple[CellAspect, Sequence[Subject]]],
) -> list[Join]:
    inputs = EngineInputs(
        seed=plan.study.seed,
        dataset=dataset,
        folder=Path(plan.folders["model", model.model]),
        data=Path(plan.study.data),
        names=names,
    )
    engine, shared = RecordedEngine(model, inputs), set[str]()
    for cell, texts in cells:
        judge = plan.judges[cell.judge]
        shared |= {cell.judge} if judge.share < 1 else set()
        scale = judge.scale_on(split(cell.aspect)[0]) or plan.scale_of(dataset, cell.aspect)
        engine.answer(judge, split(cell.aspect)[0], scale, texts)
    return engine.checked_joins(shared, selected=is_selected(plan, dataset))
