"""Scoring one cell: every reply is parsed, every target's draws become one score."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa

from metajudge.parsing import NO_SETTINGS, Judgment, Scale, Settings, parse
from metajudge.parsing.locate import locate_errors
from metajudge.schema.tables import SCHEMAS, read_table, table_of, texts_of
from metajudge.scoring.estimators import scores
from metajudge.scoring.expectation import expectation

LOGPROB_MEAN = "logprob_mean"
NO_TEXTS: Final[Mapping[str, str]] = MappingProxyType({})
_UNIT = ["target", "target_b", "criterion"]
Unit = tuple[str | None, ...]


def score_cell(
    answers: pa.Table,
    *,
    cell: dict[str, str],
    scale: Scale | None,
    parser: str,
    estimator: str,
    samples: bool = False,
    settings: Settings = NO_SETTINGS,
    texts: Mapping[str, str] = NO_TEXTS,
    cut: bool = False,
) -> tuple[pa.Table, pa.Table]:
    """Return the judgments and the scores of a cell's answers.

    `cell` names dataset, perturbation, judge and aspect. A score needs at least half of its draws
    parsed (methods.md 1), else it is null; what was not parsed never becomes a number. `samples`:
    where the estimator is logprob_mean and a reply has no probabilities, what it says counts.
    `settings` are the parser's; `texts` are those of the targets, where errors are located in them;
    `cut`: a reply that was cut counts where its first line is the verdict.
    """
    read = cache(partial(_read, scale=scale, parser=parser, settings=settings, cut=cut))
    columns = (answers[name].to_pylist() for name in ("text", "finish", "status"))
    verdicts = [read(*reply) for reply in zip(*columns, strict=True)]
    units = list(zip(*(answers[name].to_pylist() for name in _UNIT), strict=True))
    values = [verdict.value if verdict.status == "ok" else None for verdict in verdicts]
    if estimator != LOGPROB_MEAN:
        rows = _scores(units, values, cell, estimator)
        return _judgments(answers, verdicts, texts), table_of("scores", rows)
    told = [logprobs is not None for logprobs in answers["logprobs"].to_pylist()]
    if samples and not any(told):
        rows = _scores(units, values, cell, "mean")
    else:
        weighted = _expectations(answers, verdicts, scale)
        rows = [{**row, "estimator": estimator} for row in _scores(units, weighted, cell, "mean")]
    return _judgments(answers, verdicts, texts), table_of("scores", rows)


def scored(told: Mapping[str, Any]) -> tuple[pa.Table, pa.Table]:
    """Return the judgments and the scores of a reply file, as a job's spec tells how.

    `told` has `input`, `cell`, `scale`, `parser`, `settings`, `estimator`, `samples`; `targets`
    is the file of the texts that errors are located in, where there are any; `cut` where it holds.
    """
    own = told["scale"]
    return score_cell(
        read_table("answers", told["input"]),
        cell=told["cell"],
        scale=own and Scale(**{**own, "labels": tuple(own["labels"])}),
        parser=told["parser"],
        estimator=told["estimator"],
        samples=told["samples"],
        settings=told["settings"],
        texts=texts_of(told["targets"]) if "targets" in told else NO_TEXTS,
        cut=told.get("cut", False),
    )


Read = Callable[[str, str | None, str], Judgment]
"""(text, finish, status) of a reply -> what it says."""


def reader(told: Mapping[str, Any]) -> Read:
    """Return what reads a reply, as `scored` is told to."""
    own = told["scale"]
    return partial(
        _read,
        scale=own and Scale(**{**own, "labels": tuple(own["labels"])}),
        parser=told["parser"],
        settings=told["settings"],
        cut=told.get("cut", False),
    )


def _read(text: str, finish: str | None, status: str, **told: Any) -> Judgment:
    return parse(text, finish=finish, reply_status=status, **told)


def _expectations(
    answers: pa.Table, verdicts: Sequence[Judgment], scale: Scale | None
) -> list[float | None]:
    """Return what the probabilities of each reply say of its score, None where they say nothing."""
    assert scale is not None, "the plan allows it on a scale with steps only"
    grid = scale.grid() or []
    words = zip(scale.labels, grid, strict=False)
    values = {f"{value:g}": value for value in grid} | {word.lower(): at for word, at in words}
    return [
        expectation(logprobs, verdict.tail, values)
        if logprobs and verdict.status == "ok" and verdict.tail is not None
        else None
        for logprobs, verdict in zip(answers["logprobs"].to_pylist(), verdicts, strict=True)
    ]


def _judgments(answers: pa.Table, verdicts: list[Judgment], texts: Mapping[str, str]) -> pa.Table:
    """Return the table of judgments: the request's columns as they are, the verdicts beside."""
    schema = SCHEMAS["judgments"]
    columns = []
    for field in schema:
        if field.name in Judgment.__slots__:
            values = [getattr(verdict, field.name) for verdict in verdicts]
            columns.append(pa.array(values, field.type))
        elif field.name == "spans" and texts:
            told = zip(verdicts, answers["target"].to_pylist(), strict=True)
            columns.append(pa.array([_spans(one, texts[name]) for one, name in told], field.type))
        elif field.name in answers.column_names:
            columns.append(answers[field.name])
        else:
            columns.append(pa.nulls(len(answers), field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _spans(verdict: Judgment, text: str) -> list[dict[str, Any]]:
    return [one._asdict() for one in locate_errors(verdict.errors, text)]


def _scores(
    units: Sequence[Unit], values: Sequence[float | None], cell: dict[str, str], estimator: str
) -> list[dict[str, Any]]:
    """Return a row per unit, sorted; `values` are those of the draws, one per entry of `units`."""
    drawn: dict[Unit, list[float | None]] = defaultdict(list)
    for unit, value in zip(units, values, strict=True):
        drawn[unit].append(value)
    ordered = sorted(drawn, key=lambda unit: tuple(name or "" for name in unit))
    draws = np.array([len(drawn[unit]) for unit in ordered], dtype=np.int64)
    table = np.full((len(ordered), draws.max(initial=0)), np.nan)
    for row, unit in zip(table, ordered, strict=True):
        row[: len(drawn[unit])] = drawn[unit]  # None becomes NaN
    found, given = scores(table, draws, estimator)
    return [
        {
            **cell,
            **dict(zip(_UNIT, unit, strict=True)),
            "value": None if np.isnan(value) else float(value),
            "n_draws": int(count),
            "n_missing": int(count - parsed),
            "estimator": estimator,
        }
        for unit, value, count, parsed in zip(ordered, found, draws, given, strict=True)
    ]
