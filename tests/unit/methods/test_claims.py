"""Claims on a small dataset in memory: every case that the first screen once got
wrong.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from dataset_in_memory import DatasetTables, Floats, Row, judge_facts, scales
from judgescope.methods.claims import agreement, ratings
from judgescope.methods.claims.base import (
    AGREEMENT,
    LOST,
    ORDER,
    PAIRS,
    RATING,
    SEQUENCE,
    VERDICT,
)
from judgescope.methods.claims.classified import Classified
from judgescope.methods.claims.ordered import Preferences
from judgescope.methods.claims.rows import verdict_rows
from judgescope.methods.claims.systems import SystemPreference
from judgescope.methods.evaluation_data import EvaluationData
from judgescope.methods.score_tables import ScoreTables
from judgescope.schema.tables import table_of
from statistics_spec import facts_of

NAN = float("nan")
FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]
ITEMS, SYSTEMS = 24, 6
ASPECT = "clear"


class World:
    """24 items of 6 systems whose quality people rate three times; lengths are by the
    item.
    """

    def __init__(
        self, seed: int = 1, systems: int = SYSTEMS, unanimous: bool = False
    ) -> None:
        rng = np.random.default_rng(seed)
        self.systems, n = systems, ITEMS * systems
        self.item, self.system = np.divmod(np.arange(n), systems)
        self.quality = rng.normal(size=n)
        noise = 0.0 if unanimous else 0.5
        self.ratings = points(self.quality + noise * rng.normal(size=(3, n)))
        self.lengths = rng.permuted(
            np.tile(np.arange(1, systems + 1), (ITEMS, 1)), axis=1
        ).ravel()
        self.noise = rng.normal(size=(20, n))
        self.targets = [
            f"i{i:02}.s{s}" for i, s in zip(self.item, self.system, strict=True)
        ]

    def study(self, scores: Mapping[str, Floats], **more: Any) -> EvaluationData:
        """Return a study of judges on one aspect; `cards` adds to theirs, other fields
        to the spec.
        """
        tables = DatasetTables()
        tables.add_items(f"i{i:02}" for i in range(ITEMS))
        for target, length in zip(self.targets, self.lengths, strict=True):
            text = "x" * int(10 * length)
            tables.add_text("systems", target, target[:3], system=target[4:], text=text)
        for number, given in enumerate(self.ratings):
            tables.add_ratings(ASPECT, f"r{number}", self.targets, given)
        for judge, values in scores.items():
            tables.add_scores("systems", judge, ASPECT, self.targets, values)

        cards = more.pop("cards", {})
        fields: Row = {"ratings": "people", "aspects": scales([ASPECT])}
        fields["as_rater"] = {"margin": 0.05, "raters": "persons"}
        fields["judges"] = {}
        for name in scores:
            fields["judges"][name] = judge_facts([ASPECT]) | cards.get(name, {})
        return tables.data(**fields | more)


def points(values: Floats) -> Floats:
    return np.clip(np.round(3 + values), 1, 5)


def verdicts_of(study: EvaluationData, *makers: Any) -> dict[tuple[str, str], Row]:
    """Return (judge, kind) -> the row of the verdict."""
    claims = [
        claim for maker in makers or (agreement.claims,) for claim in maker(study)
    ]
    rows = [row for row in verdict_rows(study, claims) if row["statistic"] == VERDICT]
    return {(row["judge"], row["form"] or ""): dict(row) for row in rows}


def outcome(row: Row) -> str:
    return str(row["note"].partition("; ")[0])


def reasons(row: Row) -> list[str]:
    return str(row["note"]).split("; ")[1:]


def test_a_good_judge_is_better_than_chance_and_its_brevity_is_not() -> None:
    world = World()
    # people like short texts: brevity agrees with them better than chance
    world.ratings = points(
        world.quality - 0.5 * (world.lengths - 3.5) + 0 * world.ratings
    )
    judges = {
        "good": points(
            world.quality - 0.5 * (world.lengths - 3.5) + 0.3 * world.noise[0]
        ),
        "brevity": -world.lengths.astype(float),
        "length": world.lengths.astype(float),
    }
    numbers = {"grid": {ASPECT: None}, "ends": {ASPECT: None}, "discrete": False}
    study = world.study(judges, cards=dict.fromkeys(("brevity", "length"), numbers))
    result = verdicts_of(
        study, agreement.claims, ratings.order_claims, ratings.rating_claims
    )
    assert outcome(result["good", AGREEMENT]) in {"better", "as_rater"}
    for (judge, kind), row in result.items():
        if judge != "good":
            assert outcome(row) in {"not_shown", "no_claim"}, (judge, kind)
    assert "brevity" in reasons(result["brevity", AGREEMENT])


def test_a_judge_with_many_ties_and_no_wrong_order_does_not_fail() -> None:
    world = World(unanimous=True)
    world.ratings = np.stack([points(1.5 * world.quality)] * 3)
    world.lengths = world.item + 1  # length tells nothing of the order
    coarse = np.where(world.ratings[0] >= 5, 5.0, 1.0)  # right or tied, never wrong
    [claim] = [
        order_claim
        for order_claim in ratings.order_claims(world.study({"coarse": coarse}))
        if order_claim.kind == ORDER
    ]
    asked = int(claim.estimate.method.split("of ")[1].split(" pairs")[0])
    assert claim.estimate.n_tied / asked >= 0.6
    [row] = verdicts_of(world.study({"coarse": coarse}), ratings.order_claims).values()
    assert (outcome(row), reasons(row)) == ("better", [])


def test_a_judge_with_a_single_score_per_source_is_no_better_than_chance() -> None:
    world = World(unanimous=True)
    level = world.noise[1][:ITEMS][world.item] * 1.5
    world.ratings = np.stack([points(level + 0.4 * world.quality)] * 3)
    judge = points(level)
    result = verdicts_of(
        world.study({"source": judge}), agreement.claims, ratings.rating_claims
    )
    assert outcome(result["source", AGREEMENT]) == "not_shown"
    assert "chance" in reasons(result["source", AGREEMENT])
    kappa = result["source", RATING]
    assert outcome(kappa) == "not_shown" and reasons(kappa)[0] == "within"


@pytest.mark.parametrize("others", [0, 6, 13])
def test_other_judges_change_nothing_of_what_is_stated_of_one(others: int) -> None:
    world = World(seed=5)
    mine = {"mine": points(world.quality + 0.8 * world.noise[0])}
    beside = {
        f"other{k}": points(world.quality + k * world.noise[k + 1])
        for k in range(others)
    }
    claims = list(agreement.claims(world.study(mine | beside)))
    rows = list(verdict_rows(world.study(mine | beside), claims))
    alone = list(verdict_rows(world.study(mine), agreement.claims(world.study(mine))))
    assert [row for row in rows if row["judge"] == "mine"] == [
        row for row in alone if row["judge"] == "mine"
    ]


def test_a_judge_that_is_given_a_rating_has_no_claim_of_agreement() -> None:
    world = World()
    judges = {"good": points(world.quality), "told": points(world.quality)}
    for hint in ("right", "wrong"):
        study = world.study(judges, cards={"told": {"hint": hint}})
        result = verdicts_of(
            study, agreement.claims, ratings.order_claims, ratings.rating_claims
        )
        assert outcome(result["good", AGREEMENT]) in {"better", "as_rater"}
        mine = [row for (judge, _), row in result.items() if judge == "told"]
        assert mine and {outcome(row) for row in mine} == {"no_claim"}
        assert {tuple(reasons(row)) for row in mine} == {("hinted",)}


@pytest.mark.parametrize(
    ("noise", "share", "wanted"),
    [
        (0.2, 0.1, ("better", False)),
        (1.4, 0.15, ("not_shown", True)),
        (0.2, 0.3, ("no_claim", True)),
    ],
)
def test_lost_judgments_are_held_at_the_worst_end(
    noise: float, share: float, wanted: tuple[str, bool]
) -> None:
    world = World(seed=2)
    x = points(world.quality + noise * world.noise[0])
    verdicts = verdicts_of(world.study({"j": x}))["j", AGREEMENT]
    assert outcome(verdicts) in {"better", "as_rater"}
    lost = x.copy()
    lost[np.random.default_rng(3).permutation(x.size)[: int(share * x.size)]] = NAN
    row = verdicts_of(world.study({"j": lost}))["j", AGREEMENT]
    text = outcome(row).replace("as_rater", "better")
    assert (text, any("lost" in reason for reason in reasons(row))) == wanted


def ended(texts: str, **counts: int) -> list[Row]:
    """Return the statuses of a judge's replies on a set of texts: status -> number."""
    cell = {"dataset": "d", "perturbation": texts, "judge": "j", "aspect": ASPECT}
    return [
        cell | {"status": status, "rule": status, "n": n}
        for status, n in counts.items()
    ]


@pytest.mark.parametrize(("lost", "share"), [(0, 0), (1, 1 / 104)])
def test_texts_that_the_judge_does_not_apply_to_are_not_lost(
    lost: int, share: float
) -> None:
    world = World()
    x = points(world.quality)
    x[: 40 + lost] = NAN
    statuses = ended("systems", ok=104 - lost, not_applicable=40, unparsed=lost)
    text = replace(world.study({"j": x}), statuses=table_of("statuses", statuses))
    makers = (agreement.claims, ratings.order_claims, ratings.rating_claims)
    claims = [claim for make in makers for claim in make(text)]
    assert [claim.lost for claim in claims] == pytest.approx([share] * 3)
    assert not any(LOST in claim.nulls for claim in claims)


def test_a_judge_that_gives_every_right_rating_is_better_than_chance() -> None:
    world = World(unanimous=True)
    [claim] = ratings.rating_claims(world.study({"j": world.ratings[0]}))
    assert claim.estimate.value == claim.estimate.ci_high == 1
    assert claim.estimate.ci_low is not None and 0.4 < claim.estimate.ci_low < 1
    row = verdicts_of(world.study({"j": world.ratings[0]}), ratings.rating_claims)[
        "j", RATING
    ]
    assert outcome(row) == "better"


def test_of_a_single_text_a_source_ratings_are_exchanged_over_all() -> None:
    gold = np.tile(FIVE, 8)
    lengths, source = np.random.default_rng(0).normal(size=(1, 40))[0], np.arange(40)
    rng = np.random.default_rng(1)
    _, nulls = Classified(gold, gold, lengths, source, FIVE, 40, rng).nulls()
    assert nulls.p["within"] < 0.001


def test_a_judge_of_any_number_has_claims_of_order_and_none_of_ratings() -> None:
    world = World()
    card = {"grid": {ASPECT: None}, "ends": {ASPECT: None}, "discrete": False}
    free = world.study(
        {"free": world.quality + 0.3 * world.noise[0]}, cards={"free": card}
    )
    [claim] = ratings.order_claims(free)
    assert claim.kind == ORDER and claim.estimate is not None and claim.lost == 0
    assert not list(ratings.rating_claims(free))


def test_a_taste_for_systems_is_no_agreement_no_right_rating_and_no_order() -> None:
    """The best system is to its taste, of the others it knows nothing: all else is
    significant.
    """
    world = World(seed=11)
    world.quality = 0.7 * world.quality + np.array([0.0, 0, 0, 0, 0, 2.2])[world.system]
    world.ratings = np.stack([points(world.quality - 0.5)] * 3)
    taste = points(
        np.array([0.0, 1, -1, 0, -1, 2])[world.system] + 0.1 * world.noise[0]
    )
    result = verdicts_of(
        world.study({"taste": taste}),
        agreement.claims,
        ratings.order_claims,
        ratings.rating_claims,
    )
    for kind in (AGREEMENT, ORDER, RATING):
        row = result["taste", kind]
        assert (kind, outcome(row), reasons(row)[0]) == (kind, "not_shown", "systems")


def test_at_the_worst_end_a_judge_must_do_better_than_a_taste_for_systems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Held against every null but tastes, with the lost ones at the worst end, it
    claims much.
    """
    world = World(seed=39)
    world.quality = 0.7 * world.quality + np.array([0.0, 0, 0, 0, 0, 2.2])[world.system]
    world.ratings = np.stack([points(world.quality - 0.5)] * 3)
    taste = np.array([0.0, 1, -1, 0.5, -0.5, 2])[world.system]
    x = points(taste + 0.3 * world.quality + 0.1 * world.noise[0])
    x[np.random.default_rng(39).permutation(x.size)[: x.size // 10]] = NAN
    study = world.study({"j": x})
    makers = (agreement.claims, ratings.order_claims, ratings.rating_claims)
    claims = [claim for make in makers for claim in make(study)]
    assert {claim.kind for claim in claims} == {AGREEMENT, ORDER, RATING}
    for claim in claims:
        assert claim.by_system is not None
        asked = claim.by_system.asked(claim, 1)
        rest = [p for name, p in asked.nulls.items() if name != LOST]
        assert max(rest) < 0.015 and "systems" in asked.nulls
        assert asked.nulls[LOST] > 0.03
    for row in verdicts_of(
        study, agreement.claims, ratings.order_claims, ratings.rating_claims
    ).values():
        assert (outcome(row), reasons(row)[0]) == ("not_shown", LOST)
    monkeypatch.setattr(SystemPreference, "asked", lambda self, family: False)
    for row in verdicts_of(
        study, agreement.claims, ratings.order_claims, ratings.rating_claims
    ).values():
        assert outcome(row) in {"better", "as_rater"}


def test_a_lost_pair_is_a_vote_for_the_worse_text_at_the_worst_end() -> None:
    source, better, worse = np.zeros(4, int), np.array([0, 1]), np.array([1, 2])
    of_scores = Preferences.of_scores(
        np.array([3.0, NAN, 1.0, 1.0]), source, better, worse
    )
    same = np.arange(4)[None, :]
    assert np.isnan(of_scores.moved(same)).all() and of_scores.worst().moved(
        same
    ).tolist() == [0.0]
    turned = np.array([[2, 3, 0, 1], [0, 2, -1, 1], [3, 1, 0, 2]])
    assert of_scores.moved(turned).tolist() == pytest.approx(
        [0.25, 1.0, NAN], nan_ok=True
    )
    # the third row asks text 3 v. 1, of no known order, and 1 v. 0: lost, and so a vote
    # for 1
    assert of_scores.worst().moved(turned).tolist() == [0.25, 1.0, 1.0]


@pytest.mark.parametrize(("systems", "asked"), [(4, False), (5, True), (8, True)])
def test_null_of_systems_is_asked_only_where_it_can_pass(
    systems: int, asked: bool
) -> None:
    world = World(systems=systems)
    rows = rows_of(world.study({"good": points(world.quality)}))
    verdict = rows["verdict"]
    assert outcome(verdict) in {"better", "as_rater"} and not reasons(verdict)
    assert ("p_systems" in rows) == asked
    assert rows["beyond_systems"]["value"] > 0.3
    assert rows["p_beyond_systems_holm"]["value"] < 0.001


def rows_of(study: EvaluationData, judge: str = "good") -> dict[str, Row]:
    """Statistic -> row of a judge's only claim of agreement."""
    rows = verdict_rows(study, agreement.claims(study))
    return {row["statistic"]: dict(row) for row in rows if row["judge"] == judge}


def test_judge_that_knows_the_author_holds_for_these_systems_only() -> None:
    world = World(systems=6)
    world.quality = np.arange(6.0)[world.system] + world.noise[1]
    world.ratings = np.stack([points(world.quality - 2.5)] * 3)
    author = world.system + 0.1 * world.noise[0]
    rows = rows_of(world.study({"good": points(author - 2.5)}))
    assert outcome(rows["verdict"]) in {"better", "as_rater"}
    assert "these_systems: 6" in reasons(rows["verdict"])
    assert rows["sign"]["note"] == "~"


def test_judge_that_knows_a_single_broken_system_hangs_on_it() -> None:
    world = World(systems=8, seed=4)
    broken = world.system == 3
    world.ratings = np.stack(
        [points(np.where(broken, -2.0, world.quality + n)) for n in world.noise[:1]] * 3
    )
    x = points(np.where(broken, -2.0, world.noise[1]))
    rows = rows_of(world.study({"good": x}))
    codes = [code.partition(": ")[0] for code in reasons(rows["verdict"])]
    if outcome(rows["verdict"]) != "not_shown":
        assert "hangs_on" in codes and rows["sign"]["note"] == "~"


def test_good_judge_of_three_systems_hangs_on_none() -> None:
    """Without a third of its texts a claim may fail, which says nothing of a system."""
    held = 0
    for seed in range(12):
        world = World(systems=3, seed=seed)
        good = points(world.quality + 0.8 * world.noise[0])
        rows = rows_of(world.study({"good": good}))
        codes = [code.partition(": ")[0] for code in reasons(rows["verdict"])]
        held += outcome(rows["verdict"]) in {"better", "as_rater"}
        assert "hangs_on" not in codes
    assert held >= 8


def test_a_judge_that_likes_a_single_length_has_a_reason_that_says_so() -> None:
    world = World()
    world.lengths = np.random.default_rng(5).integers(1, 400, world.item.size)
    curve = -np.abs(world.lengths - 200.0)
    world.quality = curve / curve.std() + 0.5 * world.noise[1]
    world.ratings = np.stack([points(world.quality + 1.5)] * 3)
    rows = rows_of(world.study({"good": points(curve / curve.std() + 1.5)}))
    assert outcome(rows["verdict"]) == "not_shown"
    assert reasons(rows["verdict"])[0] == "best_length"
    assert rows["sign"]["note"] == "~" and rows["rival"]["note"] == "best_length"


def test_raters_that_disagree_are_no_ceiling() -> None:
    world = World()
    world.ratings = np.stack([points(world.quality), points(world.noise[0])])
    x = points(world.quality + 0.2 * world.noise[1])
    rows = rows_of(world.study({"good": x}))
    assert outcome(rows["verdict"]) == "better"
    assert "no_ceiling" in reasons(rows["verdict"])
    assert rows["ceiling_normal_scores"]["ci_low"] <= 0
    assert "as_rater_normal_scores" not in rows


def test_judge_against_people_is_worse_than_chance() -> None:
    world = World()
    rows = rows_of(world.study({"good": points(-world.quality)}))
    assert outcome(rows["verdict"]) == "not_shown"
    assert "worse_than_chance" in reasons(rows["verdict"])
    assert rows["sign"]["note"] == "x"


def test_copy_of_people_is_as_good_as_one_more_rater_with_five_systems() -> None:
    """Of five systems the permutation test can pass Holm over three aspects only."""
    world = World(systems=5)
    people = world.ratings.mean(axis=0)
    rows = rows_of(world.study({"good": people}))
    assert outcome(rows["verdict"]) == "as_rater"
    assert rows["normal_scores"]["value"] == pytest.approx(1.0)
    assert rows["rival"]["note"] == "systems"
    assert rows["rival"]["value"] == pytest.approx(1 / 120)
    assert rows["rival_value"]["value"] == rows["beyond_systems"]["value"]


def test_the_interval_of_peoples_agreement_ends_where_correlations_do() -> None:
    world = World(systems=2)
    order = np.where(world.system == 0, 1.0, 5.0)
    world.ratings = np.stack([order, np.where(world.item < 3, 6 - order, order)])
    [row] = agreement.people_rows(world.study({"good": order}))
    assert row["value"] == pytest.approx(0.75) and row["ci_high"] == 1.0
    assert row["ci_low"] == pytest.approx(0.46, abs=0.01)


def test_pooled_decides_where_few_sources_have_two_different_ratings() -> None:
    world = World()
    level = np.random.default_rng(0).integers(1, 6, ITEMS)[world.item].astype(float)
    level[world.item < 5] = points(world.quality)[world.item < 5]
    world.ratings = np.stack([level] * 3)
    [claim] = agreement.claims(world.study({"good": level + 0.1 * world.noise[0]}))
    assert claim.level == "pooled" and claim.estimate.n == level.size


def compared(world: World, vote: Callable[[int, int], float]) -> EvaluationData:
    """Return a study of a judge that compares texts: `vote` of two indices is 1, 0, -1,
    NaN.
    """
    where = {
        "dataset": "d",
        "perturbation": "systems",
        "judge": "j",
        "aspect": ASPECT,
        "draw": 0,
    }
    rows = []
    for at, other in combinations(range(ITEMS * world.systems), 2):
        if world.item[at] != world.item[other]:
            continue
        value, pair = vote(at, other), (world.targets[at], world.targets[other])
        for (each, two), sign in ((pair, 1), (pair[::-1], -1)):
            result = None if np.isnan(value) else float(value * sign)
            rows.append(where | {"target": each, "target_b": two, "value": result})
    study = world.study({})
    study.spec.judges["j"] = facts_of(engine="openai")
    return replace(study, draws=table_of("draws", rows))


def test_a_pair_without_a_reply_is_missing_and_not_wrong() -> None:
    world = World(unanimous=True)
    quality = world.ratings[0]

    def vote(at: int, other: int) -> float:
        return NAN if at % 12 == 0 else float(np.sign(quality[at] - quality[other]))

    [claim] = ratings.pair_claims(compared(world, vote))
    assert (
        claim.kind == PAIRS
        and claim.estimate.value == 1.0
        and claim.estimate.n_missing > 0
    )
    assert 0.05 < claim.lost < 0.2 and "lost" in claim.nulls


def test_unread_swapped_order_counts_as_lost_if_the_other_order_is_read() -> None:
    world = World(unanimous=True)
    quality = world.ratings[0]
    complete = compared(
        world, lambda at, other: float(np.sign(quality[at] - quality[other]))
    )
    draws = [
        row | {"value": None} if row["target"] > row["target_b"] else row
        for row in complete.draws.to_pylist()
    ]
    statuses = ended("systems", ok=len(draws) // 2, unparsed=len(draws) // 2)
    text = replace(
        complete,
        draws=table_of("draws", draws),
        statuses=table_of("statuses", statuses),
    )
    [claim] = ratings.pair_claims(text)
    assert (claim.lost, claim.estimate.value, claim.estimate.n_missing) == (0.5, 1.0, 0)
    row = verdicts_of(text, ratings.pair_claims)["j", PAIRS]
    assert (outcome(row), reasons(row)) == ("no_claim", ["too_many_lost"])


def test_pairs_are_held_against_one_more_rater_and_against_a_taste_for_systems() -> (
    None
):
    world = World(seed=3)
    world.quality = world.quality + np.array([0.0, 0, 0, 0, 0, 3])[world.system]
    world.ratings = points(
        world.quality - 1 + 0.5 * np.random.default_rng(1).normal(size=(3, 144))
    )

    def by(x: Floats) -> EvaluationData:
        return compared(world, lambda at, other: float(np.sign(x[at] - x[other])))

    [like] = ratings.pair_claims(by(world.ratings[0]))
    assert like.rater is not None and like.rater.value is not None
    assert abs(like.rater.value) < 0.2  # a copy of a rater: its terms cancel
    good = verdicts_of(by(world.quality), ratings.pair_claims)["j", PAIRS]
    assert outcome(good) == "as_rater"
    noisy = verdicts_of(by(world.quality + 2 * world.noise[0]), ratings.pair_claims)[
        "j", PAIRS
    ]
    assert outcome(noisy) == "better"
    taste = np.array([2.0, 4, 1, 3, 2.5, 4.5])[world.system]
    row = verdicts_of(by(taste), ratings.pair_claims)["j", PAIRS]
    assert outcome(row) == "not_shown" and "systems" in reasons(row)


def chained(lost: slice = slice(0)) -> EvaluationData:
    """Return a study of a chain whose step is the system; its judge lacks scores of
    some texts.
    """
    world = World(unanimous=True)
    x = points(-world.system.astype(float))
    x[lost] = NAN
    study = world.study({"j": x}, chains=[["worse", "few"]])
    targets = study.targets.to_pylist()
    scores = study.scores.table().to_pylist()
    named = {"perturbation": "worse", "degree": "few", "status": "ok"}
    steps = world.system.tolist()
    chain = [
        row | named | {"step": step} for row, step in zip(targets, steps, strict=True)
    ]
    perturbed = [row | {"perturbation": "worse.few"} for row in scores]
    return replace(
        study,
        targets=table_of("targets", chain),
        scores=ScoreTables.of_table(table_of("scores", perturbed)),
    )


def test_replies_alone_say_how_much_of_an_error_chain_is_lost() -> None:
    study = chained(lost=slice(None, None, 4))
    [claim] = ratings.order_claims(study)
    assert (claim.kind, claim.perturbation, claim.degree) == (SEQUENCE, "worse", "few")
    assert claim.lost == 0 and claim.estimate.n_missing > 0
    chain_alone = ended("worse.few", ok=90, unparsed=10)
    [claim] = ratings.order_claims(
        replace(study, statuses=table_of("statuses", chain_alone))
    )
    assert claim.lost == 0.1 and LOST in claim.nulls


def test_replies_on_the_originals_of_a_chain_are_lost_too() -> None:
    statuses = ended("worse.few", ok=60) + ended("original", ok=8, unparsed=32)
    text = replace(chained(), statuses=table_of("statuses", statuses))
    [claim] = ratings.order_claims(text)
    assert claim.lost == 32 / 100
    row = verdicts_of(text, ratings.order_claims)["j", SEQUENCE]
    assert (outcome(row), reasons(row)) == ("no_claim", ["too_many_lost"])
