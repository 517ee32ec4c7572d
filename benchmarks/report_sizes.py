"""Sizes of the pages of a large report, and how long they take to write.

    nice .venv/bin/python benchmarks/report_sizes.py [JUDGES ASPECTS DATASETS]

By default 50 judges, 20 aspects and 5 datasets, with invented claims; the pages of all
judgments (the explorer) are not made.
"""

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOME / "tests" / "support"))

import cards_study  # noqa: E402
import report_study as study  # noqa: E402
from claims_setup import MODEL, claim  # noqa: E402
from judgescope.report import judge_card  # noqa: E402
from judgescope.report.contents import sections_of  # noqa: E402
from judgescope.report.page import write_pages  # noqa: E402
from judgescope.schema.tables import table_of, write_table  # noqa: E402

OUTCOMES = (
    *("better", "as_rater", "not_shown; chance", "not_shown; length"),
    "not_shown; chance; worse_than_chance",
)
"""What `verdicts` says of a claim."""


def large_study(folder: Path, judges: int, aspects: int, datasets: int) -> Any:
    """Write the tables of a study of this size; return the data of its pages."""
    chance = random.Random(7)
    names = [f"judge-{number:02d}" for number in range(judges)]
    study.DATASETS = dict.fromkeys([f"set-{at}" for at in range(datasets)], "people")
    study.ASPECTS = [f"aspect-{number:02d}" for number in range(aspects)]
    verdicts: list[dict[str, Any]] = []
    agreement: list[dict[str, Any]] = []
    for dataset in study.DATASETS:
        for judge in names:
            for aspect in study.ASPECTS:
                value = chance.random() - 0.2
                place = {"dataset": dataset, "aspect": aspect}
                verdicts += claim(judge, value, chance.choice(OUTCOMES), **place)
                for level in ("pooled", "by_source"):
                    where = {"aspect": aspect, "level": level}
                    agreement.append(
                        study.row(dataset, judge, "spearman", value, **where)
                    )
    spec = study.make(folder, {"verdicts": verdicts, "agreement": agreement})
    spec["study"]["judges"] = names
    spec["judges"] = dict.fromkeys(names, MODEL)
    spec["cards"] = "judges/"
    scales = {aspect: [1, 5] for aspect in study.ASPECTS}
    files = {name: cards_study.files_of(folder, name) for name in study.DATASETS}
    for of_dataset in files.values():
        for table in ("scores", "ratings", "statuses"):
            path = Path(of_dataset[table])
            path.parent.mkdir(parents=True, exist_ok=True)
            write_table(table, table_of(table, []), path)
    of_cards = {
        "files": files,
        "cards_of_judges": [],
        "settings": {name: {"model": "m", "form": "rate"} for name in names},
        "models": {"m": {"engine": "openai", "price": {"input": 0.15, "output": 0.6}}},
        "worst": {},
        "ends": [dict.fromkeys(study.DATASETS, scales)],
        "ends_of": dict.fromkeys(names, 0),
        "output": str(folder / "report" / "judges"),
    }
    return {**spec, **of_cards}


def write(folder: Path, size: Sequence[int]) -> dict[str, int]:
    """Write all pages below a folder; return the size of each in bytes."""
    spec = large_study(folder, *size)
    report = cards_study.loaded(spec)
    pages = folder / "report"
    write_pages(report, sections_of(report), pages)
    (pages / "judges").mkdir()
    # Links of a judge's page begin in the folder of these pages.
    of_judges = cards_study.loaded(spec | {"cards": ""})
    for judge, page in judge_card.render(of_judges):
        (pages / "judges" / f"{judge}.html").write_text(page, "utf-8")
    found = pages.rglob("*.html")
    return {str(page.relative_to(pages)): page.stat().st_size for page in found}


def main() -> None:
    """Print the sizes of the pages and the time that they took."""
    size = [int(argument) for argument in sys.argv[1:]] or [50, 20, 5]
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        sizes = write(Path(folder), size)
        seconds = time.process_time() - started
    judges = [size for name, size in sizes.items() if name.startswith("judges/")]
    print(f"{'x'.join(map(str, size))}: {len(sizes)} pages in {seconds:.1f} s of CPU")
    print(f"  all          {sum(sizes.values()) / 1e6:6.2f} MB")
    print(f"  index        {sizes['index.html'] / 1e3:6.0f} kB")
    print(f"  judge page   {max(judges) / 1e3:6.0f} kB at most")
    for name, bytes_of in sorted(sizes.items(), key=lambda item: -item[1])[:12]:
        if not name.startswith("judges/"):
            print(f"  {name:28} {bytes_of / 1e3:6.0f} kB")


if __name__ == "__main__":
    main()
