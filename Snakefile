include: "workflow/Snakefile"


# An included file cannot name the default target.
workflow.default_target = "all"
