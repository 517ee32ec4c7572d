"""Reading cards: YAML to typed models, every problem with file, line and key."""

import re
from collections.abc import Hashable, Iterable, Iterator
from datetime import date
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError
from yaml.error import MarkedYAMLError

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.secrets import suspects
from judgescope.schema.bounded_yaml import read_bounded
from judgescope.schema.cards import FOLDERS, KINDS

Place = tuple[str | int, ...]

STUDIES = Path("config", "studies")
SECRET = {"api_key_env", "base_url", "env", "headers", "key_header", "query"}
"""Keys whose wrong values may be a key or a password: they are not shown."""
NOT_TEXT = bool | int | float | date
SURPRISING = re.compile(r"(?P<base60>[-+]?[0-9_]+(:[0-5]?[0-9])+(\.[0-9_]*)?)|[-+]?0[0-9_]+")
"""Numbers as few people mean them: YAML 1.1 reads 1:30 as 90, and 010 as 8."""
NUMBERS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
QUOTED = "put it in quotes: without, YAML reads yes, no, on, off, digits and dates as no text"


class _Marking:
    """Lets a loader name the line also of a date or a number that there is not."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node, or raise YAMLError."""
        try:
            return super().construct_object(node, deep)  # type: ignore[misc]
        except ValueError as error:
            raise MarkedYAMLError(problem=str(error), problem_mark=node.start_mark) from error


class _Loader(_Marking, yaml.SafeLoader):
    """YAML's safe loader."""


class _Fast(_Marking, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same by libyaml, where PyYAML has it: fifteen times as fast, and of few words."""


def load_yaml(path: Path) -> tuple[Any, dict[Place, int]]:
    """Return the content of a YAML file and the line of every key and list entry in it.

    Raises UserError for a file that is not there, not UTF-8, not YAML, names a key twice, or has or
    unfolds into too much.
    """
    try:
        try:
            return _load(path, _Fast)
        except yaml.YAMLError:
            return _load(path, _Loader)  # says more of what is wrong
    except FileNotFoundError as error:
        raise _absent(path) from error
    except IsADirectoryError as error:
        raise UserError("this is a folder, and a file is meant", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise UserError(
            f"this is not YAML in UTF-8: {error.reason}",
            where=f"{path}:{error.object.count(10, 0, error.start) + 1}",
            got=error.object[error.start : error.start + 1],
            todo="save it as UTF-8",
        ) from None
    except yaml.YAMLError as error:
        # without the lines themselves, and without a cause that shows them: they may hold a key
        raise UserError(
            f"this is not YAML in UTF-8: {_fault(error)}",
            where=str(path),
            todo="check the indentation, brackets and quotes of that line and of the one above",
        ) from None


def _load(path: Path, kind: Any) -> tuple[Any, dict[Place, int]]:
    loader = kind(read_bounded(path, kind))
    node = loader.get_single_node()
    lines: dict[Place, int] = {}
    if node is None:
        return None, lines
    _collect_lines(node, (), lines, path)
    return loader.construct_document(node), lines


def _fault(error: yaml.YAMLError) -> str:
    """Return what is wrong with a file and on which line, nothing of what the line holds."""
    if not isinstance(error, MarkedYAMLError):
        return " ".join(str(error).split())
    mark = error.problem_mark or error.context_mark
    place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
    told = ", ".join(filter(None, (error.context, error.problem)))
    return f"{' '.join(told.split())}{place}"


def _absent(path: Path) -> UserError:
    """Name the YAML file that was meant: one beside it, or a study."""
    places = [path.parent, STUDIES.parent, STUDIES]
    there = {one.stem: str(one) for folder in places for one in sorted(folder.glob("*.yaml"))}
    near = get_close_matches(path.stem, there, n=1)
    todo = f"name its file: {there[near[0]]}" if near else "name the file with its folder"
    return UserError("there is no such file", where=str(path), allowed=there.values(), todo=todo)


def _collect_lines(node: yaml.Node, place: Place, lines: dict[Place, int], path: Path) -> None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise UserError(
                    "a key is a word, no list and no mapping",
                    where=f"{path}:{line}",
                    todo="put a text that begins with a bracket or a brace in quotes",
                )
            here = (*place, cast(str, key.value))
            if here in lines:
                raise UserError(
                    "a key comes twice",
                    where=f"{path}:{line}, key {_dotted(here)}",
                    todo=f"keep one of lines {lines[here]} and {line}",
                )
            lines[here] = line
            _check_number(value, here, path)
            _collect_lines(value, here, lines, path)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[(*place, index)] = value.start_mark.line + 1
            _check_number(value, (*place, index), path)
            _collect_lines(value, (*place, index), lines, path)


def _check_number(node: yaml.Node, place: Place, path: Path) -> None:
    """Refuse a number that YAML 1.1 reads as another one than it looks like."""
    if not isinstance(node, yaml.ScalarNode) or node.style or node.tag not in NUMBERS:
        return
    if (found := SURPRISING.fullmatch(text := str(node.value))) is None:
        return
    value = _Loader("").construct_object(node)
    base = "to base 60" if found["base60"] else "to base 8"
    raise UserError(
        f"YAML reads this as {value}, a number {base}",
        where=f"{path}:{node.start_mark.line + 1}, key {_dotted(place)}",
        got=text,
        todo=f'write "{text}" in quotes for the text, or {value} for the number',
    )


def read_card(kind: str, path: Path) -> Any:
    """Read one card file and return its model (see `cards.KINDS`).

    Raises UserErrors with one error per problem.
    """
    content, lines = load_yaml(path)
    card = validate_card(kind, content, str(path), lines)
    named = getattr(card, kind)
    if kind != "study" and named != path.stem:
        raise UserError(
            f"a card is found by its file name, which must equal its `{kind}`",
            where=f"{path}:{lines.get((kind,), 1)}, key {kind}",
            got=named,
            allowed=[path.stem],
            todo="rename the file or the card",
        )
    return card


def validate_card(
    kind: str, content: object, source: str, lines: dict[Place, int] | None = None
) -> Any:
    """Return the typed card for already loaded content; `source` names it in errors."""
    if not isinstance(content, dict):
        raise UserError(
            f"a card of kind {kind} is a mapping of keys to values", where=source, got=content
        )
    if found := [_suspect(place, source, lines or {}) for place in suspects(content)]:
        raise UserErrors(found)
    try:
        card = adapter(kind).validate_python(content)
    except ValidationError as error:
        found = [_explain(kind, issue, source, lines or {}) for issue in error.errors()]
        raise UserErrors(found) from error
    if truths := [*_truths(content, adapter(kind).dump_python(card), ())]:
        raise UserErrors([_no_number(place, got, source, lines or {}) for place, got in truths])
    return card


def _truths(content: object, read: object, place: Place) -> Iterator[tuple[Place, bool]]:
    """Yield the truth values that were read as numbers: pydantic takes `yes` for 1."""
    if isinstance(content, dict) and isinstance(read, dict):
        for key in (key for key in content if key in read):
            yield from _truths(content[key], read[key], (*place, key))
    elif isinstance(content, list) and isinstance(read, list):
        for index, (one, other) in enumerate(zip(content, read, strict=False)):
            yield from _truths(one, other, (*place, index))
    elif isinstance(content, bool) and isinstance(read, int | float) and type(read) is not bool:
        yield place, content


def _no_number(place: Place, got: bool, source: str, lines: dict[Place, int]) -> UserError:
    where = f"{source}{_line(place, lines)}, key {_dotted(place)}"
    return UserError("Input should be a number, not yes or no", where=where, got=got)


def write_new_card(card: dict[str, Any], path: Path) -> None:
    """Write a card that a command made; one that is there is not overwritten (UserError)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(yaml.safe_dump(card, sort_keys=False))
    except FileExistsError:
        raise UserError(
            "there is a card of this name", where=str(path), todo="choose another name"
        ) from None


@cache
def adapter(kind: str) -> TypeAdapter[Any]:
    """Return pydantic's validator of a card kind."""
    return TypeAdapter(KINDS[kind])


def _suspect(place: Place, source: str, lines: dict[Place, int]) -> UserError:
    return UserError(
        "this may be a key or a password, and cards hold none",
        where=f"{source}{_line(place, lines)}, key {_dotted(place)}",
        todo="put it into a variable of the environment and name that: `api_key_env` of an "
        "endpoint (with `key_header`, if it wants a header of its own), `env` of a program",
    )


def _explain(kind: str, issue: Any, source: str, lines: dict[Place, int]) -> UserError:
    place, fault = _place(kind, issue["loc"]), issue["type"]
    if fault in {"union_tag_invalid", "union_tag_not_found"}:
        place = (*place, issue["ctx"]["discriminator"].strip("'"))
    where = f"{source}{_line(place, lines)}, key {_dotted(place)}" if place else source
    if fault == "union_tag_not_found":
        return UserError("a needed key is missing", where=where, todo=f"add {place[-1]!r}")
    if fault == "extra_forbidden":
        allowed = _keys_at(KINDS[kind], place[:-1])
        return UserError("unknown key", where=where, got=place[-1], allowed=allowed)
    if fault == "missing":
        return UserError(
            "a needed key is missing",
            where=where,
            allowed=_values_of(kind, place) or None,
            todo=f"add {place[-1]!r}",
        )
    if fault in {"literal_error", "union_tag_invalid"}:
        expected = issue["ctx"].get("expected", issue["ctx"].get("expected_tags", ""))
        allowed = [part.strip("' ") for part in expected.replace(" or ", ", ").split(",")]
        got = issue["ctx"].get("tag", issue["input"])
        return UserError("this value is not known", where=where, got=got, allowed=allowed)
    if fault == "string_pattern_mismatch":
        form = issue["ctx"]["pattern"]
        if SECRET & set(place):
            return UserError("this has another form", where=where, allowed=f"like {form}")
        return UserError(
            "an id has another form", where=where, got=issue["input"], allowed=f"like {form}"
        )
    silent = isinstance(issue["input"], dict) or SECRET & set(place)  # a whole card tells nothing
    got = None if silent else issue["input"]
    todo = QUOTED if fault == "string_type" and isinstance(got, NOT_TEXT) else ""
    return UserError(issue["msg"].removeprefix("Value error, "), where=where, got=got, todo=todo)


def _place(kind: str, loc: tuple[str | int, ...]) -> Place:
    """Drop from pydantic's location what is no key of the file (the tag of a union, `[…]`)."""
    union = not isinstance(KINDS[kind], type)
    return tuple(part for part in loc[union:] if part not in {"[key]", "[path]", "[hub]"})


def _line(place: Place, lines: dict[Place, int]) -> str:
    while place and place not in lines:
        place = place[:-1]
    return f":{lines[place]}" if place else ""


def _dotted(place: Iterable[Hashable]) -> str:
    return ".".join(map(str, place))


def _keys_at(annotation: Any, place: Place) -> list[str]:
    """Return the keys that are allowed at a place inside a card."""
    models = [model for model in _models(annotation) if isinstance(model, type)]
    keys: set[str] = set()
    for model in models:
        if not place:
            keys |= set(model.model_fields)
        elif place[0] in model.model_fields:
            keys |= set(_keys_at(model.model_fields[str(place[0])].annotation, place[1:]))
        elif not model.model_fields:
            continue
    return sorted(keys) or (_keys_at(annotation, place[1:]) if place else [])


def _values_of(kind: str, place: Place) -> list[str]:
    """Return the values that a key of a card allows, none where they are not a list of words."""
    fields = [model.model_fields.get(str(place[0])) for model in _models(KINDS[kind])]
    found = [value for field in fields if field for value in _words(field.annotation)]
    return list(dict.fromkeys(found)) if len(place) == 1 else []


def _words(annotation: Any) -> list[str]:
    if get_origin(annotation) is Literal:
        return [str(value) for value in get_args(annotation)]
    return [word for part in get_args(annotation) for word in _words(part)]


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


class Cards:
    """The cards of one or more configuration folders; the first folder that has a card wins."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = folders

    def names(self, kind: str) -> list[str]:
        """Return the ids of all cards of a kind."""
        found = (folder / FOLDERS[kind] for folder in self.folders)
        return sorted({path.stem for folder in found for path in folder.glob("*.yaml")})

    def path(self, kind: str, name: str, *, where: str) -> Path:
        """Return a card's file; UserError with the nearest name when there is none."""
        for folder in self.folders:
            path = folder / FOLDERS[kind] / f"{name}.yaml"
            if path.is_file():
                return path
        raise UserError(
            f"there is no {kind} card of this name",
            where=where,
            got=name,
            allowed=self.names(kind),
            todo=f"write {FOLDERS[kind]}/{name}.yaml or name an existing card",
        )

    def read(self, kind: str, name: str, *, where: str) -> Any:
        """Read the card `name` of a kind; `where` says who asked for it."""
        return read_card(kind, self.path(kind, name, where=where))
