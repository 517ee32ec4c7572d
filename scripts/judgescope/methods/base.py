"""What a method declares at the end of its module."""

from typing import Any, Literal

from msgspec import Struct

Row = dict[str, Any]
"""A row of a result table: column -> value."""
Texts = Literal["systems", "once", "graded", "attack"]


class Method(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A result table: its module, of the same name, has `rows(study: EvaluationData)`.

    Values are literals (see core/declarations.py).
    """

    selectable: bool = False
    """Whether a study names it in its key `methods`."""
    when: Literal["", "draws", "votes", "constructed", "annotated", "distilled", "always"] = ""
    """What a study has that computes this table without being asked to."""
    tables: tuple[str, ...] = ()
    """Other tables that are computed with it."""
    texts: tuple[Texts, ...] = ()
    """The texts that it reads: of systems, or the kinds of perturbations."""
    parts: tuple[str, ...] = ()
    """The parts of the spec that it reads, by their names in plan/specs/results.py."""
    settings: str = ""
    """The study's key whose content is the field `settings` of the spec."""
    inputs: tuple[str, ...] = ()
    """Further files that it reads, below the folder of results; `{dataset}` is filled in."""
    across: str = ""
    """The module whose `across(rows)` returns rows over all datasets from those of each."""
    datasets: Literal["evaluated", "all", "distilled"] = "evaluated"
    votes: bool = False
    """Whether it reads judges that compare two texts: they have votes and no scores."""
    oracles: bool = False
    """Whether it reads controls that know the errors."""
    claims: tuple[str, ...] = ()
    """The functions of claims for table `verdicts` that rest on its statistics.

    By path below this package: `(study: EvaluationData) -> Iterable[Claim | Row]`.
    """
    bars: bool = True
    """Whether the study's bars (`require`) can be held against its rows."""
    controls: bool = False
    """Whether it holds judges against ratings, so that every control is judged too."""
    unturned: bool = False
    """Whether it reads values of its own of scales whose best end is the lowest."""
    packages: tuple[str, ...] = ()
    """Packages whose behaviour shows in the rows, beside those of every table."""
