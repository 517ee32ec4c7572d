# One asking job per dataset and model writes one reply file per cell. The rules are made in a
# loop, because the files that a job writes cannot depend on a wildcard.


def ask_spec(dataset, model):
    return lambda wildcards: SPECS.ask(dataset, model)


# What is too much for one job is split, with `--set-scatter <model>=8`: the parts ask, each with a
# journal of its own, and the job that writes the reply files finds everything in the store.
workflow.scattergather(**{name: 1 for name in PLAN.models if PLAN.is_asked(name)})


def scattered(dataset, model):
    """Return the notes of the parts of an asking job, none if it is not split."""
    notes = (
        getattr(scatter, model)(f"{OUT}/asked/{dataset}/{model}/{{scatteritem}}.json")
        if PLAN.is_asked(model)
        else []
    )
    return notes if len(notes) > 1 else []


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
                [
                    f"{OUT}/replies/{'/'.join(cell)}.parquet"
                    for cell in PLAN.cells_of(_dataset, _model)
                ],
                [*filter(None, [SPECS.joined(_dataset, _model)])],
            log:
                f"{OUT}/logs/ask/{_dataset}/{_model}.log",
            conda:
                f"../../envs/{stage(_model)}.yaml"
            resources:
                **needs(_model, asks=not _parts),
                python=PYTHON[stage(_model)],
                home=str(HOME),
                script="ask.py" if PLAN.is_asked(_model) else "compute.py",
                access=access(_model),
            params:
                spec=ask_spec(_dataset, _model),
            shell:
                "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/{resources.script} --spec - {resources.access} > {log:q} 2>&1"
