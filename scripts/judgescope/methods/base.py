"""The rows of result tables, and what a method declares at the end of its module."""

from typing import Final, Literal, TypedDict

from msgspec import Struct

HUMAN: Final = "human"
"""The `judge` of rows on people."""
Texts = Literal["systems", "once", "graded", "attack"]


class Numbers(TypedDict):
    """The columns of a row that hold its estimate."""

    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    n_missing: int
    n_tied: int
    method: str
    note: str


class AppliesTo(TypedDict, total=False):
    """The columns that are null where they do not apply."""

    perturbation: str | None
    degree: str | None
    criterion: str | None
    form: str | None
    judge_b: str | None
    aspect_b: str | None
    criterion_b: str | None
    k: int | None
    k_b: int | None
    system_subset: str | None


class Row(Numbers, AppliesTo):
    """A row of a result table (`results` in schema/tables.py)."""

    dataset: str
    judge: str
    aspect: str
    statistic: str
    level: str
    signature: str


class Method(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A result table: its module, of the same name, has `rows(study: EvaluationData)`.

    Values are literals (see core/declarations.py).
    """

    selectable: bool = False
    """Whether a study names it in its key `methods`."""
    when: Literal[
        "", "draws", "votes", "constructed", "annotated", "distilled", "labels", "always"
    ] = ""
    """What a study has that computes this table without being asked to."""
    tables: tuple[str, ...] = ()
    """Other tables that are computed with it."""
    texts: tuple[Texts, ...] = ()
    """The texts that it reads: of systems, or the kinds of perturbations."""
    parts: tuple[str, ...] = ()
    """The parts of the spec that it reads, by their names in plan/specs/results.py."""
    settings: str = ""
    """The study's key whose content the spec holds in `settings`, under the name of the key."""
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
    for_labels: bool = False
    """Whether it is for aspects that people rate by labels alone."""
    unordered: Literal["no", "yes", "noted"] = "no"
    """Whether it uses labels without an order; `noted`: its rows say why there is no number.

    Else it leaves such aspects out.
    """
    unturned: bool = False
    """Whether it reads values of its own of scales whose best end is the lowest."""
