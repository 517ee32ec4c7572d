# From scores to statistics, tables and the report.


rule statistics:
    input:
        f"{OUT}/items/{{dataset}}.parquet",
        f"{OUT}/items/{{dataset}}.json",
        f"{OUT}/ratings/{{dataset}}.parquet",
        f"{OUT}/collected/{{dataset}}/scores.parquet",
        f"{OUT}/collected/{{dataset}}/statuses.parquet",
        lambda wildcards: target_sets(wildcards.dataset),
    output:
        f"{OUT}/statistics/{{table}}/{{dataset}}.parquet",
    log:
        f"{OUT}/logs/statistics/{{table}}/{{dataset}}.log",
    conda:
        "../../envs/core.yaml"
    params:
        spec=lambda wildcards: SPECS.statistics(wildcards.table, wildcards.dataset),
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    shell:
        RUN + "estimate.py" + END


rule table:
    input:
        expand(f"{OUT}/statistics/{{{{table}}}}/{{dataset}}.parquet", dataset=DATASETS),
    output:
        f"{OUT}/tables/{{table}}.csv",
        f"{OUT}/tables/{{table}}.parquet",
    log:
        f"{OUT}/logs/table/{{table}}.log",
    conda:
        "../../envs/core.yaml"
    params:
        spec=lambda wildcards: SPECS.table(wildcards.table),
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    shell:
        RUN + "table.py" + END


rule report:
    input:
        expand(f"{OUT}/tables/{{table}}.parquet", table=SPECS.tables),
        expand(f"{OUT}/tables/{{table}}.csv", table=SPECS.tables),
        expand(f"{OUT}/items/{{dataset}}.json", dataset=DATASETS),
    output:
        f"{OUT}/report/index.html",
    log:
        f"{OUT}/logs/report.log",
    conda:
        "../../envs/core.yaml"
    params:
        spec=lambda wildcards: SPECS.report(f"metajudge run {SOURCE}"),
    resources:
        python=PYTHON["core"],
        home=str(HOME),
    shell:
        RUN + "report.py" + END
