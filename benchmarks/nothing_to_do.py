"""Processor time of `judgescope run` and `judgescope check` of the demo where nothing
is to do, beside the same commands that ask Snakemake.

    python benchmarks/nothing_to_do.py [FOLDER]

Each figure is the median of RUNS processes with all that they start, taken in turns:
the ratios hold on any machine. An option, here --cores, is what lets Snakemake decide.
FOLDER: where the demo has run or shall run, which takes minutes; default: a new one.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from audits import HOME, medians, used

RUNS = 3
STUDY: dict[str, Any] = {}
"""Keys of the study that replace those of the demo."""
LIMIT = 2.5
"""The limit of a command's processor seconds."""
MOST_OF_SNAKEMAKE = 0.5
"""The limit of its share of what Snakemake takes."""
FILE = "study.yaml"


def written(folder: Path) -> None:
    """Write the study's file into a folder, unless it is there."""
    if not (folder / FILE).exists():
        demo = yaml.safe_load((HOME / "config" / "config.yaml").read_text("utf-8"))
        text = yaml.safe_dump(demo | STUDY, sort_keys=False)
        (folder / FILE).write_text(text, encoding="utf-8")


def measured(folder: Path) -> None:
    """Print what the commands use, and their shares of what Snakemake uses."""
    judgescope = [sys.executable, "-m", "judgescope"]
    first = used([*judgescope, "run", FILE], folder)
    print(f"first run: {first.seconds:.1f} CPU s")
    commands = {}
    for name in ("run", "check"):
        commands[name] = [*judgescope, name, FILE]
        commands[f"{name} by Snakemake"] = [*judgescope, name, FILE, "--cores", "1"]
    seconds = medians(commands, folder, RUNS)
    for name in ("run", "check"):
        alone = seconds[name]
        share = alone / seconds[f"{name} by Snakemake"]
        print(
            f"{name} with nothing to do: {alone:.2f} CPU s, {alone / LIMIT:.2f} of the "
            f"limit {LIMIT:g} s; {share:.2f} of Snakemake's, "
            f"{share / MOST_OF_SNAKEMAKE:.2f} of the limit {MOST_OF_SNAKEMAKE:g}"
        )


def main() -> None:
    """Print a line per command."""
    if sys.argv[1:]:
        folder = Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        written(folder)
        measured(folder)
        return
    with tempfile.TemporaryDirectory() as new:
        written(Path(new))
        measured(Path(new))


if __name__ == "__main__":
    main()
