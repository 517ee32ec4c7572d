"""Checks of how a judge's card says that replies are read: `read` and `examples`."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from judgescope.core.cells import split
from judgescope.core.errors import UserError
from judgescope.parsing.card_rules import (
    PatternError,
    compiled,
    read_verdict,
    steps_of,
)
from judgescope.parsing.judgment import CHOICE_VALUES, Judgment, Scale
from judgescope.plan.applicable import computes
from judgescope.plan.judges import settings_of
from judgescope.plan.specs.judging import reading
from judgescope.plan.study import Plan
from judgescope.schema.cards import ExampleReply, Judge
from judgescope.scoring.cell import reader
from judgescope.scoring.specs import ReplyReading


class RatedReading(NamedTuple):
    """How a judge's replies about an aspect of a dataset are read."""

    dataset: str
    aspect: str
    """`<aspect>` or `<aspect>.<criterion>`."""
    reading: ReplyReading


def check_reading(plan: Plan, judge: Judge) -> None:
    """Check that a judge's `read` can be used, and read its example replies.

    Raises UserError for a pattern that cannot be compiled or has no group `verdict`, a
    meaning in `map` that is not on the judge's menu, and an example that is read
    differently than its card says.
    """
    where = f"judges/{judge.judge}.yaml"
    given = {"read": judge.read is not None, "examples": bool(judge.examples)}
    keys = [key for key, is_given in given.items() if is_given]
    if not keys:
        return
    model = plan.models[judge.model]
    if computes(model):
        raise UserError(
            f"`{keys[0]}` is for judges that write replies: this one returns numbers",
            where=f"{where}, key {keys[0]}",
            got=f"{judge.model} (engine {model.engine})",
            todo=f"leave `{keys[0]}` out",
        )
    _check_rule(judge, where)
    readings = list(_readings(plan, judge))
    _check_map(plan, judge, readings, where)
    for number, example in enumerate(judge.examples):
        _check_example(example, readings, f"{where}, key examples.{number}")


def _readings(plan: Plan, judge: Judge) -> Iterator[RatedReading]:
    for dataset in plan.datasets:
        for aspect in plan.rated_by(judge.judge, dataset):
            how = reading(plan, dataset, judge.judge, aspect)
            yield RatedReading(dataset, aspect, how)


def _check_rule(judge: Judge, where: str) -> None:
    rule = judge.read
    if rule is None:
        return
    try:
        if rule.pattern:
            compiled(rule.pattern)
        else:
            steps_of(rule.path)
    except PatternError as error:
        key = "pattern" if rule.pattern else "path"
        raise UserError(
            str(error),
            where=f"{where}, key read.{key}",
            got=rule.pattern or rule.path,
            allowed="a regular expression such as 'Final grade: (?P<verdict>[1-5])'"
            if rule.pattern
            else "keys and list indexes with dots between them: result.scores.0",
        ) from None


def _check_map(
    plan: Plan, judge: Judge, readings: list[RatedReading], where: str
) -> None:
    """Check that every meaning in `map` is on the menu of some aspect of the judge."""
    tie = str(settings_of(plan, judge.judge).get("tie", ""))
    scales = list(dict.fromkeys(each.reading.scale for each in readings))
    for word, meaning in judge.read.words.items() if judge.read else ():
        statuses = [
            read_verdict(meaning, scale, "map", tie=tie).status for scale in scales
        ]
        if statuses and "ok" not in statuses:
            menu = list[str]()
            for scale in scales:
                menu += _menu(scale)
            raise UserError(
                f"`map` gives {word!r} a meaning that the judge cannot state",
                where=f"{where}, key read.map",
                got=meaning,
                allowed=menu,
                todo="map it to a value, label or choice of the judge",
            )


def _menu(scale: Scale | None) -> list[str]:
    """Return the verdicts that a judge can state, as cards write them."""
    # The menu of a judge that chooses between two texts, as cards write it.
    choice_marks = ("A", "B", "tie")
    if scale is None:
        return [*choice_marks]
    if scale.words:
        return [*scale.labels]
    grid = scale.grid()
    if grid is None:
        return [f"{scale.min:g} to {scale.max:g}"]
    return [f"{value:g}" for value in grid] + [*scale.labels]


def _check_example(
    example: ExampleReply, readings: list[RatedReading], where: str
) -> None:
    """Check that an example reply has the verdict that its card gives."""
    about = []
    for each in readings:
        if _is_about(each, example.aspect):
            about.append(each)
    if example.aspect is not None and not about:
        raise UserError(
            "this example is about an aspect that the judge does not rate",
            where=f"{where}.aspect",
            got=example.aspect,
            allowed=[split(each.aspect)[0] for each in readings],
        )
    # Characters of an example's reply in an error.
    most_shown = 160
    for dataset, aspect, how in about:
        judgment = reader(how)(example.reply, "stop", "ok")
        if not _agrees(judgment, example.value, how.scale):
            shown = " ".join(example.reply.split())
            if len(shown) > most_shown:
                shown = f"{shown[:most_shown]}…"
            stated = "no verdict"
            if judgment.value is not None:
                stated = judgment.label or f"{judgment.value:g}"
            raise UserError(
                f"an example reply is read differently than its card says: {shown!r}",
                where=f"{where} (dataset {dataset}, aspect {aspect})",
                got=f"{stated} (status {judgment.status}, rule {judgment.rule})",
                allowed="no verdict (value: null)"
                if example.value is None
                else f"the verdict {example.value!r}, as the example says",
                todo="correct `read` or `parser`, or the example's `value`",
            )


def _is_about(rated: RatedReading, aspect: str | None) -> bool:
    return aspect is None or split(rated.aspect)[0] == aspect


def _agrees(
    judgment: Judgment, expected: str | float | None, scale: Scale | None
) -> bool:
    """Return whether a judgment has the expected value, label or choice, or no
    value.
    """
    if expected is None or judgment.value is None:
        return expected is None and judgment.value is None
    if scale is None and str(expected).lower() in CHOICE_VALUES:
        return CHOICE_VALUES[str(expected).lower()] == judgment.value
    wanted = None
    if scale:
        wanted = read_verdict(str(expected), scale, "example")
    if wanted is not None and wanted.value is not None:
        return math.isclose(wanted.value, judgment.value)
    if not isinstance(expected, float | int):
        return False
    return math.isclose(expected, judgment.value)
