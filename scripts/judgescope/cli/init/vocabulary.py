"""The words by which the roles of a table's columns are guessed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class ColumnWords:
    """Words in the names and cells of columns, in lower case."""

    references: frozenset[str] = frozenset(
        {
            "reference",
            "references",
            "ref",
            "refs",
            "gold",
            "golden",
            "highlight",
            "highlights",
            "target",
            "truth",
            "expected",
            "ideal",
            "correct",
            "canonical",
        }
    )
    """Words anywhere in a column's name that indicate a reference."""
    fillers: frozenset[str] = frozenset(
        {
            "name",
            "text",
            "texts",
            "txt",
            "content",
            "body",
            "string",
            "column",
            "value",
            "文",
            "内容",
            "全文",
            "本文",
        }
    )
    """Last words of a name that do not indicate its role."""
    remarks: frozenset[str] = frozenset(
        {
            "rationale",
            "reason",
            "reasoning",
            "reasons",
            "explanation",
            "explanations",
            "justification",
            "critique",
            "comment",
            "comments",
            "remark",
            "notes",
            "feedback",
            "language",
            "lang",
            "type",
            "category",
            "topic",
            "title",
            "url",
            "label",
        }
    )
    """Last words of the name of a column that only describes a text: `Target
    language`."""
    ids: frozenset[str] = frozenset(
        {
            "id",
            "ids",
            "uid",
            "uuid",
            "key",
        }
    )
    """Last words of the name of a column of ids."""
    people: frozenset[str] = frozenset(
        {
            "rater",
            "raters",
            "annotator",
            "annotators",
            "expert",
            "experts",
            "worker",
            "human",
            "humans",
            "crowd",
            "people",
            "person",
            "reviewer",
            "coder",
            "labeler",
            "labeller",
            "evaluator",
            "assessor",
            "turker",
            "participant",
        }
    )
    """Words of a column's name that indicate human raters."""
    ratings: frozenset[str] = frozenset(
        {
            "score",
            "scores",
            "rating",
            "ratings",
            "label",
            "labels",
            "verdict",
            "grade",
            "rated",
        }
    )
    """Words of a column's name that mark it as a rating, without naming an aspect."""
    general: frozenset[str] = frozenset(
        {
            "pass",
            "passed",
            "outcome",
            "decision",
            "result",
            "success",
            "status",
            "eval",
            "evaluation",
            "review",
            "reviewed",
            "raw",
            "binary",
            "orig",
            "original",
        }
    )
    """Words of a rating's column that name no aspect."""
    choices: frozenset[str] = frozenset(
        {
            "winner",
            "choice",
            "choices",
            "chosen",
            "preference",
            "preferred",
            "prefers",
            "better",
            "best",
            "vote",
            "pick",
        }
    )
    """Words of a column's name that mark it as choices, without naming an aspect."""
    means: frozenset[str] = frozenset(
        {
            "mean",
            "avg",
            "average",
            "adjudicated",
            "consensus",
        }
    )
    """Words of a column's name that indicate mean ratings, or one that raters settled
    on.
    """
    settled: frozenset[str] = frozenset(
        {"aggregated", "final", "majority", "median", "reconciled"}
    )
    """Words of the name of a column of what raters settled on, or of their majority: no
    rater more beside theirs."""


WORDS: Final = ColumnWords()
ROLE_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "text": (
        "summary",
        "output",
        "outputs",
        "response",
        "reply",
        "generated",
        "generation",
        "completion",
        "hypothesis",
        "translation",
        "continuation",
        "prediction",
        "claim",
        "text",
    ),
    "source": (
        "source",
        "article",
        "document",
        "input",
        "inputs",
        "prompt",
        "context",
        "question",
        "request",
        "src",
        "ctx",
        "evidence",
        "doc",
        "dialogue",
        "dialog",
        "passage",
        "text",
    ),
    "references": (
        "reference",
        "references",
        "gold",
        "target",
        "ref",
        "human_summary",
    ),
    "system": (
        "system",
        "model",
        "generator",
        "model_name",
        "system_name",
        "systems",
    ),
    "item": (
        "item",
        "id",
        "item_id",
        "doc_id",
        "article_id",
        "source_id",
        "example_id",
        "document_id",
        "prompt_id",
        "doc",
        "key",
    ),
}
"""Role -> names that indicate it, the clearest first; `text` next to `summary` is a
source."""
ROLE_NOUNS: Final[Mapping[str, tuple[str, ...]]] = {
    "system": (
        "system",
        "systems",
        "model",
        "models",
        "generator",
        "bot",
        "engine",
        "checkpoint",
    ),
    "source": (
        "source",
        "sources",
        "src",
        "article",
        "document",
        "doc",
        "input",
        "inputs",
        "prompt",
        "context",
        "question",
        "query",
        "dialogue",
        "dialog",
        "conversation",
        "passage",
        "instruction",
        "request",
        "transcript",
        "post",
    ),
    "text": (
        "summary",
        "output",
        "response",
        "reply",
        "answer",
        "generated",
        "generation",
        "completion",
        "hypothesis",
        "translation",
        "continuation",
        "prediction",
        "candidate",
        "story",
    ),
}
"""Role -> last words of a name that indicate it: `Generated Summary` is a text."""
