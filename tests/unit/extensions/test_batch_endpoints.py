"""Batches: what endpoints answer, and the command line."""

import re
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

import running
from asking import AskedStudy
from batch_endpoint import BatchEndpoint, serve_batches
from batch_night import DRAWS, ONE, PRICE, Night, rate
from batch_setup import Asked
from judgescope.core.errors import UserError, UserErrors
from judgescope.extensions.batch import actions as cli
from judgescope.replies.caps import NANOS, REQUESTS
from judgescope.replies.ledger import SpentUnits
from judgescope.replies.store import Store
from scripted import Said, refusal


@pytest.fixture
def endpoint() -> Iterator[BatchEndpoint]:
    with serve_batches(rate) as running:
        yield running


@pytest.fixture
def night(tmp_path: Path, endpoint: BatchEndpoint) -> Night:
    return Night(tmp_path, endpoint)


# --- what endpoints say ---


PAGE = b"<html>Log in</html>"


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
@pytest.mark.parametrize(
    "route",
    [
        "POST /v1/files",
        "GET /v1/files/*",
        "POST /v1/batches",
        "GET /v1/batches/*",
        "GET /v1/files/*/content",
        "POST /v1/batches/*/cancel",
    ],
)
def test_a_page_instead_of_an_answer_is_reported_and_the_command_can_be_repeated(
    night: Night, route: str, kind: str
) -> None:
    night.endpoint.faults[route] = Said(PAGE, headers={"Content-Type": kind})
    with pytest.raises(
        UserError, match=r"not that of a Batch API: '<html>Log in</html>'"
    ) as caught:
        night.submit()
        if "cancel" in route:
            night.batches.cancel(*night.batches.mine())
        night.endpoint.end()
        night.fetch()
    assert "check base_url" in caught.value.todo
    assert night.submit() == DRAWS and len(night.endpoint.batches) == 1
    night.endpoint.end()
    night.fetch()
    assert len(night.replies()) == DRAWS and night.booked()[0][NANOS] == DRAWS * ONE


def test_an_answer_without_an_id_is_reported(night: Night) -> None:
    night.endpoint.faults["POST /v1/files"] = Said({"object": "file"})
    with pytest.raises(UserError, match="not that of a Batch API"):
        night.submit()


def test_a_file_that_the_endpoint_refuses_leaves_nothing(night: Night) -> None:
    night.endpoint.faults["POST /v1/batches"] = refusal(400, "model it has no batches")
    with pytest.raises(UserError, match=r"rejected a batch: .*model it has no batches"):
        night.submit()
    assert night.booked() == (SpentUnits(), SpentUnits()) and night.batches.mine() == []
    assert night.submit() == DRAWS


def test_a_batch_that_fails_says_why_and_costs_nothing(night: Night) -> None:
    night.submit()
    errors = {
        "object": "list",
        "data": [{"code": "c", "message": "line 1: no such model"}],
    }
    night.endpoint.batches["batch-0"] |= {"status": "failed", "errors": errors}
    [done] = night.fetch()
    assert (done.status, done.messages) == ("failed", ["line 1: no such model"])
    assert night.booked() == (SpentUnits(), SpentUnits()) and night.batches.mine() == []


def test_a_fetch_that_cannot_store_the_replies_can_be_repeated(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise UserError("the disk is full", where="store")

    night.submit()
    night.endpoint.end()
    with (
        monkeypatch.context() as disk,
        pytest.raises(UserError, match="the disk is full"),
    ):
        disk.setattr(Store, "append", full)
        night.fetch()
    assert night.booked()[1][REQUESTS] == DRAWS
    [done] = night.fetch()
    assert done.results is not None and done.results.new == DRAWS
    assert night.booked()[1] == SpentUnits()


def test_where_all_is_refused_nothing_is_stored_and_the_batch_is_over(
    night: Night,
) -> None:
    night.submit()
    night.endpoint.script = lambda _: refusal(400, "unknown field top_k")
    night.endpoint.end()
    with pytest.raises(
        UserError, match="every request was refused: HTTP 400: unknown field"
    ):
        night.fetch()
    assert not night.replies() and night.booked() == (
        SpentUnits({REQUESTS: DRAWS}),
        SpentUnits(),
    )
    assert night.batches.mine() == []


@pytest.mark.heavy
def test_a_file_is_waited_for_until_it_was_looked_through(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgescope.extensions.batch.batches.LOOK_SECONDS", 0.01)
    night.endpoint.checking += ["pending", "pending", "pending"]
    assert night.submit() == DRAWS
    monkeypatch.setattr("judgescope.extensions.batch.batches.FILE_SECONDS", 0.0)
    night.asked = Asked(night.asked.folder, temperature=0.5)
    night.endpoint.checking += ["pending"] * 4
    with pytest.raises(UserError, match="not accepted the file yet"):
        night.submit()
    night.endpoint.checking.clear()
    assert night.submit() == 2 * DRAWS and len(night.endpoint.files) == 2


def test_the_key_is_in_the_cards_header_alone_and_no_variable_counts(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_ADMIN_KEY",
    ):
        monkeypatch.setenv(name, "of-the-environment")
    for name in ("HTTP_PROXY", "http_proxy", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NIGHT_KEY", "key-of-the-card")
    keys = {
        "api_key_env": "NIGHT_KEY",
        "key_header": "api-key",
        "query": {"api-version": "v"},
    }
    night.card = night.card.model_copy(update=keys)
    night.submit()
    assert {headers.get("api-key") for headers in night.endpoint.headers} == {
        "key-of-the-card"
    }
    assert not any("authorization" in headers for headers in night.endpoint.headers)
    assert "of-the-environment" not in str(night.endpoint.headers)
    night.endpoint.faults["GET /v1/batches/*"] = refusal(
        401, "key-of-the-card is wrong"
    )
    with pytest.raises(UserError, match="<key> is wrong") as caught:
        night.fetch()
    assert "key-of-the-card" not in str(caught.value)
    assert len(night.batches.mine()) == 1


@pytest.mark.heavy
def test_a_cancelled_batch_is_fetched_as_far_as_it_came(night: Night) -> None:
    night.submit()
    [each] = night.batches.mine()
    night.batches.cancel(each)
    night.endpoint.end("cancelled", answered=2)
    [done] = night.fetch()
    assert done.results is not None and done.results.new == 2
    assert night.booked() == (SpentUnits({REQUESTS: 2, NANOS: 2 * ONE}), SpentUnits())


def test_a_batch_that_the_endpoint_does_not_have_is_dropped_by_cancel(
    night: Night,
) -> None:
    night.submit()
    held = night.booked()[1]
    [each] = night.batches.mine()
    night.endpoint.faults["GET /v1/batches/*"] = refusal(404, "No batch found")
    with pytest.raises(UserError, match="No batch found") as caught:
        night.batches.fetch(each)
    assert "`judgescope batch cancel` drops it" in caught.value.todo
    assert night.booked() == (SpentUnits(), held)
    night.endpoint.faults["GET /v1/batches/*"] = refusal(404, "No batch found")
    assert night.batches.cancel(each).startswith(
        "batch-0 is unknown to the endpoint: dropped"
    )
    assert night.booked() == (held, SpentUnits()) and night.batches.mine() == []


@pytest.mark.parametrize("command", ["cancel", "fetch", "status"])
def test_a_single_batch_with_an_error_does_not_stop_a_command(
    night: Night,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for temperature in (0, 0.5, 1):
        night.asked = Asked(night.asked.folder, temperature=temperature)
        night.submit()
    night.endpoint.batches["batch-1"]["status"] = "completed"
    order = sorted(night.batches.mine(), key=lambda each: str(each.record.batch))
    night.endpoint.faults["GET /v1/batches/*"] = refusal(401, "wrong key")
    monkeypatch.setattr(
        cli, "_under_way", lambda *_: ((night.batches, each) for each in order)
    )
    with pytest.raises(UserErrors, match="wrong key"):
        getattr(cli, command)(Namespace(study=Path("s.yaml")))
    output = capsys.readouterr().out
    assert "batch-0" not in output and "batch-1" in output and "batch-2" in output
    assert night.endpoint.cancelled == (["batch-2"] if command == "cancel" else [])
    assert len(night.batches.mine()) == (2 if command == "fetch" else 3)


# --- through the command line ---


def commands() -> list[str]:
    """Return the commands of the guide."""
    text = (running.HOME / "docs" / "guide" / "batches.md").read_text("utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    return [line for block in blocks for line in block.splitlines()]


@pytest.mark.slow
@pytest.mark.long(11)
def test_the_guides_evening_and_morning(
    tmp_path: Path, endpoint: BatchEndpoint
) -> None:
    study = AskedStudy(tmp_path, endpoint)  # type: ignore[arg-type]
    study.model(price=PRICE)
    assert len(commands()) == 5
    for line in commands():
        if " status " in line:
            endpoint.end()
        words = line.replace("config/studies/mine.yaml", "study.yaml").split()
        done = running.run("-m", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stdout
    assert (tmp_path / "results/asked/report/index.html").is_file()
    assert endpoint.asked == [] and len(endpoint.batches) == 1


@pytest.mark.slow
@pytest.mark.long(16)
def test_a_study_pays_half_and_no_run_pays_again_meanwhile(
    tmp_path: Path, endpoint: BatchEndpoint
) -> None:
    study = AskedStudy(tmp_path, endpoint)  # type: ignore[arg-type]
    study.model(price=PRICE)
    study.write(max_usd=20)

    def judgescope(*arguments: str, status: int = 0) -> str:
        done = running.run("-m", "judgescope", *arguments, cwd=tmp_path)
        assert done.returncode == status, done.stdout
        return done.stdout

    result = judgescope("batch", "submit", "study.yaml")
    assert "loop: 120 requests in batch batch-0, at most" in result
    assert "every request has a stored reply" in judgescope(
        "batch", "submit", "study.yaml"
    )
    assert "120 requests of this study are in batches" in judgescope(
        "run", "study.yaml", status=1
    )
    other = (tmp_path / "study.yaml").read_text("utf-8").replace("asked", "other")
    (tmp_path / "other.yaml").write_text(other, encoding="utf-8")
    result = judgescope("run", "other.yaml", status=1)
    assert (
        "120 of the missing replies are in batches" in result
        and "study asked" in result
    )
    assert "are in batches" in study.ask().stdout and endpoint.asked == []
    assert "in_progress" in judgescope("batch", "status", "study.yaml")
    result = judgescope("batch", "fetch", "study.yaml", status=1)
    assert "0 of 120 done" in result and "not finished: 1" in result
    endpoint.end()
    result = judgescope("batch", "fetch", "study.yaml")
    assert "120 replies and 0 refusals added" in result
    assert f"cost: {120 * ONE / 1e9:.6g} US dollars" in result
    assert "no batch is in progress" in judgescope("batch", "status", "study.yaml")
    judgescope("run", "study.yaml")
    assert endpoint.asked == []
    [usd] = [
        row["value"]
        for row in study.rows("cost")
        if row["judge"] == "terse" and row["statistic"] == "usd"
    ]
    assert usd == pytest.approx(120 * ONE / 1e9)
    assert f"{120 * ONE / 1e9:.4f}" in judgescope("replies", "show", "study.yaml")
