"""Is an LLM judge any good? Compare its judgments with people's.

In a notebook: `import judgescope as js`, then `js.audit(table)` for one table of scores
and ratings, `js.load("results/demo")` for the results of a study, and the statistics
on arrays. They are imported when they are first used: `import judgescope` alone imports
no other package.
"""

import os
from importlib import import_module
from typing import Any

__version__ = "0.2.0"

NO_TELEMETRY = {
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "VLLM_NO_USAGE_STATS": "1",
}
"""Variables that turn off the telemetry of packages.

Set here, before any of them is imported and whatever the environment says; child
processes inherit them.
"""
os.environ.update(NO_TELEMETRY)

PUBLIC = {
    "Audit": "audit",
    "Unclear": "audit",
    "agreement": "measures",
    "alpha": "measures",
    "alt_test": "measures",
    "audit": "audit",
    "choice": "choice",
    "corrected": "corrected",
    "discernment": "measures",
    "labels": "labels",
    "load": "results",
    "paired_test": "measures",
    "pairs": "labels",
    "rubrics": "rubrics",
    "slices": "slices",
    "soft_pairwise": "measures",
}
"""Public name -> its module in `judgescope.api`."""


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'judgescope' has no attribute {name!r}")
    try:
        return getattr(import_module(f"judgescope.api.{PUBLIC[name]}"), name)
    except ModuleNotFoundError as error:
        # By name: what extras install is no part of the code of jobs.
        missing = import_module("judgescope.core.extras").missing_package(error)
        if missing is None:
            raise
        raise missing from None


def __dir__() -> list[str]:
    return sorted({"__version__", *PUBLIC})
