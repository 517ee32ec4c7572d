# From scores to statistics, tables and the report.


rule statistics:
    input:
        lambda wildcards: JOBS.statistics_from(**wildcards),
    output:
        PATHS.statistics(),
    log:
        PATHS.log("statistics/{table}/{dataset}"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(results.statistics, PLAN),
    shell:
        command("statistics")


# One job writes all tables, because a job takes longer to start than to join them.
rule tables:
    input:
        [
            PATHS.statistics(table, dataset)
            for table in TABLES
            for dataset in datasets_of(PLAN, table)
        ],
    output:
        expand(PATHS.table_csv(), table=TABLES),
        [
            report(
                PATHS.table(table),
                caption="../report/captions/numbers.rst",
                category="Numbers",
                labels={"table": table, "format": "Parquet"},
            )
            for table in TABLES
        ],
    log:
        PATHS.log("tables"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(results.tables, PLAN),
    shell:
        command("tables")


rule report:
    input:
        expand(PATHS.table(), table=TABLES),
        expand(PATHS.table_csv(), table=TABLES),
        expand(PATHS.ingested(), dataset=DATASETS),
        expand(PATHS.ratings(), dataset=DATASETS),
        expand(PATHS.collected(name="scores"), dataset=DATASETS),
        JOBS.reported(),
    output:
        PATHS.report("index.html"),
        directory(PATHS.report("sections")),
        report(
            directory(PATHS.figures()),
            patterns=["{section}/{figure}.svg"],
            caption="../report/captions/figures.rst",
            category="Figures",
            subcategory="{section}",
            labels=title_label(PATHS.figure()),
        ),
        report(
            directory(PATHS.sections()),
            patterns=["{section}.html"],
            caption="../report/captions/sections.rst",
            category="Sections",
            labels=title_label(PATHS.section()),
        ),
    log:
        PATHS.log("report"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(
            pages.report, PLAN, f"judgescope run {without_folders(SOURCE, HOME)}"
        ),
    shell:
        command("report")


# One job writes a page for each judge, so that shared data is read only once.
rule judge_cards:
    input:
        expand(PATHS.table(), table=TABLES),
        expand(PATHS.ingested(), dataset=DATASETS),
        expand(PATHS.ratings(), dataset=DATASETS),
        expand(PATHS.collected(name="scores"), dataset=DATASETS),
        expand(PATHS.collected(name="statuses"), dataset=DATASETS),
        expand(PATHS.cell_hashes(), dataset=DATASETS),
        [JOBS.targets(dataset) for dataset in DATASETS],
    output:
        JOBS.judge_cards,
    log:
        PATHS.log("judge_cards"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(pages.judge_cards, PLAN),
    shell:
        command("judge_card")


# A page with a sample of the perturbed texts, to check the perturbations by eye.
rule spotcheck:
    input:
        [JOBS.targets(dataset) for dataset in JOBS.perturbed],
        [JOBS.spotchecked(dataset) for dataset in JOBS.perturbed],
    output:
        report(
            PATHS.report("texts.html"),
            caption="../report/captions/texts.rst",
            category="Texts",
            labels={"texts": "perturbed texts, a sample"},
        ),
    log:
        PATHS.log("spotcheck"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(pages.spotcheck, PLAN),
    shell:
        command("spotcheck")


# The page of all judgments next to their texts, and the folder of data that it loads.
# There can be thousands of cell files, so the input is one file per dataset that
# represents them.
rule explore:
    input:
        expand(PATHS.items(), dataset=DATASETS),
        expand(PATHS.ratings(), dataset=DATASETS),
        [JOBS.targets(dataset) for dataset in DATASETS],
        expand(PATHS.cell_hashes(), dataset=DATASETS),
    output:
        PATHS.report("explore.html"),
        directory(PATHS.report("explore")),
    log:
        PATHS.log("explore"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(pages.explore, PLAN),
    shell:
        command("explore")
