# What models write: sets of texts, what these are built from, and what judges are shown. A job is
# known by the file of its replies, made/<dataset>/<made>.parquet; plan/dag.py knows the rest.


# Rule -> the kinds of what models write, and the files beside the log: sets of texts; references, of
# which those that differ most are kept, for more texts; what sets of every rating are built from, and
# why demonstrations have their ratings, for judges that are shown it; what several judges found wrong
# in a text, as one list; what a judge says of rated texts, which is asked before the texts are there
# that its own job waits for (that job finds these replies in the store).
WRITING = {
    "write": (
        "texts originals new",
        [PATHS.targets(name="{made}"), PATHS.made(name="{made}")],
    ),
    "write_references": (
        "references",
        [
            PATHS.targets(name="{made}"),
            PATHS.construction(name="{made}"),
            PATHS.made(name="{made}"),
        ],
    ),
    "construct": (
        "candidates comparisons analyses",
        [PATHS.construction(name="{made}"), PATHS.made(name="{made}")],
    ),
    "merge": ("merges", [PATHS.made(name="{made}")]),
    "rate": ("rated", [PATHS.construction(name="{made}")]),
}
for _on, _environment, _python, _more in MACHINES:
    for _rule, (_kinds, _files) in WRITING.items():

        rule:
            name:
                f"{_rule}_{_on}"
            input:
                lambda wildcards: JOBS.inputs(**wildcards),
            output:
                _files,
            log:
                PATHS.log("made/{dataset}/{made}"),
            wildcard_constraints:
                made=JOBS.made(_on, *_kinds.split()),
            conda:
                _environment
            resources:
                **_more,
                python=_python,
                job=lambda wildcards: JOBS.job(**wildcards),
                access=lambda wildcards: JOBS.access(JOBS.model(**wildcards)),
            params:
                **spec_params(JOBS.spec),
            shell:
                command(
                    "{resources.job}",
                    "{resources.access}",
                    python="{resources.python}",
                )


let_card_decide(
    rules, [f"{name}_gpu" for name in WRITING], JOBS.of_machine, JOBS.writer_machine
)


# Texts of every rating: candidates with more or fewer errors, rated by their number or by
# comparisons with anchors, and as many of every rating chosen as can be.
rule candidates:
    input:
        lambda wildcards: JOBS.candidates(**wildcards),
    output:
        PATHS.construction(name="{name}.{part}"),
    log:
        PATHS.log("construction/{dataset}/{name}.{part}"),
    wildcard_constraints:
        name=JOBS.by_rule(),
        part=any_of([ALL, TRIAL, REST]),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(graded_sets.candidates, PLAN),
    shell:
        command("candidates")


rule anchors:
    input:
        PATHS.ratings(),
        PATHS.targets(name=SYSTEMS),
        lambda wildcards: JOBS.rated(**wildcards),
    output:
        PATHS.construction(name="{name}.anchors"),
    log:
        PATHS.log("construction/{dataset}/{name}.anchors"),
    wildcard_constraints:
        name=any_of(graded(PLAN)),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(graded_sets.anchors, PLAN),
    shell:
        command("choose_anchors")


rule grade:
    input:
        lambda wildcards: JOBS.graded_from(**wildcards),
    output:
        PATHS.targets(name="{name}.single"),
        PATHS.graded(),
    log:
        PATHS.log("construction/{dataset}/{name}"),
    wildcard_constraints:
        name=any_of(graded(PLAN)),
    localrule: True
    conda:
        "../../envs/core.yaml"
    params:
        **spec_params(graded_sets.grade, PLAN),
    shell:
        command("grade")
