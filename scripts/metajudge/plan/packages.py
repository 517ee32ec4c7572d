"""The packages whose behaviour shows in what a job writes."""

from functools import cache
from importlib.metadata import version

PACKAGES: dict[str, list[str]] = {
    "perturb.py": ["pyspellchecker", "typo"],
    "estimate.py": ["numpy", "rapidfuzz", "scipy"],
    "lexical": ["nltk", "pyspellchecker", "rapidfuzz", "rouge-score", "sacrebleu"],
    "control": ["numpy"],
    "openai": ["jinja2"],
    "spotcheck.py": ["jinja2", "numpy", "rapidfuzz"],
    "robustness": ["textblob"],
    "choose_anchors.py": ["numpy"],
    "make_texts.py": ["jinja2", "pyspellchecker", "rapidfuzz"],
    "candidates.py": ["jinja2", "numpy", "pyspellchecker", "rapidfuzz", "sacrebleu"],
    "compare_anchors.py": ["jinja2"],
    "draft.py": ["jinja2"],
    "grade.py": ["numpy"],
    "write_references.py": ["jinja2", "numpy", "rapidfuzz", "sacrebleu"],
    "analyse.py": ["jinja2"],
    "merge.py": ["jinja2"],
    "locate": ["rapidfuzz"],
}
"""Script, engine or what some jobs do -> the packages whose behaviour shows in the output."""
PACKAGES["report.py"] = sorted(
    {"altair", "jinja2", "vl-convert-python"}.union(*PACKAGES.values())  # the report names all
)
PACKAGES["judge_card.py"] = sorted({"altair", "jinja2", "rapidfuzz", "vl-convert-python"})


def versions_of(*names: str) -> dict[str, str]:
    """Return package -> version, for scripts or engines."""
    return {package: _version(package) for name in names for package in PACKAGES.get(name, [])}


@cache
def _version(package: str) -> str:
    return version(package)
