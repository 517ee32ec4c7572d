"""Cells and columns that belong together: objects in cells, conversations, and draws
of one judge in several columns.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple

from judgescope.data.column_rows import cells_of
from judgescope.data.rows import TableRow
from judgescope.tables.choices import SIDES
from judgescope.tables.spelling import filled_cells, is_missing
from judgescope.tables.words import classes_of, split_header

DRAWS: Final = frozenset(
    {
        "run",
        "draw",
        "sample",
        "trial",
        "seed",
        "repeat",
        "repetition",
        "rep",
        "replicate",
        "iteration",
        "attempt",
        "try",
        "lauf",
        "durchlauf",
        "essai",
        "intento",
        "tentativa",
        "prova",
    }
)
"""Words before the number of a draw, in the header of a judge's column."""
PAIRED_PARTS: Final = frozenset(chain.from_iterable(SIDES)) | {"chosen", "rejected"}
"""Parts of headers that tell the two texts of a pair apart."""


def flattened(rows: Sequence[TableRow]) -> list[TableRow]:
    """Rows with a column for every key of an object in a cell, `scores.accuracy`, and
    with conversations as texts.

    >>> flattened([{"input": {"question": "Why?"}, "score": 1}])
    [{'input.question': 'Why?', 'score': 1}]
    """
    columns: dict[str, None] = {}
    flat_rows = []
    for row in rows:
        flat: dict[str, Any] = {}
        for name, cell in row.items():
            _flatten(flat, name, cell)
        columns.update(dict.fromkeys(flat))
        flat_rows.append(flat)
    complete = list[TableRow]()
    for flat in flat_rows:
        complete.append({name: flat.get(name) for name in columns})
    return complete


def _flatten(flat: dict[str, Any], name: str, cell: Any) -> None:
    if isinstance(cell, Mapping) and cell:
        for key, value in cell.items():
            _flatten(flat, f"{name}.{key}", value)
    elif is_conversation(cell):
        flat[name] = conversation(cell)
    elif is_list_of_objects(cell):
        for key in dict.fromkeys(chain.from_iterable(cell)):
            flat[f"{name}.{key}"] = [entry.get(key) for entry in cell]
    else:
        flat[name] = cell


def is_list_of_objects(cell: Any) -> bool:
    """Whether a cell is a list of objects without inner ones: the ratings of several
    people, each with its rater.

    >>> is_list_of_objects([{"annotator": "a", "score": 3}]), is_list_of_objects([3])
    (True, False)
    """
    if not isinstance(cell, list) or not cell or is_conversation(cell):
        return False
    for entry in cell:
        if not isinstance(entry, Mapping) or not entry:
            return False
        if any(isinstance(value, Mapping | list) for value in entry.values()):
            return False
    return True


LIST_OF_NUMBERS: Final = re.compile(
    r"[\[(]\s*-?\d+(?:\.\d+)?(?:\s*[,;]\s*-?\d+(?:\.\d+)?)*\s*[,;]?\s*[\])]"
    r"|-?\d+(?:\.\d+)?(?:\s*[;|]\s*-?\d+(?:\.\d+)?)*"
)
"""A list of numbers as programs or people write it into a cell: `[3, 4, 5]`, `(3, 4)`,
`3;4;5`, `3|4`. A comma without brackets may stand before decimals."""


def with_listed_numbers(
    rows: Sequence[TableRow], columns: Sequence[str]
) -> tuple[Sequence[TableRow], list[str]]:
    """Rows with lists in the columns whose filled cells are lists of numbers in words;
    and these columns.

    >>> with_listed_numbers([{"judge": "[3, 4]"}, {"judge": "[5]"}], ["judge"])
    ([{'judge': [3, 4]}, {'judge': [5]}], ['judge'])
    """
    listed = []
    for column in columns:
        filled = filled_cells(cells_of(rows, column))
        is_listed = all(
            isinstance(cell, str) and LIST_OF_NUMBERS.fullmatch(cell.strip())
            for cell in filled
        )
        if is_listed and any(re.search(r"[,;|]", cell) for cell in filled):
            listed.append(column)
    if not listed:
        return rows, []
    new_rows: list[TableRow] = []
    for row in rows:
        new = dict(row)
        for column in listed:
            if isinstance(row.get(column), str):
                numbers = re.findall(r"-?\d+(?:\.\d+)?", str(row[column]))
                new[column] = [
                    float(each) if "." in each else int(each) for each in numbers
                ]
        new_rows.append(new)
    return new_rows, listed


def with_listed_words(
    rows: Sequence[TableRow], columns: Sequence[str]
) -> tuple[Sequence[TableRow], dict[str, list[str]]]:
    """Rows with a column for each rater where all cells of a column are lists of as
    many labels; and column -> its new columns.

    A list that has a word twice is one of raters: the labels of one text differ.

    >>> rows = [{"experts": ["good", "good"]}, {"experts": ["bad", "good"]}]
    >>> with_listed_words(rows, ["experts"])[0][1]
    {'experts (1)': 'bad', 'experts (2)': 'good'}
    """
    split: dict[str, list[str]] = {}
    for column in columns:
        lists = []
        for cell in cells_of(rows, column):
            if not is_missing(cell):
                lists.append(cell)
        if not lists or not all(map(_is_list_of_words, lists)):
            continue
        sizes = {len(cell) for cell in lists}
        repeats = any(len(set(cell)) < len(cell) for cell in lists)
        if len(sizes) != 1 or not repeats:
            continue
        places = range(1, sizes.pop() + 1)
        if classes_of(column).get("machine"):
            split[column] = [f"{column} run {place}" for place in places]
        else:
            split[column] = [f"{column} ({place})" for place in places]
    return _split(rows, split), split


def with_listed_texts(
    rows: Sequence[TableRow], columns: Sequence[str]
) -> tuple[Sequence[TableRow], dict[str, list[str]]]:
    """Rows with two columns where all cells of a column of answers are lists of two
    texts; and column -> its new columns.

    >>> texts = ["The tide rises twice a day.", "It depends on the moon and the sun."]
    >>> with_listed_texts([{"responses": texts}], ["responses"])[1]
    {'responses': ['responses 1', 'responses 2']}
    """
    split: dict[str, list[str]] = {}
    for column in columns:
        evidence = classes_of(column)
        if "text" not in evidence or "source" in evidence or "reference" in evidence:
            continue
        lists = [cell for cell in cells_of(rows, column) if not is_missing(cell)]
        if len(lists) < len(rows) or not all(map(_is_two_texts, lists)):
            continue
        if _have_one_order(rows, columns, column):
            split[column] = [f"{column} 1", f"{column} 2"]
    return _split(rows, split), split


def _have_one_order(
    rows: Sequence[TableRow], columns: Sequence[str], texts: str
) -> bool:
    """Whether nothing beside the texts, as `candidates.id` beside `candidates.text`,
    says that their places in a list differ from row to row.
    """
    stem, dot, _ = texts.rpartition(".")
    for column in columns:
        is_beside = dot and column != texts and column.startswith(f"{stem}.")
        if is_beside and len({str(cell) for cell in cells_of(rows, column)}) > 1:
            return False
    return True


def _is_two_texts(cell: Any, shortest: int = 15) -> bool:
    if not isinstance(cell, list) or len(cell) != 2:
        return False
    return all(isinstance(text, str) and len(text) >= shortest for text in cell)


def _split(
    rows: Sequence[TableRow], split: Mapping[str, Sequence[str]]
) -> Sequence[TableRow]:
    """Rows with a column for each entry of a list. split: column -> new columns."""
    if not split:
        return rows
    new_rows: list[TableRow] = []
    for row in rows:
        new: dict[str, Any] = {}
        for name, cell in row.items():
            if name not in split:
                new[name] = cell
                continue
            entries = cell
            if not isinstance(cell, list):
                entries = [None] * len(split[name])
            new |= zip(split[name], entries, strict=True)
        new_rows.append(new)
    return new_rows


def _is_list_of_words(cell: Any, most_words: int = 20, longest: int = 30) -> bool:
    if not isinstance(cell, list) or not 2 <= len(cell) <= most_words:
        return False
    return all(isinstance(word, str) and len(word) <= longest for word in cell)


def is_conversation(cell: Any) -> bool:
    """Whether a cell is a list of messages, each with a role."""
    if not isinstance(cell, list) or not cell:
        return False
    return all(isinstance(turn, Mapping) and bool(_role(turn)) for turn in cell)


def _role(turn: Mapping[str, Any]) -> str:
    """Who speaks in a message; "" if it is no message.

    LangChain and Ragas name the role by the key `type` (human, ai), others by `from`.
    """
    if "role" in turn:
        return str(turn["role"])
    spoken = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
    if "content" in turn:
        return spoken.get(str(turn.get("type")), "")
    if "value" in turn and "from" in turn:
        return spoken.get(str(turn["from"]), str(turn["from"]))
    return ""


def conversation(turns: Sequence[Mapping[str, Any]]) -> str:
    """A list of messages as a text: a line for each, with calls of tools and their
    results.

    >>> print(conversation([{"role": "user", "content": "Hello"}]))
    user: Hello
    """
    lines = []
    for turn in turns:
        role = _role(turn)
        texts = [turn[key] for key in ("content", "prompt", "value") if turn.get(key)]
        lines += _said(role, texts[0] if texts else None)
        calls = list(turn.get("tool_calls") or turn.get("toolsCalled") or [])
        if turn.get("function_call"):
            calls.append(turn["function_call"])
        for call in calls:
            if isinstance(call, Mapping):
                lines += _called(role, call)
    return "\n".join(lines)


def _said(role: str, content: Any) -> list[str]:
    """The lines of a message's content: a text, or parts of several kinds."""
    if content is None:
        return []
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return [f"{role}: {content}"]
    words: list[str] = []
    lines: list[str] = []
    for part in content:
        kind = None
        if isinstance(part, Mapping):
            kind = part.get("type")
        if kind == "tool_use":
            lines += _called(role, part)
        elif kind == "tool_result":
            lines += _said("tool", part.get("content"))
        elif not isinstance(part, Mapping):
            words.append(str(part))
        elif "text" in part:
            words.append(str(part["text"]))
        elif kind:
            words.append(f"[{kind}]")
    if words:
        return [f"{role}: {' '.join(words)}", *lines]
    return lines


def _called(role: str, call: Mapping[str, Any]) -> list[str]:
    """The lines of a call of a tool: its name, its arguments, and a result in it."""
    function = call.get("function")
    if not isinstance(function, Mapping):
        named = function
        if function is None:
            named = call.get("name", "")
        function = {**call, "name": named}
    keys = ("arguments", "args", "input", "inputParameters", "input_parameters")
    given = [function[key] for key in keys if key in function]
    arguments = given[0] if given else ""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    lines = [f"{role} calls {function.get('name', '')}: {arguments}"]
    if call.get("output") is not None:
        lines += _said("tool", call["output"])
    return lines


def with_draws(
    rows: Sequence[TableRow], columns: Sequence[str]
) -> tuple[Sequence[TableRow], dict[str, list[str]]]:
    """Rows with one column of lists for the draws of a judge; judge -> its columns.

    `gpt5_run1`, `gpt5_run2` and `gpt5_run3` are three draws of gpt5, not three judges.
    """
    families: dict[str, list[str]] = {}
    for column in columns:
        stem = _judge_of_draw(column)
        if stem and stem not in columns:
            families.setdefault(stem, []).append(column)
    joined = {stem: group for stem, group in families.items() if len(group) > 1}
    if not joined:
        return rows, joined
    stem_of: dict[str, str] = {}
    for stem, group in joined.items():
        stem_of |= dict.fromkeys(group, stem)
    new_rows: list[TableRow] = []
    for row in rows:
        new: dict[str, Any] = {}
        for column, cell in row.items():
            if column in stem_of:
                new.setdefault(stem_of[column], []).append(cell)
            else:
                new[column] = cell
        new_rows.append(new)
    return new_rows, joined


def _judge_of_draw(column: str) -> str:
    """The header without the number of a draw; "" if it has none or is no judge's."""
    words = split_header(column)
    if len(words) < 3 or words[-2] not in DRAWS or not words[-1].isdigit():
        return ""
    # The word and the number may stand in brackets: `GPT-4o (trial 1)`.
    stem = re.sub(r"[\W_]*[^\W\d_]+[\W_]*\d+[\s)\]]*$", "", column)
    evidence = classes_of(stem)
    is_machine = evidence.get("machine") or evidence.get("measure")
    if is_machine and not evidence.get("person"):
        return stem
    return ""


@dataclass(frozen=True)
class SystemColumns:
    """Columns with a part that names a system: `v1_answer`, `v2_answer`, `v1_human`."""

    systems: list[str]
    columns: dict[str, dict[str, str]]
    """The rest of the header -> system -> its column."""


def columns_by_system(columns: Sequence[str]) -> SystemColumns | None:
    """The columns that repeat the same parts before or behind a text and a score.

    Parts that tell the two texts of a pair apart (a and b, 1 and 2) are no systems.

    >>> columns_by_system(
    ...     ["gpt-4o: answer", "llama-3: answer", "gpt-4o: human", "llama-3: human"]
    ... ).systems
    ['gpt-4o', 'llama-3']
    """
    for split_column in (
        _first_part,
        _last_part,
        _before_last_part,
        _behind_first_part,
    ):
        by_rest: dict[str, dict[str, str]] = {}
        for column in columns:
            split = split_column(column)
            if split is not None:
                by_rest.setdefault(split.rest, {})[split.system] = column
        systems = _systems_in(by_rest)
        if systems is not None:
            return systems
    return None


def _systems_in(by_rest: Mapping[str, dict[str, str]]) -> SystemColumns | None:
    """The parts that several rests share, of which one is a text's and one a score's.

    by_rest: the rest of a header -> the other part -> the column.
    """
    for of_text in by_rest.values():
        systems = list(of_text)
        same = {}
        for rest, group in by_rest.items():
            if set(group) == set(systems):
                same[rest] = group
        of_pair = PAIRED_PARTS.issuperset(part.casefold() for part in systems)
        if len(systems) > 1 and not of_pair and _has_text_and_score(same):
            return SystemColumns(systems, same)
    return None


class SplitHeader(NamedTuple):
    """A header in two: what may name a system, and the rest."""

    system: str
    rest: str


BETWEEN_PARTS: Final = r"[_.\s:|/-]+"
"""What separates the parts of a header."""


def _first_part(column: str) -> SplitHeader | None:
    """`v1` and `answer` of `v1_answer`; None for a header of one part."""
    parts = re.split(BETWEEN_PARTS, column.strip())
    if len(parts) > 1:
        return SplitHeader(parts[0], " ".join(parts[1:]))
    return None


def _last_part(column: str) -> SplitHeader | None:
    """`v1` and `answer` of `answer_v1`; None for a header of one part."""
    parts = re.split(BETWEEN_PARTS, column.strip())
    if len(parts) > 1:
        return SplitHeader(parts[-1], " ".join(parts[:-1]))
    return None


def _before_last_part(column: str) -> SplitHeader | None:
    """`gpt-4o` and `answer` of `gpt-4o: answer`: a model's name has parts, too."""
    split = re.fullmatch(rf"(.+?){BETWEEN_PARTS}([^_.\s:|/-]+)", column.strip())
    if split:
        return SplitHeader(split[1], split[2])
    return None


def _behind_first_part(column: str) -> SplitHeader | None:
    """`gpt-4o` and `answer` of `answer (gpt-4o)`."""
    split = re.fullmatch(r"([^\W_]+)[_.\s:/([-]+(.+?)[)\]]?", column.strip())
    if split:
        return SplitHeader(split[2], split[1])
    return None


def _has_text_and_score(rests: Mapping[str, Mapping[str, str]]) -> bool:
    classes: set[str] = set()
    for rest in rests:
        classes |= classes_of(rest).keys()
    scored = classes & {"person", "machine", "measure"}
    return "text" in classes and bool(scored)


def unpivoted(
    rows: Sequence[TableRow], by_system: SystemColumns, name: str
) -> tuple[list[TableRow], list[int]]:
    """Rows with one text of one system each, and the place of the row that each comes
    from.

    name: the new column of the systems.
    """
    moved = set[str]()
    for group in by_system.columns.values():
        moved.update(group.values())
    new_rows: list[TableRow] = []
    places = []
    for index, row in enumerate(rows):
        shared = {column: cell for column, cell in row.items() if column not in moved}
        for system in by_system.systems:
            new = {**shared, name: system}
            for rest, group in by_system.columns.items():
                new[rest] = row.get(group[system])
            new_rows.append(new)
            places.append(index)
    return new_rows, places
