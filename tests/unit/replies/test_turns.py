"""The order in which a job that lacks replies waits for GPUs, claims and asks."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from judgescope.engines.requests import Failure, Keep, Reply, Request, Work, request_of
from judgescope.replies.asking import AskingJob, obtain
from judgescope.replies.budget import Spending
from judgescope.replies.claims import EarlierClaim, RequestClaim
from judgescope.replies.journal import KEY
from judgescope.replies.store import Store
from judgescope.schema.cards import Decoding, VllmModel

MODEL = VllmModel(model="it", engine="vllm", name="org/it")


def request(text: str) -> Request:
    messages = [{"role": "user", "content": text}]
    return request_of(MODEL, Decoding(temperature=1), messages, seed=0)


def test_a_job_claims_requests_only_once_it_has_its_gpus(tmp_path: Path) -> None:
    """Else two jobs on one GPU could wait for each other: the one that has the GPU for
    the requests that the other one has claimed.
    """
    events: list[str] = []

    def claim(keys: Any) -> list[Any]:
        events.append(f"claims {len(keys)}")
        return []

    def ask(work: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        for piece in work:
            events.append("asks")
            for draw in piece.draws:
                keep(Reply(piece.request.key, draw, "4"))
        return []

    spending = cast(Spending, SimpleNamespace(claim=claim, price=None))

    def run(*texts: str) -> None:
        with Store(tmp_path, MODEL.served_name) as store:
            job = AskingJob(
                store, ask, spending, prepare=lambda: events.append("takes GPUs")
            )
            obtain([request(text) for text in texts], job)

    run("one", "two")
    assert events == ["takes GPUs", "claims 2", "asks", "asks"]
    events.clear()
    run("two")
    assert events == []  # a model with nothing to answer is not loaded


def test_a_job_asks_only_for_what_no_earlier_job_requests(tmp_path: Path) -> None:
    """It waits for the earlier job's replies, and asks for none of them."""
    first, second, third = [request(text) for text in ("one", "two", "three")]
    asked = list[str]()
    earlier = RequestClaim("other", "owner", "host", 1)
    keys = np.array([bytes.fromhex(first.key), bytes.fromhex(third.key)], KEY)

    def ask(work: Iterable[Work], proven: bool, keep: Keep) -> list[Failure]:
        for piece in work:
            asked.append(piece.request.prompt)
            for draw in piece.draws:
                keep(Reply(piece.request.key, draw, "4"))
        return []

    def wait(stored: Any) -> None:
        assert asked == ["two"] and not stored()
        with Store(tmp_path, MODEL.served_name) as store:
            for theirs in (first, third):
                store.append(Reply(theirs.key, 0, "5"))
        assert stored()

    spending = SimpleNamespace(
        claim=lambda wanted: [EarlierClaim(earlier, keys)], wait=wait, price=None
    )
    with Store(tmp_path, MODEL.served_name) as store:
        job = AskingJob(store, ask, cast(Spending, spending))
        replies = obtain([first, second, third], job)
    assert asked == ["two"]
    assert [replies[each.key, 0].text for each in (first, second, third)] == [
        "5",
        "4",
        "5",
    ]
