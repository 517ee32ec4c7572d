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
    return PreflightSpec(
        **computing("preflight"),
        study=plan.study.model_dump(mode="json", exclude=plan.study.keys_for("access")),
        cards={
            f"{kind}:{name}": card_hash(card) for kind, name, card in plan.all_cards()
        },
        owners={
            name: FileOwner(
                named={
                    role: file.model_dump(mode="json")
                    if isinstance(file, cards.Hub)
                    else file
                    for role, file in card.files.items()
                },
                sha256=card.sha256,
                published=card.published if isinstance(card, cards.Published) else {},
                folder=plan.folders[kind, name],
                where=f"{cards.FOLDERS[kind]}/{name}.yaml",
            )
            for kind, name, card in plan.all_cards()
            if isinstance(card, HasFiles)
            and (card.files or isinstance(card, cards.ProgramModel))
        },
        data=plan.study.data,
        cells={name: len(plan.cells_of(name)) for name in plan.datasets},
        judges={name: engine_of(plan, name) for name in [*plan.judges, *plan.derived]},
        asked={
            name: sum(len(plan.cells_of(dataset, name)) for dataset in plan.datasets)
            for name in plan.models
            if plan.is_asked(name)
        },
        programs={
            name: card.model_dump(mode="json")
            for name, card in plan.models.items()
            if isinstance(card, cards.ProgramModel)
        },
        output=plan.paths.preflight(),
    )


def key_sources(plan: Plan, models: Iterable[str]) -> list[KeySource]:
    """Return the sources of the keys of some models' endpoints and proxies."""
    endpoints = [
        located(card, Path(plan.folders["model", name]), Path(plan.study.data))
        for name in models
        if isinstance(card := plan.models[name], cards.OpenAIModel)
    ]
    sources = []
    for card in endpoints:
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
