"""Check every file of a study against its card and write down what the study covers."""

import json
from pathlib import Path

from judgescope.core.files import write_text
from judgescope.plan.preflight import PreflightSpec, preflight


def main(spec: PreflightSpec) -> None:
    """Check the files and write the record of the study."""
    text = json.dumps(preflight(spec), indent=1, sort_keys=True, ensure_ascii=False)
    write_text(Path(spec.output), text + "\n")
