"""Shipped studies of whole papers on loopback: one endpoint writes the texts and judges
them.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import running
from scripted import Body, Said, serve
from study import Study
from waiting import patience


class Scripted(Protocol):
    """A writer and judge that counts what it is asked."""

    kinds: Counter[str]

    def __call__(self, body: Body) -> Said: ...


@contextmanager
def serving(study: Study, script: Scripted) -> Iterator[None]:
    """Serve the models `judge` and `generator` of a study."""
    with serve(script) as endpoint:
        study.connect(endpoint.url, "judge", "generator", limits={"concurrency": 32})
        yield


def named_folder() -> Path:
    """Return the folder that the command line names, or a new one."""
    folder = Path(sys.argv[1]) if sys.argv[1:] else Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_whole(study: Study, served: AbstractContextManager[Scripted]) -> None:
    """Run a study at its full size, print what came of it, and end with its exit
    status.
    """
    study.write()
    with served as script:
        started = time.monotonic()
        done = running.run(
            "-m",
            "judgescope",
            "run",
            study.file,
            cwd=study.folder,
            timeout=patience(7200),
        )
        print(done.stdout[-4000:])
        print(
            f"{time.monotonic() - started:.0f} s; {dict(script.kinds)}; {study.folder}"
        )
    sys.exit(done.returncode)
