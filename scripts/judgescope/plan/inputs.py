"""The files that a study reads: where its cards and data are, and a first reading of
the data.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import MsgspecError, json

from judgescope.core.canonical import canonical
from judgescope.core.cells import split
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.names import SYSTEMS
from judgescope.core.paths import HOME, located_folder
from judgescope.data import tables
from judgescope.data.files import HasFiles, absent, resolve, sha256_of
from judgescope.data.rated import NamesInData
from judgescope.data.select import originals, read_selected
from judgescope.data.specs import IngestReport, IngestSpec
from judgescope.engines.base import Answer, EngineInputs, Subject
from judgescope.engines.recorded import RecordedEngine
from judgescope.engines.recorded_joins import Join
from judgescope.engines.subjects import Subjects, listed_pairs
from judgescope.plan.specs.subjects import every_file
from judgescope.plan.study import CellAspect, Plan, is_selected
from judgescope.schema.cards import FOLDERS, Hub, RecordedModel

InputFiles = dict[str, list[str]]
"""Owner (dataset or recorded model) -> paths."""


def without_folders(study: str | Path, home: Path) -> str:
    """Return a study's file as the report names it, without the folders of this
    machine.

    A file below the working directory, or below the workflow's folder `home`, keeps its
    path from there; of any other file only the name is kept.
    """
    path = Path(study).resolve()
    for base in (Path.cwd(), home.resolve()):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return path.name


def data_files(plan: Plan) -> InputFiles:
    """Return owner (dataset or recorded model) -> paths.

    Files on a hub are left out: their cards pin them, and no job depends on their place
    in a cache. Raises UserError for a file that does not exist.
    """
    files: InputFiles = {}
    for kind, name, card in plan.all_cards():
        if not isinstance(card, HasFiles) or not card.files:
            continue
        folder = Path(plan.folders[kind, name])
        data = Path(plan.study.data)
        where = str(folder / f"{name}.yaml")
        files[name] = []
        for role, file in card.files.items():
            if not isinstance(file, Hub):
                for path, _ in resolve(card.files, role, folder, data, where=where):
                    files[name].append(os.path.normpath(path))
    return files


def unfetched(plan: Plan) -> dict[str, list[Hub]]:
    """Return dataset -> its files on a hub that a run must download first."""
    missing = {}
    for name, card in plan.datasets.items():
        files = list(absent(card.files).values())
        if files:
            missing[name] = files
    return missing


def card_files(plan: Plan) -> list[str]:
    """Return the files of all cards of the study."""
    paths = []
    for kind, name, _ in plan.all_cards():
        for base in (Path(), HOME):
            path = base / "config" / FOLDERS[kind] / f"{name}.yaml"
            if path.is_file():
                paths.append(os.path.relpath(path))
                break
    return paths


# ---- which texts a dataset has -------------------------------------------------------


def hash_of_texts(plan: Plan, dataset: str, spec: IngestSpec) -> str:
    """Return a hash of a dataset's texts, which does not depend on its ratings.

    It is that of the last reading, if nothing changed since; else the dataset is read.
    A file on a hub is pinned by its card, and may have to be downloaded first: such a
    dataset has a hash of its other files. Data with faults has the hash of the last
    reading, if any: the job that reads the ratings reports the faults, and no text is
    made again until they are mended.
    """
    card = plan.datasets[dataset]
    folder = located_folder(spec.folder)
    data = Path(spec.data)
    roles = []
    for role, file in card.files.items():
        if not isinstance(file, Hub):
            roles.append(role)
    where = spec.card_file
    files = {
        role: resolve(card.files, role, folder, data, where=where) for role in roles
    }
    if len(roles) < len(card.files):
        return canonical({role: sha256_of(files[role]) for role in roles})
    report = Path(plan.paths.ingested(dataset))
    last = _last_reading(report)
    if last is not None and last.how == spec.how:
        paths = list[Path]()
        for each in files.values():
            paths += [path for path, _ in each]
        made = report.stat().st_mtime_ns
        if all(path.stat().st_mtime_ns <= made for path in paths):
            return last.texts
        if last.sha256 == {role: sha256_of(files[role]) for role in roles}:
            return last.texts
    try:
        rated = read_selected(card, folder, data, plan.study.seed, spec.part)
        chosen = originals(rated, card.select, where=where)
    except (UserError, UserErrors, OSError):
        return last.texts if last else ""
    return tables.hash_of_texts(card, rated, chosen)


def _last_reading(report: Path) -> IngestReport | None:
    """Return what was read last; None if there is no such file, or an older one."""
    try:
        return json.decode(report.read_bytes(), type=IngestReport)
    except (OSError, MsgspecError):
        return None


# ---- a first reading -----------------------------------------------------------------


def read_all(plan: Plan) -> None:
    """Read every dataset, if the study sends requests, and join recorded rows; keep
    nothing.

    Skips data that has not changed since the results were made from it, and data on a
    hub. Raises UserError or UserErrors if something is wrong with the data.
    """
    if not any(map(plan.is_asked, plan.models)):
        return
    files = data_files(plan)
    for name, card in plan.datasets.items():
        recorded = _recorded(plan, name, files)
        done = _is_done(plan, "dataset", name, files, [plan.paths.ingested(name)])
        if absent(card.files) or (done and not recorded):
            continue
        folder = Path(plan.folders["dataset", name])
        rated = read_selected(card, folder, Path(plan.study.data), plan.study.seed)
        originals(rated, card.select, where=str(folder / f"{name}.yaml"))
        sources = {item.item: item.source for item in rated.items}
        texts = []
        for text in rated.outputs:
            source = sources[text.item]
            texts.append(
                Subject(text.target, text.item, text.system, SYSTEMS, text.text, source)
            )
        pairs = listed_pairs(
            (preference.aspect, preference.target, preference.target_b)
            for preference in rated.preferences
        )
        for model, cells in recorded:
            # Raises the errors that the model's job would raise.
            shown = [(cell, texts) for cell in cells]
            _joined(plan, name, model, rated.names, pairs, shown)


def _recorded(
    plan: Plan, dataset: str, files: InputFiles
) -> list[tuple[RecordedModel, list[CellAspect]]]:
    """Return unfinished recorded models, each with its cells of the dataset's own
    texts.
    """
    unfinished = []
    for name, card in plan.models.items():
        if isinstance(card, RecordedModel) and dataset not in plan.taught:
            every = plan.cell_aspects_of(dataset, name)
            kind = "scores" if plan.computes(name) else "replies"
            made = {plan.file(plan.results, kind, cell) for cell in every}
            cells = [cell for cell in every if cell.perturbation == SYSTEMS]
            if cells and not _is_done(plan, "model", name, files, made):
                unfinished.append((card, cells))
    return unfinished


def _is_done(
    plan: Plan, kind: str, name: str, files: InputFiles, made: Iterable[str]
) -> bool:
    """Return whether files are newer than a card and all of its files."""
    sources = [f"{plan.folders[kind, name]}/{name}.yaml", *files[name]]
    results = [Path(path) for path in made]
    if not all(path.is_file() for path in results):
        return False
    oldest = min(path.stat().st_mtime_ns for path in results)
    return oldest >= max(Path(path).stat().st_mtime_ns for path in sources)


OnAnswers = Callable[[CellAspect, Sequence[Sequence[Answer]]], None]
"""Gets a cell and the recorded draws of each of its texts or pairs."""


def joins(plan: Plan, dataset: str, on_answers: OnAnswers | None = None) -> list[Join]:
    """Return how many rows of a dataset's recorded models belong to its texts in the
    results.

    `on_answers` gets what is recorded. Raises UserError or UserErrors if something is
    wrong with them.
    """
    counts: list[Join] = []
    for name, card in plan.models.items():
        existing = [
            cell
            for cell in plan.cell_aspects_of(dataset, name)
            if Path(plan.paths.targets(dataset, cell.perturbation)).is_file()
        ]
        if not isinstance(card, RecordedModel) or not existing:
            continue
        texts = Subjects(every_file(plan, dataset), dataset, plan.study.seed)
        cells = list[tuple[CellAspect, Sequence[Subject]]]()
        for cell in existing:
            share = plan.judges[cell.judge].share
            cells.append((cell, texts.in_set(cell.perturbation, share, cell.aspect)))
        counts += _joined(
            plan, dataset, card, texts.names, texts.preferences, cells, on_answers
        )
    return counts


def _joined(
    plan: Plan,
    dataset: str,
    model: RecordedModel,
    names: NamesInData,
    preferences: Mapping[str, Sequence[tuple[str, str]]],
    cells: Iterable[tuple[CellAspect, Sequence[Subject]]],
    on_answers: OnAnswers | None = None,
) -> list[Join]:
    inputs = EngineInputs(
        seed=plan.study.seed,
        dataset=dataset,
        folder=Path(plan.folders["model", model.model]),
        data=Path(plan.study.data),
        names=names,
        preferences=preferences,
    )
    engine = RecordedEngine(model, inputs)
    shared = set[str]()
    for cell, texts in cells:
        judge = plan.judges[cell.judge]
        if judge.share < 1:
            shared.add(cell.judge)
        aspect = split(cell.aspect)[0]
        if model.rows.compares:
            _, answers = engine.compare(judge, aspect, texts)
        else:
            scale = judge.scale_on(aspect) or plan.scale_of(dataset, cell.aspect)
            answers = engine.answer(judge, aspect, scale, texts)
        if on_answers is not None:
            on_answers(cell, answers)
    return engine.checked_joins(shared, selected=is_selected(plan, dataset))
