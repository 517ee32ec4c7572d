"""Reading cards: from YAML to typed models, with file, line and key of every
problem.
"""

import csv
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin
from urllib.parse import urlsplit

import yaml
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from judgescope.core.errors import UserError, UserErrors
from judgescope.core.paths import HOME
from judgescope.core.secrets import suspects
from judgescope.schema.cards import (
    FOLDERS,
    KINDS,
    Card,
    EndpointModel,
    ListedPrice,
    PriceTable,
    TaskTable,
    TaskWords,
)
from judgescope.schema.cards.base import DEEPEST_JSON
from judgescope.schema.cards.engines import ENGINES
from judgescope.schema.yaml_files import QUOTED, dotted
from judgescope.schema.yaml_files import KeyPath as KeyPath
from judgescope.schema.yaml_files import Lines as Lines
from judgescope.schema.yaml_files import load_yaml as load_yaml
from judgescope.schema.yaml_files import nearest_file as nearest_file

EXPECTED = {
    **dict.fromkeys(
        ("list_type", "tuple_type"),
        (
            "a list",
            "write [value, value], or each value on a line that begins with `- `",
        ),
    ),
    **dict.fromkeys(
        ("dict_type", "model_type"),
        ("keys with values", "write `key: value` on a line of its own, indented"),
    ),
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


def read_card(kind: str, path: Path) -> Any:
    """Read one card file and return its model (see `cards.KINDS`).

    Raises UserErrors with one error per problem.
    """
    content, lines = load_yaml(path)
    content = _with_listed_files(content, path)
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


def _with_listed_files(content: Any, path: Path) -> Any:
    """Return a card's content with the files of its source, if a CSV lists them."""
    match content:
        case {"source": {"files": str(name)} as source}:
            files = listed_files(path.parent / name, f"{path}, key source.files")
            return content | {"source": source | {"files": files}}
    return content


def listed_files(path: Path, where: str) -> list[dict[str, str | int]]:
    """Return the rows of a CSV of files, without empty cells; sizes are numbers.

    Raises UserError if there is no such file, and for a size that is not a number.
    """
    if not path.is_file():
        raise UserError(
            "the list of files is not beside the card",
            where=where,
            got=path.name,
            allowed=[each.name for each in path.parent.glob("*.csv")],
            todo="put the CSV beside the card, or list the files in the card",
        )
    files = list[dict[str, str | int]]()
    with path.open(encoding="utf-8", newline="") as opened:
        for number, row in enumerate(csv.DictReader(opened), start=2):
            cells: dict[str, str | int] = {}
            for key, text in row.items():
                if text:
                    cells[str(key)] = text
            size = row.get("bytes") or ""
            if size and not size.isdecimal():
                raise UserError(
                    "the size of a file is not a number of bytes",
                    where=f"{path}:{number}, column bytes",
                    got=size,
                    todo="write the number of bytes in digits",
                )
            if size:
                cells["bytes"] = int(size)
            files.append(cells)
    return files


def validate_card(
    kind: str, content: object, source: str, lines: Lines | None = None
) -> Any:
    """Return the typed card for already loaded content; `source` names it in errors."""

    def where(keys: KeyPath) -> str:
        known = keys
        while known and known not in (lines or {}):
            known = known[:-1]
        line = f":{lines[known]}" if lines and known else ""
        if keys:
            return f"{source}{line}, key {dotted(keys)}"
        return source

    if not isinstance(content, dict):
        raise UserError(
            f"a card of kind {kind} must be a mapping of keys to values",
            where=source,
            got=content,
        )
    secrets = list[UserError]()
    for keys in suspects(content):
        error = UserError(
            "this may be a key or a password, which a card must not hold",
            where=where(keys),
            todo="put it into an environment variable or a file and name that: "
            "`api_key_env`, `api_key_file` or `token_command` of an endpoint "
            "(with `key_header`, if it expects another header), or `env` of a "
            "program",
        )
        secrets.append(error)
    if secrets:
        raise UserErrors(secrets)
    try:
        card = adapter(kind, content).validate_python(content)
    except ValidationError as invalid:
        issues = list[tuple[ErrorDetails, KeyPath]]()
        for issue in invalid.errors():
            issues.append((issue, _keys_of(kind, content, issue)))
        raise UserErrors(_explained(kind, _united(issues), where)) from invalid
    validated = adapter(kind, content).dump_python(card)
    truths = list[UserError]()
    for keys, got in _truths(content, validated, ()):
        what = "this value must be a number, not yes or no"
        truths.append(UserError(what, where=where(keys), got=got))
    if truths:
        raise UserErrors(truths)
    return card


def adapter(kind: str, content: object = None) -> TypeAdapter[Any]:
    """Return pydantic's validator of a card kind.

    `content`: that of a card. The card of a model whose engine is an add-on has the
    type that the engine names. Raises UserError for an add-on that cannot be loaded.
    """
    engine = None
    if isinstance(content, dict):
        engine = content.get("engine")
    if kind == "model" and isinstance(engine, str) and engine in ENGINES.add_ons:
        return _adapter_of(ENGINES[engine].card)
    return _adapter_of(KINDS[kind])


@cache
def _adapter_of(card: Any) -> TypeAdapter[Any]:
    return TypeAdapter(card)


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
    # Keys that a card may leave out: the role of its only file, the position in a list
    # of one.
    short_forms = {"data", 0}
    names = issue["loc"]
    if not isinstance(KINDS[kind], type):
        # A union: the first name is the member that its discriminator chose.
        names = names[1:]
    absent = set(short_forms)
    if issue["type"] == "missing":
        absent.add(issue["loc"][-1])
    keys: KeyPath = ()
    for key in names:
        values = _entries_by_name(content)
        if str(key) in values:
            keys = (*keys, key)
            content = values[str(key)]
        elif key in absent:
            keys = (*keys, key)
    if issue["type"] == "json_value":
        return (*keys, *issue["ctx"]["path"])
    if issue["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return (*keys, issue["ctx"]["discriminator"].strip("'"))
    return keys


def _entries_by_name(content: object) -> dict[str, object]:
    """Return the entries of a list by position, or of a mapping by key, as text."""
    if isinstance(content, list):
        return {str(index): entry for index, entry in enumerate(content)}
    if isinstance(content, dict):
        return {str(key): value for key, value in content.items()}
    return {}


def _united(
    issues: list[tuple[ErrorDetails, KeyPath]],
) -> list[tuple[ErrorDetails, KeyPath]]:
    """Return the issues in our words, with one for all forms that a value may have."""
    forms: dict[KeyPath, list[str]] = {}
    united = list[tuple[ErrorDetails, KeyPath]]()
    for issue, keys in issues:
        expected = EXPECTED.get(issue["type"])
        if expected is None:
            united.append((issue, keys))
            continue
        form = expected[0].format(**issue.get("ctx", {}))
        if keys not in forms:
            united.append((issue, keys))
        forms.setdefault(keys, []).append(form)
    for issue, keys in united:
        if issue["type"] in EXPECTED:
            distinct = dict.fromkeys(forms[keys])
            issue["msg"] = f"this value must be {' or '.join(distinct)}"
    return united


def _explained(
    kind: str,
    issues: list[tuple[ErrorDetails, KeyPath]],
    where: Callable[[KeyPath], str],
) -> list[UserError]:
    """Return the errors for issues of a card, without those that follow from others."""
    outer = set[KeyPath]()
    for _, keys in issues:
        for end in range(len(keys)):
            outer.add(keys[:end])
    errors = list[UserError]()
    for issue, keys in issues:
        # A mapping with wrong entries need not also be the number that is the
        # alternative.
        is_alternative = isinstance(issue["input"], dict) and keys in outer
        follows = issue["type"] == "default_factory_not_called"
        if not is_alternative and not follows:
            errors.append(_explain(kind, issue, keys, where(keys)))
    return errors


SECRET_KEYS = {
    "api_key_env",
    "api_key_file",
    "base_url",
    "env",
    "headers",
    "key_header",
    "proxy",
    "query",
    "proxy_auth_env",
    "proxy_auth_file",
    "token_command",
}
"""Keys whose wrong values may be a key or a password: they are not shown."""


def _explain(kind: str, issue: ErrorDetails, keys: KeyPath, where: str) -> UserError:
    todo = "correct the value, or leave the field out"
    fault = issue["type"]
    context = issue.get("ctx", {})
    got = issue["input"]
    match fault:
        case "missing" | "union_tag_not_found":
            allowed = None
            if fault == "missing":
                allowed = _values_of(kind, keys)
            todo = f"add {keys[-1]!r}"
            return UserError(
                "a required key is missing", where=where, allowed=allowed, todo=todo
            )
        case "extra_forbidden":
            models = _models_at(KINDS[kind], keys[:-1])
            allowed = []
            for model in models:
                allowed += map(model.key_of, model.model_fields)
            return UserError("unknown key", where=where, got=keys[-1], allowed=allowed)
        case "literal_error" | "union_tag_invalid":
            expected = context.get("expected", context.get("expected_tags", ""))
            allowed = []
            for part in expected.replace(" or ", ", ").split(","):
                allowed.append(part.strip("' "))
            if fault == "union_tag_invalid" and kind == "model":
                allowed += ENGINES.add_ons
            value = context.get("tag", got)
            return UserError("unknown value", where=where, got=value, allowed=allowed)
        case "json_value":
            allowed_form = (
                "text, true, false, null, lists, mappings, finite numbers, integers "
                f"of 64 bits; at most {DEEPEST_JSON} levels"
            )
            got = str(context["got"])[:40]
            what = context["problem"]
            return UserError(
                what, where=where, got=got, allowed=allowed_form, todo=todo
            )
        case "string_pattern_mismatch":
            form = f"text that matches {context['pattern']}"
            shown = None if SECRET_KEYS & set(keys) else got
            what = "this value has the wrong format"
            return UserError(what, where=where, got=shown, allowed=form)
    # The whole card would not explain the error.
    if isinstance(got, dict) or SECRET_KEYS & set(keys):
        got = None
    unquoted = fault == "string_type" and isinstance(got, bool | int | float | date)
    what = issue["msg"].removeprefix("Value error, ")
    todo = QUOTED
    if not unquoted:
        todo = EXPECTED.get(fault, ("", ""))[1]
    return UserError(what, where=where, got=got, todo=todo)


def _models_at(annotation: Any, keys: KeyPath) -> list[type[Card]]:
    """Return the models that describe a place inside a card."""
    models = card_types(annotation)
    if not keys:
        return models
    key = str(keys[0])
    inner = list[type[Card]]()
    for model in models:
        if key in model.model_fields:
            inner += _models_at(model.model_fields[key].annotation, keys[1:])
    return inner or _models_at(annotation, keys[1:])


def card_types(annotation: Any) -> list[type[Card]]:
    """Return the types of cards in a type annotation."""
    if isinstance(annotation, type) and issubclass(annotation, Card):
        return [annotation]
    types = list[type[Card]]()
    for part in get_args(annotation):
        types += card_types(part)
    return types


def _values_of(kind: str, keys: KeyPath) -> list[str] | None:
    """Return the words that a key of a card allows, None if it allows other values."""
    if len(keys) != 1:
        return None
    words = list[str]()
    for model in card_types(KINDS[kind]):
        field = model.model_fields.get(str(keys[0]))
        if field is not None:
            words += words_of(field.annotation)
    return list(dict.fromkeys(words)) or None


def words_of(annotation: Any) -> list[str]:
    """Return the words that a type annotation allows.

    >>> words_of(Literal["max", "min"] | None)
    ['max', 'min']
    """
    if get_origin(annotation) is Literal:
        return [str(value) for value in get_args(annotation)]
    words = list[str]()
    for part in get_args(annotation):
        words += words_of(part)
    return words


def write_new_card(
    card: dict[str, Any], path: Path, comments: Sequence[str] = ()
) -> None:
    """Write a card that a command made, below lines of comment.

    Raises UserError if a card with this name exists, and for a name that no study would
    find.
    """
    if path.suffix != ".yaml":
        todo = f"name it {path.stem}.yaml"
        raise UserError("a card's file name ends in .yaml", where=str(path), todo=todo)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            for line in comments:
                file.write(f"# {line}\n")
            file.write(yaml.safe_dump(card, sort_keys=False))
    except FileExistsError:
        raise UserError(
            "a card with this name already exists",
            where=str(path),
            todo="choose another name",
        ) from None


def _key_path(keys: str) -> KeyPath:
    """Return the keys and positions of a path such as `aspects.fluency.labels.0`."""
    path = list[str | int]()
    for key in keys.split("."):
        path.append(int(key) if key.isdigit() else key)
    return tuple(path)


class Cards:
    """The cards of one or more configuration folders; the first folder with a card is
    used.

    `study` is the study's file, if there is one, for errors.
    """

    def __init__(self, folders: list[Path], study: str = "") -> None:
        self.folders = folders
        self.study = study

    def names(self, kind: str) -> list[str]:
        """Return the ids of all cards of a kind."""
        folders = (folder / FOLDERS[kind] for folder in self.folders)
        files = chain.from_iterable(folder.glob("*.yaml") for folder in folders)
        return sorted({path.stem for path in files})

    def path(self, kind: str, name: str, *, where: str) -> Path:
        """Return a card's file; raises UserError with the nearest name if there is
        none.
        """
        card = Path(FOLDERS[kind], f"{name}.yaml")
        for folder in self.folders:
            path = folder / card
            if path.is_file():
                return path
        todo = f"write {card} or name an existing card"
        for folder in Path(self.study).parents:
            if (folder / "config" / card).is_file():
                todo = (
                    "cards are looked up in ./config of the working directory: run the "
                    f"command in {shlex.quote(str(folder))}"
                )
                break
        raise UserError(
            f"unknown {kind} card",
            where=where,
            got=name,
            allowed=self.names(kind),
            todo=todo,
        )

    def read(self, kind: str, name: str, *, where: str) -> Any:
        """Read the card `name` of a kind; `where` names the key that refers to it."""
        return read_card(kind, self.path(kind, name, where=where))

    def optional(self, kind: str, name: str | None, *, where: str) -> Any:
        """Read a card as `read` does; return None without a name."""
        if name:
            return self.read(kind, name, where=where)
        return None

    @contextmanager
    def lines_in_errors(self) -> Iterator[None]:
        """Add the line to errors that name a card's file and key."""
        try:
            yield
        except (UserError, UserErrors) as error:
            errors = error.errors if isinstance(error, UserErrors) else [error]
            for each in errors:
                where = each.where.replace("the study,", f"{self.study},")
                each.where = self._with_line(where)
            raise

    def _with_line(self, where: str) -> str:
        """Return a place in a file with the line of its key, if a card has it."""
        key_of_file = re.compile(
            r"(?P<file>[^,:]+\.ya?ml), key (?P<keys>[^,: ]+)(?P<more>.*)", re.DOTALL
        )
        match = key_of_file.fullmatch(where)
        if match is None:
            return where
        name = match["file"]
        candidates = [folder / name for folder in [Path(), *self.folders]]
        files = [file for file in candidates if file.is_file()]
        if not files:
            return where
        _, lines = load_yaml(files[0])
        keys = _key_path(match["keys"])
        while keys and keys not in lines:
            keys = keys[:-1]
        if not keys:
            return where
        shown = name
        if not files[0].is_absolute():
            shown = files[0]
        return f"{shown}:{lines[keys]}, key {match['keys']}{match['more']}"


def read_tasks(folders: Iterable[Path]) -> dict[str, TaskWords]:
    """Return task -> how prompts speak about its texts, from the first folder with the
    task.
    """
    tasks: dict[str, TaskWords] = {}
    # The file with the words for tasks, in every folder of cards that has one.
    tasks_file = "tasks.yaml"
    for folder in folders:
        path = folder / tasks_file
        if path.is_file():
            content, lines = load_yaml(path)
            table: TaskTable = validate_card("tasks", content, str(path), lines)
            tasks = table.tasks | tasks
    return tasks


EndpointCard = TypeVar("EndpointCard", bound=EndpointModel)
PRICES = HOME / "config" / "prices.yaml"
"""The file of prices that ship with the workflow, for models whose cards have none."""


def priced(card: EndpointCard) -> EndpointCard:
    """Return a card with its price: its own, or the listed price of its model at its
    host.
    """
    if card.price is not None:
        return card
    listed = _prices().get((urlsplit(card.base_url).hostname or "", card.served_name))
    if listed is None:
        return card
    return card.model_copy(update={"price": listed})


@cache
def _prices() -> dict[tuple[str, str], ListedPrice]:
    content, lines = load_yaml(PRICES)
    table: PriceTable = validate_card("prices", content, str(PRICES), lines)
    return {(row.host, row.model): row for row in table.prices}
