"""Specs of the job in which a supervisor merges the errors that an ensemble's members
found.

They stand apart from `scoring.specs`: they know prompts, and a changed prompt must not
score anything again.
"""

from typing import Annotated

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.cells import CellBlock
from judgescope.core.job_files import IN, OUT
from judgescope.prompts.material import TextWords
from judgescope.replies.specs import ModelSpec, StoppedPrompt

SupervisedCell = tuple[str, str, str]
"""(perturbation, judge, aspect)."""


class MergedJudge(StoppedPrompt, frozen=True, kw_only=True):
    """An ensemble, and the prompt by which its supervisor merges its members'
    errors.
    """

    members: list[str]
    min_annotators: int


class MemberFiles(SpecPart, frozen=True, kw_only=True):
    """The files of a member's cells; `{}` stands for `<perturbation>/<judge>`."""

    judgments: str
    scores: str
    hashes: Annotated[str, IN]
    """The file of the hashes of these files."""


class MergeSpec(JobSpec, frozen=True, kw_only=True):
    """The job in which a supervisor merges the errors that members of ensembles
    list.
    """

    dataset: str
    seed: int
    about: TextWords
    """What prompts say about the kind of the texts."""
    model: ModelSpec
    ensembles: dict[str, MergedJudge]
    members: dict[str, MemberFiles]
    """Member -> the files of its cells."""
    cells: list[CellBlock]
    templates: dict[str, dict[str, str]]
    """Prompt form -> file name -> template."""
    targets: Annotated[dict[str, str], IN]
    """Set of texts -> its file."""
    output: Annotated[str, OUT]

    def members_files(self, cell: SupervisedCell) -> list[tuple[str, str]]:
        """Return the files of a cell's judgments and scores, for each member."""
        perturbation, judge, _ = cell
        files = list[tuple[str, str]]()
        for member in self.ensembles[judge].members:
            name = f"{perturbation}/{member}"
            member_files = self.members[member]
            judgments = member_files.judgments.format(name)
            files.append((judgments, member_files.scores.format(name)))
        return files
