"""The files of a dataset's texts, ratings and analyses that a job reads."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import field

from judgescope.core.canonical import SpecPart
from judgescope.core.job_files import IN
from judgescope.core.names import FilePrefix
from judgescope.core.paths import Paths


class SubjectFiles(SpecPart, frozen=True, kw_only=True):
    """The files that `engines.subjects.Subjects` reads of a dataset."""

    items: Annotated[str, IN]
    targets: Annotated[dict[str, str], IN]
    """Set of texts -> its file."""
    ratings: Annotated[str | None, IN] = None
    names: Annotated[str | None, IN] = None
    """The names of items and systems in the dataset's own files."""
    sample: Annotated[str | None, IN] = None
    """The file that lists the texts to judge, if not all of them are judged."""
    analyses: Annotated[dict[str, str], IN] = field(default_factory=dict)
    """Model -> its analyses of demonstrations, which prompts show."""


def subject_files(
    paths: Paths,
    dataset: str,
    sets: Iterable[str],
    *,
    ratings: bool = False,
    names: bool = False,
    sample: str | None = None,
    analysts: Iterable[str] = (),
) -> SubjectFiles:
    """Return the files of these sets of texts, and with `ratings` and `names` of these.

    analysts: models that explain ratings in judges' prompts.
    """
    return SubjectFiles(
        items=paths.items(dataset),
        targets={name: paths.targets(dataset, name) for name in sets},
        ratings=paths.ratings(dataset) if ratings else None,
        names=paths.names(dataset) if names else None,
        sample=sample,
        analyses={
            model: paths.construction(dataset, f"{FilePrefix.ANALYSES}{model}")
            for model in analysts
        },
    )
