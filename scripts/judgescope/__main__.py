"""The program `judgescope`, also as `python -m judgescope`."""

import gc
import os
import sys
from contextlib import suppress

OLDEST_PYTHON = (3, 11)


def program() -> None:
    """Run the command line in a process of its own."""
    # pip refuses an older Python; this is for a checkout on the search path.
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(_too_old())
    # Objects between two garbage collections; Python's own number is 700.
    collected_after = 500_000
    # Imports make many objects, and all of them stay: to look through them again and
    # again takes a tenth of a short command's time.
    gc.set_threshold(collected_after)
    # Threads that wait for small matrices use more time than the rest of an audit. A
    # study's jobs have one thread as well, so that numbers are equal to the bit.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    is_audit = sys.argv[1:2] == ["audit"]
    if is_audit:
        _import_little()

    from judgescope.cli.main import main  # after these settings: it imports NumPy

    try:
        main()
    except SystemExit as end:
        if is_audit and isinstance(end.code, int):
            _leave(end.code)
        raise


def _too_old() -> str:
    needed = ".".join(map(str, OLDEST_PYTHON))
    mine = sys.version.split()[0]
    return (
        f"judgescope needs Python {needed} or later\n"
        f"  got:     Python {mine}, {sys.executable}\n"
        f"  do:      install it into an environment of Python {needed} or later"
    )


def _import_little() -> None:
    """Keep packages from importing what an audit never uses: half of its time.

    In a notebook, where a table may be a DataFrame, this module is not imported.
    """
    import numpy as np

    from judgescope.core.process_limits import hide

    hide("pandas")

    for part in ("f2py", "testing"):
        # SciPy copies every name of NumPy, and NumPy imports a part when it is named.
        vars(np).setdefault(part, None)


def _leave(status: int) -> None:
    """End this process; to free every object first would take a fifth of its time."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody reads on, or the disk is full
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    program()
