# From scores to statistics, tables and the report.


rule statistics:
    input:
        f"{OUT}/items/{{dataset}}.parquet",
        f"{OUT}/items/{{dataset}}.json",
        f"{OUT}/ratings/{{dataset}}.parquet",
        f"{OUT}/collected/{{dataset}}/scores.parquet",
        f"{OUT}/collected/{{dataset}}/draws.parquet",
        f"{OUT}/collected/{{dataset}}/statuses.parquet",
        lambda wildcards: JOBS.targets(wildcards.dataset),
        lambda wildcards: SPECS.inputs(wildcards.table, wildcards.dataset),
    output:
        f"{OUT}/statistics/{{table}}/{{dataset}}.parquet",
    log:
        f"{OUT}/logs/statistics/{{table}}/{{dataset}}.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.statistics(wildcards.table, wildcards.dataset),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py statistics --spec - > {log:q} 2>&1"


# All tables by one job: it takes longer to start than to join them.
rule tables:
    input:
        [
            f"{OUT}/statistics/{table}/{dataset}.parquet"
            for table in SPECS.tables
            for dataset in SPECS.tabled(table)
        ],
    output:
        expand(f"{OUT}/tables/{{table}}.csv", table=SPECS.tables),
        [
            report(
                f"{OUT}/tables/{table}.parquet",
                caption="../report/captions/numbers.rst",
                category="Numbers",
                labels={"table": table, "format": "Parquet"},
            )
            for table in SPECS.tables
        ],
    log:
        f"{OUT}/logs/tables.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.joined_tables(),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py tables --spec - > {log:q} 2>&1"


rule report:
    input:
        expand(f"{OUT}/tables/{{table}}.parquet", table=SPECS.tables),
        expand(f"{OUT}/tables/{{table}}.csv", table=SPECS.tables),
        expand(f"{OUT}/items/{{dataset}}.json", dataset=DATASETS),
        joined_files(),
        annotated_files(),
        [f"{OUT}/distill/training.parquet"] if PLAN.taught else [],
    output:
        f"{OUT}/report/index.html",
        directory(f"{OUT}/report/long"),
        report(
            directory(f"{OUT}/figures"),
            patterns=["{section}/{figure}.svg"],
            caption="../report/captions/figures.rst",
            category="Figures",
            subcategory="{section}",
            labels=labels_of(f"{OUT}/figures/{{section}}/{{figure}}.svg"),
        ),
        report(
            directory(f"{OUT}/sections"),
            patterns=["{section}.html"],
            caption="../report/captions/sections.rst",
            category="Sections",
            labels=labels_of(f"{OUT}/sections/{{section}}.html"),
        ),
    log:
        f"{OUT}/logs/report.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.report(
            f"judgescope run {without_folders(SOURCE, HOME)}"
        ),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py report --spec - > {log:q} 2>&1"


# A page for each judge, all by one job: what they share is read once.
rule judge_cards:
    input:
        expand(f"{OUT}/tables/{{table}}.parquet", table=SPECS.tables),
        expand(f"{OUT}/items/{{dataset}}.json", dataset=DATASETS),
        expand(f"{OUT}/ratings/{{dataset}}.parquet", dataset=DATASETS),
        expand(f"{OUT}/collected/{{dataset}}/scores.parquet", dataset=DATASETS),
        expand(f"{OUT}/collected/{{dataset}}/statuses.parquet", dataset=DATASETS),
        expand(f"{OUT}/collected/{{dataset}}/cells.sha256", dataset=DATASETS),
        [JOBS.targets(dataset) for dataset in DATASETS],
    output:
        JUDGE_CARDS,
    log:
        f"{OUT}/logs/judge_cards.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.judge_cards(),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py judge_card --spec - > {log:q} 2>&1"


# A sample of the damaged texts, to see by eye whether the damage is what it claims to be.
rule spotcheck:
    input:
        [JOBS.targets(dataset) for dataset in damaged(PLAN)],
        [JOBS.spotchecked(dataset) for dataset in damaged(PLAN)],
    output:
        report(
            f"{OUT}/report/texts.html",
            caption="../report/captions/texts.rst",
            category="Texts",
            labels={"texts": "damaged texts, a sample"},
        ),
    log:
        f"{OUT}/logs/spotcheck.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.spotcheck(),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py spotcheck --spec - > {log:q} 2>&1"


# Every judgment beside its text, to be looked at: a page, and the data that it loads from a folder.
# Cells are files by the thousand: one file of each dataset stands for all of them.
rule explore:
    input:
        expand(f"{OUT}/items/{{dataset}}.parquet", dataset=DATASETS),
        expand(f"{OUT}/ratings/{{dataset}}.parquet", dataset=DATASETS),
        [JOBS.targets(dataset) for dataset in DATASETS],
        expand(f"{OUT}/collected/{{dataset}}/cells.sha256", dataset=DATASETS),
    output:
        f"{OUT}/report/explore.html",
        directory(f"{OUT}/report/explore"),
    log:
        f"{OUT}/logs/explore.log",
    conda:
        "../../envs/core.yaml"
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    params:
        spec=lambda wildcards: SPECS.explore(),
    shell:
        "printf %s {params.spec:q} | {resources.python:q} {resources.home:q}/scripts/job.py explore --spec - > {log:q} 2>&1"
