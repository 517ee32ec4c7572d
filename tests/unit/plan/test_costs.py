"""What `check` says a run costs: requests, tokens, dollars and minutes, by hand."""

from types import SimpleNamespace
from typing import Any, Literal

import pytest

from judgescope.plan import bill, cost
from judgescope.plan.cost import ModelRequests, PriceRange, ReplySample, TokenCounts
from judgescope.plan.writing import Asked
from judgescope.replies.caps import REQUESTS, Cap
from judgescope.replies.pricing import Pace
from judgescope.schema.cards import Limits, OpenAIModel, Price

BATCH = Asked(
    dataset="news",
    name="ann",
    model="far",
    wanted=50,
    missing=40,
    prompts=20,
    characters=8000,
    max_tokens=100,
    usual=10,
    replied=None,
    bound=False,
)
"""40 draws are missing, two of each prompt; a prompt has 400 characters."""

PRICE = Price(input=1, output=2)
NO_PACE = Pace()
NO_SAMPLE = ReplySample()


def model(
    *batches: Asked,
    limits: dict[str, Any] | None = None,
    price: Price | None = PRICE,
    pace: Pace = NO_PACE,
    sample: ReplySample = NO_SAMPLE,
    **card: Any,
) -> ModelRequests:
    """The requests to a model about which nothing is read from a file."""
    made = ModelRequests.__new__(ModelRequests)
    url = {"base_url": "http://127.0.0.1:9/v1", "limits": Limits(**(limits or {}))}
    made.card = OpenAIModel(model="far", engine="openai", **url, **card)
    made.model = "far"
    made.asked = list(batches)
    made.price = price
    made.findings = {}
    made.pace = pace
    made._spelled = 0
    made._counted = []
    made._sample = sample
    made._sized = {}
    return made


@pytest.mark.parametrize(
    ("limits", "changes", "requests"),
    [
        ({}, {}, 20),  # both draws of a prompt in one request
        ({"draws_per_request": 1}, {}, 40),
        ({"draws_per_request": 2}, {}, 20),
        ({}, {"missing": 30}, 20),
        ({"draws_per_request": 2}, {"missing": 90}, 60),  # 4.5 a prompt: 3 requests
        ({}, {"alone": True}, 40),
        ({}, {"missing": 0}, 0),
        ({}, {"missing": 0, "prompts": 0}, 0),
    ],
)
def test_draws_share_a_request_as_far_as_the_endpoint_lets_them(
    limits: dict[str, Any], changes: dict[str, Any], requests: int
) -> None:
    assert model(limits=limits).requests(BATCH._replace(**changes)) == requests


@pytest.mark.parametrize("finding", ["ignored", "refused"])
def test_each_draw_is_a_request_where_a_card_or_a_trial_says_so(
    finding: Literal["ignored", "refused"],
) -> None:
    assert model(field_names={"n": None}).requests(BATCH) == 40
    tried = model()
    tried.findings = {"n": finding}
    assert tried.requests(BATCH) == 40
    tried.findings = {"n": "honoured"}
    assert tried.requests(BATCH) == 20


@pytest.mark.parametrize(
    ("changes", "tokens"),
    [
        # 20 requests of 400 characters at 4 a token; 40 replies of 10 tokens.
        ({}, TokenCounts(prompt=2000, likely=400, at_most=4000)),
        ({"replied": 12.51}, TokenCounts(prompt=2000, likely=501, at_most=4000)),
        ({"replied": 0.0}, TokenCounts(prompt=2000, likely=0, at_most=4000)),
        # A reply is never longer than allowed.
        ({"usual": 200}, TokenCounts(prompt=2000, likely=4000, at_most=4000)),
        ({"alone": True}, TokenCounts(prompt=4000, likely=400, at_most=4000)),
        ({"characters": 8001}, TokenCounts(prompt=2001, likely=400, at_most=4000)),
    ],
)
def test_tokens_are_those_of_prompts_and_replies(
    changes: dict[str, Any], tokens: TokenCounts
) -> None:
    assert model().tokens(BATCH._replace(**changes)) == tokens


def test_dollars_are_per_million_tokens_with_up_to_a_prompt_for_each_draw() -> None:
    """Likely 2,000 in and 400 out, at most 4,000 in and 4,000 out."""
    price = model().dollars(BATCH)
    assert price == PriceRange(likely=0.0028, at_most=0.012)
    assert model(price=None).dollars(BATCH) is None
    both = cost.dollars(model(), [BATCH, BATCH])
    assert both == pytest.approx((0.0056, 0.024))
    assert cost.dollars(model(price=None), [BATCH]) is None
    assert cost.dollars(model(price=None), []) == (0, 0)


def test_the_density_of_prompts_comes_from_the_best_source() -> None:
    sample = ReplySample(
        replies=40, requests=20, characters=900, prompt=300, completion=80
    )
    pace = Pace(replies=25, size=1000, prompt=500)
    known = model(sample=sample, pace=pace)
    assert known.density == (1 / 3, "as in 20 replies in the store")
    few = sample._replace(requests=19)
    assert model(sample=few, pace=pace).density == (
        0.5,
        "as in 25 replies to earlier jobs",
    )
    guessed = model(sample=few).density
    assert guessed == (0.25, "assumed at 4 characters per token")
    known._spelled = 1000
    known._counted = [150, 50]
    assert known.density == (0.2, "by the tokenizer, from 2 prompts")


def test_samples_are_added_up() -> None:
    first = ReplySample(1, 2, 3, 4, 5)
    assert first.plus(ReplySample(10, 20, 30, 40, 50)) == (11, 22, 33, 44, 55)


@pytest.mark.parametrize(
    ("limits", "pace", "minutes"),
    [
        ({}, Pace(), None),
        ({"requests_per_minute": 5}, Pace(), (4.0, "at requests_per_minute")),
        # 2,000 tokens in and 400 likely out.
        ({"tokens_per_minute": 600}, Pace(), (4.0, "at tokens_per_minute")),
        # 30 replies a minute.
        ({}, Pace(20, 40.0), (pytest.approx(4 / 3), "at the pace of earlier jobs")),
        ({}, Pace(19, 40.0), None),
        # The slowest decides.
        (
            {"requests_per_minute": 5, "tokens_per_minute": 300},
            Pace(20, 40.0),
            (8.0, "at tokens_per_minute"),
        ),
    ],
)
def test_the_time_of_a_job_is_that_of_its_slowest_limit(
    limits: dict[str, Any], pace: Pace, minutes: tuple[float, str] | None
) -> None:
    assert model(BATCH, limits=limits, pace=pace).minutes() == minutes


# ---- the lines -----------------------------------------------------------------------


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def plan(**study: Any) -> Any:
    return SimpleNamespace(study=SimpleNamespace(**study))


@pytest.fixture
def uncapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bill, "caps_of", lambda study: [])
    monkeypatch.setattr(bill, "_ledger", lambda plan: SimpleNamespace(state=list))


@pytest.mark.usefixtures("uncapped")
def test_the_lines_of_a_model_add_up() -> None:
    written = BATCH._replace(name="shorter", bound=True, missing=10, prompts=10)
    written = written._replace(characters=4000, wanted=10, repeated=5)
    lines = list(bill.bill(plan(), [model(BATCH, written)]))
    assert lines[:2] == ["", "  model far"]
    assert [cells(line) for line in lines[2:6]] == [
        [
            "needed",
            "in store",
            "to ask",
            "tokens in",
            "out, likely",
            "out, most",
            "US$, likely",
            "US$, most",
        ],
        ["ann, news", "50", "10", "40", "2,000", "400", "4,000", "0.0028", "0.012"],
        [
            "≤ shorter, news",
            "10",
            "0",
            "10",
            "1,000",
            "100",
            "1,000",
            "0.0012",
            "0.003",
        ],
        ["sum", "60", "10", "50", "3,000", "500", "5,000", "0.004", "0.015"],
    ]
    assert len({len(line) for line in lines[2:6]}) == 1
    assert lines[6:] == [
        "    needed: 65 judgments, minus 5 with the same prompt as another, whose "
        "reply they share",
        "    tokens: assumed at 4 characters per token; reply length: the usual length "
        "for the prompt form; reasoning models write more",
        "    price: 1 in, 2 out (US$ per million tokens), from models/far.yaml",
        "    time of one job: unknown before the first replies",
        "  ≤: an upper bound, because a model must write the texts first",
        "  requests to models: 50, price: 0.004 to 0.015 US dollars",
    ]


@pytest.mark.usefixtures("uncapped")
def test_a_model_without_a_price_costs_what_nobody_knows() -> None:
    free = model(BATCH, price=None)
    lines = list(bill.bill(plan(), [free]))
    assert cells(lines[3])[-2:] == ["-", "-"]
    assert lines[-2:] == [
        "  requests to models: 40, price: not known",
        "  warning: no `price` in models/far.yaml: its cost is not known",
    ]
    both = list(bill.bill(plan(), [free, model(BATCH)]))
    assert both[-2:] == [
        "  requests to models: 80, price: 0.0028 to 0.012 US dollars",
        "  warning: no `price` in models/far.yaml: its cost is not known and not "
        "included",
    ]
    assert list(bill.bill(plan(), [])) == [
        "  requests to models: 0, price: 0.00 to 0.00 US dollars"
    ]


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0.00"), (1, "1.00"), (1234.567, "1,234.57"), (0.9, "0.9"), (0.0123, "0.012")],
)
def test_small_amounts_have_two_digits_and_large_ones_cents(
    amount: float, text: str
) -> None:
    assert bill._usd(amount) == text


def test_the_length_of_replies_is_marked_guessed_for_judges_without_replies() -> None:
    known = BATCH._replace(name="ben", replied=12.0)
    assert bill._replied(model(known)) == "reply length: as in earlier replies"
    complete = BATCH._replace(missing=0)
    assert bill._replied(model(complete)) == "reply length: as in earlier replies"
    mixed = bill._replied(model(BATCH, BATCH, known))
    assert mixed.startswith("reply length of ann: the usual length for the prompt form")


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(0.5, "about 30 s x"), (1.0, "about 1 min x"), (89.6, "about 90 min x")],
)
def test_times_are_in_seconds_below_a_minute(minutes: float, text: str) -> None:
    timed = SimpleNamespace(minutes=lambda: (minutes, "x"))
    assert bill._time(timed) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("left", "lines"), [(40, []), (39, ["39 requests"]), (-1, ["0 requests"])]
)
def test_a_cap_on_requests_that_leaves_too_few_is_warned_about(
    left: int, lines: list[str]
) -> None:
    cap = Cap(key="max_requests", unit=REQUESTS, limit=100)
    assert list(bill._too_low(cap, left, [model(BATCH)])) == [
        "  warning: max_requests is too low for the likely need of the run (40 "
        f"requests): only {rest} are left, and the run stops when they are spent"
        for rest in lines
    ]
