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


def made(folder: Path) -> Row:
    """Write the study's tables; return the spec of its page."""
    rng = random.Random(20261122)
    judges = [f"judge-{number}" for number in range(JUDGES)]
    aspects = [f"aspect-{number}" for number in range(ASPECTS)]

    def words(count: int) -> str:
        return " ".join(rng.choices(WORDS, k=count))

    def write(table: str, path: str, rows: list[Row]) -> None:
        write_table(table, table_of(table, rows), folder / f"{path}.parquet")

    items = [f"i{number:04}" for number in range(ITEMS)]
    told = [{"dataset": "big", "item": one, "source": words(400)} for one in items]
    write("items", "items/big", told)
    write("ratings", "ratings/big", [])
    texts = [
        {
            "dataset": "big",
            "target": f"{one}:s{system}",
            "item": one,
            "system": f"s{system}",
        }
        | {"text": words(300), "status": "ok", "edits": [], "step": 0}
        for one in items
        for system in range(SYSTEMS)
    ]
    write("targets", "targets/big/systems", texts)
    for judge in judges:
        parts: dict[str, list[Any]] = {"judgments": [], "replies": [], "scores": []}
        for aspect in aspects:
            cell = {"judge": judge, "aspect": aspect}
            asked = [
                {**cell, "kind": "rate", "target": one["target"], "draw": 0}
                for one in texts
            ]
            values = [float(rng.randint(1, 5)) for _ in texts]
            said = [
                {"status": "ok", "value": value, "rule": "labelled"} for value in values
            ]
            both = list(zip(asked, said, strict=True))
            judged = [a | b | {"parser": "x@1"} for a, b in both]
            parts["judgments"].append(table_of("judgments", judged))
            replies = [
                a | {"text": f"{words(40)} {b['value']}", "status": "ok"}
                for a, b in both
            ]
            parts["replies"].append(table_of("answers", replies))
            known = {
                **cell,
                "dataset": "big",
                "perturbation": "systems",
                "estimator": "mean",
            }
            counted = {"n_draws": 1, "n_missing": 0}
            scores = [
                {**known, **counted, "target": a["target"], "value": b["value"]}
                for a, b in both
            ]
            parts["scores"].append(table_of("scores", scores))
        for kind, tables in parts.items():
            path = Paths(str(folder)).cell(kind, "big", "m", "systems", judge)
            write_parts("answers" if kind == "replies" else kind, tables, path)
    paths = Paths(str(folder))
    data: Row = {
        "id": "big",
        "name": "Big",
        "ratings": "none",
        "sets": [["systems", "systems"]],
    }
    data |= {
        "aspects": [[one, one] for one in aspects],
        "cells": [[["systems"], judges, aspects]],
        "files": {
            "items": paths.items("big"),
            "targets": {"systems": paths.targets("big", "systems")},
            "ratings": paths.ratings("big"),
            "results": str(folder),
        },
    }
    page: Row = {"code": "", "versions": {}, "templates": ""}
    page |= {
        "study": "big",
        "output": str(folder / "report/explore.html"),
        "shards": str(folder / "report/explore"),
    }
    models = dict.fromkeys(judges, "m")
    own = {"judges": dict.fromkeys(judges, ""), "models": models, "perturbations": {}}
    return {**page, "datasets": [data], **own}


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
        spec = made(folder)
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
