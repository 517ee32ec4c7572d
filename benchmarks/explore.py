"""The page of all judgments at 50,000 judgments: until the first rows, to filter, and
its size.

    python benchmarks/explore.py

A study is made with a seed: 1,250 texts of 300 words, five judges of replies of 40
words, eight aspects. The peer is one page with the same judgments as one table, as a
script that writes it all into the document at once would have it; its rows hold no
texts and no replies. Both are opened from the disk by the same headless Chromium, each
three times; the least counts.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from msgspec import convert

from browser import Browser, browser
from judgescope.core.paths import Paths
from judgescope.report.explore import render, write_shards
from judgescope.report.specs import ExploreSpec
from judgescope.schema.tables import table_of, write_parts, write_table

ITEMS, SYSTEMS, JUDGES, ASPECTS = 125, 10, 5, 8
COUNT = ITEMS * SYSTEMS * JUDGES * ASPECTS
WORDS = [f"word{number}" for number in range(900)]
Row = dict[str, Any]


class BigStudy:
    """The tables of a study with so many judgments, written below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.paths = Paths(str(folder))
        self.rng = random.Random(20261122)
        self.judges = [f"judge-{number}" for number in range(JUDGES)]
        self.aspects = [f"aspect-{number}" for number in range(ASPECTS)]
        self.items = [f"i{number:04}" for number in range(ITEMS)]

    def words(self, count: int) -> str:
        """Return so many words, drawn at random."""
        return " ".join(self.rng.choices(WORDS, k=count))

    def write_data(self) -> list[Row]:
        """Write items, texts and an empty table of ratings; return the texts."""
        items = []
        for item in self.items:
            items.append({"dataset": "big", "item": item, "source": self.words(400)})
        texts = []
        for item, system in product(self.items, range(SYSTEMS)):
            text: Row = {"dataset": "big", "target": f"{item}:s{system}", "item": item}
            text |= {"system": f"s{system}", "text": self.words(300), "status": "ok"}
            texts.append({**text, "edits": [], "step": 0})
        self._write("items", "items/big", items)
        self._write("ratings", "ratings/big", [])
        self._write("targets", "targets/big/systems", texts)
        return texts

    def _write(self, table: str, path: str, rows: list[Row]) -> None:
        write_table(table, table_of(table, rows), self.folder / f"{path}.parquet")

    def write_cell(self, judge: str, texts: list[Row]) -> None:
        """Write the judgments, replies and scores of a judge on all texts."""
        judgments, replies, scores = [], [], []
        for aspect in self.aspects:
            of_aspect: list[list[Row]] = [[], [], []]
            for text in texts:
                rows = self._judged(judge, aspect, text["target"])
                for column, row in zip(of_aspect, rows, strict=True):
                    column.append(row)
            judgments.append(table_of("judgments", of_aspect[0]))
            replies.append(table_of("answers", of_aspect[1]))
            scores.append(table_of("scores", of_aspect[2]))
        parts = {"judgments": judgments, "replies": replies, "scores": scores}
        for kind, tables in parts.items():
            path = self.paths.cell(kind, "big", "m", "systems", judge)
            write_parts("answers" if kind == "replies" else kind, tables, path)

    def _judged(self, judge: str, aspect: str, target: str) -> tuple[Row, Row, Row]:
        """Return the judgment, reply and score of one text."""
        cell = {"judge": judge, "aspect": aspect, "target": target}
        request = {**cell, "kind": "rate", "draw": 0}
        value = float(self.rng.randint(1, 5))
        judgment = {**request, "status": "ok", "value": value, "rule": "labelled"}
        judgment["parser"] = "x@1"
        reply = {**request, "text": f"{self.words(40)} {value}", "status": "ok"}
        score: Row = {**cell, "dataset": "big", "perturbation": "systems"}
        score |= {"estimator": "mean", "n_draws": 1, "n_missing": 0, "value": value}
        return judgment, reply, score

    def spec(self) -> Row:
        """Return the spec of the study's page."""
        files = {
            "items": self.paths.items("big"),
            "targets": {"systems": self.paths.targets("big", "systems")},
            "ratings": self.paths.ratings("big"),
            "results": str(self.folder),
        }
        data: Row = {
            "id": "big",
            "name": "Big",
            "ratings": "none",
            "sets": [["systems", "systems"]],
            "aspects": [[aspect, aspect] for aspect in self.aspects],
            "cells": [[["systems"], self.judges, self.aspects]],
            "files": files,
        }
        return {
            "code": "",
            "versions": {},
            "templates": "",
            "study": "big",
            "output": str(self.folder / "report/explore.html"),
            "shards": str(self.folder / "report/explore"),
            "datasets": [data],
            "judges": dict.fromkeys(self.judges, ""),
            "models": dict.fromkeys(self.judges, "m"),
            "perturbations": {},
        }


def write_study(folder: Path) -> Row:
    """Write the study's tables; return the spec of its page."""
    study = BigStudy(folder)
    texts = study.write_data()
    for judge in study.judges:
        study.write_cell(judge, texts)
    return study.spec()


def peer(spec: Row, path: Path) -> None:
    """Write a page whose script writes every judgment into one table, and filters by
    hiding.
    """
    [data] = spec["datasets"]
    rows = [
        [f"i{at // SYSTEMS:04}:s{at % SYSTEMS}", judge, aspect[0], at % 5 + 1]
        for judge in spec["judges"]
        for aspect in data["aspects"]
        for at in range(ITEMS * SYSTEMS)
    ]
    script = (
        f"const rows = {json.dumps(rows)};"
        + """
const body = document.querySelector('tbody');
for (const row of rows) {
  const line = document.createElement('tr');
  line.append(...row.map((one) => {
    const cell = document.createElement('td');
    cell.textContent = one;
    return cell;
  }));
  body.append(line);
}
const only = (judge) => [...body.rows].forEach((row, at) => {
  row.hidden = rows[at][1] !== judge;
});
"""
    )
    page = (
        "<!doctype "
        f"html><title>peer</title><table><tbody></tbody></table><script>{script}</script>"
    )
    path.write_text(page, encoding="utf-8")


WATCH = """
new Promise((done) => {
  const start = performance.now();
  const end = () => setTimeout(() => done(performance.now() - start));
  const seen = () => { if (%s) requestAnimationFrame(end); else setTimeout(seen, 1); };
  %s;
  seen();
})
"""


def until_shown(window: Browser, page: Path, shown: str) -> float:
    """Return the seconds from opening a page until it shows something."""
    window.send("Page.navigate", url="about:blank")
    window.until(lambda: window.value("location.href") == "about:blank")
    start = time.perf_counter()
    window.send("Page.navigate", url=page.as_uri())
    while not window.value(shown):
        time.sleep(0.002)
    return time.perf_counter() - start


def after(window: Browser, deed: str, seen: str) -> float:
    """Return the seconds from a deed until what it asks for is drawn."""
    told = window.send(
        "Runtime.evaluate",
        expression=WATCH % (seen, deed),
        awaitPromise=True,
        returnByValue=True,
    )
    return float(told["result"]["value"]) / 1000


def spaced(count: int) -> str:
    """Return a number as the page writes it."""
    return f"{count:,}".replace(",", "\u202f")


def least(times: Callable[[], float]) -> float:
    """Return the least of three."""
    return min(times() for _ in range(3))


def measured(window: Browser, page: Path, other: Path) -> None:
    """Print times of both pages."""
    first = "document.querySelectorAll('.opener').length === 50"
    whole = f"document.querySelectorAll('tbody tr').length === {COUNT}"
    theirs, ours = (
        least(lambda p=path, s=seen: until_shown(window, p, s))  # type: ignore[misc]
        for path, seen in ((other, whole), (page, first))
    )
    print(
        f"until the first rows: {ours:.2f} s; one table {theirs:.2f} s, "
        f"{theirs / ours:.1f} times"
    )
    line = "document.querySelector('[role=status]').textContent"

    def filtered() -> float:
        window.value("location.hash = ''")
        window.until(lambda: f"{spaced(COUNT)} judgments" in window.value(line))
        return after(
            window,
            "location.hash = 'judge=judge-3'",
            f"{line}.startsWith('{spaced(COUNT // JUDGES)}')",
        )

    own = least(filtered)
    window.open(other)
    window.until(lambda: bool(window.value(whole)))

    def hidden() -> float:
        window.value(
            "for (const row of body.rows) row.hidden = false; body.offsetHeight"
        )
        return after(window, "only('judge-3'); body.offsetHeight", "true")

    hiding = least(hidden)
    table = f"one table {hiding * 1000:.0f} ms, {hiding / own:.1f} times"
    print(f"to filter: {own * 1000:.0f} ms; {table}")


def main() -> None:
    """Print a line per figure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = write_study(folder)
        page = Path(spec["output"])
        start = time.perf_counter()
        write_shards(convert(spec, ExploreSpec), page.with_suffix(""))
        page.write_text(render("big"), encoding="utf-8")
        spent = time.perf_counter() - start
        sizes = {
            path.name: path.stat().st_size
            for path in [page, *page.with_suffix("").iterdir()]
        }
        kinds = ("explore", "index", "names", "list")
        needed = sum(
            size for file, size in sizes.items() if file.partition(".")[0] in kinds
        )
        print(
            f"{COUNT:,} judgments written in {spent:.1f} s: "
            f"{sum(sizes.values()) / 1e6:.1f} MB in {len(sizes)} files, of which "
            f"{needed / 1e6:.2f} MB are read for the list of all"
        )
        peer(spec, folder / "peer.html")
        with browser(folder / "browser") as window:
            measured(window, page, folder / "peer.html")


if __name__ == "__main__":
    main()
