"""Exports of platforms (tests/cases/platforms), each with the roles of its columns."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from judgescope.cli.audit.table import draft_of, read
from judgescope.cli.init import flags
from judgescope.cli.init.cards import StudyDraft, cards_of
from judgescope.cli.init.exports import opened
from judgescope.cli.init.tables import TableSource
from judgescope.cli.main import command_line, main
from judgescope.core import registry
from judgescope.core.errors import UserError
from judgescope.core.registry import Registry
from judgescope.schema.loading import Cards
from judgescope.tables.opening import open_file
from judgescope.tables.platforms.base import PLATFORMS, OpenedExport, Platform
from judgescope.tables.platforms.sides import aspect_of_score
from judgescope.tables.structure import conversation, is_conversation
from running import HOME

FOLDER = HOME / "tests" / "cases" / "platforms"
CASES = {
    row["file"]: row
    for row in csv.DictReader((FOLDER / "expected.csv").open(encoding="utf-8"))
}


def draft(file: Path, *words: str) -> StudyDraft:
    return draft_of(command_line().parse_args(["audit", str(file), *words]), {})


def parts(text: str, separator: str) -> list[str]:
    return [part for part in text.split(separator) if part]


def people(case: dict[str, str]) -> dict[str, list[str]]:
    rated = {}
    for part in parts(case["people"], "; "):
        aspect, _, columns = part.partition(": ")
        rated[aspect] = columns.split(", ")
    return rated


def judges(case: dict[str, str]) -> dict[str, dict[str, str]]:
    collected = {}
    for part in parts(case["judges"], "; "):
        judge, _, scores = part.partition(": ")
        collected[judge] = dict(pair.split("=", 1) for pair in scores.split(", "))
    return collected


@pytest.mark.heavy
@pytest.mark.parametrize("file", CASES)
def test_an_export_is_audited_with_the_roles_of_its_columns(file: str) -> None:
    case = CASES[file]
    args = command_line().parse_args(["audit", str(FOLDER / file), "--json"])
    printed = io.StringIO()
    with redirect_stdout(printed):
        assert args.act(args) == 0
    content = json.loads(printed.getvalue())
    columns = content["columns"]
    assert columns["people"] == people(case) and columns["judges"] == judges(case)
    assert columns["item"] == parts(case["item"], " + ")
    assert columns["source"] == parts(case["source"], " + ")
    assert [*columns["text"], *columns["texts"]] == parts(case["text"], " + ")
    assert [*columns["system"], *columns["systems"]] == parts(case["system"], " + ")
    assert content["rows"] == int(case["rows"])
    counts = []
    for judge, result in content["judges"].items():
        n = max(each["n"] for each in result["claims"] if each["kind"] != "caught")
        counts.append(f"{judge}={n}")
    assert counts == case["n"].split(", ")
    notes = " ".join(content["notes"])
    assert f"--tool {case['tool']})" in notes and case["told"] in notes


@pytest.mark.parametrize("file", CASES)
def test_init_names_the_same_roles(file: str) -> None:
    args = command_line().parse_args(["init", str(FOLDER / file), "--yes"])
    table = opened(FOLDER / file, Cards([HOME / "config"]))
    columns = flags.draft_of(args, table).columns
    case = CASES[file]
    assert columns.ratings == people(case) and columns.judges == judges(case)
    assert [*columns.columns_of("text"), *columns.texts] == parts(case["text"], " + ")


def export_of(file: Path) -> OpenedExport:
    content = open_file(file)
    return OpenedExport(
        str(file),
        content.content,
        content.rows,
        file if content.members else None,
        content.members,
    )


TABLES = sorted((HOME / "tests" / "cases" / "tables").glob("*.csv"))


@pytest.mark.parametrize("file", CASES)
def test_a_single_record_recognises_an_export(file: str) -> None:
    export = export_of(FOLDER / file)
    collected = [name for name, each in PLATFORMS.items() if each.recognise(export)]
    assert collected == [CASES[file]["tool"]]


def test_every_record_has_an_export_and_plain_tables_have_none() -> None:
    assert {case["tool"] for case in CASES.values()} == {*PLATFORMS}
    recognised = []
    for file in TABLES:
        if file.name.startswith(("labels-", "covariate-", "number-", "language-")):
            export = export_of(file)
            recognised += [
                each for each in PLATFORMS.values() if each.recognise(export)
            ]
    assert recognised == []


def without(value: Any, key: str) -> Any:
    """Return JSON without a key, wherever it is."""
    if isinstance(value, dict):
        return {name: without(each, key) for name, each in value.items() if name != key}
    return [without(each, key) for each in value] if isinstance(value, list) else value


def write_without(file: Path, key: str, folder: Path) -> Path:
    changed = folder / file.name
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        kept = [name for name in rows[0] if name != key]
        with changed.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.DictWriter(lines, kept, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
    elif file.suffix == ".jsonl":
        lines_kept = [without(json.loads(line), key) for line in text.splitlines()]
        changed.write_text("\n".join(map(json.dumps, lines_kept)), encoding="utf-8")
    else:
        changed.write_text(json.dumps(without(json.loads(text), key)), encoding="utf-8")
    return changed


@pytest.mark.parametrize(
    ("file", "key", "where"),
    [
        ("alpaca-eval.json", "instruction", "row 1"),
        ("arena.jsonl", "winner", ""),
        ("argilla.json", "suggestions", ""),
        ("braintrust.jsonl", "scores", ""),
        ("chosen-rejected.jsonl", "rejected", ""),
        ("deepeval.csv", "actual_output", ""),
        ("deepeval.json", "metricsData", "testCases 1"),
        ("healthbench.jsonl", "prompt_id", ""),
        ("inspect.json", "value", "samples 1, scores, model_graded_qa"),
        ("judge-bench.json", "worst", "annotations 1"),
        ("judgebench.jsonl", "label", ""),
        ("label-studio.json", "from_name", "row 1, annotations 1, result 1"),
        ("labelbox.jsonl", "id", "row 1, data_row"),
        ("langfuse-scores.csv", "dataType", ""),
        ("lm-eval.jsonl", "filtered_resps", ""),
        ("mlflow.jsonl", "source_type", "row 1, assessments 2, source"),
        ("opencompass.json", "references", "details, 0"),
        ("phoenix-annotations.csv", "annotator_kind", ""),
        ("phoenix-spans.csv", "attributes.output.value", ""),
        ("promptfoo.json", "testIdx", "results, results 1"),
        ("ragas.csv", "response", ""),
        ("rewardbench-2.json", "scores", "entry 1"),
        ("rewardbench.json", "scores_rejected", "entry 1"),
        ("trulens.csv", "output", ""),
        ("weave-feedback.jsonl", "payload", "row 1"),
    ],
)
def test_a_missing_key_is_named(
    file: str, key: str, where: str, tmp_path: Path
) -> None:
    changed = write_without(FOLDER / file, key, tmp_path)
    with pytest.raises(UserError) as refused:
        draft(changed, "--tool", CASES[file]["tool"])
    assert f"lacks the key {key}" in refused.value.what
    assert refused.value.where.endswith(f"{file}{', ' * bool(where)}{where}")


def test_a_tool_can_be_named(tmp_path: Path) -> None:
    file = FOLDER / "langsmith.csv"
    with pytest.raises(UserError, match="this tool is not known") as refused:
        read(file, TableSource(tool="langsmit"))
    assert "langsmith" in str(refused.value)
    plain = read(file, TableSource(tool="table"))
    assert plain.known is None and plain.columns[0] == "id"
    row = {"user_input": "a", "response": "b", "chosen": "c", "rejected": "d"}
    both = tmp_path / "both.jsonl"
    both.write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n", encoding="utf-8")
    with pytest.raises(UserError, match="has the keys of two tools") as doubtful:
        read(both)
    assert "--tool chosen-rejected" in doubtful.value.todo
    assert read(both, TableSource(tool="ragas")).known is not None


def test_flags_name_other_ratings_and_scores() -> None:
    file = FOLDER / "langsmith.csv"
    other = draft(file, "--human", "feedback.conciseness").columns
    assert other.ratings == {"overall": ["feedback.conciseness"]}
    assert other.judges == {"correctness": {"*": "feedback.correctness"}}
    words = ["--human", "expected", "--judge", "scores.Helpfulness"]
    with pytest.raises(UserError, match="a rating is not a number"):
        draft(FOLDER / "braintrust.jsonl", *words)
    of_api = ["--human", "API.user-thumb", "--judge", "EVAL.quality"]
    result = draft(FOLDER / "langfuse-scores.csv", *of_api)
    assert result.labelled == ["overall"] and result.columns.rated == [of_api[1]]


# --- archives -------------------------------------------------------------------------


def test_an_unfinished_log_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("_journal/start.json", "{}")
        archive.writestr("samples/1_epoch_1.json", "{}")
    with pytest.raises(UserError, match=r"unfinished: it has no header\.json"):
        read(file)


def test_archives_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    content = (FOLDER / "inspect.eval").read_bytes()
    damaged = tmp_path / "damaged.eval"
    damaged.write_bytes(content[:2000])
    with pytest.raises(UserError, match="this archive cannot be read"):
        read(damaged)
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("notes.txt", "hello")
    with pytest.raises(UserError, match="neither a table nor an export") as refused:
        read(other)
    assert refused.value.got == "notes.txt"
    # A packing that no Python knows, as Zstandard is before Python 3.14.
    packed = tmp_path / "packed.eval"
    unknown = bytearray(content)
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        for match in re.finditer(re.escape(mark), content):
            unknown[match.start() + at] = 99
    packed.write_bytes(bytes(unknown))
    with pytest.raises(UserError, match="cannot unpack a file") as packing:
        read(packed)
    assert "inspect log convert packed.eval --to json" in packing.value.todo


def test_a_folder_may_have_packed_logs(tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes((FOLDER / "inspect.eval").read_bytes())
    (tmp_path / "b.json").write_bytes((FOLDER / "inspect.json").read_bytes())
    assert len(read(tmp_path).rows) == 36


# --- values ---------------------------------------------------------------------------


def rows(file: str) -> list[Any]:
    return list(read(FOLDER / file).rows)


def test_chats_keep_roles_calls_and_results() -> None:
    assert rows("ragas-chats.jsonl")[0]["user_input"].split("\n")[:4] == [
        "user: How do I clean the kettle?",
        "assistant: I look it up.",
        'assistant calls manual: {"thing": "kettle"}',
        "tool: page 12",
    ]
    text = rows("deepeval-chats.json")[0]["output"].split("\n")
    assert text[2:] == [
        'assistant calls find_manual: {"thing": "kettle"}',
        "tool: page 12",
    ]
    parts_of_content = [
        {"type": "text", "text": "Look."},
        {"type": "tool_use", "name": "look", "input": {"at": 1}},
        {"type": "image"},
    ]
    turns: list[dict[str, Any]] = [
        {"role": "assistant", "content": parts_of_content},
        {"role": "user", "content": [{"type": "tool_result", "content": "seen"}]},
        {"role": "assistant", "tool_calls": [{"function": "f", "arguments": {}}]},
        {"from": "human", "value": "Thanks"},
    ]
    assert is_conversation(turns)
    assert conversation(turns).split("\n") == [
        "assistant: Look. [image]",
        'assistant calls look: {"at": 1}',
        "tool: seen",
        "assistant calls f: {}",
        "user: Thanks",
    ]


def test_a_first_turn_is_judged_without_the_second() -> None:
    first = rows("arena.jsonl")[0]
    assert "And after that?" not in first["conversation_a"]
    # author_2 saw the models in the other order
    assert [first["expert_1"], first["author_2"]] == [1, 1]


def test_the_second_decision_of_judgebench_is_of_the_reversed_order() -> None:
    result = draft(FOLDER / "judgebench.jsonl")
    first = result.table.rows[0]
    judge = "arena_hard-judge-1"
    assert (first[judge], first[f"{judge}, order reversed"]) == (1, 1)
    card = cards_of(result)["model", judge]
    assert card["rows"]["reply_swapped"] == f"{judge}, order reversed"


def test_better_texts_stand_first_and_second() -> None:
    result = rows("chosen-rejected.jsonl")
    assert {row["people chose"] for row in result} == {1, 2}
    for row in result:
        better = row[
            "chosen_or_rejected" if row["people chose"] == 1 else "rejected_or_chosen"
        ]
        assert "dry cloth" in better


def test_an_output_of_promptfoo_has_the_columns_on_its_right() -> None:
    first, second = rows("promptfoo.csv")[8:10]
    assert (first["provider"][:12], second["provider"][:11]) == (
        "[lab:alpha] ",
        "[lab:beta] ",
    )
    assert (first["Status"], second["Status"]) == ("FAIL", None)  # ERROR
    assert second["output"].endswith("Number 1.")


def test_a_persons_last_rating_counts_and_many_raters_are_a_list(
    tmp_path: Path,
) -> None:
    header = "traceId,name,source,dataType,value,stringValue,authorUserId"
    lines = [header]
    for trace in range(3):
        for rater in range(22):
            lines.append(f"t{trace},tone,ANNOTATION,NUMERIC,{rater % 5},,u{rater}")
        lines.append(f"t{trace},tone,EVAL,NUMERIC,{trace},,")
        lines.append(f"t{trace},tone,EVAL,NUMERIC,{trace + 1},,")
    file = tmp_path / "many.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    many = read(file)
    assert many.known and many.known.ratings == {"tone": ["ANNOTATION.tone"]}
    assert len(many.rows[0]["ANNOTATION.tone"]) == 22
    assert many.rows[0]["EVAL.tone"] == ["0", "1"]
    few = [line for line in lines if not re.search(r",u([2-9]|\d\d)$", line)]
    file.write_text("\n".join([*few, few[1].replace(",0,,", ",4,,")]), encoding="utf-8")
    once = read(file)
    assert once.rows[0]["ANNOTATION.tone (u0)"] == "4"
    assert "1 ratings replace an earlier one of the same person" in once.notes


def test_answers_of_an_api_are_read_as_files_are(tmp_path: Path) -> None:
    lines = (FOLDER / "langfuse-api.jsonl").read_text(encoding="utf-8").splitlines()
    page = {"data": [json.loads(line) for line in lines], "meta": {"page": 1}}
    file = tmp_path / "page.json"
    file.write_text(json.dumps(page), encoding="utf-8")
    assert read(file).rows == read(FOLDER / "langfuse-api.jsonl").rows
    annotations = []
    text = (FOLDER / "phoenix-annotations.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(io.StringIO(text)):
        result = {"label": row["result.label"], "score": row["result.score"]}
        kept = {key: row[key] for key in ("span_id", "annotator_kind", "identifier")}
        annotations.append({**kept, "name": row["annotation_name"], "result": result})
    file.write_text(json.dumps(annotations), encoding="utf-8")
    assert read(file).rows == read(FOLDER / "phoenix-annotations.csv").rows


def test_results_that_are_no_ratings_are_counted(tmp_path: Path) -> None:
    content = json.loads((FOLDER / "label-studio.json").read_text(encoding="utf-8"))
    for task in content:
        comment = {"from_name": "why", "type": "textarea", "value": {"text": ["So."]}}
        task["annotations"][0]["result"].append(comment)
    file = tmp_path / "a.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    assert any(note.startswith("12 results are neither") for note in read(file).notes)


def test_words_of_another_scale_are_not_compared(tmp_path: Path) -> None:
    text = (FOLDER / "argilla-flat.json").read_text(encoding="utf-8")
    content = json.loads(text)
    for at, record in enumerate(content):
        record["label.suggestion"] = ["red", "blue", "green"][at % 3]
        record["tone.suggestion"] = at % 4
    file = tmp_path / "a.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    result = draft(file)
    assert result.columns.judges == {"suggestion-tone": {"*": "suggestion.tone"}}
    assert any("suggestion.label (judge-1); not used" in n for n in result.table.notes)


@pytest.mark.parametrize(
    ("name", "aspect"),
    [
        ("human_rating_2", "overall"),
        ("metadata.expert_fluency", "fluency"),
        ("Correctness [GEval]", "correctness"),
        ("人工评分", "overall"),
    ],
)
def test_the_aspect_of_a_score(name: str, aspect: str) -> None:
    assert aspect_of_score(name) == aspect


# --- another package ------------------------------------------------------------------

MODULE = """
from judgescope.tables.platforms.base import Platform, PlatformTable


def read(export):
    rows = [dict(part.content) for part in export.parts]
    return PlatformTable(
        rows, text="said", people={"overall": ["star"]}, judges={"j": {"*": "bot"}}
    )


STARS = Platform(
    name="stars",
    title="Stars",
    version="1",
    link="",
    found_by="",
    people="",
    judge="",
    recognise=lambda export: export.has_columns("star", "bot"),
    read=read,
)
"""


@pytest.fixture
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    registry.add_ons.cache_clear()
    yield
    monkeypatch.undo()
    registry.add_ons.cache_clear()


@pytest.mark.usefixtures("fresh_registry")
def test_another_package_adds_a_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "starpack-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: starpack\nVersion: 1.0\n")
    points = "[judgescope.platforms]\nstars = starpack_platform:STARS\n"
    (info / "entry_points.txt").write_text(points)
    (tmp_path / "starpack_platform.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    result = Registry("platforms", Platform, PLATFORMS.room)
    monkeypatch.setattr("judgescope.cli.init.exports.PLATFORMS", result)
    file = tmp_path / "a.csv"
    file.write_text("said,star,bot\nhello,1,2\nthere,2,3\n", encoding="utf-8")
    known = read(file).known
    assert known and known.ratings == {"overall": ["star"]} and known.text == "said"


@pytest.mark.parametrize(
    ("file", "is_asked_for"), [("judgebench.jsonl", False), ("arena.jsonl", True)]
)
def test_choices_in_reverse_order_are_asked_for_where_they_lack(
    file: str,
    is_asked_for: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["judgescope", "audit", str(FOLDER / file)])
    with pytest.raises(SystemExit):
        main()
    assert ("in reverse order" in capsys.readouterr().out) == is_asked_for
