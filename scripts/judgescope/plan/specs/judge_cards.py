"""The spec of the judges' cards: settings, published keys, and the worst judgments."""

from typing import Literal

from msgspec.structs import asdict, replace

from judgescope.core.canonical import canonical
from judgescope.core.cells import split
from judgescope.core.secrets import is_secret
from judgescope.plan.judges import facts_of, parser_of, prompt_hash
from judgescope.plan.specs.page_facts import perturbation_cards
from judgescope.plan.specs.pages import judged_files, page_of
from judgescope.plan.study import Plan
from judgescope.report import specs
from judgescope.schema import cards

READ_WITHOUT_PROMPTS = {
    "form",
    "pairs",
    "use_reference",
    "scale",
    "share",
    "parser",
    "read",
    "family",
    "aspects",
}
"""Keys of a judge's card that also have a meaning for models that read no prompts."""
PUBLISHED = {
    "engine",
    "name",
    "revision",
    "variant",
    "family",
    "dtype",
    "quantization",
    "adapter",
    "extra_body",
    "model_args",
    "field_names",
    "max_model_len",
    "inputs",
    "dataset",
    "price",
}
"""Keys of a model's card that its judges' cards show: no address, header, program or
path."""

JudgeEnds = dict[str, dict[str, specs.ScaleEnds]]
"""Dataset -> aspect -> the ends of a judge's scores."""


def judge_cards(plan: Plan) -> specs.JudgeCardSpec:
    """Write the judges' cards, one job for all of them."""
    names = [*plan.judges, *plan.derived]
    distinct = dict[str, JudgeEnds]()
    ends_of = dict[str, int]()
    for judge in names:
        ends = _ends(plan, judge)
        distinct.setdefault(canonical(ends), ends)
        ends_of[judge] = list(distinct).index(canonical(ends))
    page = page_of(
        plan,
        "judge_card",
        "judges",
        perturbation_cards(plan),
        "report/*",
        "texts/style.css",
    )
    return specs.JudgeCardSpec(
        **asdict(replace(page, cards="", files=_files(plan))),
        cards_of_judges=[plan.paths.judge_card(name) for name in names],
        settings={name: settings_of(plan, name) for name in names},
        models={name: model_settings(card) for name, card in plan.models.items()},
        worst={dataset: _worst(plan, dataset) for dataset in plan.evaluated},
        ends=list(distinct.values()),
        ends_of=ends_of,
    )


def _files(plan: Plan) -> dict[str, specs.PageFiles]:
    """Return dataset -> the files that the judges' cards read of it."""
    files = {}
    for name in plan.datasets:
        files[name] = replace(
            judged_files(plan, name),
            scores=plan.paths.collected(name, "scores"),
            statuses=plan.paths.collected(name, "statuses"),
        )
    return files


def _ends(plan: Plan, judge: str) -> JudgeEnds:
    """Return the ends of a judge's scores on the datasets that it judges."""
    ends = {}
    for name in plan.evaluated:
        if judge in plan.judges_of(name):
            ends[name] = facts_of(plan, name, judge).ends
    return ends


# --- settings -------------------------------------------------------------------------


def settings_of(plan: Plan, judge: str) -> dict[str, object]:
    """Return the keys of a judge's card that differ from the defaults."""
    if judge in plan.derived:
        return plan.derived[judge].model_dump(mode="json", exclude={"judge"})
    card = plan.judges[judge]
    read = None if plan.is_prompted(card.model) else READ_WITHOUT_PROMPTS
    settings: dict[str, object] = card.model_dump(
        mode="json",
        include=read,
        # Example replies decide nothing that a report shows.
        exclude={"judge", "examples"},
        exclude_defaults=True,
    )
    settings |= {"model": card.model, "parser": parser_of(plan, judge)}
    prompts = {}
    for name in plan.evaluated:
        hash_ = prompt_hash(plan, name, card)
        if hash_:
            prompts[name] = hash_
    if prompts:
        settings["prompts"] = prompts
    return settings


def model_settings(card: cards.Model) -> dict[str, object]:
    """Return the keys of a model's card that may be published."""
    shown = card.model_dump(mode="json", include=PUBLISHED, exclude_none=True)
    return {
        key: _masked(value) for key, value in shown.items() if value not in ({}, [])
    }


def _masked(value: object) -> object:
    """Return a value in which entries with the name of a secret are hidden."""
    if isinstance(value, list):
        return [_masked(each) for each in value]
    if not isinstance(value, dict):
        return value
    masked = dict[str, object]()
    not_shown = "not shown"
    for name, each in value.items():
        if name == "path":
            continue
        # A number is a limit, such as `max_tokens`, and no secret.
        hidden = is_secret(name) and not isinstance(each, int | float)
        masked[name] = not_shown if hidden else _masked(each)
    return masked


# --- the worst judgments --------------------------------------------------------------


def _worst(plan: Plan, dataset: str) -> specs.WorstCases:
    """Return what determines which judgments of a dataset are the worst.

    Graded sets are left out: their texts are made from any reference, which has no
    score.
    """
    sets = plan.target_sets(dataset)
    perturbations = []
    for name, degree in plan.perturbed(dataset, "once", "chain"):
        if f"{name}.{degree}" in sets and "original" in sets:
            perturbations.append(_lowered(plan, dataset, name, degree))
    scales = {}
    for aspect in plan.aspects_of(dataset):
        scale = plan.scale_of(dataset, aspect)
        if scale.ordered:
            scales[aspect] = (scale.min, scale.max)
    return specs.WorstCases(
        perturbations=perturbations,
        rated="systems" in sets and plan.datasets[dataset].ratings != "none",
        scales=scales,
    )


def _lowered(
    plan: Plan, dataset: str, perturbation: str, degree: str
) -> specs.ExpectedDrop:
    """Return the aspects in which a perturbation should show, and why it should."""
    lowered = set(plan.judged_on(dataset, perturbation))
    expected = None
    if plan.expectations:
        expected = plan.expectations.perturbations.get(perturbation)
    weights = None
    if plan.weights:
        tasks = plan.weights.tasks.get(plan.datasets[dataset].task, {})
        weights = tasks.get(perturbation)
    why: Literal["expected", "weighted", "all"] = "all"
    if expected is not None:
        lowered &= set(expected.drop)
        why = "expected"
    elif weights is not None:
        lowered &= {name for name, weight in weights.items() if weight > 0}
        why = "weighted"
    return specs.ExpectedDrop(
        cell=f"{perturbation}.{degree}",
        mildness=_mildness(plan, perturbation, degree),
        aspects=[
            each for each in plan.aspects_of(dataset) if split(each)[0] in lowered
        ],
        why=why,
    )


def _mildness(plan: Plan, perturbation: str, degree: str) -> int:
    """Return how far a degree is from the heaviest one; see specs.ExpectedDrop."""
    degrees = list(plan.degrees_of(perturbation))
    if len(degrees) == 1:
        return 1
    behind = len(degrees) - 1 - degrees.index(degree)
    return behind + (behind > 0)
