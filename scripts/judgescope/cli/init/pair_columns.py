"""Tables of pairs: which columns are the two texts, their systems, and the choices."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from judgescope.cli.init.column_values import numbers
from judgescope.cli.init.guess import MOST_LABELS, guess
from judgescope.cli.init.rating_columns import ALL, aspect_of, is_judge, words_of
from judgescope.cli.init.text_columns import longest
from judgescope.cli.init.vocabulary import ROLE_NOUNS, WORDS
from judgescope.core.names import without_accents
from judgescope.data.column_rows import cells_of
from judgescope.data.rows import TableRow, word_of
from judgescope.tables.choices import FIRST, SECOND, SIDES, TIE, TIE_WORDS
from judgescope.tables.profile import profile
from judgescope.tables.raters import is_given_name, is_numbered_rater
from judgescope.tables.spelling import is_missing
from judgescope.tables.words import classes_of, english_names

HEADER_SIDES: Final = (*SIDES, ("chosen", "rejected"))
"""Words that distinguish the two texts in the names of columns alone."""
ARROW: Final = re.compile(r"([^<>=≈~]+)(>{1,3}|<{1,3}|={1,2}|≈|~)([^<>=≈~]+)")
"""A choice that compares the two sides: `A>B`, `A >> B`, `A=B`."""
WORSE: Final = frozenset(
    without_accents(word)
    for word in {
        "worse",
        "weaker",
        "schlechter",
        "pire",
        "peor",
        "pior",
        "peggiore",
        "slechter",
        "gorszy",
        "gorsza",
        "хуже",
        "更差",
        "较差",
        "の方が悪い",
        "が悪い",
        "나쁨",
        "أسوأ",
    }
)
COMPARATIVES: Final = frozenset({"better", "stronger", *WORSE})
"""Words by which a cell compares two sides: `left is much better`."""
CODES: Final = {FIRST: ["1"], SECOND: ["2"], TIE: ["0"]}
"""Choice -> its words, if choices are written as numbers."""


@dataclass(frozen=True)
class PairColumns:
    """The columns of a table of pairs, and the meaning of its choices."""

    texts: list[str]
    systems: list[str]
    choices: dict[str, list[int | None]]
    """Column -> the choice of each row, None where it is missing."""
    words: dict[int, list[str]]
    """Choice -> its words in the data, except the names of systems."""
    by_system: list[str]
    """The columns of choices that name the chosen system."""
    other_order: list[str] = field(default_factory=list)
    """Columns of choices when the texts were shown in the other order. They are not
    used: nothing says whether A is the text shown first, or that of the column A."""


def says_who_chose(column: str) -> bool:
    """Return whether a column's name indicates choices, people, a model or a
    measure.
    """
    return bool(
        (WORDS.choices | WORDS.people).intersection(words_of(column))
    ) or is_judge(column)


def unclear_choices(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns of choices that may be nobody's, and why: `first_shown`
    beside `human_choice`.

    >>> [*unclear_choices(["human_choice", "first_shown"])]
    ['first_shown']
    >>> unclear_choices(["winner", "anna", "R2"])
    {}
    """
    clear = []
    for column in columns:
        if classes_of(column).get("person"):
            clear.append(column)
    if not clear:
        clear = [name for name in columns if WORDS.choices & {*words_of(name)}]
        why = "its header does not say that somebody chose"
    else:
        why = "others name people more clearly"
    unclear = {}
    for column in columns:
        is_name = is_given_name(column) or is_numbered_rater(column)
        if clear and column not in clear and not is_name:
            unclear[column] = why
    return unclear


def names_chosen_system(column: str) -> bool:
    """Return whether a header says that a system was chosen, and not by whom.

    >>> names_chosen_system("chosen_model"), names_chosen_system("model_choice_gpt4")
    (True, False)
    """
    words = {*words_of(column)}
    systems = {*ROLE_NOUNS["system"]}
    return bool(words & WORDS.choices and words & systems) and (
        words <= WORDS.choices | systems | {"by", "the", "name"}
    )


def aspect_named_in(column: str, aspects: Collection[str]) -> str:
    """Return the aspect of a column of choices: `clarity_winner` is of clarity, `ann`
    of all.
    """
    words = aspect_of(column).split("-")
    kept = [word for word in words if word not in WORDS.choices]
    named = len(kept) < len(words) or "-".join(kept) in aspects
    return "-".join(kept) if kept and named else ALL


def pairs_of(
    rows: Sequence[TableRow],
    columns: Sequence[str],
    named: Mapping[str, Sequence[str]],
    judging: Collection[str] = (),
) -> PairColumns | None:
    """Return the columns of pairs, None without a choice between two texts, or two
    systems.

    A column of ties alone counts only beside a column that chooses, and if it is in
    `judging` or named as a judge's: a judge that never decides must be judged as well.
    """
    taken = set(chain.from_iterable(named.values()))
    sided = sided_columns([column for column in columns if column not in taken])
    systems = list(named.get("systems", [])) or sided_systems(sided)
    texts = list(named.get("texts", [])) or sided_texts(rows, sided, systems)
    if not texts and not systems:
        texts = _chosen_by_header(rows, columns, taken)
    if not texts and not systems:
        return None
    choices: dict[str, list[int | None]] = {}
    for column in columns:
        if column in {*taken, *texts, *systems} or names_place(column):
            continue
        codes = _codes(rows, column, systems, texts)
        judged = column in judging or is_judge(column)
        if codes is not None and (_chooses(codes) or (judged and TIE in codes)):
            choices[column] = codes
    other_order = _in_other_order([name for name in choices if name not in judging])
    for column in other_order:
        del choices[column]
    if not any(map(_chooses, choices.values())):
        return None
    hinted = "texts" in named or any(map(says_who_chose, choices))
    doubtful = not texts or guess(rows, {"ratings": list(choices)}).ratings
    if doubtful and not hinted:
        return None  # a group A or B next to ratings is not a choice
    words: dict[int, dict[str, None]] = {}
    by_system = []
    for column, codes in choices.items():
        for row, code in zip(rows, codes, strict=True):
            if code is None:
                continue
            word = word_of(row.get(column)).casefold()
            if word not in _names(row, systems):
                words.setdefault(code, {})[word] = None
            elif column not in by_system:
                by_system.append(column)
    listed = {code: list(of_code) for code, of_code in words.items()}
    return PairColumns(texts, systems, choices, listed, by_system, other_order)


OTHER_ORDER: Final = frozenset(
    {"ba", "swap", "swapped", "reverse", "reversed", "flip", "flipped", "inverted"}
)
"""Words of a header for the choice when the second text was shown first."""
FIRST_ORDER: Final = frozenset(
    {"ab", "orig", "original", "forward", "normal", "straight", "unswapped"}
)
"""Words of a header for the choice when the first text was shown first."""


def _in_other_order(columns: Sequence[str]) -> list[str]:
    """Return the columns that have the choices of another one in the other order:
    `judge_ba` beside `judge_ab`, `gpt4_swapped` beside `gpt4`.
    """
    stems = {}
    for column in columns:
        stems[column] = {*words_of(column)} - OTHER_ORDER - FIRST_ORDER
    swapped = [name for name in columns if _is_second_of(name, columns)]
    for column in columns:
        if OTHER_ORDER.isdisjoint(words_of(column)):
            continue
        others = [name for name in columns if OTHER_ORDER.isdisjoint(words_of(name))]
        if any(stems[name] == stems[column] for name in others):
            swapped.append(column)
    return swapped


def names_place(column: str) -> bool:
    """Return whether a header asks which system stood where: `left_model`.

    >>> names_place("left_model"), names_place("winner_model")
    (True, False)
    """
    words = {*words_of(column)}
    places = {"left", "right", "first", "second", "top", "bottom"}
    return bool(words & places and words & {*ROLE_NOUNS["system"]})


def _is_second_of(column: str, columns: Sequence[str]) -> bool:
    """Return whether a column is the second of two orders: `judge_order2` beside
    `judge_order1`.
    """
    words = words_of(column)
    if {"order", "position", "pos"}.isdisjoint(words) or words[-1] != "2":
        return False
    return any(words_of(other) == [*words[:-1], "1"] for other in columns)


def _chosen_by_header(
    rows: Sequence[TableRow], columns: Sequence[str], taken: Collection[str]
) -> list[str]:
    """Return the two columns of texts whose headers are the choices of another column:
    `gpt-4o` and `claude-3` beside `winner`; [] without such.
    """
    texts = [name for name in columns if name not in taken and _like_texts(rows, name)]
    for column in columns:
        if column in {*taken, *texts}:
            continue
        words = {word_of(cell) for cell in cells_of(rows, column)} - {""}
        chosen = [name for name in texts if name in words]
        others = words.difference(chosen)
        ties = all(_meaning(word, (), ()) == TIE for word in others)
        if len(chosen) == 2 and ties:
            return chosen
        if not says_who_chose(column):
            continue
        # `human_response` is a text that a person wrote, if a choice names it.
        written = [name for name in columns if profile(rows, name).kind == "text"]
        named = _named_by_words(words, [name for name in written if name not in taken])
        if named:
            return named
    return []


def _named_by(word: str, columns: Sequence[str]) -> str | None:
    """Return the one of two columns whose header has all words of a cell: `old` chooses
    `old_answer`; None for none, or for both.
    """
    parts = {*words_of(word)}
    named = [name for name in columns if parts and parts <= {*words_of(name)}]
    return named[0] if len(named) == 1 and len(columns) == 2 else None


def _named_by_words(words: Collection[str], texts: Sequence[str]) -> list[str]:
    """Return the two columns of texts that the cells of a column name, `old_answer` and
    `new_answer`, beside ties; [] without such.
    """
    chosen = []
    rests = set()
    for word in sorted(words):
        if _meaning(word, (), ()) == TIE:
            continue
        parts = {*words_of(word)}
        named = [name for name in texts if parts and parts <= {*words_of(name)}]
        if len(named) != 1:
            return []
        chosen.append(named[0])
        rests.add(frozenset({*words_of(named[0])} - parts))
    if len(set(chosen)) != 2 or len(rests) != 1:
        return []
    return [name for name in texts if name in chosen]


class SidedColumns(NamedTuple):
    """Two columns whose names differ only by the side of a text."""

    words: list[str]
    """The words that both names have."""
    columns: list[str]


def sided_systems(sided: Iterable[SidedColumns]) -> list[str]:
    """Return the first two columns whose common words name systems."""
    for pair in sided:
        names_system = not set(ROLE_NOUNS["system"]).isdisjoint(pair.words)
        # `模型A回答`: the answer of model A, not its name.
        if names_system and set(ROLE_NOUNS["text"]).isdisjoint(pair.words):
            return pair.columns
    return []


def sided_texts(
    rows: Sequence[TableRow], sided: Iterable[SidedColumns], systems: list[str]
) -> list[str]:
    """Return the two columns that look most like texts, [] if none do."""
    candidates = {}
    for pair in sided:
        is_text = all(_like_texts(rows, column) for column in pair.columns)
        if is_text and pair.columns != systems:
            candidates[pair.columns[0]] = pair.columns
    if not candidates:
        return []
    first = longest(rows, candidates) or next(iter(candidates))
    return candidates[first]


def has_choices(rows: Sequence[TableRow], column: str) -> bool:
    """Return whether a column has only choices between two texts, such as A, B, tie."""
    return _chooses(_codes(rows, column, (), ()))


def choice_columns(rows: Sequence[TableRow], columns: Sequence[str]) -> list[str]:
    """Return the columns named as choices with words for a first or a second text."""
    choices = []
    for column in columns:
        if says_who_chose(column) and _chooses(_codes(rows, column, (), ())):
            choices.append(column)
    return choices


def sided_columns(columns: Sequence[str]) -> list[SidedColumns]:
    """Return pairs of columns whose names differ only by side, with their common
    words.
    """
    by_stem: dict[tuple[int, int, tuple[str, ...]], dict[int, str]] = {}
    english = english_names(columns)
    for column in columns:
        words = words_of(english[column])
        for number, sides in enumerate(HEADER_SIDES):
            for side_number, side in enumerate(sides):
                if side in words:
                    position = words.index(side)
                    others = (*words[:position], *words[position + 1 :])
                    by_side = by_stem.setdefault((number, position, others), {})
                    by_side.setdefault(side_number, column)
    pairs: list[SidedColumns] = []
    for (_, _, words_in_common), by_side in by_stem.items():
        if len(by_side) == 2:
            pairs.append(SidedColumns(list(words_in_common), [by_side[0], by_side[1]]))
    return pairs


def _like_texts(rows: Sequence[TableRow], column: str) -> bool:
    """Return whether a column may contain the judged texts, not numbers or raters'
    remarks.
    """
    if numbers(rows, column) is not None:
        return False
    if (WORDS.people | WORDS.references).intersection(words_of(column)):
        return False
    # With ties, choices of two numbered raters have three words, as short texts may.
    if _chooses(_codes(rows, column, (), ())):
        return False
    return len(set(map(str, cells_of(rows, column)))) > MOST_LABELS


def _codes(
    rows: Sequence[TableRow],
    column: str,
    systems: Sequence[str],
    texts: Sequence[str],
) -> list[int | None] | None:
    """Return the choices of a column; None if a cell is not a choice."""
    codes: list[int | None] = []
    zeros = []
    for position, row in enumerate(rows):
        if is_missing(row.get(column)):
            codes.append(None)
            continue
        code = code_of(row, column, systems, texts)
        if code is None and word_of(row.get(column)) == CODES[TIE][0]:
            zeros.append(position)
        elif code is None:
            return None
        codes.append(code)
    # Beside 1 alone, 0 may be the first text; without two texts, 0 to 2 are scores.
    has_pair = bool(texts or systems)
    if zeros and not (has_pair and {FIRST, SECOND} <= set(codes)):
        return None
    for position in zeros:
        codes[position] = TIE
    return codes


def _chooses(codes: Sequence[int | None] | None) -> bool:
    """Return whether some row chooses one of two texts; false where there are none."""
    return codes is not None and not {FIRST, SECOND}.isdisjoint(codes)


def code_of(
    row: TableRow, column: str, systems: Sequence[str], texts: Sequence[str]
) -> int | None:
    """Return the choice in a cell; None if it is not a choice."""
    cell = row.get(column)
    if isinstance(cell, Mapping):
        return None
    names = _names(row, systems)
    word = word_of(cell)
    if names.count(word.casefold()) == 1:
        return FIRST + names.index(word.casefold())
    return _meaning(word, texts, systems)


def _names(row: TableRow, systems: Sequence[str]) -> list[str]:
    return [word_of(row.get(system)).casefold() for system in systems]


def _meaning(
    word: str, texts: Sequence[str], systems: Sequence[str], most_words: int = 3
) -> int | None:
    """Return what a word chooses in every row; None if it has no fixed meaning.

    A cell with more than `most_words` words is a text that happens to contain a word
    for a choice, unless it compares: `Left is much better`.
    """
    for columns in (texts, systems):
        if word in columns:
            return FIRST + columns.index(word)
        named = _named_by(word, columns)
        if named is not None:
            return FIRST + columns.index(named)
    if word.strip() in {"=", "==", "≈", "~"}:
        return TIE
    arrow = ARROW.fullmatch(word.strip())
    if arrow:
        return _of_arrow(arrow[1], arrow[2], arrow[3])
    # `A更好` names a side before what it says of it.
    spaced = re.sub(r"(?<=[A-Za-z0-9])(?=[\u3040-\u9fff\uac00-\ud7af])", " ", word)
    words = words_of(spaced)
    if "equally" in words and len(words) <= 2 * most_words:
        return TIE
    if not COMPARATIVES.isdisjoint(words):
        return _of_comparison(words)
    if len(words) > most_words:
        return None
    if {*words} == {"no", "preference"}:
        return TIE
    if TIE_WORDS.intersection(words):
        return TIE
    return _side_in(words)


def _of_comparison(words: Sequence[str], most_words: int = 8) -> int | None:
    """Return the choice of `Response A is slightly better than Response B`; how much
    better the text is counts for nothing. None for other sentences.
    """
    if len(words) > most_words or not {"not", "if", "but"}.isdisjoint(words):
        return None
    compared = words[: words.index("than")] if "than" in words else words
    side = _side_in(compared)
    if {"neither", "none"}.intersection(compared):
        return TIE
    if side is None or WORSE.isdisjoint(compared):
        return side
    return SECOND if side == FIRST else FIRST


def _side_in(words: Collection[str]) -> int | None:
    """Return the one text whose side words name; None for no side, or for both."""
    named = set()
    for sides in SIDES:
        for number, side in enumerate(sides):
            if side in words:
                named.add(number)
    return FIRST + named.pop() if len(named) == 1 else None


def _of_arrow(left: str, sign: str, right: str) -> int | None:
    """Return the choice of `A>B`, `B >> A`, `A=B`, None if the sides are not both
    named; how much better the text is counts for nothing.
    """
    sides = (_side_in(words_of(left)), _side_in(words_of(right)))
    if set(sides) != {FIRST, SECOND}:
        return None
    if sign[0] in "=≈~":
        return TIE
    return sides[0] if sign[0] == ">" else sides[1]
