"""A pilot: what it asks, what it tells, and that the full run asks nothing of it
again.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import running
from asking import DEMO, WRITING, AskedStudy
from judgescope.cli.pilot import conclusions
from judgescope.schema.tables import table_of, write_table
from scripted import Body, Endpoint, Said, reply, serve, text_in

TEXTS, ITEMS = 120, 24
PRICE = {"input": 10, "output": 10}


def difference(
    aspect: str, judge: str, other: str, gap: float, half: float | None, **more: Any
) -> list[dict[str, Any]]:
    """Return the rows of two judges; `half`: of the interval, and of what can be
    detected.
    """
    content = {
        "dataset": "d",
        "aspect": aspect,
        "judge": judge,
        "judge_b": other,
        "level": "pooled",
    }
    ends = {} if half is None else {"ci_low": gap - half, "ci_high": gap + half}
    least = {"statistic": "detectable_spearman", "value": half, "n": 20}
    return [
        content
        | {"statistic": "difference_spearman", "value": gap, "n": 100}
        | ends
        | more,
        content | least,
    ]


def write(out: Path, *pairs: list[dict[str, Any]], free: str = "control") -> str:
    """Write the tables of a pilot and return what it tells."""
    rows = [row for pair in pairs for row in pair]
    write_table("results", table_of("results", rows), out / "tables/comparison.parquet")
    judges = {row["judge"] for row in rows} | {row["judge_b"] for row in rows}
    cost = [
        {
            **{"dataset": "d", "judge": judge, "statistic": "usd", "value": 0.0},
            "note": "control: free of charge" if judge == free else "",
        }
        for judge in sorted(judges)
    ]
    write_table("results", table_of("results", cost), out / "tables/cost.parquet")
    return conclusions(out)


def test_items_needed_follow_from_what_the_pilot_could_have_shown(
    tmp_path: Path,
) -> None:
    result = write(tmp_path, difference("clear", "a", "b", 0.1, 0.3))
    assert re.search(r"a - b +\+0\.10 \[-0\.20, \+0\.40\], 180 items\b", result)
    assert result.endswith("  none")


@pytest.mark.parametrize("half", [0.1, None])
def test_a_pilot_prefers_the_deciding_number_where_it_has_an_interval(
    tmp_path: Path, half: float | None
) -> None:
    pooled = difference("clear", "a", "b", 0.1, 0.3)
    within = [
        each
        | {
            "statistic": each["statistic"].replace("spearman", "normal_scores"),
            "level": "within_source",
        }
        for each in difference("clear", "a", "b", 0.4, half)
    ]
    result = write(tmp_path, pooled, within)
    shown = "normal_scores (within_source)" if half else "spearman (pooled)"
    assert f"Differences between judges in {shown}" in result


def test_who_is_beaten_on_every_aspect_may_be_dropped_and_nobody_else(
    tmp_path: Path,
) -> None:
    everywhere = [
        difference(aspect, "a", "b", 0.4, 0.1) for aspect in ("clear", "true")
    ]
    once = [
        difference("clear", "a", "c", 0.4, 0.1),
        difference("true", "a", "c", 0.1, 0.2),
    ]
    result = write(tmp_path, *everywhere, *once)
    assert result.splitlines()[-1] == "  b: worse than a"


def test_an_undefined_difference_is_shown_and_drops_no_judge(tmp_path: Path) -> None:
    none = {"value": None, "ci_low": None, "ci_high": None, "note": "constant judge"}
    wide = difference(
        "clear", "a-long-name", "another-long-name-of-a-judge", -0.001, 0.1
    )
    pairs = [
        difference("clear", "a", "b", 0.4, 0.1),
        difference("true", "a", "b", 0, 0.1, **none),
    ]
    result = write(tmp_path, *pairs, wide)
    assert result.endswith("  none") and "a - b  undefined: constant judge" in result
    lines = [
        line for line in result.splitlines() if line.startswith("    ") and "[" in line
    ]
    assert len({line.index("[") for line in lines}) == 1 and "-0.00" not in result


def test_who_is_beaten_by_a_control_may_be_dropped_and_a_control_never(
    tmp_path: Path,
) -> None:
    result = write(
        tmp_path,
        difference("clear", "a", "control", -0.4, 0.1),
        difference("clear", "b", "control", 0.4, 0.1),
        difference("clear", "a", "b", -0.8, 0.1),
    )
    assert result.splitlines()[-1] == "  a: worse than b, control"


def test_too_few_items_have_no_interval_and_nobody_is_dropped(tmp_path: Path) -> None:
    result = write(tmp_path, difference("clear", "a", "b", 0.9, None))
    assert "no interval: too few items" in result and result.endswith("  none")
    assert "would show" not in result


def test_a_pilot_without_a_comparison_says_why(tmp_path: Path) -> None:
    [gap, least] = difference("clear", "a", "control", 0.9, None)
    result = write(tmp_path, [gap | {"judge": "control"}, least | {"judge": "control"}])
    assert (
        result
        == "\nThe pilot compares no judges: no judge of the study sends requests."
    )
    result = write(tmp_path, [gap | {"value": None}, least])
    assert result.endswith(
        "no difference is defined for so few items, try a larger --share."
    )
    result = write(tmp_path, [gap | {"statistic": "rank"}])
    assert result.endswith("it needs two judges, and the method agreement.")


def noisy(body: Body) -> Said:
    """Rate by the text's own planned quality in one form, by chance in the other."""
    prompt = body["messages"][0]["content"]
    if WRITING in prompt:
        return reply(text_in(prompt).split("\n\nAnswer with")[0] + " Wrong!")
    lines = (DEMO / "dialogue_outputs.jsonl").read_text("utf-8").splitlines()
    collected = [row for row in map(json.loads, lines) if row["response"] in prompt]
    good = "explain" not in prompt.lower() and bool(collected)
    value = collected[0]["naturalness"] if good else 1 + body["seed"] % 5
    return reply(f"Rating: {round(value)}")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(noisy) as result:
        yield result


@pytest.mark.long(18)
@pytest.mark.slow
def test_a_pilot_asks_a_share_and_the_full_run_only_the_rest(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    study = AskedStudy(tmp_path, endpoint)
    study.card(
        "models",
        "loop",
        engine="openai",
        base_url=endpoint.url,
        price=PRICE,
        probe=False,
    )
    study.card("judges", "wordy", model="loop", form="rate-explain")
    made = {"level": "sentence", "method": "llm", "model": "loop", "form": "wrong-fact"}
    study.card("perturbations", "lie", name="A lie", **made)
    keys: dict[str, Any] = {"judges": ["terse", "wordy"], "perturbations": ["lie"]}
    study.write(**keys, methods=["agreement", "discernment"], max_requests=5000)
    done = running.run(
        "-m", "judgescope", "pilot", "study.yaml", "--share", ".5", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
    half = ITEMS // 2
    each = half * 5 + half + half  # systems' texts, originals, made texts
    assert len(endpoint.asked) == 2 * each + half
    assert re.search(r"terse - wordy +[+-]\d\.\d\d \[", done.stdout), done.stdout
    assert "Judges that may be dropped" in done.stdout
    assert re.search(r"requests to models: [1-9]", done.stdout)
    assert f"max_requests: {2 * each + half} requests of 5000" in done.stdout
    asked = set(endpoint.prompts)
    endpoint.asked.clear()
    full = study.ask()
    assert full.returncode == 0, full.stdout
    assert len(endpoint.asked) == 2 * each + half
    assert not asked & set(endpoint.prompts)
    coverage = running.rows(tmp_path / "results/asked-pilot", "coverage")
    notes = {row["note"] for row in coverage if row["statistic"] == "coverage"}
    assert any(
        f"computed on a share of the items: {half} of {ITEMS}" in (note or "")
        for note in notes
    )
