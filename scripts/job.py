"""Run a job of the workflow: `python scripts/job.py score --spec -`.

Its package is the one beside this file in a checkout, and the one around this file in
an installation. No other package beside it can be imported: a job of another
environment, such as that of vLLM, has its own packages.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def load_package() -> None:
    """Import `judgescope` from its folder, whatever the search path of modules has."""
    here = Path(__file__).resolve()
    checkout = here.parent / "judgescope"
    folder = checkout if checkout.is_dir() else here.parents[2]
    found = spec_from_file_location(
        "judgescope",
        folder / "__init__.py",
        submodule_search_locations=[str(folder)],
    )
    assert found is not None and found.loader is not None
    package = module_from_spec(found)
    sys.modules["judgescope"] = package
    found.loader.exec_module(package)


if "judgescope" not in sys.modules:
    load_package()

from judgescope.plan.jobs import JOBS, job, run  # noqa: E402

if __name__ == "__main__":  # an engine may start processes that import this file
    name = sys.argv.pop(1) if sys.argv[1:] else ""
    if name not in JOBS:
        problem = f"unknown job {name!r}" if name else "no job is named"
        known = ", ".join(sorted(JOBS))
        sys.exit(f"{problem}: the first argument of job.py must be one of {known}")
    run(job(name))
