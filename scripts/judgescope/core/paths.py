"""Where the workflow's own files lie."""

from pathlib import Path

HOME = Path(__file__).resolve().parents[3]
"""The workflow's folder: it holds the Snakefile, config, scripts and workflow."""
WORKFLOW = HOME / "workflow"
"""Rules, and templates of reports and forms."""


def sample_file(out: str) -> str:
    """Return where a study's results `out` hold the texts that a judge learns from."""
    return f"{out}/distill/sample.parquet"


def student_file(out: str) -> str:
    """Return where a study's results `out` hold what is known of a model before its training."""
    return f"{out}/distill/student.json"
