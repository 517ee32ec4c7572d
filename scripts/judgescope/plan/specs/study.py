"""The specs of the jobs that check a study before anything of it runs."""

from collections.abc import Iterable, Mapping

from judgescope.plan.code import computing
from judgescope.plan.judges import card_hash, engine_of
from judgescope.plan.preflight import CheckSpec, FileOwner, PreflightSpec
from judgescope.plan.study import Plan
from judgescope.schema.cards import (
    FOLDERS,
    CommandModel,
    Dataset,
    Hub,
    OpenAIModel,
    RecordedModel,
    VllmModel,
)


def preflight(plan: Plan) -> PreflightSpec:
    """Check every file of the study against its card."""
    return PreflightSpec(
        **computing("preflight"),
        study=plan.study.model_dump(mode="json", exclude=plan.study.keys_for("access")),
        cards={f"{kind}:{name}": card_hash(card) for kind, name, card in plan.cards()},
        owners={
            name: FileOwner(
                files={
                    role: file.model_dump(mode="json") if isinstance(file, Hub) else file
                    for role, file in card.files.items()
                },
                sha256=card.sha256,
                folder=plan.folders[kind, name],
                where=f"{FOLDERS[kind]}/{name}.yaml",
            )
            for kind, name, card in plan.cards()
            if isinstance(card, Dataset | RecordedModel | CommandModel | VllmModel) and card.files
        },
        data=plan.study.data,
        cells={name: len(plan.cells_of(name)) for name in plan.datasets},
        judges={name: engine_of(plan, name) for name in [*plan.judges, *plan.derived]},
        asked={
            name: sum(len(plan.cells_of(dataset, name)) for dataset in plan.datasets)
            for name in plan.models
            if plan.is_asked(name)
        },
        keys={
            name: card.api_key_env
            for name, card in plan.models.items()
            if isinstance(card, OpenAIModel) and card.api_key_env
        },
        programs={
            name: card.model_dump(mode="json")
            for name, card in plan.models.items()
            if isinstance(card, CommandModel)
        },
        output=plan.paths.preflight(),
    )


def check(
    plan: Plan, config: Mapping[str, object], source: str, unfetched: Iterable[str]
) -> CheckSpec:
    """Report what the preflight found, and what a run would ask."""
    return CheckSpec(
        config=dict(config),
        source=source,
        preflight=plan.paths.preflight(),
        unfetched=list(unfetched),
    )
