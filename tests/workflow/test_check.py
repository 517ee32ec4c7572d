"""What `check` says before anything is asked: requests, tokens, money, time, and what
stands.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import running
from asking import FAST, AskedStudy
from judgescope.plan.writing import VERDICT
from judgescope.replies.probing import FIELDS, findings_path
from judgescope.replies.store import Store
from judgescope.schema.cards import OpenAIModel
from scripted import Body, Said, prompt_of, replies, reply, serve

pytestmark = pytest.mark.slow
TEXTS = 120
PRICE = {"input": 1, "output": 10}


def rate(body: Body) -> Said:
    """Answer with a usage of three characters a token, and five tokens of reply."""
    result = reply(f"Rating: {1 + body['seed'] % 5}")
    assert isinstance(result.body, dict)
    usage = {
        "prompt_tokens": len(prompt_of(body)) // 3,
        "completion_tokens": 5,
    }
    return Said(result.body | {"usage": usage})


@pytest.fixture
def study(tmp_path: Path) -> Iterator[AskedStudy]:
    with serve(rate) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        model(study, price=PRICE)
        yield study


def model(study: AskedStudy, **keys: Any) -> None:
    card = {
        "engine": "openai",
        "base_url": study.endpoint.url,
        "limits": FAST,
        "probe": False,
    }
    study.card("models", "loop", **card | keys)


def check(study: AskedStudy) -> str:
    """Check the study; nothing may be asked."""
    before = len(study.endpoint.asked)
    done = study.snakemake("check", "-q", "all")
    assert done.returncode == 0, done.stdout
    assert len(study.endpoint.asked) == before
    return done.stdout


def numbers(text: str, name: str) -> list[float | None]:
    """Return needed, in store, to ask, tokens in, out (likely, most), dollars (likely,
    most).
    """
    [line] = re.findall(rf"^ +(?:≤ )?{re.escape(name)} +([\d,.e-].*)$", text, re.M)
    return [
        None if part == "-" else float(part.replace(",", "")) for part in line.split()
    ]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"api_key_env": "JUDGESCOPE_NOT_SET"}, "JUDGESCOPE_NOT_SET"),
        ({"api_key_file": "../../keys/no-such"}, "does not exist"),
    ],
)
def test_a_check_needs_no_key_and_says_that_a_run_does(
    study: AskedStudy, keys: dict[str, str], message: str
) -> None:
    model(study, price=PRICE, **keys)
    problems = check(study)
    assert numbers(problems, "terse, demo-dialogue")
    assert (
        "before a run:" in problems
        and "models/loop.yaml, key api_key" in problems
        and message in problems
    )
    assert "\n  judges: 1 (openai), and 5 controls\n" in problems
    done = study.run()
    assert (
        done.returncode == 1 and message in done.stdout and study.endpoint.asked == []
    )


def test_requests_tokens_and_price_before_the_first_reply_and_after_it(
    study: AskedStudy,
) -> None:
    problems = check(study)
    wanted, present, missing, tokens, likely, limit, least, highest = numbers(
        problems, "terse, demo-dialogue"
    )
    assert (wanted, present, missing) == (TEXTS, 0, TEXTS)
    assert (likely, limit) == (TEXTS * VERDICT, TEXTS * 512)
    assert tokens and likely and limit
    # The price is printed with two significant digits.
    assert least == pytest.approx((tokens + 10 * likely) / 1e6, rel=0.02)
    assert highest == pytest.approx((tokens + 10 * limit) / 1e6, rel=0.01)
    assert (
        "assumed at 4 characters per token" in problems
        and "the usual length for the prompt form" in problems
    )
    assert "unknown before the first replies" in problems
    assert (
        "price: 1 in, 10 out (US$ per million tokens), from models/loop.yaml"
        in problems
    )
    guessed = tokens
    assert study.ask().returncode == 0
    characters = sum(map(len, study.endpoint.prompts))
    assert guessed == -(-characters // 4)
    problems = check(study)
    assert numbers(problems, "terse, demo-dialogue") == [TEXTS, TEXTS, 0, 0, 0, 0, 0, 0]
    study.card(
        "judges", "thrice", model="loop", form="score-only", draws=3, temperature=0
    )
    study.write(judges=["thrice"])
    problems = check(study)
    wanted, present, missing, tokens, likely, limit, least, _ = numbers(
        problems, "thrice, demo-dialogue"
    )
    assert (wanted, present, missing) == (3 * TEXTS, TEXTS, 2 * TEXTS)
    assert tokens == pytest.approx(2 * characters / 3, rel=0.02)
    assert "requests to models: 240" in problems
    assert re.search(
        r"time of one job: about \d+ (s|min) at the pace of earlier jobs", problems
    )
    study.write(judges=["terse", "thrice"])
    assert "needed: 480 judgments, minus 120 with the same prompt" in check(study)


def test_the_mean_of_replies_so_far_and_of_prompts_in_the_store(
    study: AskedStudy,
) -> None:
    study.write(max_requests=60)
    assert study.ask().returncode == 1
    study.write()
    problems = check(study)
    wanted, present, missing, tokens, likely, limit, *_ = numbers(
        problems, "terse, demo-dialogue"
    )
    assert (wanted, present, missing) == (TEXTS, 60, 60)
    assert (likely, limit) == (60 * 5, 60 * 512)
    assert (
        "as in 60 replies in the store" in problems
        and "as in earlier replies" in problems
    )
    study.endpoint.asked.clear()
    assert study.ask().returncode == 0
    exact = sum(len(prompt) // 3 for prompt in study.endpoint.prompts)
    assert tokens == pytest.approx(exact, rel=0.03)


def test_limits_tell_the_time_and_caps_what_is_left(study: AskedStudy) -> None:
    model(study, price=PRICE, limits={**FAST, "requests_per_minute": 12})
    study.write(max_requests=500, caps={"loop": {"max_usd": 2}})
    problems = check(study)
    assert "about 10 min at requests_per_minute" in problems
    assert (
        "max_requests: 0 requests of 500 requests spent by this study so far"
        in problems
    )
    assert "caps.loop.max_usd: 0 US dollars of 2 US dollars" in problems
    assert "warning" not in problems
    study.write(max_requests=TEXTS - 1, caps={"loop": {"max_usd": 0.3}})
    warned = [line for line in check(study).splitlines() if "warning" in line]
    assert len(warned) == 2 and "max_requests" in warned[0] and "likely" in warned[0]
    # .61 dollars at most, .0x likely
    assert "caps.loop.max_usd" in warned[1] and "may be too low" in warned[1]


def test_the_prompts_and_requests_are_those_that_the_engine_sends(
    study: AskedStudy,
) -> None:
    """Draws share a request, but not at temperature 0, beyond the card's number, or
    without `n`.
    """
    study.endpoint.script = lambda body: replies(
        *["Rating: 3"] * (body.get("n", 1) if body["model"] != "ignores" else 1)
    )
    card: Body = {"engine": "openai", "base_url": study.endpoint.url, "probe": False}
    names = ("shares", "cold", "four", "ignores")
    by_name = {
        name: {"draws_per_request": 4} if name == "four" else {} for name in names
    }
    for name in names:
        draws, temperature = (10 if name == "four" else 5), float(name != "cold")
        judge: Body = {
            "model": name,
            "draws": draws,
            "temperature": temperature,
            "share": 0.1,
        }
        study.card("judges", f"{name}-judge", form="score-only", **judge)
        study.card(
            "models", name, **card, limits={"requests_per_minute": 1, **by_name[name]}
        )
    study.write(judges=[f"{name}-judge" for name in names])
    with Store(study.folder / "cache/replies", "ignores") as store:
        store.shard.mkdir(parents=True)
        result = dict.fromkeys(FIELDS, "honoured") | {"n": "ignored"}
        model = OpenAIModel.model_validate({"model": "ignores", **card})
        findings_path(store, model).write_text(json.dumps(result), "utf-8")
    problems = check(study)
    minutes = re.findall(r"about (\d+) min at requests_per_minute", problems)
    for name in names:
        study.card("models", name, **card, limits={**FAST, **by_name[name]})
    assert study.ask().returncode == 0
    for name, expected in zip(names, minutes, strict=True):
        sent = [body for body in study.endpoint.asked if body["model"] == name]
        characters = sum(len(prompt_of(body)) for body in sent)
        assert len(sent) == int(expected), name
        assert numbers(problems, f"{name}-judge, demo-dialogue")[3] == -(
            -characters // 4
        ), name


def test_a_program_gets_the_text_with_every_draw(study: AskedStudy) -> None:
    study.card("models", "own", engine="command", argv=["{python}", "-c", "pass"])
    collected = []
    for draws in (1, 3):
        study.card("judges", "counted", model="own", draws=draws)
        study.write(judges=["counted"])
        collected.append(numbers(check(study), "counted, demo-dialogue")[3])
    assert collected[0] and collected[1] == pytest.approx(3 * collected[0], abs=2)


def test_a_model_without_a_price_is_a_single_warning(study: AskedStudy) -> None:
    model(study)
    study.card("judges", "curt", model="loop", form="rate-explain")
    study.write(judges=["terse", "curt"])
    problems = check(study)
    [warning] = [line for line in problems.splitlines() if "warning" in line]
    assert "models/loop.yaml" in warning
    assert "price: not known" in problems and "0.00" not in problems
    assert numbers(problems, "curt, demo-dialogue")[-2:] == [None, None]


def test_a_listed_price_is_reported_with_its_date(
    study: AskedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-nobody")
    study.card("judges", "terse", model="openai", form="score-only")
    problems = check(study)
    assert (
        "price: 0.4 in, 0.1 cached, 1.6 out (US$ per million tokens), as of 2026-11-26"
        in problems
    )
    tokens, likely = numbers(problems, "terse, demo-dialogue")[3:5]
    least = numbers(problems, "terse, demo-dialogue")[6]
    assert tokens and likely and "no `price`" not in problems
    assert least == pytest.approx((0.4 * tokens + 1.6 * likely) / 1e6, rel=0.05)


def test_texts_that_a_model_has_yet_to_make_are_an_upper_bound(
    study: AskedStudy,
) -> None:
    """24 originals, three steps, each in two tries at most; ratings and pairs of the
    steps.
    """
    chain = {
        "level": "sentence",
        "method": "inject",
        "model": "loop",
        "form": "wrong-fact",
    }
    study.card("perturbations", "lies", name="Lies", steps=3, **chain)
    study.card("judges", "pair", model="loop", form="compare")
    study.write(judges=["terse", "pair"], perturbations=["lies"])
    problems = check(study)
    assert "≤: an upper bound" in problems
    assert numbers(problems, "lies.single, demo-dialogue")[2] == 24 * 3 * 2
    lines = [
        line.split() for line in problems.splitlines() if line.strip().startswith("≤ ")
    ]
    bounds = {
        line[1]: int(line[3]) for line in lines if len(line) > 4 and line[3].isdigit()
    }
    assert bounds == {"lies.single,": 144, "terse,": 72, "pair,": 96}
    study.write(judges=["terse", "pair"], perturbations=["lies"], share=0.25)
    assert numbers(check(study), "lies.single, demo-dialogue")[2] == 6 * 3 * 2


def test_a_tokenizer_that_cannot_be_used_is_reported_by_name(study: AskedStudy) -> None:
    """Without the package or with a file that is none: never a silent guess."""
    model(study, tokenizer="tokenizer.json")
    options = ("-m", "judgescope", "check", "study.yaml")
    for done in (
        study.snakemake("check"),
        running.run(*options, cwd=study.folder),
        running.run(*options, "-q", "all", cwd=study.folder),
    ):
        assert done.returncode == 1
        assert done.stdout.count("models/loop.yaml, key tokenizer") == 1, done.stdout
        assert "Traceback" not in done.stdout and study.endpoint.asked == []


def test_a_bad_second_dataset_is_detected_before_the_first_is_asked(
    study: AskedStudy,
) -> None:
    texts = study.own_data()
    text = texts.read_text("utf-8").replace('"response"', '"respons"')
    texts.write_text(text, "utf-8")
    study.write(
        datasets=["demo-news", "demo-dialogue"], aspects=["fluency", "naturalness"]
    )
    for target in ("check", "asked"):
        done = study.snakemake(target)
        assert done.returncode == 1 and study.endpoint.asked == []
        assert "no such column or key: `response`" in done.stdout, done.stdout
        assert "texts.jsonl, row" in done.stdout and "nearest: respons" in done.stdout
