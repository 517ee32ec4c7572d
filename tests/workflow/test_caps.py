"""Caps through the real workflow: what an endpoint is asked, counted there."""

import subprocess
import sys
import threading
from typing import Any

import pytest

import running
from asking import FAST, WRITING, AskedStudy, rate
from judgescope.replies.caps import NANOS, REQUESTS
from judgescope.replies.ledger import FOLDER, Ledger
from scripted import Body, Said, prompt_of, reply
from waiting import patience

pytestmark = pytest.mark.slow
TEXTS = 120
PRICE = {"input": 1000, "output": 1000}
"""A tenth of a cent per token."""


def spent(study: AskedStudy, unit: str = REQUESTS) -> tuple[int, int]:
    return Ledger(study.folder / "cache/replies" / FOLDER / "asked").state().used(unit)


def test_a_cap_stops_before_it_is_passed_and_a_higher_one_asks_only_the_rest(
    study: AskedStudy,
) -> None:
    study.write(max_requests=100)
    done = study.run()
    assert done.returncode == 1 and "Traceback" not in done.stdout
    assert "cap of 100 requests" in done.stdout
    assert (
        "the study's card, key max_requests" in done.stdout
        and "raise the cap" in done.stdout
    )
    assert len(study.endpoint.asked) == 100 == study.journalled()
    assert study.run().returncode == 1
    assert len(study.endpoint.asked) == 100
    study.write(max_requests=TEXTS)
    done = study.ask()
    assert done.returncode == 0, done.stdout
    assert len(study.endpoint.asked) == TEXTS and spent(study) == (TEXTS, 0)
    assert len(set(study.endpoint.prompts)) == TEXTS


def test_a_cap_on_money_needs_a_price_before_anything_is_asked(
    study: AskedStudy,
) -> None:
    study.write(max_usd=1)
    done = study.ask()
    assert (
        done.returncode == 1 and "max_usd needs the price of every model" in done.stdout
    )
    assert study.endpoint.asked == []


def in_tokens(body: Body) -> Said:
    """Answer with a usage like that of a real model: four characters a token."""
    rating = rate(body)
    assert isinstance(rating.body, dict)
    usage = {
        "prompt_tokens": len(prompt_of(body)) // 4,
        "completion_tokens": 3,
    }
    return Said(rating.body | {"usage": usage})


def billed(bodies: list[Body]) -> float:
    """Return what the endpoint's owner asks for, in dollars."""
    tokens = sum(len(prompt_of(body)) // 4 + 3 for body in bodies)
    return tokens * PRICE["input"] / 1e6


@pytest.mark.long(9)
def test_jobs_of_two_models_and_two_datasets_share_a_cap_on_money(
    study: AskedStudy,
) -> None:
    """Again and again the same command: never above the caps, and at last nearly
    there.
    """
    for name in ("loop", "loud"):
        card = {
            "engine": "openai",
            "base_url": study.endpoint.url,
            "price": PRICE,
            "probe": False,
        }
        study.card("models", name, **card, limits=FAST)
    study.card("judges", "terse", model="loop", form="score-only", max_tokens=8)
    study.card("judges", "curt", model="loud", form="score-only", max_tokens=8)
    both = ["demo-dialogue", "demo-news"]
    aspects = ["naturalness", "fluency"]
    keys: dict[str, Any] = {
        "datasets": both,
        "aspects": aspects,
        "judges": ["terse", "curt"],
    }
    study.write(**keys, max_usd=60, caps={"loud": {"max_usd": 20}})
    study.endpoint.script = in_tokens
    asked = study.endpoint.asked
    for _ in range(3):
        done = study.ask()
        assert done.returncode == 1, done.stdout
        assert billed(asked) <= 60
        assert billed([body for body in asked if body["model"] == "loud"]) <= 20
    assert billed(asked) >= 0.9 * 60
    assert spent(study, NANOS) == (round(billed(asked) * 1e9), 0)
    study.write(**keys, max_usd=1000)
    done = study.ask()
    assert done.returncode == 0, done.stdout
    assert len(asked) == 4 * TEXTS


def test_texts_that_a_model_makes_count(study: AskedStudy) -> None:
    made = {"level": "sentence", "method": "llm", "model": "loop", "form": "wrong-fact"}
    study.card("perturbations", "lie", name="A lie", **made)
    study.write(perturbations=["lie"], methods=["discernment"], max_requests=8)
    study.endpoint.script = lambda body: reply("Wrong.")
    done = study.ask()
    assert done.returncode == 1 and "cap of 8 requests" in done.stdout
    assert len(study.endpoint.asked) <= 8
    assert any(WRITING in prompt for prompt in study.endpoint.prompts)


@pytest.mark.long(18)
def test_killed_jobs_do_not_let_a_cap_be_passed(study: AskedStudy) -> None:
    """Killed twice between two replies; the requests under way then are counted at the
    endpoint.
    """
    study.write(max_requests=100)
    for share in (0.3, 0.6):
        reached = threading.Event()

        def tell(
            body: Body, reached: threading.Event = reached, share: float = share
        ) -> Said:
            if study.journalled() >= share * 100:
                reached.set()
            return rate(body)

        study.endpoint.script = tell
        command = [sys.executable, "-m", "judgescope", "run", "study.yaml"]
        process = subprocess.Popen(
            command,
            cwd=study.folder,
            env=running.environment(),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert reached.wait(patience(60))
        running.kill_all(process.pid)
        process.wait()
        assert study.run("--unlock").returncode == 0
    study.endpoint.script = rate
    assert study.run().returncode == 1
    concurrency = FAST["concurrency"]
    assert 100 - 2 * 2 * (concurrency + 1) <= len(study.endpoint.asked) <= 100
    assert spent(study)[0] <= 100
    study.write(max_requests=200)
    assert study.ask().returncode == 0
    assert study.journalled() == TEXTS
