"""The command `judgescope reproduce`: published figures next to those of this
library.
"""

import argparse
import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from jinja2 import Environment
from scipy.stats import rankdata

from judgescope.cli.context import snakemake
from judgescope.cli.terminal import aligned
from judgescope.core.errors import UserError, UserErrors, check_known
from judgescope.core.files import write_text
from judgescope.core.paths import HOME, Paths
from judgescope.data.fetch import NotFetched, fetch_all
from judgescope.data.files import to_fetch
from judgescope.data.select import originals, read_selected
from judgescope.data.sentences import split_sentences
from judgescope.extensions.reproduce import kept_figures
from judgescope.extensions.reproduce.compared_figures import (
    HEADS,
    CardOutcome,
    ComparedFigure,
)
from judgescope.schema.cards import REASONS, Dataset, Publication
from judgescope.schema.loading import read_card
from judgescope.schema.tables import read_table
from judgescope.statistics.confusion import confusion, expectations
from judgescope.statistics.means import independent_mean
from judgescope.statistics.result import Estimate

SHELF = HOME / "config" / "published"
SEED = 7
PAIRS = "pairs"
"""A table that is not of a method: pairs of systems that a judge orders as people
do."""


def reproduce(args: argparse.Namespace) -> int:
    """Reproduce publications; return 1 if a figure differs without a reason."""
    shelf = {path.stem: path for path in sorted(SHELF.glob("*.yaml"))}
    check_known(sorted(args.names), shelf, "unknown publication", where="reproduce")
    outcomes = []
    for name in shelf if args.all else args.names:
        try:
            outcome = compare(shelf[name], args.data)
        except (UserError, UserErrors) as error:
            if not args.all:
                raise
            card = read_card("publication", shelf[name])
            what = str(error).partition("\n")[0]
            outcome = CardOutcome(card, [], what, isinstance(error, NotFetched))
        outcomes.append(outcome)
        if args.table:
            # At once: a run that is stopped has kept what it has done.
            kept_figures.keep(Path(args.table), [outcome])
        if not outcome.error:
            page = Path("results") / f"published-{name}" / "index.html"
            write_text(page, html(outcome))
        if not args.all:
            table = [HEADS, *(figure.cells() for figure in outcome.figures)]
            print("\n".join(aligned(table)))
        print(line(outcome), flush=True)
    if not outcomes:
        table = [["name", "what"]]
        for path in shelf.values():
            card = read_card("publication", path)
            table.append([card.publication, card.name])
        print("\n".join(aligned(table)))
    if args.markdown and not any(outcome.failed for outcome in outcomes):
        rows = kept_figures.rows_of(outcomes)
        if args.table:
            rows = kept_figures.read(Path(args.table))
        write_text(args.markdown, kept_figures.markdown(rows, SHELF))
    if args.leaderboard and args.table:
        kept = kept_figures.read(Path(args.table))
        write_text(args.leaderboard, kept_figures.leaderboard(kept))
    return int(any(outcome.failed for outcome in outcomes))


def compare(path: Path, data: str = "data") -> CardOutcome:
    """Return the figures of a card next to those of this library.

    `data` is the folder that `{data}` stands for. Raises UserError or UserErrors for a
    card that cannot be used, and for data that cannot be fetched.
    """
    card: Publication = read_card("publication", path)
    if not card.figures:
        of_tables: list[ComparedFigure] = []
        for name in card.means:
            of_tables += _means(card, name, path.parent)
        return CardOutcome(card, of_tables)
    if card.raters:
        rows = _least_alphas(card, read_csv(path.parent / str(card.figures)))
    elif card.cells:
        rows = _of_cells(read_csv(path.parent / card.cells))
    elif card.originals:
        rows = _of_originals(card.originals, data)
    else:
        printed = read_csv(path.parent / card.figures)
        rows = _of_study(card, {row["table"] for row in printed}, data)
    return against(path, rows)


def against(path: Path, rows: Sequence[Mapping[str, object]]) -> CardOutcome:
    """Return the figures of a card next to those in rows, each with its `table`."""
    card: Publication = read_card("publication", path)
    printed = read_csv(path.parent / str(card.figures))
    return CardOutcome(card, [_figure(card, row, rows, str(path)) for row in printed])


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _figure(
    card: Publication,
    printed: Mapping[str, str],
    rows: Sequence[Mapping[str, object]],
    where: str,
) -> ComparedFigure:
    """Return a figure next to the only row that it selects."""
    filters = dict(printed)
    for column in ("published", "reason", "of"):
        filters.pop(column, None)
    hits = [row for row in rows if _has_all(row, filters)]
    if len(hits) > 1:
        raise UserError(
            f"one figure selects {len(hits)} rows", where=where, got=filters
        )
    value = None
    if hits:
        value = hits[0].get(printed.get("of") or "value")
    ours = None
    if value is not None:
        ours = float(str(value))
    shown = {}
    for name, text in filters.items():
        if text and name != "table":
            shown[name] = text
    reason = printed.get("reason") or ""
    compared = _compared(card, shown, printed["published"], ours, reason)
    return compared._replace(row={**filters, **hits[0]} if hits else filters)


def _has_all(row: Mapping[str, object], cells: Mapping[str, str]) -> bool:
    """Return whether a row has the text of each of some cells; "" also stands for 0."""
    return all(str(row.get(name) or "") == text for name, text in cells.items())


def _compared(
    card: Publication,
    where: Mapping[str, str],
    published: str,
    ours: float | None,
    reason: str,
) -> ComparedFigure:
    location = f"{card.publication}: {' '.join(where.values())}"
    if reason:
        check_known(
            [reason], REASONS, "unknown reason for a difference", where=location
        )
    digits = len(published.partition(".")[2])
    # Counts and ranks are exact.
    largest_gap = card.tolerance * 10.0**-digits if digits else 0
    equal = ours is not None and abs(ours - float(published)) <= largest_gap + 1e-9
    return ComparedFigure(where, published, ours, reason, equal)


# --- what this library computes -------------------------------------------------------


def _of_study(
    card: Publication, tables: Iterable[str], data: str
) -> list[Mapping[str, object]]:
    """Compute some tables of a study, and return their rows with the table's name."""
    name = f"published-{card.publication}"
    folder = Path("results") / name
    study: dict[str, object] = {
        "study": name,
        "seed": SEED,
        "data": data,
        # Judges are compared with all tables; no printed figure is among these.
        "comparison": {
            "statistics": ["pearson"],
            "levels": ["pooled"],
            "permutations": 99,
        },
    }
    study |= card.study or {}
    path = folder / "study.yaml"
    write_text(path, json.dumps(study, indent=1) + "\n")
    names = sorted({"agreement" if table == PAIRS else table for table in tables})
    paths = Paths(str(folder))
    files = {table: Path(paths.table(table)) for table in names}
    if snakemake(path, list(map(str, files.values())), ["--quiet", "all"]):
        raise UserError("the study failed", where=str(path))
    rows: list[Mapping[str, object]] = []
    for table, file in files.items():
        for row in read_table("results", file).to_pylist():
            row["table"] = table
            # The number of cases behind a share, as papers print it.
            row["count"] = None
            if row["value"] is not None:
                row["count"] = round(row["value"] * row["n"], 6)
            rows.append(row)
    if PAIRS in tables:
        rows += pairs_of_systems(folder)
    return rows


def pairs_of_systems(folder: Path) -> Iterator[Mapping[str, object]]:
    """Yield how many pairs of systems each judge's mean scores order as people's
    ratings do.
    """

    def means(pattern: str, *keys: str) -> pd.Series:
        table = pd.concat(map(pd.read_parquet, folder.glob(pattern)))
        table["system"] = table["target"].map(systems)
        return table.groupby([*keys, "aspect", "system"])["value"].mean()

    texts = pd.concat(map(pd.read_parquet, folder.glob("targets/*/systems.parquet")))
    systems = texts.set_index("target")["system"]
    people = means("ratings/*.parquet")
    judges = means("scores/*/*/systems/*.parquet", "judge")
    for (judge, aspect), scores in judges.groupby(level=[0, 1]):
        rated = people[aspect][scores.index.get_level_values(2)]
        means_of_systems = zip(scores.droplevel([0, 1]), rated, strict=True)
        pairs = 0
        same_order = 0
        for first, second in combinations(means_of_systems, 2):
            by_judge = first[0] - second[0]
            by_people = first[1] - second[1]
            pairs += 1
            same_order += int(by_judge * by_people > 0)
        yield {
            "table": PAIRS,
            "judge": judge,
            "aspect": aspect,
            "value": same_order,
            "n": pairs,
        }


def _of_originals(dataset: str, data: str) -> list[Mapping[str, object]]:
    """Return the mean characters, words and sentences of the texts that a card
    selects.
    """
    path = HOME / "config" / "datasets" / f"{dataset}.yaml"
    card: Dataset = read_card("dataset", path)
    fetch_all([(dataset, card, to_fetch(card, Path(data)))])
    rated = read_selected(card, path.parent, Path(data), SEED)
    sums = {"characters": 0, "words": 0, "sentences": 0}
    texts = [each.text for each in originals(rated, card.select).values()]
    for text in texts:
        sums["characters"] += len(text)
        sums["words"] += len(text.split())
        sums["sentences"] += len(split_sentences(text))
    rows: list[Mapping[str, object]] = []
    for name, total in sums.items():
        row = {"statistic": name, "value": total / len(texts), "n": len(texts)}
        rows.append(row)
    return rows


def _of_cells(cells: list[dict[str, str]]) -> list[Mapping[str, object]]:
    """Return the size of S_T and S_F, people's agreement with them, and a judge's
    confusion.
    """
    sets = expectations(cells)
    values: dict[str, float | None] = {
        "wanted": len(sets.drops),
        "unwanted": len(sets.stays),
        "excluded": len(sets.excluded),
        "agreement": sets.agreement.value,
    }
    if "delta" in cells[0]:
        deltas = []
        is_wanted = []
        is_unwanted = []
        for cell in cells:
            name = cell["perturbation"], cell["aspect"]
            deltas.append(float(cell["delta"]))
            is_wanted.append(name in sets.drops)
            is_unwanted.append(name in sets.stays)
        changes = np.array(deltas)
        wanted = np.array(is_wanted)
        unwanted = np.array(is_unwanted)
        judged = confusion(changes[np.newaxis], wanted, unwanted)
        for field, value in judged._asdict().items():
            values[field] = float(value[0])
        values["wanted below 0.2"] = int((changes[wanted] < 0.2).sum())
        values["unwanted of 0.2 or more"] = int((changes[unwanted] >= 0.2).sum())
    return [{"statistic": name, "value": value} for name, value in values.items()]


def _least_alphas(
    card: Publication, printed: Iterable[Mapping[str, str]]
) -> list[Mapping[str, object]]:
    """Return each printed agreement's row with the least value that it can have.

    Krippendorff's alpha of m raters, all of whom rate every unit, is at least
    -1 / (m - 1): raters cannot disagree with all others at once.
    """
    assert card.raters is not None
    rows: list[Mapping[str, object]] = []
    for figure in printed:
        row: dict[str, object] = {**figure, "value": -1 / (card.raters - 1)}
        rows.append(row)
    return rows


def _means(card: Publication, table: str, folder: Path) -> Iterator[ComparedFigure]:
    """Yield each printed mean and rank of a table next to the one computed from printed
    cells.
    """
    printed = read_csv(folder / table)
    first_column = next(iter(printed[0]))
    rows = [_computed_means(card.means[table], row) for row in printed]
    for name, ranked in card.ranks.items():
        # The highest mean has rank 1.
        ranks = rankdata([-(means[ranked] or 0) for means in rows])
        for means, rank in zip(rows, ranks, strict=True):
            means[name] = float(rank)
    for row, means in zip(printed, rows, strict=True):
        reasons = {}
        for part in filter(None, (row.get("reason") or "").split("; ")):
            column, reason = part.split(": ")
            reasons[column] = reason
        for name, ours in means.items():
            if not row[name]:
                continue
            where = {
                "table": table.removesuffix(".csv"),
                first_column: row[first_column],
                "column": name,
            }
            yield _compared(card, where, row[name], ours, reasons.get(name, ""))


def _computed_means(
    parts_of: Mapping[str, Sequence[str]], printed: Mapping[str, str]
) -> dict[str, float | None]:
    """Return the means of a printed row; None without one of its cells.

    parts_of: a mean -> the columns, or the earlier means, that it is computed from.
    """
    cells: dict[str, float] = {}
    for name, text in printed.items():
        with suppress(ValueError):
            cells[name] = float(text)
    means: dict[str, float | None] = {}
    for name, parts in parts_of.items():
        known = []
        for part in parts:
            value = means.get(part, cells.get(part))
            if value is not None:
                known.append(Estimate(value))
        means[name] = None
        if len(known) == len(parts):
            means[name] = independent_mean(known, averaged="cells").value
    return means


# --- how it is shown ------------------------------------------------------------------


def line(outcome: CardOutcome) -> str:
    """Return an outcome as one line."""
    name = outcome.card.publication
    if outcome.error:
        how = "not run here" if outcome.absent else "not reproduced"
        return f"{name}: {how}: {outcome.error}"
    total, equal, explained, wrong = outcome.counts()
    return (
        f"{name}: {total} figures, {equal} equal, {explained} explained, {wrong} "
        "unexplained"
    )


def html(outcome: CardOutcome) -> str:
    """Return the HTML page of an outcome, with a row for each figure."""
    template = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{{ card.name }}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem;max-width:60rem}
td,th{padding:.2rem .8rem;text-align:left;border-bottom:1px solid #ddd}
tr.wrong{background:#fdd}tr.explained{background:#ffd}</style>
<h1>{{ card.name }}</h1><p>Printed in {{ card.printed }}.</p><p>{{ line }}</p>
<table><tr>{% for head in heads %}<th>{{ head }}</th>{% endfor %}</tr>
{% for figure in figures %}<tr
 class="{{ 'equal' if figure.equal else 'wrong' if figure.wrong else 'explained' }}">
{%- for cell in figure.cells() %}<td>{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</table></html>
"""
    page = Environment(autoescape=True).from_string(template)
    return page.render(heads=HEADS, line=line(outcome), **outcome._asdict())
