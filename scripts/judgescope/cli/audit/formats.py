"""Results of other tools as tables: each reader supports one version of a format.

Where a format is published: Inspect, inspect.aisi.org.uk/eval-logs.html (JSON logs);
promptfoo, promptfoo.dev/docs/configuration/outputs (JSON); DeepEval, repository
confident-ai/deepeval, deepeval/test_run/api.py; lm-evaluation-harness, repository
EleutherAI/lm-evaluation-harness, docs/interface.md (--log_samples); AlpacaEval,
repository tatsu-lab/alpaca_eval, src/alpaca_eval/analyze.py and metrics/helpers.py;
JUDGE-BENCH, repository dmg-illc/JUDGE-BENCH, data/README.md. Content is data: none of
it is executed.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from judgescope.cli.init.guess import columns_of, number, numbers, words_of
from judgescope.cli.init.pair_columns import FIRST, SECOND, TIE
from judgescope.cli.init.roles import Guess
from judgescope.cli.init.tables import MOST_RATERS, InitTable
from judgescope.cli.init.vocabulary import WORDS
from judgescope.core.errors import UserError
from judgescope.core.names import slug
from judgescope.data.rows import read_json

Content = Mapping[str, Any]
Sample = tuple[dict[str, Any], Iterable[str]]
"""A row, and the names of its scores."""
INSPECT = 2
"""The version that Inspect logs state."""
PROMPTFOO = 3
"""The version that promptfoo results state."""
LM_EVAL: Final = {"doc_id", "doc", "target", "resps", "filtered_resps", "doc_hash"}
"""Keys of a sample of lm-evaluation-harness, since the version below."""
LM_EVAL_VERSION: Final = "0.4"
GRADES: Final = {
    "C": 1.0,
    "P": 0.5,
    "I": 0.0,
    "N": 0.0,
    "yes": 1.0,
    "true": 1.0,
    "no": 0.0,
    "false": 0.0,
}
"""Inspect's grades in letters and words, as its metrics count them."""


def _table(
    rows: Sequence[dict[str, Any]],
    columns: Guess,
    scales: Mapping[str, Mapping[str, float]] | None = None,
) -> InitTable:
    """Return a tool's results: rows, the roles of their columns, and the scales that it
    gives.

    `audit.table.read` adds the file and the aspects that have cards.
    """
    numbers = range(1, len(rows) + 1)
    return InitTable(
        Path(), numbers, rows, columns_of(rows), (), known=columns, stated=scales or {}
    )


def _of_samples(samples: Iterable[Sample]) -> InitTable:
    """Return rows with `id`, each given with the names of its scores, which are
    judges'.

    Numbers with names of people are their ratings. `input` and `output` are source and
    text if all rows have them.
    """
    rows: list[dict[str, Any]] = []
    scores: dict[str, None] = {}
    for row, names in samples:
        rows.append(row)
        scores |= dict.fromkeys(names)
    people = list[str]()
    for name in columns_of(rows):
        is_person = WORDS.people.intersection(words_of(name))
        if is_person and numbers(rows, name) is not None:
            people.append(name)
    systems = {row.get("system") for row in rows}
    columns = Guess(
        item="id",
        source=["input"] if all(row.get("input") for row in rows) else [],
        text="output" if all(row.get("output") for row in rows) else None,
        system="system" if len(systems) > 1 else None,
        ratings={"overall": people} if people else {},
        judges={slug(name): {"*": name} for name in scores if name not in people},
    )
    return _table(rows, columns)


def results_of(content: object, file: Path) -> InitTable | None:
    """Return the results in a JSON file's content, or in JSONL rows; None if no tool
    matches.

    Raises UserError for another version of a known format.
    """
    for recognise, read in READERS:
        if recognise(content):
            with _complete(file):
                return read(content, str(file))
    return None


@contextmanager
def _complete(where: Path) -> Iterator[None]:
    """Raise UserError for results without a part that a reader needs."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise UserError(
            "these results lack a required part of their format",
            where=str(where),
            got=f"{type(error).__name__}: {error}"[:80],
            todo="export them again with the tool, or put scores and ratings into a "
            "CSV or JSONL table",
        ) from None


def _known(version: object, known: object, tool: str, where: str) -> None:
    if version != known:
        raise UserError(
            f"this version of {tool} results is not supported",
            where=where,
            got=version,
            allowed=str(known),
            todo="put scores and ratings into a CSV or JSONL table",
        )


def _has(content: object, *keys: str) -> bool:
    """Return whether content is an object with these keys."""
    return isinstance(content, dict) and content.keys() >= {*keys}


def _first_has(content: object, *keys: str) -> bool:
    """Return whether content is a list whose first entry is an object with these
    keys.
    """
    return isinstance(content, list) and bool(content) and _has(content[0], *keys)


def _scalars(content: object, prefix: str) -> dict[str, float]:
    """Return the numbers directly in an object, by `prefix` and key."""
    scalars = dict[str, float]()
    if not isinstance(content, dict):
        return scalars
    for name, cell in content.items():
        value = number(cell) if isinstance(cell, int | float | str) else None
        if value is not None:
            scalars[f"{prefix}{name}"] = value
    return scalars


def _text(content: object) -> str | None:
    """Return a text unchanged, messages or other values as JSON, and None for
    nothing.
    """
    if content is None or content == "":
        return None
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False)


# --- Inspect --------------------------------------------------------------------------


def _is_inspect(content: object) -> bool:
    return _has(content, "eval", "version", "status")


def of_folder(folder: Path) -> InitTable:
    """Return the results of all JSON files in a folder: Inspect logs or AlpacaEval
    annotations.

    Ids of samples contain the log's task. Raises UserError for a folder without such
    files, and for any other JSON file in it.
    """
    files = sorted(folder.glob("*.json"))
    if not files:
        names = sorted(path.name for path in folder.iterdir())
        todo = "name a table, or a folder with such files"
        if any(folder.glob("*.eval")):
            todo = "inspect log convert FOLDER --to json --output-dir NEW"
        raise UserError(
            "this folder contains no Inspect logs or AlpacaEval annotations in JSON",
            where=str(folder),
            got=", ".join(names[:5]) or "an empty folder",
            todo=todo,
        )
    contents = {str(file): read_json(file) for file in files}
    is_alpaca = _is_alpaca(next(iter(contents.values())))
    recognise = _is_alpaca if is_alpaca else _is_inspect
    what = "this file is not an Inspect log"
    if is_alpaca:
        what = "this file has no AlpacaEval annotations"
    for where, content in contents.items():
        if not recognise(content):
            todo = "move it elsewhere, or audit it separately"
            raise UserError(what, where=where, todo=todo)
    with _complete(folder):
        if is_alpaca:
            return _alpaca(list(chain(*contents.values())), str(folder))
        return _of_samples(_samples(contents))


def _samples(logs: Mapping[str, Content]) -> Iterator[Sample]:
    """Yield a row per sample and epoch of logs; scorers are judges, people's ratings
    metadata.

    If there are several tasks, ids begin with the task.
    """
    tasks = {str(log["eval"].get("task")) for log in logs.values()}
    for where, log in logs.items():
        _known(log["version"], INSPECT, "Inspect", where)
        prefix = f"{log['eval'].get('task')}/" if len(tasks) > 1 else ""
        for sample in log.get("samples") or []:
            scores: dict[str, float | None] = {}
            for name, score in (sample.get("scores") or {}).items():
                value = score["value"]
                parts = value if isinstance(value, dict) else {"": value}
                for part, cell in parts.items():
                    scores[f"{name} {part}".strip()] = _grade(cell)
            output = sample.get("output") or {}
            text = output.get("completion")
            if not text:  # a log without `completion`
                choices = output.get("choices") or [{}]
                text = (choices[0].get("message") or {}).get("content")
            row = {
                "id": f"{prefix}{sample['id']}" if prefix else sample["id"],
                "system": f"{log['eval'].get('model')}, epoch {sample.get('epoch', 1)}",
                "input": _text(sample.get("input")),
                "output": _text(text),
                **_scalars(sample.get("metadata"), "metadata."),
                **scores,
            }
            yield row, scores


def _grade(value: object) -> float | None:
    word = value if isinstance(value, str) else ""
    grade = GRADES.get(word, GRADES.get(word.lower()))
    return number(value) if grade is None else grade


# --- promptfoo ------------------------------------------------------------------------


def _promptfoo(content: Content, where: str) -> Iterator[Sample]:
    """Yield a row per output: assertions are judges, those by a person are people's
    ratings.
    """
    results = content["results"]
    version = results.get("version", content.get("version"))
    _known(version, PROMPTFOO, "promptfoo", where)
    for result in results["results"]:
        grading = result.get("gradingResult") or {}
        scores: dict[str, float] = {}
        seen: Counter[str] = Counter()
        people: dict[str, float] = {}
        for component in grading.get("componentResults") or []:
            assertion = component.get("assertion") or {}
            kind = str(assertion.get("type"))
            if kind == "human":
                # A person made it in the viewer, where the last one counts.
                people[kind] = component["score"]
                continue
            name = str(assertion.get("metric") or kind)
            seen[name] += 1
            if seen[name] > 1:
                name = f"{name} {seen[name]}"
            scores[name] = component["score"]
        response = result.get("response") or {}
        row = {
            "id": f"test-{result['testIdx']}",
            "system": f"{result['provider']['id']}, prompt {result['promptIdx']}",
            "input": _text(result.get("vars")),
            "output": _text(response.get("output")),
            **scores,
            **people,
        }
        yield row, scores


# --- DeepEval -------------------------------------------------------------------------


def _cases(content: object) -> list[Any] | None:
    run = content.get("testRunData", content) if isinstance(content, dict) else None
    cases = run.get("testCases") if isinstance(run, dict) else None
    return cases if isinstance(cases, list) else None


def _deepeval(content: Content, where: str) -> Iterator[Sample]:
    """Yield a row per test case: metrics are judges; people's ratings are metadata."""
    for at, case in enumerate(_cases(content) or [], start=1):
        if "metricsData" not in case:
            version = "test cases without metricsData"
            _known(version, "3: testCases with metricsData", "DeepEval", where)
        scores = dict[str, object]()
        for metric in case["metricsData"] or []:
            scores[str(metric["name"])] = metric.get("score")
        metadata = case.get("metadata") or case.get("additionalMetadata")
        row = {
            "id": f"case-{at}",
            "input": _text(case.get("input")),
            "output": _text(case.get("actualOutput")),
            **_scalars(metadata, "metadata."),
            **scores,
        }
        yield row, scores


# --- lm-evaluation-harness ------------------------------------------------------------


def _lm_eval(samples: Sequence[Content], where: str) -> InitTable:
    """Return a row per document: metrics are judges, or the reply itself if it is a
    number.
    """
    lacking = sorted(LM_EVAL - samples[0].keys())
    version = f"samples without {', '.join(lacking)}" if lacking else LM_EVAL_VERSION
    _known(version, LM_EVAL_VERSION, "lm-evaluation-harness", where)
    table = _of_samples(map(_document, samples))
    replied = all(numbers(table.rows, name) is not None for name in ("reply", "target"))
    if replied and not (table.known and table.known.ratings):
        # the model was the judge, and the target is the rating
        ratings = {"overall": ["target"]}
        judges = {"reply": {"*": "reply"}}
        columns = Guess(item="id", ratings=ratings, judges=judges, source=["input"])
        return replace(table, known=columns)
    return table


def _document(sample: Content) -> Sample:
    """Return a sample's row, and the names of its metrics."""
    named = sample.get("metrics") or [key for key in sample if key not in LM_EVAL]
    scores = dict[str, float]()
    for name in named:
        cell = sample.get(name)
        value = None if isinstance(cell, str) else number(cell)
        if value is not None:
            scores[name] = value
    reply = _first(sample["filtered_resps"])
    row: dict[str, Any] = {
        "id": f"{sample['doc_id']}",
        "system": f"filter {sample.get('filter') or 'none'}",
        "input": _text(sample["doc"]),
        "output": _text(reply),
        **_scalars(sample["doc"], "doc."),
        **scores,
    }
    for name, cell in (("target", sample["target"]), ("reply", reply)):
        if number(cell) is not None:
            row[name] = cell
    return row, scores


def _first(replies: object) -> object:
    while isinstance(replies, list):
        replies = replies[0] if replies else None
    return replies


# --- JUDGE-BENCH ----------------------------------------------------------------------


def _judge_bench(content: Content, where: str) -> InitTable:
    """Return a row per instance; a key of an instance that holds scores by metric is a
    judge.
    """
    scales = _judge_bench_scales(content["annotations"], where)
    rows: list[dict[str, Any]] = []
    judges: dict[str, dict[str, str]] = {}
    for instance in content["instances"]:
        row: dict[str, Any] = {
            "id": f"{instance['id']}",
            "output": _text(instance["instance"]),
        }
        for name in scales:
            people = instance["annotations"].get(name) or {}
            row[f"people ({name})"] = people.get("individual_human_scores") or []
        for judge, scores in instance.items():
            # These keys of an instance belong to no judge.
            if judge in ("id", "instance", "annotations"):
                continue
            if not isinstance(scores, dict):
                continue
            for name in scales.keys() & scores.keys():
                column = f"{judge} ({name})"
                values = scores[name]
                if isinstance(values, list):
                    values = [value for value in values if value is not None]
                row[column] = number(_first(values))
                judges.setdefault(slug(judge), {})[slug(name)] = column
        rows.append(row)
    ratings = {slug(name): [f"people ({name})"] for name in scales}
    columns = Guess(item="id", text="output", ratings=ratings, judges=judges)
    return _table(rows, columns, {slug(name): scale for name, scale in scales.items()})


def _judge_bench_scales(
    annotations: Sequence[Content], where: str
) -> dict[str, dict[str, float]]:
    """Return metric -> its scale, without metrics that are categories."""
    categories = {str(annotation["category"]) for annotation in annotations}
    unknown = sorted(categories - {"categorical", "graded", "continuous"})
    if unknown:
        version = "of 2024: annotations that are categorical, graded or continuous"
        got = f"annotations of category {unknown[0]}"
        _known(got, version, "JUDGE-BENCH", where)
    scales = dict[str, dict[str, float]]()
    for annotation in annotations:
        if annotation["category"] == "categorical":
            continue
        name = str(annotation["metric"])
        worst = annotation["worst"]
        best = annotation["best"]
        if not worst < best:
            raise UserError(
                "the best value of a scale must be its highest",
                where=f"{where}, metric {name}",
                got=f"worst {worst}, best {best}",
                todo="reverse the scores: replace each by worst + best - score",
            )
        scales[name] = {"min": worst, "max": best}
        if annotation["category"] == "graded":
            scales[name]["step"] = 1
    if not scales:
        metrics = [str(annotation["metric"]) for annotation in annotations]
        raise UserError(
            "all annotations in these results are categories, which have no order",
            where=where,
            got=", ".join(metrics),
            allowed="annotations of category graded or continuous",
        )
    return scales


# --- AlpacaEval -----------------------------------------------------------------------


def _is_alpaca(content: object) -> bool:
    return _first_has(content, "output_1", "output_2", "preference")


def _alpaca(annotations: Sequence[Content], where: str) -> InitTable:
    """Return a row per instruction and pair of outputs, and a column of choices per
    annotator.

    Annotations without `annotator` are people's. A preference above 1.5 is for the
    second output; if an annotator has annotated a pair several times, the first
    annotation counts.
    """
    # These keys identify a pair, as in AlpacaEval's own analysis.
    pair_keys = ("instruction", "output_1", "output_2")
    generators = ["generator_1", "generator_2"]
    rows: dict[str, dict[str, Any]] = {}
    raters: dict[str, bool] = {}
    for annotation in annotations:
        key = json.dumps([annotation[name] for name in pair_keys])
        if key not in rows:
            rows[key] = {name: _text(annotation[name]) for name in pair_keys}
        row = rows[key]
        for name in generators:
            if annotation.get(name):
                row[name] = annotation[name]
        model = annotation.get("annotator")
        rater = f"person {annotation.get('annotator_index', 1)}"
        if model:
            rater = str(model)
        raters[rater] = not model or bool(WORDS.people.intersection(words_of(rater)))
        preferred = _preferred(annotation["preference"], where)
        row.setdefault(rater, preferred)
    people = [rater for rater, is_person in raters.items() if is_person]
    models = [rater for rater, is_person in raters.items() if not is_person]
    if len(people) > MOST_RATERS:
        for row in rows.values():
            row["people"] = [row[name] for name in people if row.get(name) is not None]
        people = ["people"]
    have_systems = all(row.keys() >= {*generators} for row in rows.values())
    columns = Guess(
        source=["instruction"],
        texts=["output_1", "output_2"],
        systems=generators if have_systems else [],
        ratings={"overall": people} if people else {},
        judges={slug(name): {"*": name} for name in models},
    )
    return _table([*rows.values()], columns)


def _preferred(preference: object, where: str) -> int | None:
    """Return the choice of a preference: 1 to 2, or 0 for a tie."""
    value = number(preference)
    if value is None:
        return None
    if value != 0 and not 1 <= value <= 2:
        version = "0.6: preferences from 1 to 2, and 0 for a tie"
        _known(f"preference {value:g}", version, "AlpacaEval", where)
    if value in (0, 1.5):
        return TIE
    return FIRST if value < 1.5 else SECOND


READERS: Final[list[tuple[Callable[[Any], bool], Callable[[Any, str], InitTable]]]] = [
    (_is_inspect, lambda log, where: _of_samples(_samples({where: log}))),
    (
        lambda content: (
            _has(content, "results") and _has(content["results"], "results", "stats")
        ),
        lambda content, where: _of_samples(_promptfoo(content, where)),
    ),
    (
        lambda content: _cases(content) is not None,
        lambda content, where: _of_samples(_deepeval(content, where)),
    ),
    (lambda content: _first_has(content, "doc_id", "doc", "resps"), _lm_eval),
    (lambda content: _has(content, "annotations", "instances"), _judge_bench),
    (_is_alpaca, _alpaca),
]
