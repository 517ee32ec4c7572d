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
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from jinja2 import Environment
from scipy.stats import rankdata

from judgescope.cli.context import snakemake
from judgescope.cli.terminal import aligned
from judgescope.core.errors import UserError, UserErrors, check_known
from judgescope.core.files import write_text
from judgescope.core.paths import HOME
from judgescope.data.fetch import fetch_all
from judgescope.data.files import cache, to_fetch
from judgescope.data.select import originals, read_selected
from judgescope.data.sentences import split_sentences
from judgescope.schema.cards import REASONS, Dataset, Publication
from judgescope.schema.loading import read_card
from judgescope.schema.tables import read_table
from judgescope.statistics.confusion import confusion, expectations
from judgescope.statistics.means import independent_mean
from judgescope.statistics.result import Estimate

Row = Mapping[str, object]
SHELF = HOME / "config" / "published"
SEED = 7
FEW: Final = {"statistics": ["pearson"], "levels": ["pooled"], "permutations": 99}
"""The comparison of judges, which is made with all tables, and in which no figure
is."""
PAIRS = "pairs"
"""A table that is not of a method: pairs of systems that a judge orders as people
do."""
NOT_FILTERS = {"published", "reason", "of"}
"""Columns of a card's figures that do not select a row."""


class Figure(NamedTuple):
    """A published figure, and the value that this library computes for it."""

    where: Mapping[str, str]
    """Column -> value, of the row with this figure."""
    published: str
    ours: float | None
    reason: str
    """The accepted reason for a difference, "" if there is none."""
    equal: bool

    @property
    def wrong(self) -> bool:
        """Return whether it differs without a reason."""
        return not (self.equal or self.reason)

    def cells(self) -> list[str]:
        """Return the figure as cells of a table, in the order of HEADS."""
        digits = len(self.published.partition(".")[2])
        ours = (
            "-" if self.ours is None else f"{self.ours:.{digits + 2 if digits else 0}f}"
        )
        equal = "yes" if self.equal else "no"
        why = "" if self.equal else self.reason or "unexplained"
        return [" ".join(self.where.values()), self.published, ours, equal, why]


HEADS = ["figure", "published", "ours", "equal", "why not"]


class Outcome(NamedTuple):
    """The outcome of a card's figures."""

    card: Publication
    figures: list[Figure]
    error: str = ""

    @property
    def failed(self) -> bool:
        """Return whether a figure differs without a reason, or could not be
        computed.
        """
        return bool(self.error) or any(figure.wrong for figure in self.figures)

    def counts(self) -> list[str]:
        """Return the number of figures, of equal, of explained and of unexplained
        ones.
        """
        equal = sum(figure.equal for figure in self.figures)
        wrong = sum(figure.wrong for figure in self.figures)
        total = len(self.figures)
        return [*map(str, (total, equal, total - equal - wrong, wrong))]


def reproduce(args: argparse.Namespace) -> int:
    """Reproduce publications; return 1 if a figure differs without a reason."""
    shelf = {path.stem: path for path in sorted(SHELF.glob("*.yaml"))}
    check_known(sorted(args.names), shelf, "unknown publication", where="reproduce")
    names = [*shelf] if args.all else args.names
    outcomes = []
    for name in names:
        try:
            outcome = compare(shelf[name], args.data)
        except (UserError, UserErrors) as error:
            if not args.all:
                raise
            card = read_card("publication", shelf[name])
            outcome = Outcome(card, [], str(error).partition("\n")[0])
        outcomes.append(outcome)
        if not outcome.error:
            write_text(
                Path("results") / f"published-{name}" / "index.html", html(outcome)
            )
        if not args.all:
            print(
                "\n".join(
                    aligned([HEADS, *(figure.cells() for figure in outcome.figures)])
                )
            )
        print(line(outcome), flush=True)
    if not names:
        cards = [read_card("publication", path) for path in shelf.values()]
        print(
            "\n".join(
                aligned([["name", "what"], *([c.publication, c.name] for c in cards)])
            )
        )
    if args.markdown and not any(outcome.error for outcome in outcomes):
        write_text(args.markdown, markdown(outcomes))
    return int(any(outcome.failed for outcome in outcomes))


def compare(path: Path, data: str = "data") -> Outcome:
    """Return the figures of a card next to those of this library.

    `data` is the folder that `{data}` stands for. Raises UserError or UserErrors for a
    card that cannot be used, and for data that cannot be fetched.
    """
    card: Publication = read_card("publication", path)
    if not card.figures:
        tables = [*card.means]
        return Outcome(
            card, [each for name in tables for each in _means(card, name, path.parent)]
        )
    if card.cells:
        rows = _of_cells(read_csv(path.parent / card.cells))
    elif card.originals:
        rows = _of_originals(card.originals, data)
    else:
        printed = read_csv(path.parent / card.figures)
        rows = _of_study(card, {row["table"] for row in printed}, data)
    return against(path, rows)


def against(path: Path, rows: Sequence[Row]) -> Outcome:
    """Return the figures of a card next to those in rows, each with its `table`."""
    card: Publication = read_card("publication", path)
    printed = read_csv(path.parent / str(card.figures))
    return Outcome(card, [_figure(card, row, rows, str(path)) for row in printed])


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def _figure(
    card: Publication, printed: Mapping[str, str], rows: Sequence[Row], where: str
) -> Figure:
    """Return a figure next to the only row that it selects."""
    chosen = {name: text for name, text in printed.items() if name not in NOT_FILTERS}
    hits = [
        r
        for r in rows
        if all(str(r.get(n) or "") == text for n, text in chosen.items())
    ]
    if len(hits) > 1:
        raise UserError(f"one figure selects {len(hits)} rows", where=where, got=chosen)
    value = hits[0].get(printed.get("of") or "value") if hits else None
    ours = float(str(value)) if value is not None else None
    shown = {name: text for name, text in chosen.items() if text and name != "table"}
    return _compared(
        card, shown, printed["published"], ours, printed.get("reason") or ""
    )


def _compared(
    card: Publication,
    where: Mapping[str, str],
    published: str,
    ours: float | None,
    reason: str,
) -> Figure:
    place = f"{card.publication}: {' '.join(where.values())}"
    check_known(
        filter(None, [reason]), REASONS, "unknown reason for a difference", where=place
    )
    digits = len(published.partition(".")[2])
    most = card.tolerance * 10.0**-digits if digits else 0  # counts and ranks are exact
    equal = ours is not None and abs(ours - float(published)) <= most + 1e-9
    return Figure(where, published, ours, reason, equal)


# --- what this library computes -------------------------------------------------------


def _of_study(card: Publication, tables: Iterable[str], data: str) -> list[Row]:
    """Compute some tables of a study, and return their rows with the table's name."""
    name = f"published-{card.publication}"
    folder = Path("results") / name
    study = {
        "study": name,
        "seed": SEED,
        "data": data,
        "comparison": FEW,
        **(card.study or {}),
    }
    path = folder / "study.yaml"
    write_text(path, json.dumps(study, indent=1) + "\n")
    names = sorted({"agreement" if table == PAIRS else table for table in tables})
    files = {table: folder / "tables" / f"{table}.parquet" for table in names}
    if snakemake(path, [*map(str, files.values())], ["--quiet", "all"]):
        raise UserError("the study failed", where=str(path))
    rows = []
    for table, file in files.items():
        for row in read_table("results", file).to_pylist():
            # the number of cases behind a share, as papers print it
            count = None if row["value"] is None else round(row["value"] * row["n"], 6)
            rows.append({**row, "table": table, "count": count})
    return [*rows, *(pairs_of_systems(folder) if PAIRS in tables else ())]


def pairs_of_systems(folder: Path) -> Iterator[Row]:
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
    for (judge, aspect), scores in means(
        "scores/*/*/systems/*.parquet", "judge"
    ).groupby(level=[0, 1]):
        both = zip(
            scores.droplevel([0, 1]),
            people[aspect][scores.index.get_level_values(2)],
            strict=True,
        )
        pairs = [(a - c) * (b - d) > 0 for (a, b), (c, d) in combinations(both, 2)]
        keys = {"table": PAIRS, "judge": judge, "aspect": aspect}
        yield {**keys, "value": sum(pairs), "n": len(pairs)}


def _of_originals(dataset: str, data: str) -> list[Row]:
    """Return the mean characters, words and sentences of the texts that a card
    selects.
    """
    path = HOME / "config" / "datasets" / f"{dataset}.yaml"
    card: Dataset = read_card("dataset", path)
    fetch_all([(dataset, card, to_fetch(card, Path(data)))])
    rated = read_selected(card, path.parent, Path(data), SEED)
    texts = [each.text for each in originals(rated, card.select).values()]
    counts = {
        "characters": map(len, texts),
        "words": (len(text.split()) for text in texts),
        "sentences": (len(split_sentences(text)) for text in texts),
    }
    return [
        {"statistic": name, "value": sum(each) / len(texts), "n": len(texts)}
        for name, each in counts.items()
    ]


def _of_cells(cells: list[dict[str, str]]) -> list[Row]:
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
        names = [(cell["perturbation"], cell["aspect"]) for cell in cells]
        deltas = np.array([[float(cell["delta"]) for cell in cells]])
        wanted, unwanted = (
            np.array([name in set(some) for name in names])
            for some in (sets.drops, sets.stays)
        )
        judged = confusion(deltas, wanted, unwanted)
        values |= {name: float(getattr(judged, name)[0]) for name in judged._fields}
        values["wanted below 0.2"] = int((deltas[0, wanted] < 0.2).sum())
        values["unwanted of 0.2 or more"] = int((deltas[0, unwanted] >= 0.2).sum())
    return [{"statistic": name, "value": value} for name, value in values.items()]


def _means(card: Publication, table: str, folder: Path) -> Iterator[Figure]:
    """Yield each printed mean and rank of a table next to the one computed from printed
    cells.
    """
    printed = read_csv(folder / table)
    head = next(iter(printed[0]))
    rows: list[dict[str, float | None]] = []
    for row in printed:
        values: dict[str, float] = {}
        for name, text in row.items():
            with suppress(ValueError):
                values[name] = float(text)
        means: dict[str, float | None] = {}
        for name, parts in card.means[table].items():
            known = [means.get(part, values.get(part)) for part in parts]
            absent = [
                part for part, value in zip(parts, known, strict=True) if value is None
            ]
            each = [Estimate(value) for value in known if value is not None]
            means[name] = (
                None if absent else independent_mean(each, averaged="cells").value
            )
        rows.append(means)
    for name, of in card.ranks.items():
        for means, rank in zip(
            rows, rankdata([-(each[of] or 0) for each in rows]), strict=True
        ):
            means[name] = float(rank)
    for row, means in zip(printed, rows, strict=True):
        reasons = dict(
            part.split(": ") for part in (row.get("reason") or "").split("; ") if part
        )
        for name in means:
            if row[name]:
                where = {
                    "table": table.removesuffix(".csv"),
                    head: row[head],
                    "column": name,
                }
                yield _compared(
                    card, where, row[name], means[name], reasons.get(name, "")
                )


# --- how it is shown ------------------------------------------------------------------


def line(outcome: Outcome) -> str:
    """Return an outcome as one line."""
    name = outcome.card.publication
    if outcome.error:
        return f"{name}: not reproduced: {outcome.error}"
    total, equal, explained, wrong = outcome.counts()
    return (
        f"{name}: {total} figures, {equal} equal, {explained} explained, {wrong} "
        "unexplained"
    )


PAGE = """<!doctype html>
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


def html(outcome: Outcome) -> str:
    """Return the HTML page of an outcome, with a row for each figure."""
    page = Environment(autoescape=True).from_string(PAGE)
    return page.render(heads=HEADS, line=line(outcome), **outcome._asdict())


INTRODUCTION = """# Reproduced figures

`judgescope reproduce <name>` fetches the data, computes, and compares; `make \
reproduced` writes
this page. A figure is equal if it differs by at most half a unit of its last printed \
digit, a mean
of printed cells by one unit. It may differ for a stated reason only: """

NEVER_FETCHED = """
## Downloads

When this page was written, the files were read from a local folder: no address of a \
card had been
tried over the real network. Tests fetch the same bytes from a local server and \
compare addresses,
sizes and hashes with a list of repositories, commits and paths.
"""


def markdown(outcomes: list[Outcome]) -> str:
    """Return the page of all outcomes: counts of each, and every figure that
    differs.
    """
    text = f"{INTRODUCTION}{'; '.join(REASONS)}.\n\n"
    heads = [
        "name",
        "what",
        "printed in",
        "figures",
        "equal",
        "explained",
        "unexplained",
    ]
    rows = [
        [
            f"`{each.card.publication}`",
            each.card.name,
            each.card.printed,
            *each.counts(),
        ]
        for each in outcomes
    ]
    text += _markdown_table(heads, rows) + "\n## Figures that differ\n\n"
    differing = [
        [f"`{each.card.publication}`", *figure.cells()[:3], figure.cells()[4]]
        for each in outcomes
        for figure in each.figures
        if not figure.equal
    ]
    text += _markdown_table(
        ["name", "figure", "published", "ours", "why not"], differing
    )
    return text if any(cache().rglob("*.*")) else text + NEVER_FETCHED


def _markdown_table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
