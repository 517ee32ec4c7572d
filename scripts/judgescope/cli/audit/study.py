"""The study behind an audit: cards and data in a folder, and its results without
Snakemake.

Cards, specs and jobs are those of `judgescope run`, so that every number is the same to
the bit. Only what the page shows is computed: claims about the recorded judges with the
literature's measures, and the bars.
"""

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import chdir, redirect_stdout
from itertools import chain
from pathlib import Path
from typing import Final

import pyarrow as pa
from msgspec import to_builtins
from msgspec.json import decode
from msgspec.structs import replace

from judgescope.cli.audit.by_columns import AuditColumns
from judgescope.cli.audit.further import unrated_scores
from judgescope.cli.audit.table import check_read_by_rows
from judgescope.cli.init.cards import StudyDraft, cards_of, naming_table, write
from judgescope.core.canonical import canonical
from judgescope.core.cells import pack
from judgescope.core.errors import UserError
from judgescope.core.paths import HOME
from judgescope.data.tables import ingest_all
from judgescope.engines.recorded_files import files_kept
from judgescope.methods import corrected, deciding, literature, rubrics, slices
from judgescope.methods.base import JudgeFacts, SettingValue, StatisticsSpec
from judgescope.methods.evaluate import statistics, write_rows
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.plan.code import unhashed
from judgescope.plan.loading import load_plan
from judgescope.plan.specs import judging, pages, results, texts
from judgescope.plan.study import Plan
from judgescope.report.report import Report
from judgescope.schema.cards import RecordedModel
from judgescope.schema.cards.engines import ENGINES
from judgescope.schema.loading import load_yaml
from judgescope.schema.rows import ResultRow
from judgescope.scoring.collecting import collect
from judgescope.scoring.computed import compute, replay

ENGINES_OF_AN_AUDIT: Final = ("recorded:ENGINE", "controls:ENGINE")
"""An audit loads these engines and no others: they need few packages."""
VERDICTS: Final = "verdicts"
NOT_PLAIN: Final = "with lists, references, draws or pairs"
DECIDING: Final = ("agreement", "labels", "pairwise")
"""The tables with statistics for which bars can be set, besides coverage."""


def bars(texts_of_bars: Sequence[str]) -> dict[str, float]:
    """Return the study's key `require` from texts such as `spearman=.5`; the plan
    checks names.
    """
    required: dict[str, float] = {}
    for text in texts_of_bars:
        name, _, bar = text.partition("=")
        try:
            value = float(bar)
        except ValueError:
            value = math.nan
        if not name or not math.isfinite(value) or name in required:
            raise UserError(
                "a required minimum (bar) must be a statistic and a number, given once",
                where="--require",
                got=text,
                allowed="like spearman=.5 or kappa_linear.pooled=.4",
            )
        required[name] = value
    return required


def written(draft: StudyDraft, folder: Path) -> Path:
    """Write data and cards into a folder; return the study's card, below the folder.

    Raises UserErrors if one of these files already exists.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder):
        return write(draft, cards_of(draft))[-1]


def computed(draft: StudyDraft, card: Path, folder: Path, out: Path) -> Report:
    """Return the report's data of a study in a folder, computed here; tables go to
    `out`.

    Raises UserError or UserErrors as a run does, with row numbers of the user's file.
    """
    rates = not draft.columns.compared and any(unrated_scores(draft))

    def tables(plan: Plan, dataset: str) -> list[str]:
        names = _page_tables(plan, dataset)
        if rates:
            names.append(_own_table(plan, dataset, "corrected", corrected.rows))
        if draft.table.points:
            names.append(_rubrics(draft, plan, dataset))
        return names

    return _report(draft, card, folder, out, tables)


def _rubrics(draft: StudyDraft, plan: Plan, dataset: str) -> str:
    """Compute the table rubrics of a file whose criteria have points."""
    points: dict[str, float | str] = dict(draft.table.points or {})
    settings: dict[str, SettingValue] = {"points": points, "themes": {}}
    return _own_table(plan, dataset, "rubrics", rubrics.rows, {"rubrics": settings})


def deciding_numbers(draft: StudyDraft, card: Path, folder: Path) -> Report:
    """Return the judges' deciding numbers alone; nothing is claimed from them.

    Raises UserError or UserErrors as `computed`.
    """

    def tables(plan: Plan, dataset: str) -> list[str]:
        return [_own_table(plan, dataset, deciding.NUMBERS, deciding.rows)]

    return _report(draft, card, folder, folder / "results", tables)


def slice_numbers(draft: StudyDraft, card: Path, folder: Path) -> Report:
    """Return the table slices of the draft's columns of slices, and nothing else.

    Raises UserError or UserErrors as `computed`.
    """

    def tables(plan: Plan, dataset: str) -> list[str]:
        settings: dict[str, SettingValue] = {"columns": list(draft.slices)}
        return [_own_table(plan, dataset, "slices", slices.rows, {"slices": settings})]

    return _report(draft, card, folder, folder / "results", tables)


def _report(
    draft: StudyDraft,
    card: Path,
    folder: Path,
    out: Path,
    tables: Callable[[Plan, str], list[str]],
) -> Report:
    """Compute scores, then tables, whose names tables(plan, dataset) returns."""
    out = out.absolute()
    for engine in ENGINES_OF_AN_AUDIT:
        ENGINES.load(f"judgescope.engines.{engine}")
    silent = redirect_stdout(io.StringIO())
    with unhashed(), chdir(folder), naming_table(draft), silent:
        content, _ = load_yaml(card)
        plan = load_plan(content, HOME, source=str(card), results=str(out))
        _judge(draft, plan)
        # What reading took is free for the statistics of a large table.
        pa.default_memory_pool().release_unused()
        names = tables(plan, draft.study)
        spec = pages.report(plan, f"judgescope run {card}")
        paths = {name: plan.paths.statistics(name, draft.study) for name in names}
        return Report.load(replace(spec, tables=paths))


def _page_tables(plan: Plan, dataset: str) -> list[str]:
    """Compute the tables that a page needs; return their names."""
    names = _tables(plan, dataset)
    names.append(_own_table(plan, dataset, literature.TABLE, literature.rows))
    judges = [
        name for name, judge in plan.judges.items() if _recorded(plan, judge.model)
    ]
    if len(judges) > 1:
        names.append(_own_table(plan, dataset, deciding.NUMBERS, deciding.rows))
        names.append(_own_table(plan, dataset, deciding.GAPS, deciding.gaps))
    return names


def _judge(draft: StudyDraft, plan: Plan) -> None:
    """Read the data and compute all scores; the controls' scores only if there is a
    bar.
    """
    dataset = draft.study
    columns = AuditColumns(draft, plan, dataset)
    if columns.read is None:
        check_read_by_rows(draft.table, NOT_PLAIN)
        ingest_all(texts.ingest(plan, dataset), texts.read_ratings(plan, dataset))
    models = [name for name in plan.models if plan.cells_of(dataset, name)]
    kept = [name for name in models if plan.study.require or _recorded(plan, name)]
    with files_kept():
        for model in kept:
            if columns.compute(model):
                continue
            check_read_by_rows(draft.table, NOT_PLAIN)
            if plan.computes(model):
                compute(judging.compute(plan, dataset, model))
            else:
                # Only a table that is not plain comes here, and this import is long.
                from judgescope.scoring.cell import score

                replay(judging.replay(plan, dataset, model))
                score(judging.score(plan, dataset, model))
    spec = judging.collect(plan, dataset)
    cells = chain(*(plan.cell_aspects_of(dataset, name) for name in kept))
    collect(replace(spec, cells=pack(cell[1:] for cell in cells)))


def _recorded(plan: Plan, model: str) -> bool:
    return isinstance(plan.models[model], RecordedModel)


def _tables(plan: Plan, dataset: str) -> list[str]:
    """Compute the tables that the page needs; return their names.

    Verdicts are only on the judges of the file: claims do not depend on other judges.
    """
    deciding = [name for name in results.tables_of(plan) if name in DECIDING]
    names = [*(deciding if plan.study.require else ()), "coverage", VERDICTS]
    for name in names:
        spec = results.statistics(plan, name, dataset)
        if name == VERDICTS:
            spec = _of_judges_of_the_file(plan, spec)
            if spec.required:
                tables = [*deciding, "coverage"]
                parts = [plan.paths.statistics(part, dataset) for part in tables]
                spec = replace(spec, required=replace(spec.required, parts=parts))
        statistics(_as_read_by_a_job(spec))
    return names


def _own_table(
    plan: Plan,
    dataset: str,
    name: str,
    rows: Callable[[EvaluationData], Iterable[ResultRow]],
    settings: Mapping[str, dict[str, SettingValue]] | None = None,
) -> str:
    """Compute a table that no study has on its own; return its name.

    settings: the study's key that the method names -> its content.

    A study has these numbers in several tables, which take longer.
    """
    spec = results.statistics(plan, VERDICTS, dataset)
    spec = _of_judges_of_the_file(plan, spec)
    output = plan.paths.statistics(name, dataset)
    nothing = replace(
        spec,
        table=name,
        output=output,
        claims=[],
        required=None,
        settings={**spec.settings, **(settings or {})},
    )
    write_rows(rows, _as_read_by_a_job(nothing))
    return name


def _of_judges_of_the_file(plan: Plan, spec: StatisticsSpec) -> StatisticsSpec:
    judges = dict[str, JudgeFacts]()
    for judge, facts in spec.judges.items():
        if judge in plan.judges and _recorded(plan, plan.judges[judge].model):
            judges[judge] = facts
    return replace(spec, judges=judges)


def _as_read_by_a_job(spec: StatisticsSpec) -> StatisticsSpec:
    """Return a spec with its keys in the order in which a run's job reads them."""
    return decode(canonical(to_builtins(spec)).encode(), type=StatisticsSpec)
