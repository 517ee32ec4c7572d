"""The pages on which people judge texts: what a question shows, and how pages are written.

Whatever they show comes from data and models: their template escapes all of it.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from markupsafe import Markup

from judgescope.core.errors import UserError
from judgescope.report.html import environment_of, finished
from judgescope.schema.cards import Aspect

Options = tuple[tuple[str, str], ...]
"""(the answer as it is saved, what people read), …."""
COMPARED: Options = (
    ("A", "Text 1 is better"),
    ("B", "Text 2 is better"),
    ("C", "There is no difference"),
)
UNDECIDED: Options = (("D", "I cannot decide"),)
MAKE_TEXTS = (
    "make the texts first: judgescope run, with the study's file, or snakemake texts --configfile, "
    "with the same file"
)
MOST_VOTERS = 9999
"""The names of pages say how many voters there are, in so many digits as are read back."""
SWAPPED = {"A": "B", "B": "A"}
"""An answer of COMPARED, were the texts the other way round."""


class Asked(NamedTuple):
    """A question as a page shows it.

    `source` is that of all its texts; where each has its own, `sources` are those, in their order.
    """

    id: str
    told: Aspect
    texts: tuple[str, ...]
    options: Options
    source: str | None = None
    sources: tuple[str | None, ...] = ()

    @property
    def compares(self) -> bool:
        """Return whether it is about several texts: which is better; or else how good one is."""
        return len(self.texts) > 1

    @property
    def sourced(self) -> bool:
        """Return whether people see a source."""
        return any([self.source, *self.sources])

    @property
    def undecided(self) -> bool:
        """Return whether people may say that they cannot tell."""
        return set(UNDECIDED) <= set(self.options)


class Page(Protocol):
    """What one person is asked."""

    @property
    def file(self) -> str:
        """Return the name of the page's file."""

    @property
    def id(self) -> str:
        """Return what answers name, to show that they belong to the page and none is missing."""

    @property
    def task(self) -> str:
        """Return the task of the texts."""

    @property
    def questions(self) -> Sequence[object]:
        """Return what is asked, in its order, as the page's template shows it."""


def check_numbers(**numbers: int) -> None:
    """Raise UserError for an option of the command line that is below 1, or for too many voters."""
    for name, number in numbers.items():
        if number < 1:
            raise UserError("this is a number from 1", where=f"--{name}", got=number)
    if (voters := numbers.get("voters", 1)) > MOST_VOTERS:
        raise UserError(
            "these are too many voters", where="--voters", got=voters, allowed=f"1 to {MOST_VOTERS}"
        )


def check_made(needed: Sequence[Path], what: str = "texts", todo: str = MAKE_TEXTS) -> None:
    """Raise UserError where a file of the study, of those that pages are made from, is absent."""
    absent = [path for path in needed if not path.is_file()]
    if absent:
        raise UserError(
            f"{len(absent)} of {len(needed)} files with {what} of the study are not there",
            where=str(absent[0]),
            todo=todo,
        )


def write_pages(
    pages: Iterable[Page], folder: Path, home: Path, template: str = "page.html.jinja"
) -> None:
    """Write pages into a folder; `home` is the workflow's, and has the template."""
    script = (home / "workflow" / "survey" / "save.js").read_text(encoding="utf-8")
    filled = environment_of(home / "workflow" / "votes").get_template(template)
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        text = finished(filled.render(page=page, script=Markup(script)), script)
        (folder / page.file).write_text(text, encoding="utf-8", newline="\n")
