# Texts of every rating: candidates with more or fewer errors, rated by their number or by
# comparisons with anchors, and as many of every rating chosen as can be.


# Their specs are made when a job needs them.
def candidates_spec(name, part):
    return lambda wildcards: SPECS.candidates(wildcards.dataset, name, part)


def compare_spec(name, part):
    return lambda wildcards: SPECS.compare(wildcards.dataset, name, part)


def of_set(spec, name):
    return lambda wildcards: spec(wildcards.dataset, name)


def before(name, part, model):
    """Return a job's input: the same part of the sets before this one that ask the same model about
    the same aspect, so that what both ask is asked once.
    """

    def files(wildcards):
        known = dict(PLAN.perturbed(wildcards.dataset, "graded"))
        sets = [one for one in graded(PLAN) if one in known]
        about = {one: SPECS.lowered(wildcards.dataset, one) for one in sets}
        return [
            SPECS.construction(wildcards.dataset, one, part)
            for one in sets[: sets.index(name)]
            if about[one] == about[name]
            and model(graded(PLAN)[one]) == model(graded(PLAN)[name])
        ][-1:]

    return files


def comparator(card):
    return card.anchors and card.anchors.model


def rating_judge(card):
    return card.anchors and card.anchors.judge


for _name, _card in graded(PLAN).items():
    _place = f"{OUT}/construction/{{dataset}}/{_name}"
    _parts = parts_of(_card)

    for _part in _parts:

        rule:
            name:
                f"candidates_{_part}_{_name}"
            input:
                f"{OUT}/items/{{dataset}}.parquet",
                f"{OUT}/targets/{{dataset}}/original.parquet",
                lambda wildcards: references_for(wildcards.dataset),
                # the others follow from those on trial, as they were rated
                [f"{_place}.trial.parquet", f"{_place}.trial-compared.parquet"]
                if _part == REST
                else [],
                FIRST,
            output:
                [f"{_place}.{_part}.parquet"],
                [f"{OUT}/made/{{dataset}}/{_name}.{_part}.parquet"]
                if _card.model
                else [],
            log:
                f"{OUT}/logs/construction/{{dataset}}/{_name}.{_part}.log",
            localrule: not _card.model
            conda:
                f'../../envs/{stage(_card.model) if _card.model else "core"}.yaml'
            resources:
                **(needs(_card.model) if _card.model else {}),
                python=PYTHON[stage(_card.model) if _card.model else "core"],
                home=str(HOME),
                access=access(_card.model) if _card.model else "",
            params:
                spec=candidates_spec(_name, _part),
            shell:
                "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/candidates.py --spec - {resources.access} > {log:q} 2>&1"

    rule:
        name:
            f"grade_{_name}"
        input:
            [f"{_place}.{part}.parquet" for part in _parts],
            [f"{_place}.{part}-compared.parquet" for part in _parts if _card.anchors],
        output:
            f"{OUT}/targets/{{dataset}}/{_name}.single.parquet",
            f"{OUT}/graded/{{dataset}}/{_name}.single.parquet",
        log:
            f"{OUT}/logs/construction/{{dataset}}/{_name}.log",
        localrule: True
        conda:
            "../../envs/core.yaml"
        resources:
            python=PYTHON["core"],
            home=str(HOME),
        params:
            spec=of_set(SPECS.grade, _name),
        shell:
            "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/grade.py --spec - > {log:q} 2>&1"

    if not _card.anchors:
        continue

    rule:
        name:
            f"anchors_{_name}"
        input:
            f"{OUT}/ratings/{{dataset}}.parquet",
            f"{OUT}/targets/{{dataset}}/systems.parquet",
            [f"{_place}.rated.parquet"] if _card.anchors.judge else [],
        output:
            f"{_place}.anchors.parquet",
        log:
            f"{OUT}/logs/construction/{{dataset}}/{_name}.anchors.log",
        localrule: True
        conda:
            "../../envs/core.yaml"
        resources:
            python=PYTHON["core"],
            home=str(HOME),
        params:
            spec=of_set(SPECS.anchors, _name),
        shell:
            "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/choose_anchors.py --spec - > {log:q} 2>&1"

    # What a judge says of rated texts is asked before the texts are there that its own job waits for;
    # that job finds these replies in the store.
    if _card.anchors.judge:
        _model = PLAN.judges[_card.anchors.judge].model

        rule:
            name:
                f"rate_{_name}"
            input:
                lambda wildcards, model=_model: list(FILES.get(model, {}).values()),
                f"{OUT}/items/{{dataset}}.parquet",
                f"{OUT}/ratings/{{dataset}}.parquet",
                f"{OUT}/targets/{{dataset}}/systems.parquet",
                before(_name, "rated", rating_judge),
                FIRST,
            output:
                f"{_place}.rated.parquet",
            log:
                f"{OUT}/logs/construction/{{dataset}}/{_name}.rated.log",
            localrule: not PLAN.is_asked(_model)
            conda:
                f"../../envs/{stage(_model)}.yaml"
            resources:
                **needs(_model),
                python=PYTHON[stage(_model)],
                home=str(HOME),
                script="ask.py" if PLAN.is_asked(_model) else "replay.py",
                access=access(_model),
            params:
                spec=of_set(SPECS.rate, _name),
            shell:
                "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/{resources.script} --spec - {resources.access} > {log:q} 2>&1"

    # The comparator is tried on the anchors first: a bad one stops the construction.
    for _part in (REFEREE, *_parts):

        rule:
            name:
                f"compare_{_part}_{_name}"
            input:
                f"{OUT}/items/{{dataset}}.parquet",
                f"{OUT}/targets/{{dataset}}/systems.parquet",
                f"{_place}.anchors.parquet",
                [f"{_place}.{_part}.parquet", f"{_place}.referee-compared.parquet"]
                if _part != REFEREE
                else [],
                before(_name, f"{_part}-compared", comparator),
                FIRST,
            output:
                f"{_place}.{_part}-compared.parquet",
                f"{OUT}/made/{{dataset}}/comparisons.{_name}.{_part}.parquet",
            log:
                f"{OUT}/logs/construction/{{dataset}}/{_name}.{_part}-compared.log",
            conda:
                f"../../envs/{stage(_card.anchors.model)}.yaml"
            resources:
                **needs(_card.anchors.model),
                python=PYTHON[stage(_card.anchors.model)],
                home=str(HOME),
                access=access(_card.anchors.model),
            params:
                spec=compare_spec(_name, _part),
            shell:
                "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/compare_anchors.py --spec - {resources.access} > {log:q} 2>&1"
