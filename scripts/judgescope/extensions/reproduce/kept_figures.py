"""The table of published figures that `judgescope reproduce` keeps, and the pages that
are made from it: all outcomes, and judges on public data.

The table has a row per figure. A command replaces the rows of what it reproduces and
leaves the others, so that the shelf can be computed in parts.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment

from judgescope.core.files import write_text
from judgescope.core.paths import HOME
from judgescope.extensions.reproduce.compared_figures import CardOutcome
from judgescope.schema.cards import REASONS, Publication, Source
from judgescope.schema.loading import read_card

FigureRow = dict[str, str]
COLUMNS = (
    "publication",
    "figure",
    "table",
    "dataset",
    "judge",
    "aspect",
    "statistic",
    "level",
    "published",
    "ours",
    "ci_low",
    "ci_high",
    "n",
    "equal",
    "reason",
)


def rows_of(outcomes: Iterable[CardOutcome]) -> list[FigureRow]:
    """Return a row for each figure of outcomes."""
    rows = list[FigureRow]()
    # Columns that are those of the study's tables.
    from_row = (*COLUMNS[2:8], "ci_low", "ci_high", "n")
    for outcome in outcomes:
        for figure in outcome.figures:
            _, published, ours, equal, reason = figure.cells()
            row = {name: _text(figure.row.get(name)) for name in from_row}
            row |= {
                "publication": outcome.card.publication,
                "figure": " ".join(figure.where.values()),
                "published": published,
                "ours": ours,
                "equal": equal,
                "reason": reason,
            }
            rows.append({name: row[name] for name in COLUMNS})
    return rows


def _text(value: object) -> str:
    """Return a cell: "" for None, numbers with few digits.

    >>> _text(0.1234567891), _text(None), _text(240)
    ('0.123457', '', '240')
    """
    # Significant digits of computed values in the table.
    digits = 6
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if value is None:
        return ""
    return str(value)


def read(path: Path) -> list[FigureRow]:
    """Return the rows of a kept table, none if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def keep(path: Path, outcomes: "Sequence[CardOutcome]") -> None:
    """Replace the rows of reproduced publications in a kept table; rows of those that
    failed stay.
    """
    done = {each.card.publication for each in outcomes if each.figures}
    rows = []
    for row in read(path):
        if row["publication"] not in done:
            rows.append(row)
    rows += rows_of(outcomes)
    rows.sort(key=lambda row: row["publication"])
    written = io.StringIO()
    writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, written.getvalue())


# --- the page of all outcomes ---------------------------------------------------------


def markdown(rows: Sequence[Mapping[str, str]], shelf: Path) -> str:
    """Return the page of all figures: counts of each publication of a shelf, every
    figure that differs, and what could not be run.
    """
    introduction = """# Reproduced figures

`judgescope reproduce <name>` fetches the data, computes, and compares; `make \
reproduced` writes
this page. A figure is equal if it differs by at most half a unit of its last printed \
digit, a mean
of printed cells by one unit. It may differ for a stated reason only: """
    counts = [["name", "what", "printed in"]]
    counts[0] += ["figures", "equal", "explained", "unexplained"]
    differing = [["name", "figure", "published", "ours", "why not"]]
    not_run = [["name", "what", "printed in", "figures"]]
    totals = [0, 0, 0, 0]
    for path in sorted(shelf.glob("*.yaml")):
        card: Publication = read_card("publication", path)
        name = f"`{card.publication}`"
        mine = [row for row in rows if row["publication"] == card.publication]
        if not mine:
            printed = read(shelf / str(card.figures))
            not_run.append([name, card.name, card.printed, str(len(printed))])
            continue
        of_card = _counts(mine)
        totals = [total + count for total, count in zip(totals, of_card, strict=True)]
        counts.append([name, card.name, card.printed, *map(str, of_card)])
        for row in mine:
            if row["equal"] != "yes":
                keys = ("figure", "published", "ours", "reason")
                differing.append([name, *(row[key] for key in keys)])
    counts.append(["all", "", "", *map(str, totals)])
    text = f"{introduction}{'; '.join(REASONS)}.\n\n{_markdown_table(counts)}"
    text += f"\n## Figures that differ\n\n{_markdown_table(differing)}"
    if len(not_run) > 1:
        text += f"""
## Not run here

The data of these figures could not be had when this page was written. Tests run their \
cards on small
files in the same layout.

{_markdown_table(not_run)}"""
    return f"""{text}
## Downloads

When this page was written, the files were read from a local folder: no address of a \
card had been
tried over the real network. Tests fetch the same bytes from a local server and \
compare addresses,
sizes and hashes with a list of repositories, commits and paths.
"""


def _counts(rows: Sequence[Mapping[str, str]]) -> list[int]:
    """Return the number of figures, of equal, of explained and of unexplained ones."""
    equal = sum(row["equal"] == "yes" for row in rows)
    explained = sum(row["equal"] != "yes" and row["reason"] in REASONS for row in rows)
    return [len(rows), equal, explained, len(rows) - equal - explained]


def _markdown_table(rows: list[list[str]]) -> str:
    """Return rows, of which the first has the titles, as Markdown."""
    heads, *body = rows
    lines = [heads, ["---"] * len(heads), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


# --- the page of judges ---------------------------------------------------------------


class RankedJudge(NamedTuple):
    """A judge's number on an aspect of a public dataset, and its tier."""

    judge: str
    value: float
    low: float
    high: float
    n: str
    tier: int
    links: dict[str, str]
    """Title -> address: of the data, the cards and the recorded replies."""


def tiers(intervals: Sequence[tuple[float, float, float]]) -> list[int]:
    """Return the tier of each (value, low, high), given in the order of values, the
    best first.

    A tier begins with the best of the remaining judges, and ends before the first judge
    whose interval lies below that one's.

    >>> tiers([(0.6, 0.5, 0.7), (0.55, 0.4, 0.6), (0.3, 0.2, 0.4), (0.2, 0.1, 0.3)])
    [1, 1, 2, 2]
    """
    tier_of = list[int]()
    least = float("inf")
    tier = 0
    for _, low, high in intervals:
        if high < least:
            tier += 1
            least = low
        tier_of.append(tier)
    return tier_of


def leaderboard(rows: Iterable[Mapping[str, str]]) -> str:
    """Return the page of judges on public data, made from a kept table alone."""
    shown = []
    # The statistics of agreement with people that the page of judges shows.
    shown_correlations = ("pearson", "spearman", "kendall_b")
    for row in rows:
        is_judged = row["judge"] not in {"", "human"} and row["ci_low"] != ""
        if row["statistic"] in shown_correlations and is_judged and row["aspect"]:
            shown.append(row)
    keys = ("dataset", "aspect", "level", "statistic")

    def group(row: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(row[key] for key in keys)

    tables = []
    for names, of_group in groupby(sorted(shown, key=group), key=group):
        judges = _ranked(list(of_group))
        tables.append((dict(zip(keys, names, strict=True)), judges))
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(PAGE)
    return page.render(tables=tables)


def _ranked(rows: Sequence[Mapping[str, str]]) -> list[RankedJudge]:
    """Return the judges of a group, the best first; of a judge printed twice, once."""
    by_judge = {row["judge"]: row for row in rows}
    ordered = sorted(
        by_judge.values(), key=lambda row: (-float(row["ours"]), row["judge"])
    )
    intervals = []
    for row in ordered:
        numbers = (row["ours"], row["ci_low"], row["ci_high"])
        value, low, high = map(float, numbers)
        intervals.append((value, low, high))
    ranked = []
    for row, bounds, tier in zip(ordered, intervals, tiers(intervals), strict=True):
        links = _links(row["dataset"], row["judge"])
        ranked.append(RankedJudge(row["judge"], *bounds, row["n"], tier, links))
    return ranked


def _links(dataset: str, judge: str) -> dict[str, str]:
    """Return where a number's data, cards and recorded replies are."""
    links: dict[str, str] = {}
    path = HOME / "config" / "datasets" / f"{dataset}.yaml"
    if path.is_file():
        links["card of the data"] = f"../../config/datasets/{path.name}"
        links |= _source_link("data", read_card("dataset", path).source)
    path = HOME / "config" / "judges" / f"{judge}.yaml"
    if path.is_file():
        links["card of the judge"] = f"../../config/judges/{path.name}"
        model = read_card("judge", path).model
        card = read_card("model", HOME / "config" / "models" / f"{model}.yaml")
        links |= _source_link("replies or scores", getattr(card, "source", None))
    return links


def _source_link(title: str, source: Source | None) -> dict[str, str]:
    """Return a link to the repository of a card's files, at their commit."""
    if source is None:
        return {}
    return {title: f"https://github.com/{source.repository}/tree/{source.commit}"}


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Judges on public data</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;
padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}
td,th{padding:.2rem .6rem;text-align:left;border-bottom:1px solid #8884}
td.n{text-align:right;font-variant-numeric:tabular-nums}
tr.first td{border-top:2px solid #888}caption{text-align:left;font-weight:600}
</style></head><body>
<h1>Judges on public data</h1>
<p>Agreement of judges with people, recomputed from published replies and scores by
<code>judgescope reproduce</code>. Intervals are bootstrap intervals over sources
(95 %). Judges have tiers, not ranks: a tier begins with the best remaining judge and
ends before the first whose interval lies below that judge's. The numbers are in
<a href="figures.csv">figures.csv</a>; <code>make reproduced</code> writes this
page.</p>
{% for names, judges in tables %}
<table><caption>{{ names.dataset }}: {{ names.aspect }}, {{ names.statistic }},
{{ names.level }}</caption>
<tr><th>tier</th><th>judge</th><th>value</th><th>95 % interval</th><th>n</th>
<th>from</th></tr>
{% for one in judges %}
<tr{% if loop.changed(one.tier) %} class="first"{% endif %}><td>{{ one.tier }}</td>
<td>{{ one.judge }}</td><td class="n">{{ "%.3f"|format(one.value) }}</td>
<td class="n">{{ "%.3f"|format(one.low) }} to {{ "%.3f"|format(one.high) }}</td>
<td class="n">{{ one.n }}</td>
<td>{% for title, address in one.links.items() %}<a href="{{ address }}">{{ title }}</a>
{{ ", " if not loop.last else "" }}{% endfor %}</td></tr>
{% endfor %}
</table>
{% endfor %}
</body></html>
"""
