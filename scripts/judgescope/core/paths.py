"""Paths of the workflow's own files and of a study's results."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from judgescope.core.names import FilePrefix

PACKAGE = Path(__file__).resolve().parents[1]
"""The folder of this package."""


def _home() -> Path:
    """Return the folder of the workflow.

    A checkout has it around the package; a wheel has a copy in the package (setup.py).
    """
    share = PACKAGE / "share"
    if share.is_dir():
        return share
    return PACKAGE.parents[1]


HOME = _home()
"""The workflow's folder, which contains config, scripts and workflow."""
IN_PACKAGE = "{judgescope}"
"""Stands for HOME in specs of jobs: no result depends on where the package is."""


def portable(folder: str) -> str:
    """Return a folder as specs name it: below HOME, without the path of HOME."""
    path = Path(folder).resolve()
    if path.is_relative_to(HOME):
        return f"{IN_PACKAGE}/{path.relative_to(HOME).as_posix()}"
    return folder


def located_folder(folder: str) -> Path:
    """Return the folder that a spec names (`portable`)."""
    return Path(folder.replace(IN_PACKAGE, str(HOME)))


WORKFLOW = HOME / "workflow"
"""Rules, and templates of reports and forms."""
_WILDCARD = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class _Kind:
    """A kind of file, by its path below the results."""

    path: str

    def __get__(self, paths: "Paths", owner: type["Paths"]) -> Callable[..., str]:
        return partial(_filled, f"{paths.results}/{self.path}")


def _filled(template: str, *values: str, **named: str) -> str:
    """Return a path with values for its wildcards, in order; other wildcards stay for a
    rule.
    """
    names = _WILDCARD.findall(template)
    given = dict(zip(names[: len(values)], values, strict=True)) | named
    if not given.keys() <= set(names):
        raise TypeError(f"{template} has no wildcard {given.keys() - set(names)}")
    return _WILDCARD.sub(lambda match: given.get(match[1], match[0]), template)


@dataclass(frozen=True)
class Paths:
    """The files of a study, by kind, below the folder `results`.

    A kind is called with values for its wildcards: `items("news")`. Wildcards without a
    value remain, for use in a rule: `items()`.
    """

    results: str

    preflight = _Kind("preflight.json")
    # texts
    items = _Kind("items/{dataset}.parquet")
    names = _Kind("items/{dataset}.names.json")  # in the data, of systems
    ingested = _Kind("items/{dataset}.json")  # counts
    ratings = _Kind("ratings/{dataset}.parquet")
    spans = _Kind("spans/{dataset}.parquet")  # errors that people marked
    targets = _Kind("targets/{dataset}/{name}.parquet")
    made = _Kind("made/{dataset}/{name}.parquet")  # replies of the models that write
    construction = _Kind(
        "construction/{dataset}/{name}.parquet"
    )  # candidates, anchors, analyses
    set_part = _Kind("construction/{dataset}/{name}.{part}.parquet")  # of a graded set
    compared = _Kind(
        f"construction/{{dataset}}/{FilePrefix.COMPARED}{{name}}.{{part}}.parquet"
    )
    graded = _Kind("graded/{dataset}/{name}.single.parquet")
    # judgments: the kinds of cells are replies, judgments and scores
    cell = _Kind("{kind}/{dataset}/{model}/{perturbation}/{judge}.parquet")
    cells = _Kind("{kind}/{dataset}/{model}")
    cell_pattern = _Kind(
        "{kind}/{dataset}/{model}/{}.parquet"
    )  # {} is <perturbation>/<judge>
    hashes = _Kind(
        "{kind}/{dataset}/{model}.json"
    )  # of these cells, in place of their folder
    joined = _Kind(
        "joined/{dataset}/{model}.json"
    )  # number of recorded rows that were joined
    part = _Kind("asked/{dataset}/{model}/{part}.json")
    draft = _Kind("drafts/{draft}.yaml")
    # training
    distill = _Kind("distill/{file}")
    sample = _Kind("distill/sample.parquet")
    student = _Kind("distill/student.json")
    adapter = _Kind("distill/adapter/{file}")  # of the trained judge
    # results
    collected = _Kind("collected/{dataset}/{name}.parquet")
    cell_hashes = _Kind("collected/{dataset}/cells.sha256")
    statistics = _Kind("statistics/{table}/{dataset}.parquet")
    table = _Kind("tables/{table}.parquet")
    table_csv = _Kind("tables/{table}.csv")
    report = _Kind("report/{page}")
    judge_card = _Kind("report/judges/{judge}.html")
    figures = _Kind("figures")
    figure = _Kind("figures/{section}/{figure}.svg")
    sections = _Kind("sections")
    section = _Kind("sections/{section}.html")
    further = _Kind("{file}")  # that a method of another package names
    log = _Kind("logs/{job}.log")
    benchmark = _Kind("benchmarks/{job}.tsv")  # time and memory of a job

    def kind_of(self, path: str) -> tuple[str, dict[str, str]]:
        """Return the kind of a file, with the values of its wildcards.

        Of several kinds the most specific one. ValueError for a file of no kind.

        >>> Paths("results/s").kind_of("results/s/targets/news/systems.parquet")
        ('targets', {'dataset': 'news', 'name': 'systems'})
        """
        kinds = []
        for name, kind in vars(Paths).items():
            if isinstance(kind, _Kind):
                values = _values_in(f"{self.results}/{kind.path}", path)
                if values is not None:
                    literal = len(_WILDCARD.sub("", kind.path))
                    kinds.append((literal, name, values))
        if not kinds:
            raise ValueError(f"{path} is not a file of the results in {self.results}")
        _, name, values = max(kinds, key=lambda kind: kind[0])
        return name, values


def _values_in(template: str, path: str) -> dict[str, str] | None:
    """Return the values of a template's wildcards in a path; None if it is another."""
    pattern = ""
    end = 0
    for wildcard in _WILDCARD.finditer(template):
        pattern += re.escape(template[end : wildcard.start()])
        pattern += f"(?P<{wildcard[1]}>[^/]+)"
        end = wildcard.end()
    match = re.fullmatch(pattern + re.escape(template[end:]), path)
    if match is None:
        return None
    return match.groupdict()
