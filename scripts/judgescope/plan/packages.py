"""The packages whose behaviour shows in what a job writes."""

from functools import cache
from importlib.metadata import version

from judgescope.engines import DECLARED
from judgescope.methods.registry import METHODS

PACKAGES: dict[str, list[str]] = {
    "perturb": ["pyspellchecker", "typo"],
    "statistics": ["numpy", "rapidfuzz", "scipy"],
    "spotcheck": ["jinja2", "numpy", "rapidfuzz"],
    "choose_anchors": ["numpy"],
    "make_texts": ["jinja2", "pyspellchecker", "rapidfuzz"],
    "candidates": ["jinja2", "numpy", "pyspellchecker", "rapidfuzz", "sacrebleu"],
    "compare_anchors": ["jinja2"],
    "draft": ["jinja2"],
    "grade": ["numpy"],
    "write_references": ["jinja2", "numpy", "rapidfuzz", "sacrebleu"],
    "analyse": ["jinja2"],
    "merge": ["jinja2"],
    "locate": ["rapidfuzz"],
    **{name: list(engine.packages) for name, engine in DECLARED.items()},
    **{name: list(method.packages) for name, method in METHODS.items()},
}
"""Job, engine, table or what some jobs do -> the packages whose behaviour shows in the output."""
PACKAGES["report"] = sorted(
    {"jinja2", "vl-convert-python"}.union(*PACKAGES.values())  # the report names all
)
PACKAGES["judge_card"] = sorted({"jinja2", "rapidfuzz", "vl-convert-python"})


def versions_of(*names: str) -> dict[str, str]:
    """Return package -> version, for jobs or engines."""
    return {package: _version(package) for name in names for package in PACKAGES.get(name, [])}


@cache
def _version(package: str) -> str:
    return version(package)
