"""The cost table is the usage that the endpoint told, and no reply is counted twice."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from asking import WRITING, AskedStudy
from judgescope.cli.summary import unpriced
from judgescope.methods import cost
from judgescope.methods.base import Members
from judgescope.schema.tables import table_of, write_table
from judgescope.statistics.result import Estimate
from report_setup import text_of_pages
from running import HOME
from scripted import Body, Said, prompt_of, reply, serve, text_in
from statistics_spec import facts_of

PRICED = {"price": {"input": 2, "output": 8, "cached_input": 1}}
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 30,
    "completion_tokens_details": {"reasoning_tokens": 20},
    "prompt_tokens_details": {"cached_tokens": 60},
}
ONE = (40 * 2 + 60 * 1 + 30 * 8) / 1e6
"""Dollars for one reply."""
TEXTS = 120


def reply_without_usage(text: str) -> Said:
    result = reply(text)
    assert isinstance(result.body, dict)
    return Said(result.body | {"usage": USAGE})


def rate(body: Body) -> Said:
    return reply_without_usage(f"Rating: {1 + body['seed'] % 5}")


@pytest.fixture
def study(tmp_path: Path) -> Iterator[AskedStudy]:
    with serve(rate) as endpoint:
        study = AskedStudy(tmp_path, endpoint)
        study.card(
            "models",
            "loop",
            engine="openai",
            base_url=endpoint.url,
            probe=False,
            **PRICED,
        )
        yield study


def costs(
    study: AskedStudy, judge: str | None, **where: Any
) -> dict[str, float | None]:
    """Return statistic -> the sum over datasets, None where one is undefined."""
    collected: dict[str, float | None] = {}
    for row in study.rows("cost"):
        if row["judge"] != judge or any(
            row[name] != value for name, value in where.items()
        ):
            continue
        before = collected.get(row["statistic"], 0)
        defined = row["value"] is not None and before is not None
        collected[row["statistic"]] = before + row["value"] if defined else None
    return collected


@pytest.mark.long(10)
@pytest.mark.slow
def test_replies_that_judges_and_datasets_share_are_counted_once_in_all(
    study: AskedStudy,
) -> None:
    """Two judges of one form over one data set under two names: everything is
    shared.
    """
    study.change("datasets", "demo-dialogue")
    shipped = (HOME / "config/datasets/demo-dialogue.yaml").read_text("utf-8")
    folder = str(HOME / "config/demo")
    for name in ("demo-dialogue", "again"):
        text = shipped.replace("dataset: demo-dialogue", f"dataset: {name}")
        path = study.folder / "config/datasets" / f"{name}.yaml"
        path.write_text(text.replace("../demo", folder), "utf-8")
    study.card("judges", "curt", model="loop", form="score-only", parser="chiang-lee")
    study.write(datasets=["demo-dialogue", "again"], judges=["terse", "curt"])
    done = study.run()
    assert done.returncode == 0, done.stdout
    assert len(study.endpoint.asked) == TEXTS
    for judge in ("terse", "curt"):
        own_part = costs(study, judge)
        assert own_part["replies"] == 2 * TEXTS and own_part["usd"] == pytest.approx(
            2 * TEXTS * ONE
        )
    every = costs(study, "all")
    assert every["replies"] == TEXTS and every["usd"] == pytest.approx(TEXTS * ONE)
    tokens = {name: every[f"{name}_tokens"] for name in ("prompt", "completion")}
    assert tokens == {"prompt": 100 * TEXTS, "completion": 30 * TEXTS}
    assert (every["cached_tokens"], every["reasoning_tokens"]) == (
        60 * TEXTS,
        20 * TEXTS,
    )
    each = [row for row in study.rows("cost") if row["statistic"] == "usd_per_1000"]
    sums = [row for row in study.rows("cost") if row["statistic"].endswith("_tokens")]
    assert sums and {row["method"] for row in sums if row["n"]} == {"sum over replies"}
    asked = [row for row in each if row["judge"] == "terse"]
    assert [row["value"] for row in asked] == [pytest.approx(1000 * ONE)] * 2
    free = {row["value"] for row in each if row["judge"] in ("length", "random")}
    assert free == {0}


@pytest.mark.slow
def test_every_try_at_a_text_is_counted_and_an_unknown_price_is_reported_once(
    study: AskedStudy,
) -> None:
    """Half of the texts are made at the second try; the writer's card has no price."""
    study.card(
        "models", "writer", engine="openai", base_url=study.endpoint.url, probe=False
    )
    made = {
        "level": "sentence",
        "method": "llm",
        "model": "writer",
        "form": "wrong-fact",
    }
    study.card("perturbations", "lie", name="A lie", **made)
    study.write(perturbations=["lie"], methods=["discernment"])

    def lazy(body: Body) -> Said:
        prompt = prompt_of(body)
        if WRITING not in prompt:
            return rate(body)
        text = text_in(prompt).split("\n\n")[0]
        first = "same text" not in prompt
        return reply_without_usage(
            text if first and body["seed"] % 2 else f"{text} Wrong!"
        )

    study.endpoint.script = lazy
    done = study.run()
    assert done.returncode == 0, done.stdout
    writing = sum(WRITING in prompt for prompt in study.endpoint.prompts)
    assert 24 < writing < 48
    assert costs(study, "", perturbation="lie")["replies"] == writing
    every = costs(study, "all")
    assert every["replies"] == len(study.endpoint.asked)
    assert every["usd"] == pytest.approx((len(study.endpoint.asked) - writing) * ONE)
    [warning] = [
        line for line in done.stdout.splitlines() if line.startswith("warning: ")
    ]
    assert "models/writer.yaml" in warning and "lie" in warning
    page = text_of_pages(study.folder / "results/asked/report")
    assert page.count("The price of lie is not known") == 1
    texts = (study.folder / "results/asked/report/texts.html").read_text("utf-8")
    assert "24 ok" in texts and "by the model writer, form wrong-fact" in texts
    assert texts.count("<ins> Wrong!</ins>") == 10


def judged_by(*judges: str) -> pa.Table:
    """Return ten replies of each judge as they were bought: 1,000 tokens in, 100
    out.
    """
    rows = [
        {
            "judge": judge,
            "key": f"{number:x}",
            "draw": 0,
            "prompt": 1000,
            "completion": 100,
        }
        for judge in judges
        for number in range(10)
    ]
    return table_of("bought", rows)


def price_of(
    judge: str, supervised: bool = False, **prices: dict[str, float] | None
) -> Estimate:
    """Return the price of `both`, made of members `a` and `b`, or of one of these."""
    fields = {
        "a": {"input": 2, "output": 10},
        "b": {"input": 4, "output": 20},
        **prices,
    }
    cards = {
        name: facts_of(engine="openai", asked=True, price=price)
        for name, price in fields.items()
    }
    cards |= {"both": facts_of(engine="derived"), "rules": facts_of(engine="lexical")}
    made = {"both": Members(members=["a", "b"], supervised=supervised)}
    made["cheap"] = Members(members=["rules", "rules"], supervised=False)
    cards["cheap"] = facts_of(engine="derived")
    study = SimpleNamespace(spec=SimpleNamespace(judges=cards, made_of=made))
    judge_estimates = dict(
        cost.judge_estimates(
            study,  # type: ignore[arg-type]
            cost.bought_by([judged_by("a", "b")]),
            judge,
            10,
            10,
        )
    )
    assert judge_estimates["replies"].value == (20 if judge == "both" else 10)
    return judge_estimates["usd"]


def test_a_judge_made_of_others_costs_what_its_members_cost() -> None:
    a, b = (10 * (1000 * 2 + 100 * 10) / 1e6, 10 * (1000 * 4 + 100 * 20) / 1e6)
    assert price_of("a").value == pytest.approx(a) and price_of("a").note == ""
    both = price_of("both")
    assert (
        both.value == pytest.approx(a + b) and both.note == "the replies of its members"
    )
    assert price_of("cheap").value == 0 and "free of charge" in price_of("cheap").note
    assert price_of("both", b=None).value is None
    assert price_of("both", b=None).note == "the model's card has no price"
    merged = price_of("both", supervised=True)
    assert merged.note.endswith("charged to the model, not to the ensemble")


def test_a_warning_about_a_price_names_the_models_card(tmp_path: Path) -> None:
    where = {"dataset": "d", "statistic": "usd", "level": "", "aspect": ""}
    rows: list[dict[str, Any]] = [
        {**where, "judge": "a", "value": None},
        {**where, "judge": "b", "value": 1.0},
        {**where, "judge": "both", "value": None},
    ]
    path = tmp_path / "tables" / "cost.parquet"
    write_table("results", table_of("results", rows), path)
    models = {
        "x": SimpleNamespace(price=None),
        "y": SimpleNamespace(price={"input": 1}),
    }
    judges = {"a": SimpleNamespace(model="x"), "b": SimpleNamespace(model="y")}
    both = SimpleNamespace(members=["a", "b"], supervisor=None)
    plan: Any = SimpleNamespace(
        datasets={}, models=models, judges=judges, derived={"both": both}
    )
    [warning] = unpriced(tmp_path, lambda: plan)
    assert (
        "models/x.yaml" in warning
        and "a, both" in warning
        and "models/y" not in warning
    )
    write_table("results", table_of("results", rows[1:2]), path)
    assert unpriced(tmp_path, lambda: plan) == []
