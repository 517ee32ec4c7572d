"""Asking through the real workflow, every request counted at a loopback endpoint."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow.parquet as pq
import pytest

import running
from asking import COMPARING, DEMO, WRITING, AskedStudy, rate
from guides import cards_of
from report_setup import text_of_pages
from scripted import Body, Said, prompt_of, refusal, reply, text_in, texts_in
from waiting import patience

pytestmark = pytest.mark.slow
TEXTS = 120
PROBES = 4


def asks_about(body: Body, text: str) -> bool:
    return bool(text in prompt_of(body))


def demo_texts() -> list[str]:
    lines = (DEMO / "dialogue_outputs.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["response"] for line in lines]


def first_text() -> str:
    return demo_texts()[0]


@pytest.mark.long(18)
def test_a_split_job_asks_the_same_once_from_several_journals(
    study: AskedStudy,
) -> None:
    study.write(perturbations=["reordering"], methods=["agreement", "discernment"])
    study.model(parts=3)
    done = study.run()
    assert done.returncode == 0, done.stdout
    asked = len(study.endpoint.asked)
    prompts = study.endpoint.prompts
    assert len(set(prompts)) == asked > TEXTS
    assert len(list(study.folder.glob("cache/replies/loop/*.jsonl"))) == 3
    split = running.outputs(study.folder / "results" / "asked")
    # one job again: other inputs, the same replies, nothing to score
    study.model()
    again = study.ask()
    assert again.returncode == 0 and len(study.endpoint.asked) == asked
    subprocess.run(["rm", "-r", str(study.folder / "results")], check=True)
    assert study.run().returncode == 0
    assert running.outputs(study.folder / "results" / "asked") == split
    assert len(study.endpoint.asked) == asked


@pytest.mark.long(13)
def test_a_missing_score_file_is_made_again_as_the_error_says(
    study: AskedStudy,
) -> None:
    assert study.run().returncode == 0
    out, asked = study.folder / "results" / "asked", len(study.endpoint.asked)
    [cell] = out.glob("scores/*/loop/systems/terse.parquet")
    cell.unlink()
    failed = study.snakemake("-R", "collect")
    assert failed.returncode == 1
    folder = cell.parents[1].relative_to(study.folder)
    advice = f"run again with `-R score`, or delete the folder {folder} and run again"
    assert advice in failed.stdout and "Traceback" not in failed.stdout
    mended = study.snakemake("-R", "score")
    assert mended.returncode == 0, mended.stdout
    assert cell.is_file() and len(study.endpoint.asked) == asked


def test_from_cards_to_report_and_then_nothing_is_asked(study: AskedStudy) -> None:
    study.card("judges", "wordy", model="loop", form="rate-explain")
    study.write(judges=["terse", "wordy", "constant-top"])
    done = study.run()
    assert done.returncode == 0, done.stdout
    assert len(study.endpoint.asked) == 2 * TEXTS
    # two forms of one model, one start of the engine
    assert len(list(study.folder.glob("cache/replies/loop/*.jsonl"))) == 1
    signatures = {
        row["signature"] for row in study.rows("agreement") if row["judge"] == "wordy"
    }
    assert all(
        re.search(r"\|prompt:[0-9a-f]{8}\|draws:1\|temperature:0", s)
        for s in signatures
    )
    page = text_of_pages(study.folder / "results/asked/report")
    assert "openai, loop" in page and study.endpoint.url not in page
    # nothing is perturbed, so that there is no page of perturbed texts
    assert not (study.folder / "results/asked/report/texts.html").exists()
    assert "texts.html" not in page
    before = running.outputs(study.folder / "results" / "asked")
    assert "no job ran" in study.run().stdout
    assert len(study.endpoint.asked) == 2 * TEXTS
    subprocess.run(["rm", "-r", str(study.folder / "results")], check=True)
    assert study.run().returncode == 0
    assert len(study.endpoint.asked) == 2 * TEXTS
    assert running.outputs(study.folder / "results" / "asked") == before


@pytest.mark.long(9)
def test_killed_between_two_replies_only_the_missing_are_asked(
    study: AskedStudy,
) -> None:
    half = threading.Event()

    def tell(body: Body) -> Said:
        if study.journalled() >= TEXTS // 3:
            half.set()
        return rate(body)

    study.endpoint.script = tell
    process = subprocess.Popen(
        [sys.executable, "-m", "judgescope", "run", "study.yaml"],
        cwd=study.folder,
        env=running.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert half.wait(patience(60))
    running.kill_all(process.pid)
    process.wait()
    kept = study.journalled()
    assert TEXTS // 3 <= kept < TEXTS
    time.sleep(1)  # what was on its way when the process died reaches the endpoint
    study.endpoint.asked.clear()
    study.endpoint.script = rate
    assert "--unlock" in study.run().stdout
    assert study.run("--unlock").returncode == 0
    assert study.ask().returncode == 0
    assert len(study.endpoint.asked) == TEXTS - kept
    assert study.journalled() == TEXTS
    assert study.ask().returncode == 0
    assert len(study.endpoint.asked) == TEXTS - kept


def test_a_single_changed_text_is_a_single_request(study: AskedStudy) -> None:
    texts = study.own_data()
    assert study.ask().returncode == 0
    study.endpoint.asked.clear()
    changed = texts.read_text("utf-8").replace(first_text()[:20], "Changed here: ", 1)
    texts.write_text(changed, "utf-8")
    done = study.ask()
    assert done.returncode == 0, done.stdout
    assert len(study.endpoint.asked) == 1
    assert asks_about(study.endpoint.asked[0], "Changed here: ")


def test_another_parser_or_study_asks_nothing(study: AskedStudy) -> None:
    assert study.ask().returncode == 0
    study.endpoint.asked.clear()
    study.card("judges", "terse", model="loop", form="score-only", parser="chiang-lee")
    assert study.run().returncode == 0
    judged = cell(study, "judgments", "loop/systems/terse")
    assert {row["parser"] for row in judged} == {"chiang-lee@1"}
    study.write(study="other", seed=9)
    assert study.make("coverage").returncode == 0
    assert study.rows("coverage")
    assert study.endpoint.asked == []


@pytest.mark.long(8)
def test_coverage_tells_each_status_and_no_reply_is_asked_again(
    study: AskedStudy,
) -> None:
    outcomes: list[tuple[str, Callable[[], Said]]] = [
        ("truncated", lambda: reply("Rating: 4", finish="length")),
        ("refused", lambda: reply("I'm sorry, I cannot rate this.")),
        ("out_of_range", lambda: reply("Rating: 9")),
        ("empty", lambda: reply("")),
        ("unparsed", lambda: reply("zq \u2603 zq")),
        ("error", lambda: refusal(400, "the prompt is longer than the context")),
    ]

    def script(body: Body) -> Said:
        planned = zip(demo_texts(), outcomes, strict=False)
        collected = [
            message for text, (_, message) in planned if asks_about(body, text)
        ]
        return collected[0]() if collected else rate(body)

    study.endpoint.script = script
    done = study.make("coverage")
    assert done.returncode == 0, done.stdout
    counts = {
        row["statistic"].removeprefix("count_"): row["value"]
        for row in study.rows("coverage")
        if row["judge"] == "terse" and row["statistic"].startswith("count_")
    }
    assert counts == dict.fromkeys([name for name, _ in outcomes], 1.0) | {
        "ok": TEXTS - 6.0
    }
    subprocess.run(["rm", "-r", str(study.folder / "results")], check=True)
    assert study.ask().returncode == 0
    assert len(study.endpoint.asked) == TEXTS
    # an error is asked again when somebody says so, and only then
    study.endpoint.script = rate
    result = study.judgescope("replies", "retry")
    assert result.returncode == 0 and "1 " in result.stdout, result.stdout
    assert study.ask().returncode == 0
    assert len(study.endpoint.asked) == TEXTS + 1


def test_replies_of_several_servers_are_warned_of(study: AskedStudy) -> None:
    def moved(body: Body) -> Said:
        rating = rate(body)
        assert isinstance(rating.body, dict)
        half = "new" if len(study.endpoint.asked) > TEXTS // 2 else "old"
        return Said(rating.body | {"system_fingerprint": half})

    study.endpoint.script = moved
    assert study.make("coverage").returncode == 0
    mine = [row for row in study.rows("coverage") if row["judge"] == "terse"]
    rows = [row for row in mine if row["statistic"] == "coverage"]
    text = "replies of several servers: scripted new, scripted old"
    assert [row["note"] for row in rows] == [text]


def test_an_endless_500_fails_the_job_and_keeps_the_rest(study: AskedStudy) -> None:
    def script(body: Body) -> Said:
        return (
            refusal(500, "out of memory")
            if asks_about(body, first_text())
            else rate(body)
        )

    study.endpoint.script = script
    done = study.run()
    assert done.returncode == 1
    assert (
        f"1 of {TEXTS} requests failed in 1 run; after 2 more it counts as an error: "
        "HTTP 500: out of memory (3 attempts)" in done.stdout
    )
    assert "terse naturalness d01:" in done.stdout and "run again" in done.stdout
    assert "Traceback" not in done.stdout
    assert study.journalled() == TEXTS - 1
    # A plain test request shows that this is no outage.
    assert len(study.endpoint.asked) == TEXTS - 1 + 3 + 1
    study.endpoint.asked.clear()
    study.endpoint.script = rate
    assert study.ask().returncode == 0
    assert len(study.endpoint.asked) == 1


def test_a_key_is_needed_before_anything_is_asked_and_never_written(
    study: AskedStudy,
) -> None:
    study.model(api_key_env="LOOP_KEY")
    done = study.run()
    assert done.returncode == 1 and study.endpoint.asked == []
    assert "key is not set" in done.stdout
    assert "LOOP_KEY" in done.stdout and "models/loop.yaml" in done.stdout
    os.environ["LOOP_KEY"] = "sk-never-to-be-seen"
    try:
        done = study.run()
    finally:
        del os.environ["LOOP_KEY"]
    assert done.returncode == 0, done.stdout
    assert set(study.endpoint.authorised) == {"Bearer sk-never-to-be-seen"}
    written = [path for path in study.folder.rglob("*") if path.is_file()]
    assert len(written) > 30
    assert not [path for path in written if b"sk-never-to-be-seen" in path.read_bytes()]
    assert "sk-never-to-be-seen" not in done.stdout


def write_or_judge(body: Body) -> Said:
    """Write a text with a mark per step; rate a text by its marks; prefer the first of
    two.
    """
    prompt = prompt_of(body)
    if WRITING in prompt:
        text = text_in(prompt).split("\n\nAnswer with")[0]
        return reply(f"{text.split('An earlier')[0].strip()} Wrong!")
    if COMPARING in prompt:
        first, second = texts_in(prompt)
        return reply(
            "Choice: A"
            if first.count("Wrong!") < second.count("Wrong!")
            else "Choice: B"
        )
    return reply(f"Rating: {max(1, 5 - prompt.count('Wrong!'))}")


def test_a_text_made_by_a_model_is_judged(study: AskedStudy) -> None:
    made = {"level": "sentence", "method": "llm", "model": "loop", "form": "wrong-fact"}
    study.card("perturbations", "lie", name="A lie", **made)
    study.write(perturbations=["lie"], methods=["discernment"])
    study.endpoint.script = write_or_judge
    assert study.make("discernment", "perturbations").returncode == 0
    kinds = Counter(WRITING in prompt for prompt in study.endpoint.prompts)
    assert kinds == {
        True: 24,
        False: 48,
    }  # 24 originals, each made wrong and judged in both forms
    by_statistic = {
        row["statistic"]: row
        for row in study.rows("discernment")
        if row["judge"] == "terse"
    }
    assert by_statistic["D_exact"]["value"] > 1 and by_statistic["D_exact"]["n"] == 24
    done = {row["statistic"]: row["value"] for row in study.rows("perturbations")}
    assert done["share_ok"] == 1 and done["edits"] == 1


def test_a_text_that_fails_its_check_is_asked_for_again_with_the_reason(
    study: AskedStudy,
) -> None:
    made = {"level": "sentence", "method": "llm", "model": "loop", "form": "wrong-fact"}
    study.card("perturbations", "lie", name="A lie", **made)
    study.write(perturbations=["lie"], methods=["discernment"])

    def stubborn(body: Body) -> Said:
        prompt = prompt_of(body)
        if WRITING not in prompt:
            return rate(body)
        text = text_in(prompt).split("\n\n")[0]
        obeys = "same text" in prompt and "tomato" not in prompt
        return reply(f"{text} Wrong!" if obeys else text)

    study.endpoint.script = stubborn
    assert study.ask().returncode == 0
    writing = [prompt for prompt in study.endpoint.prompts if WRITING in prompt]
    assert (
        len(writing) == 48
        and sum("it is the same text" in prompt for prompt in writing) == 24
    )
    stubborn_ones = sum("tomato" in prompt for prompt in writing) // 2
    assert stubborn_ones >= 1
    path = study.folder / "results/asked/targets/demo-dialogue/lie.single.parquet"
    statuses = Counter(pq.read_table(path)["status"].to_pylist())
    assert statuses == {
        "ok": 24 - stubborn_ones,
        "failed: it is the same text": stubborn_ones,
    }
    assert (
        len(study.endpoint.asked) - 48 == 48 - stubborn_ones
    )  # what failed is not judged


@pytest.mark.long(10)
def test_a_chain_its_pairs_in_both_orders_and_a_judge_made_of_two(
    study: AskedStudy,
) -> None:
    chain = {
        "level": "sentence",
        "method": "inject",
        "model": "loop",
        "form": "wrong-fact",
    }
    study.card("perturbations", "lies", name="Lies", steps=3, **chain)
    study.card("judges", "wordy", model="loop", form="rate-explain")
    study.card("judges", "pair", model="loop", form="compare")
    study.card("judges", "both", members=["terse", "wordy"])
    study.write(judges=["terse", "wordy", "pair", "both"], perturbations=["lies"])
    study.endpoint.script = write_or_judge
    done = study.run()
    assert done.returncode == 0, done.stdout
    texts = {row["target"]: row for row in targets(study, "lies.single")}
    for step in (1, 2, 3):
        row = texts[f"d01:lies.single.{step}"]
        assert row["text"].count("Wrong!") == step == row["step"]
        assert row["parent"] == (
            "d01:original" if step == 1 else f"d01:lies.single.{step - 1}"
        )
    votes = cell(study, "scores", "loop/lies.single/pair")
    assert len(votes) == 24 * 2 * 2  # two pairs of neighbours, both orders
    assert all(
        row["value"] == (1 if row["target"] < row["target_b"] else -1) for row in votes
    )
    compared = {
        row["statistic"]: row
        for row in study.rows("pairwise")
        if row["judge"] == "pair" and row["perturbation"] == "lies"
    }
    by_name = {name: (row["value"], row["n"]) for name, row in compared.items()}
    assert by_name["order_consistency"] == (1, 48) and by_name[
        "first_position_rate"
    ] == (
        0.5,
        96,
    )
    assert by_name["accuracy_comparison"] == (
        1,
        48,
    )  # the text with fewer lies is the better one
    judged = {
        row["target"]: row["value"]
        for row in cell(study, "scores", "derived/lies.single/both")
    }
    assert judged["d01:lies.single.3"] == 2.0 and len(judged) == 72
    prompts = study.endpoint.prompts
    assert sum(WRITING in prompt for prompt in prompts) == 24 * 3
    pairs_of_systems = 24 * 4
    assert sum(COMPARING in prompt for prompt in prompts) == 2 * (
        24 * 2 + pairs_of_systems
    )
    rated = TEXTS + 24 + 24 * 3
    assert len(prompts) == 24 * 3 + 2 * (24 * 2 + pairs_of_systems) + 2 * rated
    assert not list(study.folder.glob("results/asked/replies/**/both.parquet"))


def targets(study: AskedStudy, name: str) -> list[dict[str, Any]]:
    path = study.folder / f"results/asked/targets/demo-dialogue/{name}.parquet"
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def cell(study: AskedStudy, folder: str, name: str) -> list[dict[str, Any]]:
    results = study.folder / "results/asked"
    return running.cell(results, folder, f"demo-dialogue/{name}", "naturalness")


def test_the_example_of_the_guide(study: AskedStudy) -> None:
    """The two cards of docs/guide/llm-judge.md, with another address."""
    for name, card in cards_of("llm-judge").items():
        text = card.replace("http://127.0.0.1:8000/v1", study.endpoint.url)
        (study.folder / name).write_text(
            text.replace("MY_KEY", "PATH"), encoding="utf-8"
        )
    study.write(judges=["mine-terse"])
    done = study.make("repeatability", "cost")
    assert done.returncode == 0, done.stdout
    asked = study.endpoint.asked[PROBES:]
    assert len(asked) == 5 * TEXTS
    same = asked[0]["messages"][0]["content"]
    first = [body for body in asked if prompt_of(body) == same]
    assert len({body["seed"] for body in first}) == 5
    assert {body["model"] for body in first} == {"some-org/some-model"}
    again = {row["statistic"]: row for row in study.rows("repeatability")}
    values = [
        {
            row["value"]
            for row in cell(study, "judgments", "mine/systems/mine-terse")
            if row["target"] == t
        }
        for t in {
            row["target"] for row in cell(study, "judgments", "mine/systems/mine-terse")
        }
    ]
    share = sum(len(each) > 1 for each in values) / TEXTS
    assert (again["flip_rate"]["value"], again["flip_rate"]["n"]) == (share, TEXTS)
    mine = [row for row in study.rows("cost") if row["judge"] == "mine-terse"]
    cost = {row["statistic"]: row["value"] for row in mine}
    assert cost["usd"] == pytest.approx(5 * TEXTS * (7 * 0.15 + 3 * 0.6) / 1e6)
