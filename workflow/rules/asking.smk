# One asking job per dataset and model writes one reply file per cell. The rules are made in a
# loop, because the files that a job writes cannot depend on a wildcard.


def ask_spec(dataset, model):
    return lambda wildcards: SPECS.ask(dataset, model)


# What is too much for one job is split, with `--set-scatter <model>=8`: the parts ask, each with a
# journal of its own, and the job that writes the reply files finds everything in the store.
workflow.scattergather(**{name: 1 for name in PLAN.models if PLAN.is_asked(name)})


def folders_of(dataset, model):
    """Return the folders that the job of a model and dataset writes."""
    kinds = ["judgments", "scores"] if model in COMPUTING else ["replies"]
    return [f"{OUT}/{kind}/{dataset}/{model}" for kind in kinds]


def script_of(model):
    """Return the script that asks a model, computes its scores, or replays its replies."""
    if PLAN.is_asked(model):
        return "ask.py"
    return "compute.py" if model in COMPUTING else "replay.py"


def scattered(dataset, model):
    """Return the notes of the parts of an asking job, none if it is not split."""
    notes = (
        getattr(scatter, model)(f"{OUT}/asked/{dataset}/{model}/{{scatteritem}}.json")
        if PLAN.is_asked(model)
        else []
    )
    return notes if len(notes) > 1 else []


# Why demonstrations have their ratings, written before the judges that are shown it are asked.
for _dataset in DATASETS:
    for _model in analysts(PLAN, _dataset):

        rule:
            name:
                f"analyse_{_dataset}_{_model}"
            input:
                f"{OUT}/items/{_dataset}.parquet",
                f"{OUT}/ratings/{_dataset}.parquet",
                f"{OUT}/targets/{_dataset}/systems.parquet",
                FIRST,
            output:
                f"{OUT}/analyses/{_dataset}/{_model}.parquet",
                f"{OUT}/made/{_dataset}/analyses.{_model}.parquet",
            log:
                f"{OUT}/logs/analyse/{_dataset}/{_model}.log",
            conda:
                f"../../envs/{stage(_model)}.yaml"
            resources:
                **needs(_model),
                python=PYTHON[stage(_model)],
                home=str(HOME),
                access=access(_model),
            params:
                spec=analyse_spec(_dataset, _model),
            shell:
                "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/analyse.py --spec - {resources.access} > {log:q} 2>&1"


for _dataset in DATASETS:
    for _model in PLAN.models:
        if not PLAN.cells_of(_dataset, _model):
            continue
        _texts = [
            *FILES.get(_model, {}).values(),
            f"{OUT}/items/{_dataset}.parquet",
            f"{OUT}/ratings/{_dataset}.parquet",
            *target_sets(_dataset),
            *names_for(_dataset, _model),
            *analyses_for(_dataset, _model),
            *learnt(_dataset, _model),
            *FIRST,
        ]
        _parts = scattered(_dataset, _model)
        if _parts:

            rule:
                name:
                    f"part_{_dataset}_{_model}"
                input:
                    _texts,
                output:
                    f"{OUT}/asked/{_dataset}/{_model}/{{scatteritem}}.json",
                log:
                    f"{OUT}/logs/ask/{_dataset}/{_model}.{{scatteritem}}.log",
                conda:
                    f"../../envs/{stage(_model)}.yaml"
                resources:
                    **needs(_model),
                    python=PYTHON[stage(_model)],
                    home=str(HOME),
                    access=access(_model),
                params:
                    spec=ask_spec(_dataset, _model),
                shell:
                    "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/ask.py --spec - {resources.access} --part {wildcards.scatteritem} > {log:q} 2>&1"

        rule:
            name:
                f"ask_{_dataset}_{_model}"
            input:
                _texts,
                _parts,
            output:
                [directory(path) for path in folders_of(_dataset, _model)],
                [SPECS.hashes(_dataset, _model)] if _model not in COMPUTING else [],
                [*filter(None, [SPECS.joined(_dataset, _model)])],
            log:
                f"{OUT}/logs/ask/{_dataset}/{_model}.log",
            conda:
                f"../../envs/{stage(_model)}.yaml"
            resources:
                **needs(_model, asks=not _parts),
                python=PYTHON[stage(_model)],
                home=str(HOME),
                script=script_of(_model),
                access=access(_model),
            params:
                spec=ask_spec(_dataset, _model),
            shell:
                "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/{resources.script} --spec - {resources.access} > {log:q} 2>&1"
