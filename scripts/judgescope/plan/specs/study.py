"""The specs of the jobs that check a study before any of its jobs run."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from judgescope.core.api_keys import KeySource
from judgescope.data.files import HasFiles
from judgescope.engines.factory import located
from judgescope.plan.code import computing
from judgescope.plan.judges import card_hash, engine_of
from judgescope.plan.preflight import CheckSpec, FileOwner, PreflightSpec
from judgescope.plan.study import Plan
from judgescope.schema import cards


def preflight(plan: Plan) -> PreflightSpec:
    """Check every file of the study against its card."""
    hashes = {}
    owners = {}
    for kind, name, card in plan.all_cards():
        hashes[f"{kind}:{name}"] = card_hash(card)
        program = isinstance(card, cards.ProgramModel)
        if isinstance(card, HasFiles) and (card.files or program):
            where = f"{cards.FOLDERS[kind]}/{name}.yaml"
            owners[f"{kind}:{name}"] = _owner(card, plan.folders[kind, name], where)
    asked = {}
    programs = {}
    for name, model in plan.models.items():
        if plan.is_asked(name):
            cells = [plan.cells_of(dataset, name) for dataset in plan.datasets]
            asked[name] = sum(map(len, cells))
        if isinstance(model, cards.ProgramModel):
            programs[name] = model.model_dump(mode="json")
    return PreflightSpec(
        **computing("preflight"),
        study=plan.study.model_dump(mode="json", exclude=plan.study.keys_for("access")),
        cards=hashes,
        owners=owners,
        data=plan.study.data,
        cells={name: len(plan.cells_of(name)) for name in plan.datasets},
        judges={name: engine_of(plan, name) for name in [*plan.judges, *plan.derived]},
        asked=asked,
        programs=programs,
        output=plan.paths.preflight(),
    )


def _owner(card: HasFiles, folder: str, where: str) -> FileOwner:
    """Return a card that names files, with its folder and its name in errors."""
    named: dict[str, str | dict[str, object]] = {}
    for role, file in card.files.items():
        if isinstance(file, cards.Hub):
            named[role] = file.model_dump(mode="json")
        else:
            named[role] = file
    return FileOwner(
        named=named,
        sha256=card.sha256,
        published=card.published if isinstance(card, cards.Published) else {},
        folder=folder,
        where=where,
    )


def key_sources(plan: Plan, models: Iterable[str]) -> list[KeySource]:
    """Return the sources of the keys of some models' endpoints and proxies."""
    sources = []
    for name in models:
        card = plan.models[name]
        if not isinstance(card, cards.EndpointModel):
            continue
        folder = Path(plan.folders["model", name])
        card = located(card, folder, Path(plan.study.data))
        for source in (card.key_source, card.proxy_auth):
            if source:
                sources.append(source)
    return sources


def check(
    plan: Plan, config: Mapping[str, object], source: str, unfetched: Iterable[str]
) -> CheckSpec:
    """Report the results of the preflight, and what a run would request."""
    return CheckSpec(
        config=dict(config),
        source=source,
        preflight=plan.paths.preflight(),
        unfetched=list(unfetched),
    )
