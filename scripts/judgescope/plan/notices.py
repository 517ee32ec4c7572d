"""What a study does not use or cannot show, printed before any request is sent."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from judgescope.core.paths import HOME
from judgescope.methods.registry import METHODS
from judgescope.parsing.judgment import Policy
from judgescope.plan.judges import engine_of, scale_of
from judgescope.plan.study import Plan
from judgescope.schema.cards import FOLDERS, FORMATS, RatingScale, ReadyPerturbation
from judgescope.statistics.corrected import FEWEST_INFORMATIVE
from judgescope.statistics.means import tango
from judgescope.statistics.systems import can_be_asked, largest_family, system_blocks


def unjudged(plan: Plan) -> Iterator[str]:
    """Yield a line about each perturbation whose aspects are not judged on any of its
    datasets.

    These are chains and graded sets: other texts are judged on all aspects.
    """
    judged = {name: {*plan.plain_aspects(name)} for name in plan.evaluated}
    for name, card in plan.perturbations.items():
        aspects_there = []
        for dataset in plan.evaluated:
            of_task = not card.tasks or plan.datasets[dataset].task in card.tasks
            if of_task and card.degrees_for(dataset):
                aspects_there.append(judged[dataset])
        if not aspects_there or not card.aspects:
            continue
        if any(names & {*card.aspects} for names in aspects_there):
            continue
        elsewhere = any(names & {*card.aspects} for names in judged.values())
        where = " on its datasets" if elsewhere else ""
        aspects = " and ".join(card.aspects)
        yield (
            f"left out: {name} is about {aspects}, which the study does not "
            f"judge{where}"
        )


def texts_as_given(plan: Plan) -> Iterator[str]:
    """Yield a line about each dataset that has perturbed texts already: its own for
    perturbations with a card, and those that the study does not name.
    """
    for dataset, card in plan.datasets.items():
        beside = []
        for name in card.perturbed:
            made = plan.perturbations.get(name)
            if made is not None and not isinstance(made, ReadyPerturbation):
                beside.append(name)
        if beside:
            yield (
                f"{dataset}: texts as given for {', '.join(beside)}; the cards of "
                "these perturbations are for the other datasets"
            )
        unnamed = sorted(card.perturbed.keys() - plan.perturbations.keys())
        if unnamed:
            yield (
                f"{dataset} has texts of perturbations that the study does not name: "
                f"{', '.join(unnamed)}"
            )


def undescribed(plan: Plan) -> Iterator[str]:
    """Yield a line about each dataset whose texts prompts call a text and no more."""
    asked = any(map(plan.is_prompted, plan.models))
    for name in plan.datasets if asked else ():
        card = plan.datasets[name]
        if card.task not in plan.tasks and card.describe is None:
            yield (
                f"prompts say no more of the texts of {name} than the task "
                f"{card.task}: write `noun`, `kind`, `describe` and `write` in "
                f"datasets/{name}.yaml"
            )


def uncut(plan: Plan) -> Iterator[str]:
    """Yield a line about each part that a judge's card shortens and no dataset has."""
    only = {plan.words(name).part for name in plan.datasets}
    known = {"*", *only}
    for name, card in plan.datasets.items():
        named = FORMATS[card.format].parts
        if card.columns is not None:
            named = tuple(card.columns.part_names(plan.words(name).part))
        known.update(named)
    for judge, asked in plan.judges.items():
        for part in sorted(asked.cut_parts.keys() - known):
            yield (
                f"{judge} shortens a part {part}, which no dataset of the study has; "
                f"there are {', '.join(sorted(known - {'*'}))}"
            )


def unordered(plan: Plan) -> Iterator[str]:
    """Yield a line about each aspect with unordered labels, and the methods that leave
    it out.
    """
    without = []
    for name in plan.study.methods:
        if METHODS[name].unordered == "no":
            without.append(name)
    aspects = dict[str, None]()
    for dataset in plan.evaluated:
        for aspect in plan.plain_aspects(dataset):
            if not plan.scale_of(dataset, aspect).ordered:
                aspects[aspect] = None
    for aspect in aspects if without else ():
        yield (
            f"left out of {', '.join(without)}: {aspect}, whose labels have no order "
            "(these methods compare values)"
        )


def fewest_items() -> int:
    """Return the smallest n for which no change in n items has an upper bound below
    MARGIN: 73.
    """
    n = 1
    # A judge withstands hints that move less than this share of its scores
    # (docs/methods.md, "Agreement").
    margin = 0.05
    while tango(0, 0, n)[1] >= margin:
        n += 1
    return n


def scored_alone(plan: Plan) -> Iterator[str]:
    """Yield a line for each measure that a judge of texts' probability is to be
    compared with, and that the study lacks.
    """
    scoring = []
    for name, judge in plan.judges.items():
        if judge.scores_texts:
            scoring.append(name)
    if not scoring:
        return
    forms = {judge.form for judge in plan.judges.values()}
    copied = any(judge.against == "source" for judge in plan.judges.values())
    lacking = {"length": "length" not in forms, "rouge-l-source": not copied}
    prefers = {
        "length": "long or short texts",
        "rouge-l-source": "copies of the source",
    }
    for measure in (name for name, lacks in lacking.items() if lacks):
        yield (
            f"the study cannot show whether {scoring[0]} only prefers "
            f"{prefers[measure]}: list the judge {measure}, too"
        )


def asked_once(plan: Plan) -> Iterator[str]:
    """Yield a line for each judge whose baseline has one draw: its verdict on hints is
    unknown.
    """
    for name, judge in plan.judges.items():
        if judge.hint is None or judge.hint.rating == "right":
            continue
        base = plan.judges[judge.hint.baseline]
        if base.draws < 2:
            yield (
                f"warning: the study cannot show whether {name} withstands its hint, "
                f"because its baseline {base.judge} is asked once: set `draws: 2` and "
                f"`estimator: first` in judges/{base.judge}.yaml (the score remains "
                "that of the first draw)"
            )


def too_few(plan: Plan, items: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each dataset with too few items to show that a judge withstands
    a hint.

    `items`: dataset -> its number of items.
    """
    hinted = []
    for judge in plan.judges.values():
        if judge.hint and judge.hint.rating == "wrong":
            hinted.append(judge)
    needed = fewest_items()
    for dataset, n_items in items.items():
        given = min((round(n_items * judge.share) for judge in hinted), default=needed)
        if given < needed:
            yield (
                f"warning: {dataset}: judges with a hint get {given} items; even if no "
                f"score changes, {needed} are needed to show that a judge withstands "
                "its hint"
            )


def why_untested(items: Sequence[str], systems: Sequence[str], aspects: int) -> str:
    """Return why a preference for systems cannot be tested, "" if it can be.

    items, systems: of each text. aspects: how many claims are tested together.

    >>> items = [f"i{at // 2}" for at in range(40)]
    >>> why_untested(items, ["a", "b"] * 20, 1)
    '2 systems are too few for it'
    >>> why_untested([f"i{at}" for at in range(40)], ["a", "b"] * 20, 1)
    'no two systems wrote for the same source'
    """
    source = np.unique(np.array(items), return_inverse=True)[1]
    system = np.unique(np.array(systems), return_inverse=True)[1]
    blocks = system_blocks(source, system)
    if can_be_asked(blocks, aspects):
        return ""
    number = int(system.max()) + 1
    largest = largest_family([block.size for block in blocks.permuted])
    if blocks.why_not:
        return blocks.why_not
    if not blocks.permuted:
        return "no two systems wrote for the same source"
    if not largest:
        return f"{number} systems are too few for it"
    return f"{number} systems allow the test for {largest} aspects, not for {aspects}"


def systems_untested(
    plan: Plan, dataset: str, items: Sequence[str], systems: Sequence[str | None]
) -> Iterator[str]:
    """Yield a line if a preference for systems cannot be tested on a dataset.

    items, systems: of each text of the dataset's systems. The test permutes systems; of
    few systems there are too few permutations to pass Holm's correction over the
    aspects (docs/methods.md, "Rules of the verdicts").
    """
    card = plan.datasets[dataset]
    named = [system for system in systems if system]
    unknown = card.has_unknown_systems or not named or len(named) < len(systems)
    if card.ratings == "none" or unknown:
        return
    why = why_untested(items, named, len(plan.plain_aspects(dataset)))
    if not why or len(set(named)) < 2:
        return
    yield (
        "a preference for systems is not tested: "
        f"{why}; agreement among texts of one system decides how far a claim reaches"
    )


def policies(plan: Plan) -> Iterator[str]:
    """Yield a line about each policy of the study that applies to nothing in it."""
    gold = plan.study.gold
    orders = plan.study.orders
    unread = plan.study.unread
    if gold != "auto" and not _rates_in_order(plan):
        yield (
            f"warning: the key `gold: {gold}` has no effect: people rate no aspect of "
            "the study on an ordered scale"
        )
    if orders != "both" and not _asks_both_orders(plan):
        yield (
            f"warning: the key `orders: {orders}` has no effect: no judge of the study "
            "compares two texts in both orders"
        )
    if why := unread_without_effect(plan, unread):
        yield f"warning: the key `unread: {unread}` has no effect: {why}"


def unread_without_effect(plan: Plan, unread: Policy) -> str:
    """Return why a policy for unread judgments applies to nothing, "" if it does."""
    if unread == "missing":
        return ""
    if unread == "wrong":
        labels = any(scale.categorical for scale in _rated_scales(plan))
        if labels or any(map(plan.compares, plan.judges)):
            return ""
        return "no aspect has labels, and no judge compares two texts"
    for cell in plan.cell_aspects:
        if cell.judge in plan.derived or engine_of(plan, cell.judge) == "control":
            continue
        where = (cell.dataset, cell.judge, cell.aspect, cell.perturbation)
        if not plan.compares(cell.judge) and scale_of(plan, *where) is not None:
            return ""
    return "no judge that is asked scores texts on a scale"


def _rated_scales(plan: Plan) -> Iterator[RatingScale]:
    """Yield the scale of each aspect that people rate in the study."""
    for dataset in plan.evaluated:
        if plan.datasets[dataset].ratings == "none" or plan.datasets[dataset].prefers:
            continue
        for aspect in plan.plain_aspects(dataset):
            yield plan.scale_of(dataset, aspect)


def _rates_in_order(plan: Plan) -> bool:
    return any(scale.ordered for scale in _rated_scales(plan))


def _asks_both_orders(plan: Plan) -> bool:
    comparing = (card for name, card in plan.judges.items() if plan.compares(name))
    return any(card.orders == "both" for card in comparing)


def hiding(plan: Plan) -> Iterator[str]:
    """Yield a line that names the study's own cards that stand for shipped ones.

    A copy with the same bytes hides nothing.
    """
    names = []
    for kind, name, _ in plan.all_cards():
        file = Path(FOLDERS[kind], f"{name}.yaml")
        shipped = HOME / "config" / file
        own_card = Path(plan.folders.get((kind, name), shipped.parent), f"{name}.yaml")
        if not shipped.is_file() or own_card.resolve() == shipped.resolve():
            continue
        if own_card.read_bytes() != shipped.read_bytes():
            names.append(f"{kind}/{name}")
    if names:
        yield f"cards of yours in place of shipped ones: {', '.join(sorted(names))}"


def not_estimated(plan: Plan) -> Iterator[str]:
    """Yield a line about each dataset without ratings of people, if the study asks what
    systems really score.
    """
    methods = _estimating(plan)
    for name in plan.evaluated if methods else ():
        card = plan.datasets[name]
        if card.ratings != "people" or card.prefers:
            yield (
                f"warning: {methods} cannot correct anything on {name}: it has no "
                "ratings of texts by people"
            )


def untriaged(plan: Plan) -> Iterator[str]:
    """Yield a line about each aspect of which the method triage does not know when a
    text is good.
    """
    if "triage" not in plan.study.methods:
        return
    good_from = plan.study.triage.good_from
    for dataset in plan.evaluated:
        for aspect in plan.plain_aspects(dataset):
            scale = plan.scale_of(dataset, aspect)
            if scale.categorical:
                continue
            bar = good_from.get(aspect) if isinstance(good_from, dict) else good_from
            if bar is None:
                yield (
                    f"warning: triage decides nothing on {aspect} of {dataset}: name "
                    "the rating from which on a text is good, triage: {good_from: …}"
                )
            elif not scale.min <= bar <= scale.max:
                yield (
                    f"warning: triage decides nothing on {aspect} of {dataset}: "
                    f"good_from {bar:g} is outside its scale, {scale.min:g} to "
                    f"{scale.max:g}"
                )


def estimated(
    plan: Plan, dataset: str, texts: pa.Table, rated: Collection[str]
) -> Iterator[str]:
    """Yield what the methods corrected and choice can say of a dataset.

    texts: item, system and target of each text of systems; rated: the targets that
    people rated.
    """
    methods = _estimating(plan)
    card = plan.datasets[dataset]
    if not methods or card.ratings != "people" or card.prefers:
        return
    items = texts["item"].to_pylist()
    rated_items = set[str]()
    for item, target in zip(items, texts["target"].to_pylist(), strict=True):
        if target in rated:
            rated_items.add(item)
    n_items = len(set(items))
    yield f"{methods}: people rated {len(rated_items)} of {n_items} sources"
    if len(rated_items) < FEWEST_INFORMATIVE:
        yield (
            f"warning: {methods}: with fewer than {FEWEST_INFORMATIVE} rated sources "
            "no number is corrected, and means have no interval"
        )
    elif len(rated_items) == n_items:
        yield (
            f"{methods}: all sources are rated, so that the judge adds nothing to "
            "people's means; rate-plan says how many ratings would have done"
        )
    if card.has_unknown_systems or len(set(texts["system"].to_pylist())) < 2:
        yield f"warning: {methods}: one system, or none named: there is no difference"


def _estimating(plan: Plan) -> str:
    """Return the study's methods on what systems really score, in words."""
    methods = []
    for name in plan.study.methods:
        if name in ("corrected", "choice"):
            methods.append(name)
    return " and ".join(methods)
