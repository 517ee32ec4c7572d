"""The pack of tables (tests/cases/tables), and what is wrong with an audit of one.

The form of the output for programs is left loose: columns are looked for under their
roles, words and numbers anywhere.
"""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from running import HOME

FOLDER = HOME / "tests" / "cases" / "tables"
CASES = {
    row["file"]: row
    for row in csv.DictReader((FOLDER / "expected.csv").open(encoding="utf-8"))
}


@dataclass(frozen=True)
class AuditOutput:
    """What `judgescope audit FILE --json` left behind."""

    status: int
    out: str
    err: str

    @property
    def content(self) -> Any:
        return json.loads(self.out)

    @property
    def said(self) -> str:
        """Everything that a person may read."""
        if not self.out.strip():
            return self.err
        return "\n".join([self.err, self.out, *texts_in(self.content)])


def texts_in(content: Any) -> Iterator[str]:
    """Yield all texts of a JSON value, keys too."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for each in content:
            yield from texts_in(each)
    elif isinstance(content, dict):
        for key, value in content.items():
            yield key
            yield from texts_in(value)


def numbers_in(content: Any) -> Iterator[float]:
    """Yield all numbers of a JSON value."""
    if isinstance(content, bool):
        return
    if isinstance(content, int | float):
        yield float(content)
    elif isinstance(content, list):
        for each in content:
            yield from numbers_in(each)
    elif isinstance(content, dict):
        for value in content.values():
            yield from numbers_in(value)


def plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def one_of(wanted: str, columns: list[str]) -> bool:
    """Whether one of `a|b` is among columns, also as the key of an object or as a part
    of a header that was split, or as what two columns of a pair have in common.
    """
    for name in wanted.split("|"):
        for column in columns:
            begins = column.startswith((f"{name}.", f"{name}_"))
            is_end = column.endswith(f".{name}")
            is_stem = name in (f"{column}_chosen", f"{column}_rejected")
            if column == name or begins or is_end or is_stem:
                return True
    return False


def problems(case: dict[str, str], output: AuditOutput) -> list[str]:
    """Return what is wrong with an audit, [] for a right reading or a refusal that may
    be.
    """
    result = list(_wrong_words(case, output))
    if str(output.status) not in case["exit"].split("|"):
        result.append(f"exit code {output.status}: {output.err[:200]}")
    if output.status == 0:
        result += _wrong_roles(case, output.content["columns"])
        result += _wrong_numbers(case, output.content)
    return result


def _wrong_words(case: dict[str, str], output: AuditOutput) -> Iterator[str]:
    text = output.said
    for name in filter(None, case["told"].split(" && ")):
        if name.startswith("told:"):
            if name.removeprefix("told:") not in text:
                yield f"not said: {name}"
        elif not re.search(name, text):
            yield f"not said: {name}"
    for banned in filter(None, case["not_told"].split(" && ")):
        if re.search(banned, text):
            yield f"said: {banned}"


def _wrong_roles(case: dict[str, str], columns: dict[str, Any]) -> Iterator[str]:
    keys = {"reference": "references"}
    for role in ("item", "source", "system", "text", "reference", "texts"):
        got = columns[keys.get(role, role)]
        if case[role] == "-" and got:
            yield f"{role}: {got}"
        for wanted in filter(None, case[role].split(" + ")):
            if wanted != "-" and not one_of(wanted.strip(), got):
                yield f"{role}: {wanted} is not in {got}"
    yield from _wrong_people(case, columns["people"])
    judges = columns["judges"]
    if case["n_judges"] and len(judges) != int(case["n_judges"]):
        yield f"judges: {list(judges)}"
    if case["n_aspects"] and len(columns["people"]) != int(case["n_aspects"]):
        yield f"aspects: {list(columns['people'])}"
    for part in filter(None, case["judges"].split(";")):
        yield from _wrong_judge(part, judges)
    used = []
    for group in columns["people"].values():
        used += group
    for scores in judges.values():
        used += scores.values()
    for name in filter(None, case["never"].split(",")):
        if name.strip() in used:
            yield f"{name} is no rating and no score"
    if case["draws"] and int(case["draws"]) not in columns["draws"].values():
        yield f"draws: {columns['draws']}"
    if case["confidence"] and case["confidence"] not in texts_in(columns["confidence"]):
        yield f"confidence: {columns['confidence']}"


def _wrong_people(case: dict[str, str], people: dict[str, list[str]]) -> Iterator[str]:
    wanted_columns = []
    for part in filter(None, case["people"].split(";")):
        name, _, listed = part.partition(":")
        wanted = [column.strip() for column in listed.split(",")]
        wanted_columns += wanted
        of_aspect = []
        for aspect, group in people.items():
            if any(plain(each) in plain(aspect) for each in name.split("|")):
                of_aspect += group
        if name.split("|")[0].strip() == "overall":
            of_aspect = [column for group in people.values() for column in group]
        for column in wanted:
            if not one_of(column, of_aspect):
                yield f"people, {name}: {column} is not in {people}"
    rated = [column for group in people.values() for column in group]
    in_rows = case["mechanism"] in {"criterion in rows", "columns by system"}
    if case["people"] and len(rated) != len(wanted_columns) and not in_rows:
        yield f"people: {people}"


def _wrong_judge(part: str, judges: dict[str, dict[str, str]]) -> Iterator[str]:
    names, _, listed = part.partition(":")
    wanted = [plain(name) for name in names.split("|")]
    mine = []
    for judge, scores in judges.items():
        columns = list(scores.values())
        spelled = [plain(judge), *map(plain, columns)]
        if any(name in each for name in wanted for each in spelled):
            mine += columns
    if not mine:
        yield f"judge {part}: {judges}"
    for column in listed.split(","):
        if not one_of(column.strip(), mine):
            yield f"judge {part}: {column} is not in {judges}"


def _wrong_numbers(case: dict[str, str], content: Any) -> Iterator[str]:
    got = {f"{number:.6f}" for number in numbers_in(content["judges"])}
    for figure in case["figures"].split():
        if got.isdisjoint(figure.split("|")):
            yield f"figure: {figure}"
    counted = set()
    labelled = False
    for judge in content["judges"].values():
        for claim in judge["claims"]:
            counted.add(claim["n"])
            labelled = labelled or claim["kind"] == "labels"
    if case["n"] and int(case["n"]) not in counted:
        yield f"n: {sorted(counted)}"
    if case["judgment"] == "labels" and not labelled:
        yield "these are labels"
