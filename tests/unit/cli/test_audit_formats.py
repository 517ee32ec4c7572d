"""Results of other tools, as `judgescope audit` reads them: a fixture of each, written
for this.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit_setup import two
from judgescope.cli.audit import table
from judgescope.cli.commands import add_audit
from judgescope.cli.init.cards import cards_of
from judgescope.core.errors import UserError, UserErrors

PAIRS = [(row["human"], row["judge"]) for row in two(24)]


def inspect(version: int = 2) -> Any:
    samples = [
        {
            "id": f"s{at}",
            "epoch": 1,
            "input": f"What is {at}?",
            "output": {"completion": f"It is {at}."},
            "metadata": {"human_rating": human, "topic": "numbers"},
            "scores": {
                "model_graded_qa": {
                    "value": "C" if judge > 2 else "I",
                    "explanation": "x",
                },
                "rubric": {"value": {"tone": judge, "note": "fine"}},
            },
        }
        for at, (human, judge) in enumerate(PAIRS)
    ]
    return {
        "version": version,
        "status": "success",
        "eval": {"task": "numbers", "model": "some/model"},
        "samples": samples,
    }


def promptfoo(version: int = 3) -> Any:
    results = [
        {
            "testIdx": at // 2,
            "promptIdx": 0,
            "provider": {"id": f"some:model-{at % 2}"},
            "vars": {"question": f"What is {at // 2}?"},
            "response": {"output": f"It is {at}."},
            "gradingResult": {
                "componentResults": [
                    {
                        "score": judge / 5,
                        "assertion": {"type": "llm-rubric", "metric": "helpful"},
                    },
                    {"score": 0, "assertion": {"type": "human"}},
                    {"score": human > 3, "assertion": {"type": "human"}},
                ]
            },
        }
        for at, (human, judge) in enumerate(PAIRS)
    ]
    return {
        "evalId": "e",
        "results": {"version": version, "results": results, "stats": {}},
    }


def deepeval(metrics: str = "metricsData") -> Any:
    return {
        "testCases": [
            {
                "name": f"test_case_{at}",
                "input": f"What is {at}?",
                "actualOutput": f"It is {at}.",
                metrics: [
                    {"name": "Correctness [GEval]", "score": judge / 5, "success": True}
                ],
                "metadata": {"human": human},
            }
            for at, (human, judge) in enumerate(PAIRS)
        ]
    }


def lm_eval(digest: str = "doc_hash") -> Any:
    return [
        {
            "doc_id": at,
            "doc": {"question": f"What is {at}?", "answer": str(at)},
            "target": str(human),
            "arguments": {},
            "resps": [[f"Rating: {judge}"]],
            "filtered_resps": [str(judge)],
            "filter": "number",
            "metrics": ["exact_match"],
            "exact_match": float(human == judge),
            digest: "0",
        }
        for at, (human, judge) in enumerate(PAIRS)
    ]


def judge_bench(best: int = 5, category: str = "graded") -> Any:
    grades = {"metric": "fluency", "category": category, "worst": 1, "best": best}
    kinds = {"metric": "toxic", "category": "categorical", "labels_list": ["Yes", "No"]}
    return {
        "dataset": "numbers",
        "annotations": [grades, kinds],
        "instances": [
            {
                "id": at,
                "instance": f"It is {at}.",
                "annotations": {
                    "fluency": {
                        "mean_human": human,
                        "individual_human_scores": [human, 3],
                    },
                    "toxic": {"majority_human": "No"},
                },
                "gpt-x": {"fluency": [None, judge]},
                "gpt-x_raw": {"fluency": ["?", f"I say {judge}"]},
            }
            for at, (human, judge) in enumerate(PAIRS)
        ],
    }


def alpaca(largest: float = 2) -> Any:
    """Return two people's and a model's annotations of three pairs; one pair twice by
    the model.
    """
    rows = []
    for at, (first, second) in enumerate([("a", "b"), ("a", "c"), ("b", "a")]):
        pair: dict[str, Any] = {
            "instruction": f"i{at // 2}",
            "output_1": first,
            "output_2": second,
        }
        pair |= {"generator_1": f"m-{first}", "generator_2": f"m-{second}"}
        rows += [
            {**pair, "annotator_index": who, "preference": 1 + (at + who) % 2}
            for who in (0, 1)
        ]
        rows.append({**pair, "annotator": "gpt4", "preference": (0, 1.2, largest)[at]})
    return [*rows, {**rows[-1], "preference": 1}]


def wanted(content: Any, path: Path, *words: str) -> Any:
    lines = path.suffix == ".jsonl"
    text = "\n".join(map(json.dumps, content)) if lines else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    parser = argparse.ArgumentParser()
    add_audit(parser.add_subparsers())
    return table.draft_of(parser.parse_args(["audit", str(path), *words]), {})


@pytest.mark.parametrize(
    ("made", "name", "people", "judges"),
    [
        (
            inspect,
            "log.json",
            {"overall": ["metadata.human_rating"]},
            {"model_graded_qa": "model_graded_qa", "rubric-tone": "rubric tone"},
        ),
        (promptfoo, "results.json", {"overall": ["human"]}, {"helpful": "helpful"}),
        (
            deepeval,
            "run.json",
            {"overall": ["metadata.human"]},
            {"correctness-geval": "Correctness [GEval]"},
        ),
        (lm_eval, "samples.jsonl", {"overall": ["target"]}, {"reply": "reply"}),
        (
            judge_bench,
            "data.json",
            {"fluency": ["people (fluency)"]},
            {"gpt-x": "gpt-x (fluency)"},
        ),
    ],
)
def test_results_of_a_tool_have_judges_and_people(
    made: Callable[[], Any],
    name: str,
    people: Any,
    judges: dict[str, str],
    tmp_path: Path,
) -> None:
    columns = wanted(made(), tmp_path / name).columns
    assert columns.ratings == people
    assert {each: column for each, [column] in _columns(columns.judges)} == judges
    assert columns.item == "id"


def _columns(judges: dict[str, dict[str, str]]) -> Any:
    return [(name, list(scores.values())) for name, scores in judges.items()]


def test_the_values_are_those_of_the_tools(tmp_path: Path) -> None:
    def rows(content: Any, name: str) -> list[Any]:
        path = tmp_path / name
        path.write_text(json.dumps(content), encoding="utf-8")
        return list(table.read(path).rows)

    human, judge = PAIRS[0]
    first = rows(inspect(), "a.json")[0]
    assert (first["model_graded_qa"], first["rubric tone"]) == (float(judge > 2), judge)
    assert (first["input"], first["output"]) == ("What is 0?", "It is 0.")
    assert "rubric note" in first and first["rubric note"] is None
    first, second = rows(promptfoo(), "b.json")[:2]
    assert first["human"] is (human > 3) and first["helpful"] == judge / 5
    assert (first["id"], first["system"]) == ("test-0", "some:model-0, prompt 0")
    assert (second["id"], second["system"]) == ("test-0", "some:model-1, prompt 0")
    bench = rows(judge_bench(), "c.json")[0]
    assert bench["people (fluency)"] == [human, 3] and bench["gpt-x (fluency)"] == judge


@pytest.mark.parametrize(
    ("grade", "score"),
    [("C", 1), ("P", 0.5), ("N", 0), ("Yes", 1), ("true", 1), ("False", 0)],
)
def test_grades_in_words_are_scores(tmp_path: Path, grade: str, score: float) -> None:
    content = inspect()
    content["samples"][0]["scores"]["model_graded_qa"]["value"] = grade
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert table.read(path).rows[0]["model_graded_qa"] == score


def test_every_assertion_of_a_single_name_is_a_judge(tmp_path: Path) -> None:
    content = promptfoo()
    for result in content["results"]["results"]:
        components = result["gradingResult"]["componentResults"]
        scored = next(
            component
            for component in components
            if component["assertion"].get("metric") == "helpful"
        )
        components += [
            {**scored, "score": scored["score"] / 2},
            {**scored, "score": 0.5},
        ]
    path = tmp_path / "e.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    first = table.read(path).rows[0]
    scores = [first[name] for name in ("helpful", "helpful 2", "helpful 3")]
    assert scores == [PAIRS[0][1] / 5, PAIRS[0][1] / 10, 0.5]


def test_scales_that_a_tool_states_are_taken(tmp_path: Path) -> None:
    made = wanted(judge_bench(7), tmp_path / "d.json")
    assert made.scales == {"fluency": {"min": 1, "max": 7, "step": 1}}
    with pytest.raises(
        UserError, match="the best value of a scale must be its highest"
    ):
        wanted(judge_bench(0), tmp_path / "e.json")


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (
            deepeval("metrics"),
            "a.json",
            "this export of DeepEval lacks the key metricsData",
        ),
        (lm_eval("hash"), "a.jsonl", "lm-evaluation-harness lacks the key doc_hash"),
        (judge_bench(5, "ranked"), "a.json", "this category of annotations"),
        (alpaca(2.5), "a.json", "this preference of AlpacaEval is not known"),
        ([1, 2, 3], "a.json", "row"),
        ({"some": "object"}, "a.json", "neither a table nor an export of a known tool"),
        ({**inspect(), "samples": []}, "a.json", "0 rows"),
        (
            {**inspect(), "samples": [{}]},
            "a.json",
            "this export of Inspect lacks the key id",
        ),
    ],
)
def test_files_without_a_key_and_other_files_are_refused(
    content: Any, name: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError) as refused:
        wanted(content, tmp_path / name)
    assert message in str(refused.value) and name in str(refused.value)


@pytest.mark.parametrize(("made", "title"), [(inspect, "Inspect"), (promptfoo, "prom")])
def test_a_newer_version_with_all_keys_is_read_with_a_note(
    made: Callable[[int], Any], title: str, tmp_path: Path
) -> None:
    draft = wanted(made(7), tmp_path / "a.json")
    assert draft.columns.judges
    [note] = [each for each in draft.table.notes if "states version 7" in each]
    assert title in note


def logs(folder: Path, *contents: Any) -> Path:
    folder.mkdir()
    for at, content in enumerate(contents):
        (folder / f"log-{at}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_folder_of_logs_is_a_single_table(tmp_path: Path) -> None:
    other, first = inspect(), inspect()
    other["eval"]["model"] = "other/model"
    content = first["samples"][0]["output"].pop("completion")
    first["samples"][0]["output"]["choices"] = [{"message": {"content": content}}]
    read = table.read(logs(tmp_path / "logs", first, other))
    assert (
        read.known
        and read.known.system == "system"
        and len(read.rows) == 2 * len(PAIRS)
    )
    assert {row["system"] for row in read.rows} == {
        "some/model, epoch 1",
        "other/model, epoch 1",
    }
    assert [row["output"] for row in read.rows if row["id"] == "s0"] == ["It is 0."] * 2
    other["eval"]["task"] = "letters"
    read = table.read(logs(tmp_path / "tasks", first, other))
    assert {row["id"] for row in read.rows} >= {"numbers/s0", "letters/s0"}


def test_annotations_of_alpaca_eval_are_choices_of_people_and_judges(
    tmp_path: Path,
) -> None:
    draft = wanted(alpaca(), tmp_path / "a.json")
    columns = draft.columns
    assert columns.texts == ["output_1", "output_2"] and columns.source == [
        "instruction"
    ]
    assert columns.systems == ["generator_1", "generator_2"]
    assert cards_of(draft)["study", draft.study]["methods"] == ["pairwise"]
    assert columns.ratings == {"overall": ["person 0", "person 1"]}
    assert columns.judges == {"gpt4": {"*": "gpt4"}}
    read = table.read(tmp_path / "a.json")
    assert [row["gpt4"] for row in read.rows] == [
        0,
        1,
        2,
    ]  # the last pair's first annotation
    assert [row["person 1"] for row in read.rows] == [2, 1, 2]


def test_people_and_judges_of_a_folder_of_annotations_are_put_together(
    tmp_path: Path,
) -> None:
    people = [row for row in alpaca() if "annotator" not in row]
    judge = [row for row in alpaca() if "annotator" in row]
    read = table.read(logs(tmp_path / "notes", people, judge))
    assert read.known and len(read.rows) == 3 and "gpt4" in read.known.judges
    with pytest.raises(
        UserErrors, match="cannot tell which column has people's ratings"
    ):
        wanted(judge, tmp_path / "judge.json")


@pytest.mark.parametrize(
    ("contents", "message", "where"),
    [
        ([], "this folder has no exports of AlpacaEval or Inspect", "logs"),
        (
            [inspect(), {"some": "object"}],
            "this file is no export of Inspect",
            "log-1.json",
        ),
        (
            [{"some": "object"}],
            "this file is no export of AlpacaEval or Inspect",
            "log-0.json",
        ),
        (
            [{**inspect(), "samples": [{}]}],
            "this export of Inspect lacks the key id",
            "log-0.json, samples 1",
        ),
        (
            [alpaca(), inspect()],
            "this file is no export of AlpacaEval",
            "log-1.json",
        ),
    ],
)
def test_a_folder_of_other_files_is_refused(
    contents: list[Any], message: str, where: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message) as refused:
        table.read(logs(tmp_path / "logs", *contents))
    assert refused.value.where.endswith(where)


@pytest.mark.heavy
def test_results_of_a_tool_are_audited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect()), encoding="utf-8")
    parser = argparse.ArgumentParser()
    add_audit(parser.add_subparsers())
    args = parser.parse_args(["audit", str(path), "--require", "spearman=.3", "--json"])
    assert args.act(args) in {0, 1, 2}
    content = json.loads(capsys.readouterr().out)
    assert set(content["judges"]) == {"model_graded_qa", "rubric-tone"}
    assert content["judges"]["rubric-tone"]["claims"][0]["outcome"] == "better"
