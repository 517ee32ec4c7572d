"""Write what is generated: JSON schemas from the typed cards, conda files from the lock files."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from metajudge.schema.cards import KINDS
from metajudge.schema.loading import adapter

HOME = Path(__file__).resolve().parents[1]
STAGES = ("core",)


def generated() -> Iterator[tuple[Path, str]]:
    """Yield (path, content) of every generated file."""
    for kind in KINDS:
        schema = json.dumps(adapter(kind).json_schema(), indent=1, sort_keys=True)
        yield HOME / "workflow" / "schemas" / f"{kind}.json", schema + "\n"
    for stage in STAGES:
        yield HOME / "envs" / f"{stage}.yaml", conda_text(HOME / "envs" / f"{stage}.txt")


def conda_text(lock: Path) -> str:
    """Return the conda environment that holds exactly what a lock file pins."""
    pins = re.findall(r"^([\w.-]+==[^\s;\\]+)", lock.read_text(encoding="utf-8"), re.MULTILINE)
    head = ["channels:", "  - conda-forge", "  - nodefaults", "dependencies:", "  - python=3.11"]
    return "\n".join([*head, "  - pip", "  - pip:", *(f"      - {pin}" for pin in pins)]) + "\n"


if __name__ == "__main__":
    for path, content in generated():
        path.write_text(content, encoding="utf-8")
