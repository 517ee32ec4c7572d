"""The specs of the jobs that write pages: the report, the judges' cards, texts,
judgments.
"""

from typing import Annotated, Literal

from msgspec import field

from judgescope.core.canonical import JobSpec, SpecPart
from judgescope.core.cells import CellBlock
from judgescope.core.job_files import IN, OUT, OUT_FOLDER
from judgescope.methods.base import Turned

ScaleEnds = tuple[float, float] | None
"""Minimum and maximum of a judge's scores; None if they have none."""


class StudyFacts(SpecPart, frozen=True, kw_only=True):
    """The parts of a study's card that pages depend on; names are in the study's
    order.
    """

    study: str
    seed: int
    datasets: list[str]
    judges: list[str]
    perturbations: list[str]
    share: float = 1.0
    """The share of the items that asked judges were given."""
    allow_missing: bool = False
    gold: str = "auto"
    orders: str = "both"
    unread: str = "missing"


class DatasetCard(SpecPart, frozen=True, kw_only=True):
    """The facts about a dataset on a page."""

    name: str
    task: str
    ratings: str
    licence: str
    citation: str
    aspects: list[str]
    report: Annotated[str, IN] = ""
    """The file of counts from reading it."""
    labels: dict[str, list[str]] = field(default_factory=dict)
    """Aspect -> the labels by which people rate it, if they are not numbers."""


class JudgeCard(SpecPart, frozen=True, kw_only=True):
    """The facts about a judge on a page; fields from `model` on: of judges that read
    prompts.
    """

    engine: str
    form: str
    against: str | None = None
    parser: str = ""
    draws: int = 1
    hint: str = ""
    model: str = ""
    temperature: float | None = None
    max_tokens: int = 0
    shots: int = 0
    annotation: str = ""
    planted: str = ""
    """What a planted judge does wrong and how strongly; "" for all others."""
    compares_forms: bool = False
    """Whether it is one of several prompt forms that its model may answer."""
    scores_texts: str = ""
    """The estimator of a judge that scores how probable a text is; "" for others."""
    one_score: bool = False
    """Whether a text has the same score for every aspect that it scores."""
    thresholded: bool = False
    """Whether its scores are numbers that a threshold turns into labels."""
    alike: str = ""
    """The same for judges that differ in nothing but their scale."""
    points: dict[str, list[int]] = field(default_factory=dict)
    """Dataset -> how many values the judge can give, if it differs by aspect each."""


class PerturbationCard(SpecPart, frozen=True, kw_only=True):
    """The facts about a perturbation on a page."""

    name: str | None
    level: str
    issue: str | None = None
    method: str = ""
    kind: str = ""
    by: str = ""
    """Who or what makes its texts, in words."""
    degrees: list[str] = field(default_factory=list)
    """Its degrees, the weakest first."""
    doses: dict[str, int] = field(default_factory=dict)
    """Degree -> its number of edits, for those that give one."""


class AnnotatedTexts(SpecPart, frozen=True, kw_only=True):
    """A set of texts, and the files of the errors that judges and people mark in it."""

    set: str
    marked: Annotated[str, IN]
    targets: Annotated[str, IN]
    gold: Annotated[str | None, IN]


class Distilled(SpecPart, frozen=True, kw_only=True):
    """Which judge learns from which, how, and the file of the course of its
    training.
    """

    judge: str
    teacher: str
    model: str
    recipe: dict[str, float | int | str | None]
    log: Annotated[str, IN]


class PageFiles(SpecPart, frozen=True, kw_only=True):
    """The files of a dataset that a page reads; "" for those that it does not read."""

    items: Annotated[str, IN] = ""
    targets: Annotated[dict[str, str], IN] = field(default_factory=dict)
    """Set of texts -> its file."""
    ratings: Annotated[str, IN] = ""
    scores: Annotated[str, IN] = ""
    statuses: Annotated[str, IN] = ""
    cells: Annotated[str, IN] = ""
    """The file that changes with the judgments, scores and replies of any cell."""
    results: str = ""
    """The folder of the study's results, which contains the cells."""


class ReportSpec(JobSpec, frozen=True, kw_only=True):
    """The spec of the report."""

    study: StudyFacts
    add_ons: list[str] = field(default_factory=list)
    """Where the statistics and sections of other packages are: `module:OBJECT`."""
    templates: str
    """A hash of templates and style sheets."""
    tables: Annotated[dict[str, str], IN]
    csv: Annotated[dict[str, str], IN] = field(default_factory=dict)
    """Result table -> its CSV file, to which pages link."""
    datasets: dict[str, DatasetCard]
    judges: dict[str, JudgeCard]
    aspects: dict[str, str]
    perturbations: dict[str, PerturbationCard]
    output: Annotated[str, OUT]
    cards: str | None = None
    """The way from the page to the folder of the judges' cards; None if it leads to
    none."""
    command: str = ""
    """The command that reproduces the study."""
    left_out: list[str] = field(default_factory=list)
    """What methods leave out, and why: aspects with unordered labels."""
    texts: bool = False
    """Whether there is a page of perturbed texts."""
    annotated: dict[str, AnnotatedTexts] = field(default_factory=dict)
    distilled: Distilled | None = None
    joined: Annotated[dict[str, list[str]], IN] = field(default_factory=dict)
    """Dataset -> the files of how many rows of recorded models were joined."""
    pages: Annotated[str, OUT_FOLDER] = ""
    """The folder of the pages of single sections."""
    figures: Annotated[str, OUT_FOLDER] = ""
    sections: Annotated[str, OUT_FOLDER] = ""
    files: dict[str, PageFiles] = field(default_factory=dict)
    """Dataset -> its files, none where a page shows result tables alone."""
    turned: dict[str, Turned] = field(default_factory=dict)
    """Dataset -> the scales of its ratings and scores whose lowest value is the best,
    if any."""


class JoinedTable(SpecPart, frozen=True):
    """The datasets' parts of a table; `across`: the module that adds rows of all
    datasets.
    """

    parts: Annotated[list[str], IN]
    across: str | None


class TablesSpec(ReportSpec, frozen=True, kw_only=True):
    """The job that joins the datasets' parts of every table.

    What it knows of judges and datasets puts their verdicts into words.
    """

    tables: Annotated[dict[str, str], OUT]
    csv: Annotated[dict[str, str], OUT]
    output: str = ""
    parts: dict[str, JoinedTable]
    """Table -> its parts."""


class ExpectedDrop(SpecPart, frozen=True, kw_only=True):
    """A set of perturbed texts, the aspects that it should lower, and who says so."""

    cell: str
    mildness: int
    """0 for the heaviest of several degrees, 1 for the only one, from 2 on the others,
    the heavier first."""
    aspects: list[str]
    why: Literal["expected", "weighted", "all"]


class WorstCases(SpecPart, frozen=True, kw_only=True):
    """The rules that decide which judgments of a dataset are the worst."""

    perturbations: list[ExpectedDrop]
    rated: bool
    """Whether texts of systems have ratings."""
    scales: dict[str, tuple[float, float]]
    """Aspect -> the ends of the scale of the ratings."""


class JudgeCardSpec(ReportSpec, frozen=True, kw_only=True):
    """What the job needs that writes the cards of all judges."""

    output: str
    """The folder of `cards_of_judges`."""
    cards_of_judges: Annotated[list[str], OUT]
    settings: dict[str, dict[str, object]]
    """Judge -> what its card says beside the defaults."""
    models: dict[str, dict[str, object]]
    worst: dict[str, WorstCases]
    ends: list[dict[str, dict[str, ScaleEnds]]]
    """Each is dataset -> aspect -> the ends of the scores of some judges."""
    ends_of: dict[str, int]
    """Judge -> its place in `ends`."""


class PerturbedSet(SpecPart, frozen=True, kw_only=True):
    """A perturbation in one degree, and how much of it its card asks for."""

    perturbation: str
    degree: str
    amount: dict[str, object]
    targets: Annotated[str, IN]
    replies: Annotated[str | None, IN]
    """The replies in which a model wrote its texts one by one, if it did."""


class PerturbedDataset(SpecPart, frozen=True, kw_only=True):
    """A dataset with its sets of perturbed texts."""

    name: str
    originals: Annotated[str, IN]
    sets: list[PerturbedSet]


class SpotcheckSpec(JobSpec, frozen=True, kw_only=True):
    """The spec of the page with a sample of the perturbed texts."""

    study: str
    seed: int
    templates: str
    order: list[str]
    """The datasets, in the study's order."""
    datasets: dict[str, PerturbedDataset]
    perturbations: dict[str, PerturbationCard]
    output: Annotated[str, OUT]


class ExploredDataset(SpecPart, frozen=True, kw_only=True):
    """A dataset with its sets of texts, its aspects (id and name each) and its
    cells.
    """

    id: str
    name: str
    ratings: str
    sets: list[tuple[str, str]]
    aspects: list[tuple[str, str]]
    cells: list[CellBlock]
    files: PageFiles
    labels: dict[str, tuple[list[str], bool]] = field(default_factory=dict)
    """Aspect that people rate by labels alone -> these, and whether they are
    ordered."""
    turned: Turned | None = None
    """The scales of ratings and scores whose lowest value is the best."""


class ExploreSpec(JobSpec, frozen=True, kw_only=True):
    """The spec of the page on which every judgment can be looked at."""

    study: str
    templates: str
    datasets: list[ExploredDataset]
    judges: dict[str, str]
    """Judge -> what answers for it, and how it is asked."""
    models: dict[str, str]
    """Judge -> the model in the paths of its cells."""
    perturbations: dict[str, PerturbationCard]
    output: Annotated[str, OUT]
    shards: Annotated[str, OUT_FOLDER]
    """The folder of the data that the page loads."""
    thresholded: list[str] = field(default_factory=list)
    """The judges whose scores are numbers that a threshold turns into labels."""
