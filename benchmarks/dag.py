"""Time and memory of large studies: planning, nothing to do, one cell, all cells
together.

    python benchmarks/dag.py [1000] [10000] [18240] [50000]

Each study has about so many cells (see sized.py) and goes through the real Snakefile: a
dry run; then, with every output there and noted as made, a run that finds nothing to
do. One score job is job `score` as the rule calls it, for a model and a dataset: of one
cell, of all cells, and with 50,000 replies that all differ. Collecting is job `collect`
over the real tables of a dataset's cells, with 3 replies on each aspect; of the first
study also with 300 and 1,500, between which memory is counted. Seconds are wall-clock
and of the processor, which tells more where others use the machine, too.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

import yaml
from msgspec.json import encode
from msgspec.structs import replace
from sized import HOME, SIZES, write_study

from judgescope.plan.loading import load_plan
from judgescope.plan.specs import judging
from judgescope.plan.study import CellAspect, Plan, StudyCell
from judgescope.schema.tables import table_of, write_parts
from judgescope.scoring.cell import score_part
from judgescope.scoring.specs import CellPart, ScoreSpec

LIMITED = 10_000
SECONDS, MEGABYTES = 15, 600
"""What a dry run over LIMITED cells may take."""
FIXED, PER_REPLY, REPLIES, RUNS = 0.25, 20e-6, 50_000, 5
"""Seconds of the processor that a score job of one cell may take, and each of its
replies."""
SMALL = """
import json, os, sys
child = os.spawnv(os.P_NOWAIT, sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(child, 0)
with open(sys.argv[1], "w") as file:
    json.dump([usage.ru_utime + usage.ru_stime, usage.ru_maxrss], file)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a command from a small process: a child's peak of memory is at least that of its
parent."""
DRAWN, BYTES = (3, 300, 1500), 500
"""Replies on an aspect of a cell that are collected, and the memory that one may
take."""
TOUCH = """
import sys
from snakemake.cli import main
from snakemake.executors.touch import Executor
Executor.SLEEPING_TIME = 0
main(sys.argv[1:])
"""
"""Snakemake, without the tenth of a second that it waits before it touches the next
file."""


class Used(NamedTuple):
    """What a process took: seconds, seconds of the processor, most memory in MB."""

    wall: float
    processor: float
    peak: float

    def __str__(self) -> str:
        """Return the three figures in words."""
        return (
            f"{self.wall:.1f} s ({self.processor:.1f} s of the processor), "
            f"{self.peak:,.0f} MB"
        )


def used(command: Sequence[str], folder: Path, told: str | None = None) -> Used:
    """Run a command with `told` on its standard input; return what it took."""
    place = folder / "used.json"
    small = [sys.executable, "-I", "-S", "-c", SMALL, str(place), *command]
    start = time.perf_counter()
    with (folder / "output.txt").open("w") as output:
        done = subprocess.run(
            small, cwd=folder, input=told or "", stdout=output, stderr=output, text=True
        )
    wall = time.perf_counter() - start
    assert done.returncode == 0, (folder / "output.txt").read_text()[-2000:]
    processor, peak = json.loads(place.read_text())
    return Used(wall, processor, peak / 1024)


def snakemake(folder: Path, *options: str, code: str | None = None) -> Used:
    """Run the workflow on the study in `folder`; its output lies in output.txt."""
    start = ["-c", code] if code else ["-m", "snakemake"]
    command = [
        sys.executable,
        *start,
        "--snakefile",
        str(HOME / "workflow" / "Snakefile"),
    ]
    command += ["--workflow-profile", str(HOME / "profiles" / "default")]
    return used([*command, *options, "--configfile", "study.yaml"], folder)


def planned(folder: Path, limited: bool) -> None:
    """Print what a dry run takes, and a run of the finished study."""
    dry = snakemake(folder, "--dry-run")
    jobs = (
        (folder / "output.txt")
        .read_text()
        .partition("\ntotal ")[2]
        .split(maxsplit=1)[0]
    )
    told = (
        f"{dry.wall / SECONDS:.2f} of {SECONDS} s, {dry.peak / MEGABYTES:.2f} of "
        f"{MEGABYTES} MB"
    )
    print(
        f"  dry run, {jobs} jobs: {dry}" + (f"; {told}" if limited else ""), flush=True
    )
    finish(folder)
    idle = snakemake(folder)
    assert "Nothing to be done" in (folder / "output.txt").read_text()
    print(
        f"  nothing to do: {idle}, {idle.processor / dry.processor:.2f} of the dry run",
        flush=True,
    )


def finish(folder: Path) -> None:
    """Make every output, of one character, and let Snakemake note that its jobs made
    them.
    """
    snakemake(folder, "--summary")
    lines = (
        (folder / "output.txt")
        .read_text()
        .partition("output_file\t")[2]
        .splitlines()[1:]
    )
    for line in lines:
        path = folder / line.partition("\t")[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix:
            path.write_text("-")  # the rules refuse empty files
        else:  # only directories have names without a suffix
            path.mkdir(exist_ok=True)
    snakemake(folder, "--touch", "--forceall", "--quiet", "all", code=TOUCH)


def job(name: str) -> list[str]:
    """Return the command line of a rule."""
    return [sys.executable, str(HOME / "scripts" / "job.py"), name, "--spec", "-"]


def answers(cell: CellAspect, count: int) -> list[dict[str, Any]]:
    """Return so many replies of a cell on an aspect, ten to a target, each with its own
    words.
    """
    told = {"judge": cell.judge, "kind": "rate", "aspect": cell.aspect, "status": "ok"}
    usage = {"prompt": 700, "completion": 40, "reasoning": 0, "cached": 512}
    served = {
        "engine": "openai",
        "model": "a-model",
        "version": None,
        "fingerprint": "fp",
    }
    return [
        {
            **told,
            **{
                "target": f"item-{target}:system",
                "key": f"{abs(hash((*cell, target))):064x}",
            },
            **{"draw": draw, "finish": "stop", "usage": usage, "provenance": served},
            "text": f"Rating: {1 + number % 5}\nText {target} keeps to its source; "
            f"{number} words.",
        }
        for number in range(count)
        for target, draw in [divmod(number, 10)]
    ]


def one_model(folder: Path, plan: Plan, dataset: str, model: str) -> None:
    """Print what it takes to score a model's replies: a job of one cell, more cells,
    replies.
    """
    whole, cells = judging.score(plan, dataset, model), plan.cells_of(dataset, model)
    first = replace(whole.cells[0], perturbations=whole.cells[0].perturbations[:1])

    def spent(spec: ScoreSpec, replies: int) -> float:
        """Return the seconds of the processor that a job takes, the least of RUNS."""
        for cell in cells:
            aspects = plan.aspects_in(cell)
            each = replies // (len(cells) * len(aspects))
            tables = [
                table_of("answers", answers(CellAspect(*cell, aspect), each))
                for aspect in aspects
            ]
            write_parts(
                "answers", tables, folder / plan.file(plan.results, "replies", cell)
            )
        return min(
            used(job("score"), folder, encode(spec).decode()).processor
            for _ in range(RUNS)
        )

    fixed, every = spent(replace(whole, cells=[first]), 0), spent(whole, 0)
    replied = spent(whole, REPLIES)
    each_cell, each_reply = (
        (every - fixed) / (len(cells) - 1),
        (replied - every) / REPLIES,
    )
    print(
        f"one score job of one cell: {fixed:.2f} s of the processor, "
        f"{fixed / FIXED:.2f} of {FIXED} s; {each_cell * 1e3:.1f} ms for each other of "
        f"{len(cells)} cells; {each_reply * 1e6:.1f} µs a reply, "
        f"{each_reply / PER_REPLY:.2f} of {PER_REPLY * 1e6:.0f} µs"
    )


def collected(folder: Path, plan: Plan, *, memory: bool) -> None:
    """Print what it takes to put a dataset's cells together, and with `memory` that of
    a reply.
    """
    dataset = next(iter(plan.datasets))
    cells, aspects = plan.cells_of(dataset), len(plan.cell_aspects_of(dataset))
    spent = []
    for count in DRAWN if memory else DRAWN[:1]:
        for cell in cells:
            write_cell(cell, plan, folder, count)
        spent.append(
            used(
                job("collect"), folder, encode(judging.collect(plan, dataset)).decode()
            )
        )
    print(
        f"  collecting {len(cells):,} cells of one of {len(plan.datasets)} datasets: "
        f"{spent[0]}, {spent[0].processor / len(cells) * 1e3:.1f} ms a cell",
        flush=True,
    )
    if memory:
        each = (
            (spent[2].peak - spent[1].peak) * 2**20 / (aspects * (DRAWN[2] - DRAWN[1]))
        )
        print(
            f"  and {each:.0f} bytes a reply, {each / BYTES:.2f} of {BYTES}", flush=True
        )


def write_cell(cell: StudyCell, plan: Plan, folder: Path, count: int) -> None:
    """Write what asking and scoring leave of a cell, so many replies on each aspect."""
    member = getattr(plan.derived.get(cell.judge), "members", [cell.judge])[0]
    parts = []
    for aspect in plan.aspects_in(cell):
        replies = table_of("answers", answers(CellAspect(*cell, aspect), count))
        reading = judging.reading(plan, cell.dataset, member, aspect, cell.perturbation)
        part = CellPart(cell.dataset, cell.perturbation, cell.judge, aspect)
        parts.append((replies, *score_part(replies, reading, part=part)))
    columns = zip(
        ("answers", "judgments", "scores"), zip(*parts, strict=True), strict=True
    )
    for name, tables in columns:
        kind = "replies" if name == "answers" else name
        write_parts(name, tables, folder / plan.file(plan.results, kind, cell))


def studies(sizes: Sequence[int]) -> Iterator[tuple[int, Path, Plan]]:
    """Yield each study: its size, its folder, its plan."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            path = write_study(folder, SIZES[size])
            os.chdir(folder)
            plan = load_plan(
                yaml.safe_load(path.read_text()), HOME, source="study.yaml"
            )
            yield size, folder, plan
            os.chdir("/")


def main() -> None:
    """Print a line per figure."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the rules' jobs have it (common.smk)
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)[1:]
    for place, (size, folder, plan) in enumerate(studies(sizes)):
        if place == 0:
            asked = next(
                cell
                for cell in plan.cell_aspects
                if plan.is_asked(plan.model_of(cell.judge))
            )
            one_model(folder, plan, asked.dataset, plan.model_of(asked.judge))
        print(
            f"{len(plan.cell_aspects):,} aspects of cells of {len(plan.models)} "
            "models:",
            flush=True,
        )
        planned(folder, size == LIMITED)
        collected(folder, plan, memory=place == 0)


if __name__ == "__main__":
    main()
