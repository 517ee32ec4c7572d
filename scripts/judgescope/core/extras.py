"""What of the package is installed, and the command that installs what is missing.

The base needs few packages. Everything else is an extra: `pip install
'judgescope[workflow]'`.
"""

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from judgescope.core.errors import UserError

PUBLISHED = False
"""Whether `pip install judgescope` gets this package from an index."""

WORKFLOW = "workflow"
EXTRAS = {
    "aiohttp": WORKFLOW,
    "huggingface_hub": WORKFLOW,
    "nltk": WORKFLOW,
    "openai": "batch",
    "orjson": WORKFLOW,
    "pandas": "notebook",
    "platformdirs": WORKFLOW,
    "pooch": WORKFLOW,
    "pygments": WORKFLOW,
    "python_calamine": "formats",
    "rapidfuzz": WORKFLOW,
    "regex": WORKFLOW,
    "rouge_score": WORKFLOW,
    "sacrebleu": WORKFLOW,
    "snakemake": WORKFLOW,
    "snakemake_executor_plugin_slurm": "slurm",
    "spellchecker": WORKFLOW,
    "textblob": WORKFLOW,
    "typo": WORKFLOW,
    "vl_convert": WORKFLOW,
    "xllamacpp": "llama",
}
"""Import -> the extra that installs its package (pyproject.toml)."""
COME_ALONG = {"requests": WORKFLOW, "yarl": WORKFLOW}
"""Import -> the extra one of whose packages requires its package."""
PURPOSES = {
    "batch": "sending a batch needs the package openai",
    "formats": "reading a spreadsheet needs the package python-calamine",
    "llama": "a model in a GGUF file needs the package xllamacpp",
    "notebook": "a table as a DataFrame needs the package pandas",
    "slurm": "a SLURM cluster needs a plugin of Snakemake",
    WORKFLOW: "running a study needs Snakemake",
}
"""Extra -> what needs it."""
IN_BASE = ("audit", "init", "new", "cards", "schema", "completion")
"""The commands that need no extra, unless they are given a file that needs one; every
other command needs the extra `workflow`.
"""


def missing_package(
    error: ModuleNotFoundError, command: str | None = None
) -> UserError | None:
    """Return an error that says how to install what an import lacks.

    `command` is the command that failed, None in a notebook. A command on studies names
    the extra with all that it needs, not that of the first missing package. None: no
    extra has the package, so its absence is a fault of the program.
    """
    name = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(name) or COME_ALONG.get(name)
    if extra is None:
        return None
    if command is not None and command not in IN_BASE and extra == "notebook":
        extra = WORKFLOW
    what = PURPOSES[extra]
    if extra == WORKFLOW and command not in (None, "run"):
        what = f"`judgescope {command}` needs Snakemake and other packages of studies"
    return UserError(
        what,
        where=f"the package {name} is not installed",
        todo=install_command(extra),
    )


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation.

    Before the package is on an index, it names the wheel or the checkout that this
    installation is from.
    """
    return f"pip install {_requirement(extra)}"


def _requirement(extra: str) -> str:
    if PUBLISHED:
        return f"'judgescope[{extra}]'"
    try:
        record = distribution("judgescope").read_text("direct_url.json")
    except PackageNotFoundError:
        record = None
    if record is None:  # from a folder of wheels
        return f"'judgescope[{extra}]', from where you installed judgescope"
    origin = json.loads(record)
    folder = Path(unquote(urlsplit(origin["url"]).path))
    if origin.get("dir_info", {}).get("editable"):
        return f"-e '{folder}[{extra}]'"
    return f"'{folder}[{extra}]'"
