"""Shipped studies of whole papers on loopback: one endpoint writes the texts and judges them."""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

import running
from scripted import Body, Said, serve
from study import Study, shipped


class Scripted(Protocol):
    """A writer and judge that counts what it is asked."""

    kinds: Counter[str]

    def __call__(self, body: Body) -> Said: ...


@contextmanager
def serving(folder: Path, script: Scripted) -> Iterator[None]:
    """Serve the models `judge` and `generator` of a study that runs in `folder`."""
    with serve(script) as endpoint:
        Study(folder).connect(endpoint.url, "judge", "generator", limits={"concurrency": 32})
        yield


def shipped_study(name: str, **keys: Any) -> dict[str, Any]:
    """Return a shipped study with changed keys."""
    return shipped("studies", name, **keys)


def named_folder() -> Path:
    """Return the folder that the command line names, or a new one."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_whole(folder: Path, told: dict[str, Any], served: AbstractContextManager[Scripted]) -> None:
    """Run a study at its full size, print what came of it, and end with its exit status."""
    study = Study(folder, told)
    study.write()
    with served as script:
        started = time.monotonic()
        done = running.run("-m", "judgescope", "run", study.file, cwd=folder, timeout=7200)
        print(done.stdout[-4000:])
        print(f"{time.monotonic() - started:.0f} s; {dict(script.kinds)}; {folder}")
    sys.exit(done.returncode)
