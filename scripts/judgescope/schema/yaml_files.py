"""YAML files with the line of each key, and without values that surprise."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import yaml
from yaml.error import MarkedYAMLError

from judgescope.core.errors import UserError

KeyPath = tuple[str | int, ...]


Lines = dict[KeyPath, int]
"""Key or list entry -> the line on which it begins."""


DEEPEST = 40
"""Limits of a card's file. No card needs a tenth of these; the parser itself fails at
some hundred levels."""


QUOTED = (
    "put it in quotes: without them, YAML does not read yes, no, on, off, digits "
    "and dates as text"
)


class _Marking:
    """Makes a loader name the line of an impossible date or number, too."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node, or raise YAMLError."""
        try:
            return super().construct_object(node, deep)  # type: ignore[misc]
        except ValueError as error:
            raise MarkedYAMLError(
                problem=str(error), problem_mark=node.start_mark
            ) from error


class _Loader(_Marking, yaml.SafeLoader):
    """YAML's safe loader."""


class _FastLoader(_Marking, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same with libyaml, if PyYAML has it: fifteen times as fast, with shorter
    errors.
    """


def load_yaml(path: Path) -> tuple[Any, Lines]:
    """Return the content of a YAML file and the line of every key and list entry in it.

    Raises UserError for a file that is missing, is not UTF-8 or YAML, has a key twice,
    or is too large, before or after its aliases are expanded.
    """
    try:
        try:
            return _load(path, _FastLoader)
        except yaml.YAMLError:
            return _load(path, _Loader)  # its error messages are more precise
    except (FileNotFoundError, IsADirectoryError) as error:
        near = nearest_file(path)
        folder = isinstance(error, IsADirectoryError)
        raise UserError(
            "this is a folder, not a file" if folder else "file not found",
            where=str(path),
            allowed=dict.fromkeys(_files_near(path).values()) or None,
            todo=f"did you mean {near}?" if near else "give the path of the YAML file",
        ) from error
    except UnicodeDecodeError as error:
        raise UserError(
            f"this is not YAML in UTF-8: {error.reason}",
            where=f"{path}:{error.object.count(10, 0, error.start) + 1}",
            got=error.object[error.start : error.start + 1],
            todo="save it as UTF-8",
        ) from None
    except yaml.YAMLError as error:
        # neither the lines themselves nor a cause that shows them: they may hold a key
        raise UserError(
            f"this is not YAML in UTF-8: {_fault(error)}",
            where=str(path),
            todo="check the indentation, brackets and quotes of that line and of the "
            "one above",
        ) from None


def _load(path: Path, loader_class: Any) -> tuple[Any, Lines]:
    most_bytes = 2_000_000
    if (size := path.stat().st_size) > most_bytes:
        raise _too_much(path, "the file is too large for a card", f"{size:,} bytes")
    text = path.read_text(encoding="utf-8")
    _check_extent(path, text, loader_class)
    loader = loader_class(text)
    node = loader.get_single_node()
    lines: Lines = {}
    if node is None:
        return None, lines
    _collect_lines(node, (), lines, path)
    return loader.construct_document(node), lines


class _Extent(NamedTuple):
    """The number of values, with aliases expanded, and of levels below."""

    values: int
    levels: int


class _KeyTrail:
    """The keys and indices under which the parser stands, followed event by event."""

    def __init__(self) -> None:
        self._open: list[tuple[bool, str | int]] = []
        """Of each open mapping or list: whether its next value is a mapping's key, and
        the current key or index."""

    @property
    def keys(self) -> KeyPath:
        """Return the keys from the outermost value to the present one."""
        return tuple(key for _, key in self._open)

    def follow(self, event: yaml.Event) -> None:
        """Take the next event of the parser."""
        if isinstance(event, yaml.MappingStartEvent):
            self._open.append((True, ""))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open.append((False, 0))
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
            self._after_value("")
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            self._after_value(getattr(event, "value", ""))

    def _after_value(self, value: str) -> None:
        if not self._open:
            return
        is_key, key = self._open[-1]
        if isinstance(key, int):
            self._open[-1] = (False, key + 1)
        else:
            self._open[-1] = (not is_key, value if is_key else key)


def _check_extent(path: Path, text: str, loader_class: Any) -> None:
    """Raise UserError, before anything is built, for too many values or levels."""
    single = _Extent(1, 0)
    anchors: dict[str, _Extent] = {}
    open_nodes: list[tuple[str | None, _Extent]] = [(None, single)]
    trail = _KeyTrail()
    most_values = 50_000
    for event in yaml.parse(text, Loader=loader_class):
        trail.follow(event)
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, single))
        elif isinstance(
            event, yaml.CollectionEndEvent | yaml.ScalarEvent | yaml.AliasEvent
        ):
            if isinstance(event, yaml.AliasEvent):
                if event.anchor in {anchor for anchor, _ in open_nodes}:
                    raise _too_much(
                        path, "this value contains itself", f"*{event.anchor}"
                    )
                anchor = None
                child = anchors.get(str(event.anchor), single)
            elif isinstance(event, yaml.ScalarEvent):
                anchor = event.anchor
                child = single
            else:
                anchor, child = open_nodes.pop()
            if anchor:
                anchors[anchor] = child
            outer, (values, levels) = open_nodes[-1]
            grown = _Extent(values + child.values, max(levels, child.levels + 1))
            open_nodes[-1] = (outer, grown)
        extent = open_nodes[-1][1]
        if extent.levels + len(open_nodes) - 1 > DEEPEST:
            raise _too_deep(path, event, trail.keys)
        if extent.values > most_values:
            got = f"over {most_values:,} values, with every alias expanded"
            raise _too_much(path, "the card expands to too many values", got)


def _too_deep(path: Path, event: yaml.Event, keys: KeyPath) -> UserError:
    line = ""
    if event.start_mark:
        line = f":{event.start_mark.line + 1}"
    # Keys of a path that is too long to be shown.
    keys_shown = 4
    return UserError(
        "the card is nested too deeply",
        where=f"{path}{line}, key {dotted(keys[:keys_shown])}…",
        got=f"over {DEEPEST} levels",
        todo="write fewer levels",
    )


def _too_much(path: Path, what: str, got: str) -> UserError:
    return UserError(
        what, where=str(path), got=got, todo="write fewer values, without aliases"
    )


def _fault(error: yaml.YAMLError) -> str:
    """Return what is wrong with a file, and the line number without the line's
    content.
    """
    if not isinstance(error, MarkedYAMLError):
        return " ".join(str(error).split())
    mark = error.problem_mark or error.context_mark
    position = ""
    if mark:
        position = f" (line {mark.line + 1}, column {mark.column + 1})"
    problem = ", ".join(filter(None, (error.context, error.problem)))
    return f"{' '.join(problem.split())}{position}"


def nearest_file(path: Path) -> str | None:
    """Return the YAML file that was probably meant: in the same folder, or a study; or
    None.
    """
    files = _files_near(path)
    near = get_close_matches(path.stem, files, n=1)
    if near:
        return files[near[0]]
    return None


def _files_near(path: Path) -> dict[str, str]:
    """Return the studies' files, by their names and by their studies' ids."""
    study_key = re.compile(r"^study:\s*['\"]?([\w-]+)", re.MULTILINE)
    studies_folder = Path("config", "studies")
    folders = [path.parent, studies_folder.parent, studies_folder]
    files: dict[str, str] = {}
    candidates = chain.from_iterable(
        sorted(folder.glob("*.yaml")) for folder in folders
    )
    for file in filter(Path.is_file, candidates):
        study = study_key.search(file.read_text("utf-8", errors="replace"))
        if study or file.parent == studies_folder:
            files[file.stem] = str(file)
            files.setdefault(study[1] if study else file.stem, str(file))
    return files


def _collect_lines(node: yaml.Node, keys: KeyPath, lines: Lines, path: Path) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise UserError(
                    "a key must be a word, not a list or a mapping",
                    where=f"{path}:{line}",
                    todo="put a text that begins with a bracket or a brace in quotes",
                )
            path_of_key = (*keys, cast(str, key.value))
            if path_of_key in lines:
                raise UserError(
                    "duplicate key",
                    where=f"{path}:{line}, key {dotted(path_of_key)}",
                    todo=f"keep one of lines {lines[path_of_key]} and {line}",
                )
            lines[path_of_key] = line
            _check_number(key, path_of_key, path)
            _collect_lines(value, path_of_key, lines, path)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            path_of_key = (*keys, index)
            lines[path_of_key] = value.start_mark.line + 1
            _collect_lines(value, path_of_key, lines, path)
    elif isinstance(node, yaml.ScalarNode):
        _check_number(node, keys, path)


def _check_number(node: yaml.ScalarNode, keys: KeyPath, path: Path) -> None:
    """Raise UserError for a number whose value in YAML 1.1 is not what it looks like,
    and for a text that no file can hold.
    """
    number_tags = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
    halves = re.compile("[\ud800-\udfff]")
    # Numbers that YAML 1.1 reads in a surprising way: 1:30 as 90, and 010 as 8.
    surprising = re.compile(
        r"(?P<base60>[-+]?[0-9_]+(:[0-5]?[0-9])+(\.[0-9_]*)?)|[-+]?0[0-9_]+"
    )
    text = str(node.value)
    if halves.search(text):
        raise UserError(
            "this text holds half of a character (an unpaired surrogate)",
            where=f"{path}:{node.start_mark.line + 1}, key {dotted(keys)}",
            todo="write the character itself",
        )
    if (
        node.style
        or node.tag not in number_tags
        or not (match := surprising.fullmatch(text))
    ):
        return
    value = _Loader("").construct_object(node)
    base = "in base 60" if match["base60"] else "in base 8"
    raise UserError(
        f"YAML reads this as {value}, a number {base}",
        where=f"{path}:{node.start_mark.line + 1}, key {dotted(keys)}",
        got=text,
        todo=f'write "{text}" in quotes for the text, or {value} for the number',
    )


def dotted(keys: Iterable[str | int]) -> str:
    """Return keys as errors name them: `aspects.fluency.min`."""
    return ".".join(map(str, keys))
