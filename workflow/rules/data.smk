# From files to items, targets and ratings.


rule preflight:
    input:
        cards=CARDS,
        files=[path for roles in FILES.values() for paths in roles.values() for path in paths],
    output:
        f"{OUT}/preflight.json",
    log:
        f"{OUT}/logs/preflight.log",
    conda:
        "../../envs/core.yaml"
    params:
        spec=lambda wildcards: SPECS.preflight(),
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    shell:
        RUN + "preflight.py" + END


rule check:
    input:
        rules.preflight.output,
    log:
        f"{OUT}/logs/check.log",
    conda:
        "../../envs/core.yaml"
    params:
        spec=lambda wildcards: SPECS.check(),
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    shell:
        RUN + "check.py --spec - 2>&1 | tee {log:q}"


rule ingest:
    input:
        lambda wildcards: sum(FILES[wildcards.dataset].values(), []),
    output:
        f"{OUT}/items/{{dataset}}.parquet",
        f"{OUT}/items/{{dataset}}.json",
        f"{OUT}/ratings/{{dataset}}.parquet",
        f"{OUT}/targets/{{dataset}}/systems.parquet",
        f"{OUT}/targets/{{dataset}}/original.parquet",
    log:
        f"{OUT}/logs/ingest/{{dataset}}.log",
    conda:
        "../../envs/core.yaml"
    params:
        spec=lambda wildcards: SPECS.ingest(wildcards.dataset),
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    shell:
        RUN + "ingest.py" + END


rule perturb:
    input:
        f"{OUT}/targets/{{dataset}}/original.parquet",
    output:
        f"{OUT}/targets/{{dataset}}/{{damage}}.{{degree}}.parquet",
    log:
        f"{OUT}/logs/perturb/{{dataset}}/{{damage}}.{{degree}}.log",
    conda:
        "../../envs/core.yaml"
    params:
        spec=lambda wildcards: SPECS.perturb(
            wildcards.dataset, wildcards.damage, wildcards.degree
        ),
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    shell:
        RUN + "perturb.py" + END
