"""Reading cards: from YAML to typed models, with file, line and key of every
problem.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args, get_origin
from urllib.parse import urlsplit

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from yaml.error import MarkedYAMLError

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.core.secrets import suspects
from judgescope.schema.cards import (
    FOLDERS,
    KINDS,
    Card,
    ListedPrice,
    OpenAIModel,
    PriceTable,
)
from judgescope.schema.cards.base import DEEPEST_JSON

KeyPath = tuple[str | int, ...]
Lines = dict[KeyPath, int]
"""Key or list entry -> the line on which it begins."""

MOST_BYTES = 2_000_000
MOST_VALUES = 50_000
DEEPEST = 40
"""Limits of a card's file. No card needs a tenth of these; the parser itself fails at
some hundred levels."""
STUDIES = Path("config", "studies")
STUDY_KEY = re.compile(r"^study:\s*['\"]?([\w-]+)", re.MULTILINE)
SECRET = {
    *(
        "api_key_env",
        "api_key_file",
        "base_url",
        "env",
        "headers",
        "key_header",
        "proxy",
        "query",
    ),
    *("proxy_auth_env", "proxy_auth_file", "token_command"),
}
"""Keys whose wrong values may be a key or a password: they are not shown."""
SHORT_FORMS = {"data", 0}
"""Keys that a card may leave out: the role of its only file, the position in a list of
one."""
SHOWN_VALUE = 40
"""Characters of a value that an error shows."""
JSON_TODO = "correct the value, or leave the field out"
SURPRISING = re.compile(
    r"(?P<base60>[-+]?[0-9_]+(:[0-5]?[0-9])+(\.[0-9_]*)?)|[-+]?0[0-9_]+"
)
"""Numbers that YAML 1.1 reads in a surprising way: 1:30 as 90, and 010 as 8."""
HALVES = re.compile("[\ud800-\udfff]")
NUMBER_TAGS = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"}
LIST = ("a list", "write [value, value], or each value on a line that begins with `- `")
MAPPING = ("keys with values", "write `key: value` on a line of its own, indented")
EXPECTED = {
    **dict.fromkeys(("list_type", "tuple_type"), LIST),
    **dict.fromkeys(("dict_type", "model_type"), MAPPING),
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_from_float"), ("a whole number", "")
    ),
    **dict.fromkeys(("float_type", "float_parsing"), ("a number", "")),
    **dict.fromkeys(("bool_type", "bool_parsing"), ("true or false", "")),
    "string_type": ("text", ""),
    "too_short": ("of length {min_length} or more", ""),
    "finite_number": ("a finite number", ""),
    "greater_than": ("more than {gt:g}", ""),
    "greater_than_equal": ("{ge:g} or more", ""),
    "less_than": ("less than {lt:g}", ""),
    "less_than_equal": ("{le:g} or less", ""),
}
"""Pydantic's type of an error -> what the value must be, and how to write it."""
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
        near, folder = nearest_file(path), isinstance(error, IsADirectoryError)
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
    if (size := path.stat().st_size) > MOST_BYTES:
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


def _check_extent(path: Path, text: str, loader_class: Any) -> None:
    """Raise UserError, before anything is built, for too many values or levels."""
    single = _Extent(1, 0)
    anchors: dict[str, _Extent] = {}
    open_nodes: list[tuple[str | None, _Extent]] = [(None, single)]
    for event in yaml.parse(text, Loader=loader_class):
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
                anchor, child = None, anchors.get(str(event.anchor), single)
            elif isinstance(event, yaml.ScalarEvent):
                anchor, child = event.anchor, single
            else:
                anchor, child = open_nodes.pop()
            if anchor:
                anchors[anchor] = child
            outer, (values, levels) = open_nodes[-1]
            grown = _Extent(values + child.values, max(levels, child.levels + 1))
            open_nodes[-1] = (outer, grown)
        extent = open_nodes[-1][1]
        if extent.levels + len(open_nodes) - 1 > DEEPEST:
            raise _too_much(
                path, "the card is nested too deeply", f"over {DEEPEST} levels"
            )
        if extent.values > MOST_VALUES:
            got = f"over {MOST_VALUES:,} values, with every alias expanded"
            raise _too_much(path, "the card expands to too many values", got)


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
    position = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
    problem = ", ".join(filter(None, (error.context, error.problem)))
    return f"{' '.join(problem.split())}{position}"


def nearest_file(path: Path) -> str | None:
    """Return the YAML file that was probably meant: in the same folder, or a study; or
    None.
    """
    files = _files_near(path)
    near = get_close_matches(path.stem, files, n=1)
    return files[near[0]] if near else None


def _files_near(path: Path) -> dict[str, str]:
    """Return the studies' files, by their names and by their studies' ids."""
    folders = [path.parent, STUDIES.parent, STUDIES]
    files: dict[str, str] = {}
    found = (file for folder in folders for file in sorted(folder.glob("*.yaml")))
    for file in filter(Path.is_file, found):
        study = STUDY_KEY.search(file.read_text("utf-8", errors="replace"))
        if study or file.parent == STUDIES:
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
            here = (*keys, cast(str, key.value))
            if here in lines:
                raise UserError(
                    "duplicate key",
                    where=f"{path}:{line}, key {_dotted(here)}",
                    todo=f"keep one of lines {lines[here]} and {line}",
                )
            lines[here] = line
            _check_number(key, here, path)
            _collect_lines(value, here, lines, path)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            here = (*keys, index)
            lines[here] = value.start_mark.line + 1
            _collect_lines(value, here, lines, path)
    elif isinstance(node, yaml.ScalarNode):
        _check_number(node, keys, path)


def _check_number(node: yaml.ScalarNode, keys: KeyPath, path: Path) -> None:
    """Raise UserError for a number whose value in YAML 1.1 is not what it looks like,
    and for a text that no file can hold.
    """
    text = str(node.value)
    if HALVES.search(text):
        raise UserError(
            "this text holds half of a character (an unpaired surrogate)",
            where=f"{path}:{node.start_mark.line + 1}, key {_dotted(keys)}",
            todo="write the character itself",
        )
    if (
        node.style
        or node.tag not in NUMBER_TAGS
        or not (match := SURPRISING.fullmatch(text))
    ):
        return
    value = _Loader("").construct_object(node)
    base = "in base 60" if match["base60"] else "in base 8"
    raise UserError(
        f"YAML reads this as {value}, a number {base}",
        where=f"{path}:{node.start_mark.line + 1}, key {_dotted(keys)}",
        got=text,
        todo=f'write "{text}" in quotes for the text, or {value} for the number',
    )


def _dotted(keys: Iterable[str | int]) -> str:
    return ".".join(map(str, keys))


def read_card(kind: str, path: Path) -> Any:
    """Read one card file and return its model (see `cards.KINDS`).

    Raises UserErrors with one error per problem.
    """
    content, lines = load_yaml(path)
    card = validate_card(kind, content, str(path), lines)
    name = getattr(card, kind)
    if kind != "study" and name != path.stem:
        raise UserError(
            f"a card's file name must equal its `{kind}`",
            where=f"{path}:{lines.get((kind,), 1)}, key {kind}",
            got=name,
            allowed=[path.stem],
            todo="rename the file or the card",
        )
    return card


def validate_card(
    kind: str, content: object, source: str, lines: Lines | None = None
) -> Any:
    """Return the typed card for already loaded content; `source` names it in errors."""

    def where(keys: KeyPath) -> str:
        known = keys
        while known and known not in (lines or {}):
            known = known[:-1]
        line = f":{lines[known]}" if lines and known else ""
        return f"{source}{line}, key {_dotted(keys)}" if keys else source

    if not isinstance(content, dict):
        raise UserError(
            f"a card of kind {kind} must be a mapping of keys to values",
            where=source,
            got=content,
        )
    if secrets := [*suspects(content)]:
        raise UserErrors(
            [
                UserError(
                    "this may be a key or a password, which a card must not hold",
                    where=where(keys),
                    todo="put it into an environment variable or a file and name that: "
                    "`api_key_env`, `api_key_file` or `token_command` of an endpoint "
                    "(with `key_header`, if it expects another header), or `env` of a "
                    "program",
                )
                for keys in secrets
            ]
        )
    try:
        card = adapter(kind).validate_python(content)
    except ValidationError as error:
        issues = [(issue, _keys_of(kind, content, issue)) for issue in error.errors()]
        given = {
            (*keys[:-1], _new_name(kind, keys)) for _, keys in issues
        }  # by their old names
        issues = _united(issues)
        # a mapping with wrong entries need not also be the number that is the
        # alternative
        outer = {keys[:end] for _, keys in issues for end in range(len(keys))}
        raise UserErrors(
            [
                _explain(kind, issue, keys, where(keys))
                for issue, keys in issues
                if not (isinstance(issue["input"], dict) and keys in outer)
                if issue["type"] != "missing" or keys not in given
                if issue["type"]
                != "default_factory_not_called"  # follows from another issue
            ]
        ) from error
    if truths := [*_truths(content, adapter(kind).dump_python(card), ())]:
        what = "this value must be a number, not yes or no"
        raise UserErrors(
            [UserError(what, where=where(keys), got=got) for keys, got in truths]
        )
    return card


@cache
def adapter(kind: str) -> TypeAdapter[Any]:
    """Return pydantic's validator of a card kind."""
    return TypeAdapter(KINDS[kind])


def _truths(
    content: object, validated: object, keys: KeyPath
) -> Iterator[tuple[KeyPath, bool]]:
    """Yield the truth values that were read as numbers: pydantic reads `yes` as 1."""
    if isinstance(content, dict) and isinstance(validated, dict):
        for key in (key for key in content if key in validated):
            yield from _truths(content[key], validated[key], (*keys, key))
    elif isinstance(content, list) and isinstance(validated, list):
        for index, (entry, result) in enumerate(zip(content, validated, strict=False)):
            yield from _truths(entry, result, (*keys, index))
    elif isinstance(content, bool) and type(validated) in {int, float}:
        yield keys, content


def _keys_of(kind: str, content: object, issue: ErrorDetails) -> KeyPath:
    """Return the place of an issue in the file: pydantic's, without names that the file
    lacks.

    Pydantic also names the member of a union that did not match, as in
    `threshold.float`.
    """
    is_union = not isinstance(KINDS[kind], type)
    absent = (
        {*SHORT_FORMS, issue["loc"][-1]} if issue["type"] == "missing" else SHORT_FORMS
    )
    keys: KeyPath = ()
    for key in issue["loc"][is_union:]:
        entries = dict(enumerate(content)) if isinstance(content, list) else content
        entries = entries if isinstance(entries, dict) else {}
        values = {str(name): value for name, value in entries.items()}
        if str(key) in values:
            keys, content = (*keys, key), values[str(key)]
        elif key in absent:
            keys = (*keys, key)
    if issue["type"] == "json_value":
        return (*keys, *issue["ctx"]["path"])
    if issue["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return (*keys, issue["ctx"]["discriminator"].strip("'"))
    return keys


def _united(
    issues: list[tuple[ErrorDetails, KeyPath]],
) -> list[tuple[ErrorDetails, KeyPath]]:
    """Return the issues in our words, with one for all forms that a value may have."""
    forms: dict[KeyPath, list[str]] = {}
    united = []
    for issue, keys in issues:
        if expected := EXPECTED.get(issue["type"]):
            form = expected[0].format(**issue.get("ctx", {}))
            forms.setdefault(keys, []).append(form)
        if not expected or forms[keys] == [form]:
            united.append((issue, keys))
    for issue, keys in united:
        if issue["type"] in EXPECTED:
            issue["msg"] = (
                f"this value must be {' or '.join(dict.fromkeys(forms[keys]))}"
            )
    return united


def _explain(kind: str, issue: ErrorDetails, keys: KeyPath, where: str) -> UserError:
    fault, context, got = issue["type"], issue.get("ctx", {}), issue["input"]
    match fault:
        case "missing" | "union_tag_not_found":
            allowed = _values_of(kind, keys) if fault == "missing" else None
            todo = f"add {keys[-1]!r}"
            return UserError(
                "a required key is missing", where=where, allowed=allowed, todo=todo
            )
        case "extra_forbidden":
            if new := _new_name(kind, keys):
                what, todo = "this key was renamed", f"write `{new}` in its place"
                return UserError(what, where=where, got=keys[-1], todo=todo)
            models = _models_at(KINDS[kind], keys[:-1])
            allowed = [name for model in models for name in model.model_fields]
            return UserError("unknown key", where=where, got=keys[-1], allowed=allowed)
        case "literal_error" | "union_tag_invalid":
            expected = context.get("expected", context.get("expected_tags", ""))
            allowed = [
                part.strip("' ") for part in expected.replace(" or ", ", ").split(",")
            ]
            value = context.get("tag", got)
            return UserError("unknown value", where=where, got=value, allowed=allowed)
        case "json_value":
            allowed_form = (
                "text, true, false, null, lists, mappings, finite numbers, integers "
                f"of 64 bits; at most {DEEPEST_JSON} levels"
            )
            got = str(context["got"])[:SHOWN_VALUE]
            what = context["problem"]
            return UserError(
                what, where=where, got=got, allowed=allowed_form, todo=JSON_TODO
            )
        case "string_pattern_mismatch":
            form = f"text that matches {context['pattern']}"
            shown = None if SECRET & set(keys) else got
            what = "this value has the wrong format"
            return UserError(what, where=where, got=shown, allowed=form)
    if isinstance(got, dict) or SECRET & set(
        keys
    ):  # the whole card would not explain the error
        got = None
    unquoted = fault == "string_type" and isinstance(got, bool | int | float | date)
    what = issue["msg"].removeprefix("Value error, ")
    todo = QUOTED if unquoted else EXPECTED.get(fault, ("", ""))[1]
    return UserError(what, where=where, got=got, todo=todo)


def _new_name(kind: str, keys: KeyPath) -> str:
    """Return the current name of a key of an earlier version, "" for any other key."""
    models = _models_at(KINDS[kind], keys[:-1]) if keys else []
    return next(
        (model.renamed[keys[-1]] for model in models if keys[-1] in model.renamed), ""
    )


def _models_at(annotation: Any, keys: KeyPath) -> list[type[Card]]:
    """Return the models that describe a place inside a card."""
    models = card_types(annotation)
    if not keys:
        return models
    key = str(keys[0])
    fields = [model.model_fields[key] for model in models if key in model.model_fields]
    inner = [
        model for field in fields for model in _models_at(field.annotation, keys[1:])
    ]
    return inner or _models_at(annotation, keys[1:])


def card_types(annotation: Any) -> list[type[Card]]:
    """Return the types of cards in a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, Card):
        return [annotation]
    return [model for part in get_args(annotation) for model in card_types(part)]


def _values_of(kind: str, keys: KeyPath) -> list[str] | None:
    """Return the words that a key of a card allows, None if it allows other values."""
    if len(keys) != 1:
        return None
    fields = [model.model_fields.get(str(keys[0])) for model in card_types(KINDS[kind])]
    words = [word for field in fields if field for word in words_of(field.annotation)]
    return list(dict.fromkeys(words)) or None


def words_of(annotation: Any) -> list[str]:
    """Return the words that a type annotation allows."""
    if get_origin(annotation) is Literal:
        return [str(value) for value in get_args(annotation)]
    return [word for part in get_args(annotation) for word in words_of(part)]


def write_new_card(card: dict[str, Any], path: Path) -> None:
    """Write a card that a command made.

    Raises UserError if a card with this name exists, and for a name that no study would
    find.
    """
    if path.suffix != ".yaml":
        todo = f"name it {path.stem}.yaml"
        raise UserError("a card's file name ends in .yaml", where=str(path), todo=todo)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(yaml.safe_dump(card, sort_keys=False))
    except FileExistsError:
        raise UserError(
            "a card with this name already exists",
            where=str(path),
            todo="choose another name",
        ) from None


class Cards:
    """The cards of one or more configuration folders; the first folder with a card is
    used.

    `study` is the study's file, if there is one, for errors.
    """

    def __init__(self, folders: list[Path], study: str = "") -> None:
        self.folders, self.study = folders, study

    def names(self, kind: str) -> list[str]:
        """Return the ids of all cards of a kind."""
        folders = (folder / FOLDERS[kind] for folder in self.folders)
        return sorted(
            {path.stem for folder in folders for path in folder.glob("*.yaml")}
        )

    def path(self, kind: str, name: str, *, where: str) -> Path:
        """Return a card's file; raises UserError with the nearest name if there is
        none.
        """
        card = Path(FOLDERS[kind], f"{name}.yaml")
        for folder in self.folders:
            path = folder / card
            if path.is_file():
                return path
        above = Path(self.study).parents
        there = next(
            (each for each in above if (each / "config" / card).is_file()), None
        )
        raise UserError(
            f"unknown {kind} card",
            where=where,
            got=name,
            allowed=self.names(kind),
            todo=f"write {card} or name an existing card"
            if there is None
            else "cards are looked up in ./config of the working directory: run the "
            f"command in {shlex.quote(str(there))}",
        )

    def read(self, kind: str, name: str, *, where: str) -> Any:
        """Read the card `name` of a kind; `where` names the key that refers to it."""
        return read_card(kind, self.path(kind, name, where=where))

    def optional(self, kind: str, name: str | None, *, where: str) -> Any:
        """Read a card as `read` does; return None without a name."""
        return self.read(kind, name, where=where) if name else None

    @contextmanager
    def lines_in_errors(self) -> Iterator[None]:
        """Add the line to errors that name a card's file and key."""
        try:
            yield
        except (UserError, UserErrors) as error:
            for each in error.errors if isinstance(error, UserErrors) else [error]:
                each.where = self._with_line(
                    each.where.replace("the study,", f"{self.study},")
                )
            raise

    def _with_line(self, where: str) -> str:
        place = _KEY_OF_FILE.fullmatch(where)
        files = (
            [folder / place["file"] for folder in [Path(), *self.folders]]
            if place
            else []
        )
        file = next(filter(Path.is_file, files), None)
        if place is None or file is None:
            return where
        lines = load_yaml(file)[1]
        keys: KeyPath = tuple(
            int(key) if key.isdigit() else key for key in place["keys"].split(".")
        )
        while keys and keys not in lines:
            keys = keys[:-1]
        shown = place["file"] if file.is_absolute() else file
        return (
            f"{shown}:{lines[keys]}, key {place['keys']}{place['more']}"
            if keys
            else where
        )


_KEY_OF_FILE = re.compile(
    r"(?P<file>[^,:]+\.ya?ml), key (?P<keys>[^,: ]+)(?P<more>.*)", re.DOTALL
)


PRICES = HOME / "config" / "prices.yaml"
"""The file of prices that ship with the workflow, for models whose cards have none."""


def priced(card: OpenAIModel) -> OpenAIModel:
    """Return a card with its price: its own, or the listed price of its model at its
    host.
    """
    if card.price is not None:
        return card
    listed = _prices().get((urlsplit(card.base_url).hostname or "", card.served_name))
    return card if listed is None else card.model_copy(update={"price": listed})


@cache
def _prices() -> dict[tuple[str, str], ListedPrice]:
    content, lines = load_yaml(PRICES)
    table: PriceTable = validate_card("prices", content, str(PRICES), lines)
    return {(row.host, row.model): row for row in table.prices}
