"""Check every file of a study against its card before anything is read or asked."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from metajudge.command import run
from metajudge.data.files import verify


def main(spec: dict[str, Any]) -> None:
    """Hash all data files, compare with the cards, and write down what the study covers."""
    data = Path(spec["data"])
    hashes = {
        name: verify(SimpleNamespace(**owner["card"]), Path(owner["folder"]), data, where=name)
        for name, owner in spec["owners"].items()
    }
    told = {name: spec[name] for name in ("study", "cards", "cells", "judges")}
    text = json.dumps({**told, "sha256": hashes}, indent=1, sort_keys=True, ensure_ascii=False)
    Path(spec["output"]).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(main)
