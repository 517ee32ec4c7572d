"""What the judges' cards are told: their settings without any secret, and which damage matters."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from judgescope.core.canonical import canonical
from judgescope.core.secrets import is_secret
from judgescope.plan.judges import facts_of, parser_of, prompt_hash
from judgescope.plan.pages import look_of, report_page, told_of
from judgescope.plan.study import Plan
from judgescope.schema.cards import Model

SHOWN = {
    *("engine", "name", "revision", "variant", "family", "dtype", "quantization", "adapter"),
    *("extra_body", "model_args", "spelling", "max_model_len", "sees", "dataset", "price"),
}
"""Keys of a model's card that its judges' cards show: no address, header, program or path."""
READS = {"form", "pairs", "against", "scale", "share", "parser", "family", "aspects"}
"""Keys of a judge's card that mean something where no prompt is read."""
HIDDEN = "not shown"


def judge_cards(plan: Plan, home: Path, out: str, tables: Sequence[str]) -> dict[str, Any]:
    """Return the fields of the spec of the judges' cards, one job for all of them."""
    page = report_page(plan, home, out, tables)
    scales, which = _ends(plan)
    return {
        **page,
        # told by the report alone
        **{"annotated": {}, "distilled": None, "cards": ""},
        "templates": look_of(home / "workflow", "report/*", "texts/style.css"),
        "results": out,
        "explore": True,
        "settings": {name: settings_of(plan, name) for name in page["judges"]},
        "perturbations": {name: told_of(card) for name, card in plan.perturbations.items()},
        "models": {name: model_settings(card) for name, card in plan.models.items()},
        "worst": {
            dataset: {
                "damages": _damages(plan, dataset),
                "rated": "systems" in plan.target_sets(dataset)
                and plan.datasets[dataset].ratings != "none",
                "scales": {
                    name: [scale.min, scale.max]
                    for name in plan.aspects_of(dataset)
                    for scale in [plan.scale_of(dataset, name)]
                },
            }
            for dataset in plan.evaluated
        },
        # judge -> its place in a list of dataset -> aspect -> the ends of its scores
        "ends": {"scales": scales, "of": which},
        "output": f"{out}/report/judges",
    }


def settings_of(plan: Plan, judge: str) -> dict[str, Any]:
    """Return a judge's card, only what its file says beside the defaults."""
    if judge in plan.derived:
        return plan.derived[judge].model_dump(mode="json", exclude={"judge"})
    card = plan.judges[judge]
    told: dict[str, Any] = card.model_dump(mode="json", exclude={"judge"}, exclude_defaults=True)
    if not plan.is_prompted(card.model):
        told = {key: value for key, value in told.items() if key in READS}
    told |= {"model": card.model, "parser": parser_of(plan, judge)}
    hashes = {name: prompt_hash(plan, name, card) for name in plan.evaluated}
    prompts = {name: value for name, value in hashes.items() if value}
    return {**told, **({"prompts": prompts} if prompts else {})}


def model_settings(card: Model) -> dict[str, Any]:
    """Return what of a model's card anybody may see."""
    told = card.model_dump(mode="json", include=SHOWN, exclude_none=True)
    return {key: _masked(value) for key, value in told.items() if value not in ({}, [])}


def _masked(value: Any) -> Any:
    """Return a value without those of its entries whose names say that they are secret."""
    if isinstance(value, dict):
        return {
            name: HIDDEN if is_secret(name) and not isinstance(one, int | float) else _masked(one)
            for name, one in value.items()
            if name != "path"
        }
    return [_masked(one) for one in value] if isinstance(value, list) else value


def _damages(plan: Plan, dataset: str) -> list[list[Any]]:
    """Return [set of texts, aspects that it should lower, why these] for damage to originals.

    Texts of every rating are left out: each is made of any reference, which nobody scored.
    """
    sets = plan.target_sets(dataset)
    found: list[list[Any]] = []
    for name, degree in plan.perturbed(dataset, "once", "row"):
        cell = f"{name}.{degree}"
        if cell in sets and "original" in sets:
            aspects, why = _lowered(plan, dataset, name)
            found.append([cell, aspects, why])
    return found


def _lowered(plan: Plan, dataset: str, perturbation: str) -> tuple[list[str], str]:
    """Return the aspects in which damage should show, and who says so."""
    plain = plan.judged_on(dataset, perturbation)
    judged = [name for name in plan.aspects_of(dataset) if name.partition(".")[0] in plain]
    expected = plan.expectations.perturbations.get(perturbation) if plan.expectations else None
    if expected is not None:
        return _among(judged, expected.drop), "expected"
    task = plan.datasets[dataset].task
    weights = plan.weights.tasks.get(task, {}).get(perturbation) if plan.weights else None
    if weights is not None:
        return _among(judged, (name for name, weight in weights.items() if weight > 0)), "weighted"
    return judged, "all"


def _among(judged: Iterable[str], plain: Iterable[str]) -> list[str]:
    wanted = set(plain)
    return [name for name in judged if name.partition(".")[0] in wanted]


def _ends(plan: Plan) -> tuple[list[Any], dict[str, int]]:
    """Return what the ends of judges' scores are, once where several share them, and of whom."""
    found, which = dict[str, Any](), dict[str, int]()
    for judge in [*plan.judges, *plan.derived]:
        names = [name for name in plan.evaluated if judge in plan.judges_of(name)]
        ends = {name: facts_of(plan, name, judge)["ends"] for name in names}
        found.setdefault(canonical(ends), ends)
        which[judge] = list(found).index(canonical(ends))
    return list(found.values()), which
