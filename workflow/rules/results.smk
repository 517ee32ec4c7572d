# From scores to statistics, tables and the report.

STATISTICS = RuleJobs(results.statistics, PLAN)
JOINED = RuleJobs(pages.tables, PLAN)
REPORT = RuleJobs(pages.report, PLAN, f"judgescope run {without_folders(SOURCE, HOME)}")
JUDGE_CARDS = RuleJobs(judge_cards.judge_cards, PLAN)
SPOTCHECK = RuleJobs(text_pages.spotcheck, PLAN)
EXPLORE = RuleJobs(text_pages.explore, PLAN)


rule statistics:
    input:
        STATISTICS.inputs,
    output:
        PATHS.statistics(),
    log:
        PATHS.log("statistics/{table}/{dataset}"),
    benchmark:
        PATHS.benchmark("statistics/{table}/{dataset}")
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **STATISTICS.params,
    message:
        "Compute the table {wildcards.table} of {wildcards.dataset}"
    shell:
        command("statistics")


# One job writes all tables, because a job takes longer to start than to join them.
rule tables:
    input:
        JOINED.inputs,
    output:
        [ensure(PATHS.table(table), non_empty=True) for table in TABLES],
        [
            report(
                ensure(PATHS.table_csv(table), non_empty=True),
                caption="../report/captions/numbers.rst",
                category="Numbers",
                labels=table_label(table),
            )
            for table in TABLES
        ],
    log:
        PATHS.log("tables"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **JOINED.params,
    message:
        "Write the result tables"
    shell:
        command("tables")


rule report:
    input:
        REPORT.inputs,
    output:
        ensure(PATHS.report("index.html"), non_empty=True),
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
        **REPORT.params,
    message:
        "Write the report"
    shell:
        command("report")


# One job writes a page for each judge, so that shared data is read only once.
rule judge_cards:
    input:
        JUDGE_CARDS.inputs,
    output:
        [ensure(page, non_empty=True) for page in JOBS.judge_cards],
    log:
        PATHS.log("judge_cards"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **JUDGE_CARDS.params,
    message:
        "Write the judges' cards"
    shell:
        command("judge_card")


# A page with a sample of the perturbed texts, to check the perturbations by eye.
rule spotcheck:
    input:
        SPOTCHECK.inputs,
    output:
        report(
            ensure(PATHS.report("texts.html"), non_empty=True),
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
        **SPOTCHECK.params,
    message:
        "Write the page of perturbed texts"
    shell:
        command("spotcheck")


# The page of all judgments next to their texts, and the folder of data that it loads.
# There can be thousands of cell files, so the input is one file per dataset that
# represents them.
rule explore:
    input:
        EXPLORE.inputs,
    output:
        ensure(PATHS.report("explore.html"), non_empty=True),
        directory(PATHS.report("explore")),
    log:
        PATHS.log("explore"),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **EXPLORE.params,
    message:
        "Write the page of all judgments"
    shell:
        command("explore")
