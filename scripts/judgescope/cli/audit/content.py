"""The output of `audit --json` as records: their fields are its keys, and its schema.

A new key keeps the number of `SCHEMA`; a key that goes, or means something else, raises
it. The schema for other programs is made of these records (`judgescope schema audit`).
"""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, field
from msgspec.json import schema_components

SCHEMA: Final = "judgescope.audit/1"
VERSION: Final = 1


def _about(text: str) -> Meta:
    return Meta(description=text)


class ShownNumber(Struct, kw_only=True):
    """A statistic with its 95 % interval."""

    aspect: str
    statistic: Annotated[str, _about("Its name; docs/reference/statistics.md.")]
    level: Annotated[
        str, _about("within_source, pooled, by_source, by_system or empty.")
    ]
    value: Annotated[float | None, _about("null: undefined, `note` says why.")]
    ci_low: float | None
    ci_high: float | None
    n: Annotated[int, _about("Texts, pairs or sources that count.")]
    n_missing: int
    method: str
    note: str
    signature: str = ""


class LiteratureGroup(Struct, kw_only=True):
    """Measures of one level, by the literature's names."""

    group: str
    measures: list[ShownNumber]


class LabelCounts(Struct, kw_only=True):
    """The texts that people give one of two labels."""

    label: str
    texts: int
    missed: Annotated[int, _about("Texts of them with another label by the judge.")]


class ShownClaim(ShownNumber, kw_only=True):
    """A claim about a judge, with its deciding number."""

    kind: Annotated[str, _about("agreement, labels, caught, passed, pairs or `bar …`.")]
    outcome: Literal[
        "no_claim",
        "not_shown",
        "better",
        "as_rater",
        "misses",
        "cannot_tell",
        "meets",
        "noticed",
        "withstands",
        "swayed",
    ]
    sign: Annotated[
        Literal["+", "~", "?", "x", "-"],
        _about(
            "+ holds; ~ agrees, but something simpler may explain it; ? not shown; "
            "x fails; - no claim."
        ),
    ]
    reasons: list[str]
    rival: Annotated[
        str | None, _about("The rule that the claim had most trouble to beat.")
    ]
    rival_value: Annotated[
        ShownNumber | None, _about("What the rule reaches, in the claim's unit.")
    ]
    rival_difference: Annotated[
        ShownNumber | None, _about("The judge's number minus the rule's.")
    ]
    rival_in_words: str
    sources_counted: int | None
    label_counts: Annotated[
        LabelCounts | None, _about("Of shares of the texts of one label.")
    ]
    literature: list[LiteratureGroup]
    literature_line: str
    others: Annotated[
        dict[str, ShownNumber], _about("Further numbers, by statistic: p-values …")
    ]


class ShownJudgment(Struct, kw_only=True):
    """What is said of one judge; other judges of the file change nothing of it."""

    sentence: str
    claims: list[ShownClaim]
    name: Annotated[str, _about("As the header has it; the key is its id.")] = ""


class ColumnReading(Struct, kw_only=True):
    """What a column was read as."""

    column: str
    role: str
    grade: Annotated[str, _about("certain, or assumed.")]
    why: str
    aspect: str | None = None
    name: Annotated[str | None, _about("The judge or rater.")] = None


class ShownColumns(Struct, kw_only=True):
    """Role -> columns, and the reading of each column."""

    text: list[str]
    source: list[str]
    item: list[str]
    system: list[str]
    length: list[str]
    texts: list[str]
    systems: list[str]
    lengths: list[str]
    people: Annotated[dict[str, list[str]], _about("Aspect -> columns of ratings.")]
    judges: Annotated[
        dict[str, dict[str, str]],
        _about("Judge -> aspect -> column; the aspect * stands for all."),
    ]
    missing: Annotated[dict[str, int], _about("Column -> rows without a value.")]
    not_used: list[str]
    references: list[str] = []
    aspect_names: Annotated[dict[str, str], _about("Aspect -> its name.")] = {}
    draws: Annotated[dict[str, int], _about("Judge -> its draws.")] = {}
    confidence: Annotated[dict[str, str], _about("Judge -> column.")] = {}
    each: list[ColumnReading] = []


class ShownDisagreement(Struct, kw_only=True, omit_defaults=True):
    """A row in which judge and people disagree."""

    judge: str
    aspect: str
    row: Annotated[int, _about("As a spreadsheet counts: the header is row 1.")]
    judged: str
    rated: str
    distance: Annotated[float, _about("0 to 1, of ranks within the scales.")]
    text: str | None = None


class ShownPicture(Struct, kw_only=True):
    """Counts of rows by what people say (columns) and what a judge says (rows)."""

    judge: Annotated[str, _about("Empty: one person by the others.")]
    aspect: str
    kind: Literal["labels", "choices", "steps", "ranks"]
    people: Annotated[list[str], _about("The categories of the columns.")]
    judged: Annotated[list[str], _about("The categories of the rows.")]
    counts: list[list[int]]


class ShownGap(Struct, kw_only=True):
    """The best judge minus another one on an aspect."""

    aspect: str
    best: str
    other: str
    difference: ShownNumber
    p_holm: Annotated[float | None, _about("Two-sided, Holm over all pairs of judges.")]
    apart: Annotated[bool, _about("false: they cannot be told apart.")]


class ShownChoices(Struct, kw_only=True):
    """How often the text that is shown first is chosen, a tie counting half."""

    judge: str
    aspect: str
    of_judge: ShownNumber
    of_people: ShownNumber
    difference: ShownNumber
    differs: bool


class ShownDraws(Struct, kw_only=True):
    """How well several draws of a judge agree."""

    judge: str
    aspect: str
    draws: int
    alpha: ShownNumber
    flips: ShownNumber


class ShownCalibration(Struct, kw_only=True):
    """How a judge's confidence compares with how often it gives people's verdict."""

    judge: str
    aspect: str
    label: Annotated[
        str, _about("The label whose chance it states; empty: that of the verdict.")
    ]
    shown: Annotated[str, _about("What gap and slope show, by Holm at 5 %.")]
    gap: ShownNumber
    slope: ShownNumber
    brier: ShownNumber
    auroc: ShownNumber
    error: Annotated[ShownNumber, _about("Calibration error, biased upwards.")]
    if_calibrated: Annotated[ShownNumber, _about("That of a calibrated judge.")]
    accept_from: Annotated[
        float | None,
        _about("From this confidence on at most 10 % are wrong, 95 % sure."),
    ]
    accepted_share: Annotated[float, _about("Of all planned texts.")]
    why_none_accepted: str


class ShownConfidence(Struct, kw_only=True):
    """A column with a judge's confidence."""

    column: str
    judge: str
    count: int
    low: float | None
    high: float | None
    calibrations: list[ShownCalibration]
    why_none: Annotated[str, _about("Why no number rests on it; empty if one does.")]


class ShownUnrated(Struct, kw_only=True):
    """Scores of texts that nobody rated."""

    judge: str
    aspect: str
    scored: int
    unrated: int


class ShownCorrected(Struct, kw_only=True):
    """The mean of all texts, or of a system's, by people's ratings of some of them."""

    judge: str
    aspect: str
    system: Annotated[str | None, _about("Null where texts name none, or are hidden.")]
    corrected: Annotated[
        ShownNumber, _about("Without a value where it is refused; the note says why.")
    ]
    uncorrected: ShownNumber | None


class ShownRubricScore(Struct, kw_only=True):
    """A judge's mean score of the responses, where criteria have points."""

    judge: str
    score: Annotated[
        ShownNumber, _about("Criteria that were not read are left out of both sums.")
    ]
    unmet: Annotated[ShownNumber, _about("With unread criteria as unmet.")]
    experts: ShownNumber
    error: Annotated[ShownNumber, _about("Judge minus experts, by response.")]


class JudgedNumber(ShownNumber, kw_only=True):
    """A judge's deciding number."""

    judge: str


class ShownSliceTest(Struct, kw_only=True):
    """A judge's number on a part minus that on the rest."""

    judge: str
    aspect: str
    difference: ShownNumber
    p_holm: Annotated[
        float | None,
        _about("Two-sided; over all slices of the judge and aspect, also by length."),
    ]
    worse: bool


class SliceBar(Struct, kw_only=True):
    """A required minimum on a part."""

    judge: str
    aspect: str
    statistic: str
    outcome: str
    value: float | None


class ShownSlice(Struct, kw_only=True):
    """The rows with one value of a column."""

    column: str
    value: str | None
    rows: int
    rated: int
    numbers: list[JudgedNumber]
    tests: Annotated[
        list[ShownSliceTest],
        _about("Empty of a part that is too small, or whose sources are in others."),
    ]
    bars: Annotated[list[SliceBar], _about("Of --require-slices; empty without it.")]
    why_none: str


class ShownFalseClaims(Struct, kw_only=True):
    """How many claims of the page are false in expectation, at most."""

    families: int
    expected: float
    hold: int
    hold_overall: int


class AuditPage(Struct, kw_only=True):
    """The page of an audit: exit code 0, 1 or 2."""

    schema: Literal["judgescope.audit/1"] = SCHEMA
    schema_version: Literal[1] = VERSION
    file: str
    rows: int
    headline: str
    notes: list[str]
    assumed: Annotated[dict[str, str], _about("Column -> why it has its role.")]
    columns: ShownColumns
    judges: dict[str, ShownJudgment]
    people: Annotated[
        list[ShownNumber], _about("One rater's agreement with the others, by aspect.")
    ]
    pictures: list[ShownPicture]
    gaps: list[ShownGap]
    first_choices: list[ShownChoices]
    draws: list[ShownDraws]
    confidences: list[ShownConfidence]
    unrated: list[ShownUnrated]
    corrected: list[ShownCorrected]
    rubric_scores: list[ShownRubricScore] = []
    slices: list[ShownSlice]
    supports: list[str]
    adds: list[str]
    disagreements: list[ShownDisagreement]
    false_claims: ShownFalseClaims
    verdict: Literal["meets", "misses", "cannot tell"] | None
    exit_code: Literal[0, 1, 2]


class RefusalReason(Struct, kw_only=True):
    """Why a table or a command line cannot be used."""

    what: str
    where: str
    todo: str
    got: Any = None
    allowed: list[str] | str | None = None


class AuditRefusal(Struct, kw_only=True):
    """The output if the input cannot be used: exit code 3."""

    schema: Literal["judgescope.audit/1"] = SCHEMA
    exit_code: Literal[3] = 3
    error: list[RefusalReason]
    options: Annotated[
        list[dict[str, Any]],
        _about(
            "Each possible reading of an open table, with the command line that "
            "chooses it; empty if there is nothing to choose."
        ),
    ] = field(default_factory=list)


def json_schema() -> dict[str, Any]:
    """The JSON schema of the output: a page, or a refusal."""
    either, definitions = schema_components(
        [AuditPage, AuditRefusal], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The output of judgescope audit --json",
        "description": "Keys may be added; a removed or changed one raises the number.",
        "oneOf": list(either),
        "$defs": definitions,
    }
