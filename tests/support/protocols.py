"""Shipped studies of whole papers on loopback: one endpoint writes the texts and judges them."""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import yaml

import running
from judgescope.schema.loading import load_yaml
from running import HOME
from scripted import Body, Said, serve
from study import Study


class Scripted(Protocol):
    """A writer and judge that counts what it is asked."""

    kinds: Counter[str]

    def __call__(self, body: Body) -> Said: ...


@contextmanager
def serving(folder: Path, script: Scripted) -> Iterator[None]:
    """Serve the models `judge` and `generator` of a study that runs in `folder`."""
    with serve(script) as endpoint:
        limits = {"backoff": 0.01, "concurrency": 32, "timeout": 60}
        for name in ("judge", "generator"):
            told = {"base_url": endpoint.url, "limits": limits, "probe": False}
            Study(folder).change("models", name, **told)
        yield


def shipped_study(name: str, **keys: Any) -> dict[str, Any]:
    """Return a shipped study with changed keys."""
    told: dict[str, Any] = load_yaml(HOME / "config" / "studies" / f"{name}.yaml")[0]
    return told | keys


def named_folder() -> Path:
    """Return the folder that the command line names, or a new one."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_whole(folder: Path, told: dict[str, Any], served: AbstractContextManager[Scripted]) -> None:
    """Run a study at its full size, print what came of it, and end with its exit status."""
    (folder / "study.yaml").write_text(yaml.safe_dump(told), encoding="utf-8")
    with served as script:
        started = time.monotonic()
        done = running.run("-m", "judgescope", "run", "study.yaml", cwd=folder, timeout=7200)
        print(done.stdout[-4000:])
        print(f"{time.monotonic() - started:.0f} s; {dict(script.kinds)}; {folder}")
    sys.exit(done.returncode)
