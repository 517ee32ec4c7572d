"""The roles of the columns of a user's table, guessed from their names and cells.

A guess is a proposal: `judgescope init` prints it, and flags or answers replace it.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from judgescope.core.names import slug, without_accents
from judgescope.data.rows import entries

Row = Mapping[str, Any]

NAMES = {
    "text": "summary output response reply generated generation completion hypothesis "
    "translation continuation prediction text",
    "source": "source article document input prompt context question src dialogue "
    "dialog passage text",
    "references": "reference references gold target ref human_summary",
    "system": "system model generator model_name system_name systems",
    "item": "item id item_id doc_id article_id source_id example_id document_id "
    "prompt_id doc key",
}
"""Role -> names that indicate it, the clearest first; `text` next to `summary` is a
source."""
REFERENCES = {
    *(
        "reference",
        "references",
        "ref",
        "refs",
        "gold",
        "golden",
        "highlight",
        "highlights",
    ),
    *("target", "truth", "expected", "ideal", "correct", "canonical"),
}
"""Words anywhere in a column's name that indicate a reference."""
NOUNS = {
    "system": "system systems model models generator bot engine checkpoint",
    "source": "source sources src article document doc input prompt context question "
    "query dialogue dialog conversation passage instruction transcript post",
    "text": "summary output response reply answer generated generation completion "
    "hypothesis translation continuation prediction candidate story",
}
"""Role -> last words of a name that indicate it: `Generated Summary` is a text."""
FILLERS = {"name", "text", "texts", "txt", "content", "body", "string", "column"}
"""Last words of a name that do not indicate its role."""
REMARKS = {
    *(
        "rationale",
        "reason",
        "explanation",
        "comment",
        "comments",
        "remark",
        "notes",
        "feedback",
    ),
    *("language", "lang", "type", "category", "topic", "title", "url", "label"),
}
"""Last words of the name of a column that only describes a text: `Target language`."""
IDS = {"id", "ids", "uid", "uuid", "key"}
ROLES = ("text", "source", "references", "item", "system", "length")
PAIRED = ("texts", "systems", "lengths")
"""The roles that two columns have, instead of `text`, `system` and `length`."""
UNNAMED = re.compile(r"|Unnamed(: \d+)?")
"""The name that pandas gives the column of an index."""
TASKS = {
    "summary": "summarization",
    "article": "summarization",
    "response": "dialogue",
    "dialogue": "dialogue",
    "translation": "translation",
    "hypothesis": "translation",
    "story": "story",
    "answer": "qa",
    "question": "qa",
}
"""A column's name -> the task that it indicates; the first match counts."""
OTHER_TASK = "text"
SCALES = ((0, 1), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (0, 100), (-1, 1))
"""Common ranges: the first one that contains all ratings is guessed."""
STEPS = (1, 0.5, 0.25)
MOST_STEPS = 11
"""The most values of a common scale; a longer run of consecutive numbers numbers the
rows."""
PEOPLE = {
    *(
        "rater",
        "raters",
        "annotator",
        "annotators",
        "expert",
        "experts",
        "worker",
        "human",
    ),
    *(
        "humans",
        "crowd",
        "people",
        "person",
        "reviewer",
        "coder",
        "labeler",
        "labeller",
    ),
    *("evaluator", "assessor", "turker", "participant"),
}
"""Words of a column's name that indicate human raters."""
RATERS = PEOPLE | {"a", "r"}
RATINGS = {"score", "scores", "rating", "ratings", "label", "verdict", "grade", "rated"}
"""Words of a column's name that mark it as a rating, without naming an aspect."""
JUDGES = {
    *(
        "judge",
        "llm",
        "ai",
        "model",
        "metric",
        "autorater",
        "automatic",
        "pred",
        "predicted",
    ),
    *(
        "prediction",
        "gpt",
        "chatgpt",
        "openai",
        "claude",
        "gemini",
        "gemma",
        "llama",
        "mistral",
    ),
    *(
        "mixtral",
        "qwen",
        "deepseek",
        "grok",
        "palm",
        "prometheus",
        "geval",
        "unieval",
        "bleu",
    ),
    *("rouge", "meteor", "chrf", "bertscore", "bleurt", "comet", "ter", "moverscore"),
    *(
        "bartscore",
        "bert",
        "sacrebleu",
        "cider",
        "spice",
        "nli",
        "perplexity",
        "sonnet",
        "opus",
    ),
    *(
        "haiku",
        "phi",
        "vicuna",
        "falcon",
        "kimi",
        "glm",
        "summac",
        "factcc",
        "questeval",
        "ragas",
    ),
}
"""Words of a column's name that indicate the scores of a model or a measure."""
MEANS = {"mean", "avg", "average"}
SPREADS = {
    "std",
    "sd",
    "stdev",
    "stddev",
    "var",
    "variance",
    "stderr",
    "sem",
    "deviation",
    "iqr",
}
"""Words of a column's name that indicate the spread of ratings, which is not a
rating."""
NAMED = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
"""A final part of a column's name in brackets: the rater or the scale."""
COUNTS = {
    *(
        "age",
        "chars",
        "count",
        "index",
        "len",
        "length",
        "seed",
        "tokens",
        "words",
        "year",
        "date",
    ),
    *(
        "time",
        "seconds",
        "duration",
        "latency",
        "cost",
        "batch",
        "fold",
        "epoch",
        "timestamp",
    ),
}
"""Words of a column's name that indicate a count or a date, which is not a rating of a
text."""
NUMBER_OF = {"n", "num", "number", "nr"}
"""First words of a column's name that indicate a count: `n_raters`."""
BY = re.compile(
    r"\s*[_\-,:]?\s*(?:\b|_)(?:rated[ _])?(?:by|from)[ _]+[^()\[\]]+$", re.I
)
"""The rater at the end of a column's name: `fluency by Anna`."""
OWNER = re.compile(r"^\s*[^\W\d_]+['’]s?\s+")
"""The rater at the beginning: `Anna's fluency`."""
MISSING = {"", "-", "?", "n/a", "na", "nan", "none", "null", "missing"}
"""What people write for a missing rating, in lower case."""
MOST_LABELS = 2
"""A column with no more distinct cells has labels (yes, no), not references or
texts."""
ALL = "overall"
"""The aspect of ratings whose columns do not name an aspect."""
LONG = 40
"""The least average length of cells, in characters, of a column of texts."""
FEWEST_WORDS = 3
"""The least average number of words of a column of short texts."""
NEARLY_ALL = 0.9
"""The least share of different cells of a column of the judged texts, if others
repeat."""


@dataclass(frozen=True)
class Guess:
    """The columns of each role, and aspect -> columns of its ratings."""

    item: str | None = None
    source: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    system: str | None = None
    text: str | None = None
    texts: list[str] = field(default_factory=list)
    """If people chose between two texts: the columns of the texts, instead of
    `text`."""
    systems: list[str] = field(default_factory=list)
    """If people chose between two texts: the columns of the systems that wrote them."""
    length: str | None = None
    """The column of the judged texts' lengths, if the table has no texts; never
    guessed."""
    lengths: list[str] = field(default_factory=list)
    """If people chose between two texts: the columns of their lengths."""
    choice_words: dict[int, list[str]] = field(default_factory=dict)
    """If people chose: the choice (1, 2, or 0 for a tie) -> the words for it."""
    ratings: dict[str, list[str]] = field(default_factory=dict)
    judges: dict[str, dict[str, str]] = field(default_factory=dict)
    """Judge -> aspect -> the column of its scores; * stands for every aspect."""
    means: bool = False
    task: str = OTHER_TASK

    @property
    def compared(self) -> list[str]:
        """Return the columns between which people chose: two of texts, or two of
        systems.
        """
        return self.texts or self.systems

    @property
    def has_texts(self) -> bool:
        """Return whether a column has the judged texts."""
        return bool(self.text or self.texts)

    @property
    def measured(self) -> list[str]:
        """Return the columns of the judged texts' lengths."""
        return [*self.columns_of("length"), *self.lengths]

    @property
    def has_lengths(self) -> bool:
        """Return whether columns have the judged texts, or their lengths."""
        return self.has_texts or bool(self.measured)

    @property
    def rated(self) -> list[str]:
        """Return the columns of people's ratings."""
        return [column for group in self.ratings.values() for column in group]

    @property
    def scored(self) -> list[str]:
        """Return the columns of judges' scores."""
        return [column for scores in self.judges.values() for column in scores.values()]

    @property
    def used(self) -> set[str]:
        """Return all columns that have a role or hold ratings."""
        roles = {
            column for role in (*ROLES, *PAIRED) for column in self.columns_of(role)
        }
        return roles.union(self.rated, self.scored)

    def without(self, columns: Collection[str]) -> "Guess":
        """Return the columns except these of ratings and scores."""
        ratings = {
            aspect: left
            for aspect, group in self.ratings.items()
            if (left := [column for column in group if column not in columns])
        }
        judges = {
            judge: kept
            for judge, scores in self.judges.items()
            if (
                kept := {
                    name: column
                    for name, column in scores.items()
                    if column not in columns
                }
            )
        }
        return replace(self, ratings=ratings, judges=judges)

    def columns_of(self, role: str) -> list[str]:
        """Return the columns of a role: text, source, references, item or system."""
        columns = getattr(self, role)
        return (
            list(columns) if isinstance(columns, list) else [columns] if columns else []
        )


def guess(
    rows: Sequence[Row],
    named: Mapping[str, Sequence[str]] | None = None,
    aspects: Collection[str] = (),
) -> Guess:
    """Return the likely roles of the columns of some rows.

    `named` is role -> columns that the user has named; `ratings` is one of its keys.
    `aspects` are the aspects that have cards.
    """
    named = named or {}
    known = {column for group in named.values() for column in group}
    columns = columns_of(rows)
    words = {word for column in columns for word in words_of(column)}
    guessed = [c for c in columns if c not in known and not UNNAMED.fullmatch(c)]
    ratings, averages, scored = _ratings(rows, guessed, aspects)
    rated = {column for group in ratings.values() for column in group} | {
        *averages,
        *scored,
    }
    roles = _roles(rows, [column for column in guessed if column not in rated], named)
    text, system, item = (
        next(iter(roles[role]), None) for role in ("text", "system", "item")
    )
    if (
        "item" not in named
        and item
        and _identifies_rows(rows, item, roles["source"], system)
    ):
        item = None
    texts, systems, lengths = (list(named.get(role, [])) for role in PAIRED)
    length = next(iter(named.get("length", [])), None)
    if length and text and "text" not in named and not names_text(text):
        text = None  # a column that is named has precedence over a guess from cells
    return Guess(
        item=item,
        system=None if texts or systems else system,
        text=None if texts or systems else text,
        texts=texts,
        systems=systems,
        length=length,
        lengths=lengths,
        source=roles["source"],
        references=roles["references"],
        ratings=ratings,
        judges=judges_of(scored, ratings),
        means=bool(ratings)
        and all(map(_is_mean, (c for g in ratings.values() for c in g))),
        task=next((task for word, task in TASKS.items() if word in words), OTHER_TASK),
    )


def _roles(
    rows: Sequence[Row], free: Sequence[str], named: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return role -> columns: those that are named, or else the free column that fits
    best.
    """
    roles = {role: list(named.get(role, [])) for role in NAMES}

    def left() -> list[str]:
        return [c for c in free if all(c not in group for group in roles.values())]

    def take(role: str, column: str | None) -> None:
        roles[role] += [] if column is None else [column]

    for role, names in NAMES.items():
        if role not in named:
            by_name = {
                "_".join(words_of(column)): column
                for column in reversed(left())
                if role != "text" or numbers(rows, column) is None
            }
            take(
                role,
                next(
                    (by_name[name] for name in names.split() if name in by_name), None
                ),
            )
    for column in left():
        indicated = role_of(column)
        if indicated is None or indicated in named or roles[indicated]:
            continue
        texts = (
            numbers(rows, column) is None and _different(rows, [column]) > MOST_LABELS
        )
        if indicated in ("item", "system") or texts:
            take(indicated, column)
    # several texts share a source
    repeated = [c for c in left() if _different(rows, [c]) <= len(rows) / 2]
    if not roles["text"]:
        single = [c for c in left() if _different(rows, [c]) >= NEARLY_ALL * len(rows)]
        single = free_texts(rows, single) if longest(rows, repeated) else []
        take("text", next(iter(single), longest(rows, left())))
    if not roles["source"] and "source" not in named:
        take("source", longest(rows, [c for c in repeated if c in left()]))
    if not roles["system"] and "system" not in named:
        shared = roles["source"] or roles["item"]
        words = [
            c for c in repeated if c in left() and not _describes(c) and not is_judge(c)
        ]
        words = [c for c in words if numbers(rows, c) is None]
        if shared and _different(rows, shared) < len(rows):
            apart = (c for c in words if _different(rows, [*shared, c]) == len(rows))
            take("system", next(apart, None))
    return roles


def _different(rows: Sequence[Row], columns: Sequence[str]) -> int:
    """Return how many different cells some columns have together."""
    return len({str([row.get(column) for column in columns]) for row in rows})


def role_of(column: str) -> str | None:
    """Return the role that a column's name indicates: `Gold Summary` is a reference."""
    words, systems = _clear_words(column), NOUNS["system"].split()
    if not words or _describes(column):
        return None
    if REFERENCES.intersection(words):
        return "references"
    if words[-1] in IDS:
        return "system" if set(systems).intersection(words) else "item"
    return next(
        (role for role, nouns in NOUNS.items() if words[-1] in nouns.split()), None
    )


def names_text(column: str) -> bool:
    """Return whether a column's name says that it has the judged texts."""
    return column.lower() in NAMES["text"].split() or role_of(column) == "text"


def _describes(column: str) -> bool:
    """Return whether a name says that a column is people's, or only describes a
    text.
    """
    words = _clear_words(column)
    return bool(PEOPLE.intersection(words) or REMARKS.intersection(words[-1:]))


def _clear_words(column: str) -> list[str]:
    """Return the words of a name, without those in brackets and without FILLERS at the
    end.
    """
    words = words_of(NAMED.sub("", column) or column)
    while len(words) > 1 and words[-1] in FILLERS:
        words = words[:-1]
    return words


def _identifies_rows(
    rows: Sequence[Row], item: str, source: Sequence[str], system: str | None
) -> bool:
    """Return whether ids only number the rows, and source and system identify a
    text.
    """
    sources = [str([row.get(column) for column in source]) for row in rows]
    texts = {
        (text, str(row.get(system or "")))
        for text, row in zip(sources, rows, strict=True)
    }
    ids = {str(row.get(item)) for row in rows}
    return bool(source) and len(ids) == len(texts) == len(rows) > len(set(sources))


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Return the names of all columns, in the order of their first use."""
    return list(dict.fromkeys(name for row in rows for name in row))


def numbers(rows: Iterable[Row], column: str) -> list[float] | None:
    """Return the numbers of a column; None if it has other cells, or no numbers."""
    values: list[float] = []
    for row in rows:
        for cell in entries(row.get(column)):
            if is_missing(cell):
                continue
            if (value := number(cell)) is None:
                return None
            values.append(value)
    return values or None


def is_missing(cell: Any) -> bool:
    """Return whether a cell stands for a missing rating."""
    return cell is None or str(cell).strip().lower() in MISSING


def number(cell: Any) -> float | None:
    """Return a cell as a finite number, None if it is not one."""
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None


def scale(values: Sequence[float]) -> dict[str, float]:
    """Return the first common scale that contains all ratings, or else their range."""
    low, high = min(values), max(values)
    least, greatest = next(
        (s for s in SCALES if s[0] <= low and high <= s[1]), (low, high)
    )
    if least == greatest:
        greatest = least + 1
    limits = {"min": least, "max": greatest}
    for step in STEPS:
        if all(((value - least) / step).is_integer() for value in [*values, greatest]):
            return {**limits, "step": step}
    return limits


def _ratings(
    rows: Sequence[Row], columns: Sequence[str], aspects: Collection[str]
) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """Return the columns of people's ratings by aspect, of mean ratings, and of judges'
    scores.
    """
    known = {name for names in NAMES.values() for name in names.split()}
    ratings: dict[str, list[str]] = {}
    scored = []
    for column in columns:
        scores, words = is_judge(column), words_of(column)
        known_name = "_".join(words) in known and not scores
        if known_name or words[-1:] == ["id"] or counts(column):
            continue
        values = numbers(rows, column)
        if values is not None and scores:
            scored.append(column)
        elif values is not None and like_ratings(values, len(rows)):
            ratings.setdefault(aspect_of(column), []).append(column)
    ratings = _by_stem(rows, ratings, aspects)
    averages = []
    for aspect, group in ratings.items():
        single = [column for column in group if not _is_mean(column)]
        averages += [column for column in group if single and column not in single]
        ratings[aspect] = single or group
    return ratings, averages, scored


def _by_stem(
    rows: Sequence[Row], ratings: Mapping[str, list[str]], aspects: Collection[str]
) -> dict[str, list[str]]:
    """Return the ratings, with columns grouped if they differ only in the rater's name.

    `coherence_anna` and `coherence_ben` rate coherence, an aspect with a card, if their
    values share a scale. A name in front must occur with several aspects
    (`anna_coherence`, `anna_fluency`): `factual_consistency` and `logical_consistency`
    are two aspects.
    """
    parts = {
        name: part
        for name in ratings
        if name not in aspects and (part := _stem(name, aspects))
    }
    recurring = Counter(rater for _, rater, after in parts.values() if not after)
    stems: dict[str, list[str]] = {}
    for name, (stem, rater, after) in parts.items():
        if after or recurring[rater] > 1:
            stems.setdefault(stem, []).append(name)
    stem_of: dict[str, str] = {}
    for stem, names in stems.items():
        columns = [column for name in names for column in ratings[name]]
        scales = {str(scale(numbers(rows, column) or [])) for column in columns}
        if len(names) > 1 and len(scales) == 1:
            stem_of |= dict.fromkeys(names, stem)
    grouped: dict[str, list[str]] = {}
    for name, group in ratings.items():
        grouped.setdefault(stem_of.get(name, name), []).extend(group)
    return grouped


def _stem(name: str, aspects: Collection[str]) -> tuple[str, str, bool] | None:
    """Return the aspect at one end of a name, the rest, and whether the rest comes
    after it.
    """
    for stem in sorted(aspects, key=len, reverse=True):
        if name.startswith(f"{stem}-"):
            return stem, name[len(stem) + 1 :], True
        if name.endswith(f"-{stem}"):
            return stem, name[: -len(stem) - 1], False
    return None


def is_judge(column: str) -> bool:
    """Return whether a column's name indicates a model or a measure, and no people."""
    words = words_of(column)
    pairs = {first + second for first, second in pairwise(words)}  # G-Eval, MoverScore
    named = {re.sub(r"\d+", "", word) for word in words} | pairs
    return bool(named & JUDGES) and not PEOPLE.intersection(words)


def judges_of(
    columns: Iterable[str], aspects: Iterable[str]
) -> dict[str, dict[str, str]]:
    """Return judge -> aspect -> column: `coherence_gpt4` has the scores of gpt4 on
    coherence.

    A column whose name contains no rated aspect has a judge's scores on every aspect,
    `*`.
    """
    judges: dict[str, dict[str, str]] = {}
    longest = sorted(
        (name.split("-") for name in aspects), key=lambda words: -len(words)
    )
    for column in columns:
        words, aspect = words_of(column), "*"
        for named in longest:
            at = next(
                (i for i in range(len(words)) if words[i : i + len(named)] == named),
                None,
            )
            if at is not None and len(words) > len(named):
                words, aspect = words[:at] + words[at + len(named) :], "-".join(named)
                break
        name = (
            "-".join(word for word in words if word not in RATINGS)
            if aspect != "*"
            else ""
        )
        judge = slug(name or column)
        judge = judge if aspect not in judges.get(judge, {}) else slug(column)
        judges.setdefault(judge, {})[aspect] = column
    return judges


def like_ratings(values: Sequence[float], rows: int) -> bool:
    """Return whether numbers are in a common range, and are not row numbers."""
    ordered = sorted(values)
    within = any(low <= ordered[0] and ordered[-1] <= high for low, high in SCALES)
    run = ordered == [ordered[0] + at for at in range(rows)]
    numbered = run and (rows > MOST_STEPS or (rows > 2 and ordered == list(values)))
    return within and not numbered


def words_of(column: str) -> list[str]:
    """Return the words of a column's name as ids have them; a number is a word."""
    spaced = re.sub(
        r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])", " ", without_accents(column)
    )
    return re.sub(r"[^a-z0-9]+", " ", spaced.casefold()).split()


def aspect_of(column: str) -> str:
    """Return the aspect that a column rates: fluency for `fluency_rater2`, ALL for
    `score`.
    """
    plain = NAMED.sub("", column) or column
    words = words_of(OWNER.sub("", BY.sub("", plain)))
    kept = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if word not in RATERS | RATINGS | MEANS
        and not word.isdigit()
        and not (before in PEOPLE and len(word) == 1)  # annotator B
    ]
    return "-".join(kept) or ALL


def counts(column: str) -> bool:
    """Return whether a name indicates a count; `length_rating` does not."""
    ordered = words_of(column)
    words = set(ordered)
    counted = bool(words & COUNTS) or (len(ordered) > 1 and ordered[0] in NUMBER_OF)
    return bool(words & SPREADS) or (counted and not words & RATINGS)


def _is_mean(column: str) -> bool:
    return bool(MEANS.intersection(words_of(column)))


def longest(rows: Sequence[Row], columns: Iterable[str]) -> str | None:
    """Return the column with the longest cells on average, None if all are short."""
    length = {column: _mean_size(rows, column, len) for column in columns}
    best = max(length, key=lambda column: length[column], default=None)
    return best if best is not None and length[best] >= LONG else None


def free_texts(rows: Sequence[Row], columns: Iterable[str]) -> list[str]:
    """Return the columns of texts that people did not write about a text, the longest
    first.
    """
    texts = [
        column
        for column in columns
        if not _describes(column)
        and (
            _mean_size(rows, column, len) >= LONG
            or _mean_size(rows, column, lambda cell: len(cell.split())) >= FEWEST_WORDS
        )
    ]
    return sorted(texts, key=lambda column: -_mean_size(rows, column, len))


def doubtful_texts(rows: Sequence[Row], columns: Guess) -> list[str]:
    """Return the unused columns of texts, if the name of the judged text's column is
    not clear.
    """
    text = columns.text
    if (text and names_text(text)) or columns.compared or columns.length:
        return []
    return free_texts(
        rows, [name for name in columns_of(rows) if name not in columns.used]
    )


def _mean_size(rows: Sequence[Row], column: str, size: Callable[[str], int]) -> float:
    cells = (cell for row in rows if isinstance(cell := row.get(column), str))
    return sum(map(size, cells)) / max(1, len(rows))
