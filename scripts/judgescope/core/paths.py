"""Where the workflow's own files lie."""

from pathlib import Path

HOME = Path(__file__).resolve().parents[3]
"""The workflow's folder: it holds the Snakefile, config, scripts and workflow."""
WORKFLOW = HOME / "workflow"
"""Rules, and templates of reports and forms."""
