"""The methods: each turns a dataset's scores into rows of one result table.

A method module has one function `rows(study: EvaluationData) -> list[dict]`; `METHODS` names them.
"""

METHODS = {
    "agreement": "judgescope.methods.agreement",
    "comparison": "judgescope.methods.comparison",
    "confusion": "judgescope.methods.confusion",
    "criteria": "judgescope.methods.criteria",
    "discernment": "judgescope.methods.discernment",
    "ensemble": "judgescope.methods.ensemble",
    "faults": "judgescope.methods.faults",
    "perspectives": "judgescope.methods.perspectives",
    "repeatability": "judgescope.methods.repeatability",
    "pairwise": "judgescope.methods.pairwise",
    "perturbations": "judgescope.methods.perturbations",
    "robustness": "judgescope.methods.robustness",
    "responses": "judgescope.methods.responses",
    "construction": "judgescope.methods.construction",
    "spans": "judgescope.methods.spans",
    "training": "judgescope.methods.training",
    "verdicts": "judgescope.methods.verdicts",
    "coverage": "judgescope.methods.coverage",
    "cost": "judgescope.methods.cost",
}
"""Result table -> its module. `BESIDE` tells which belong to a method."""

ACROSS = {"perspectives": "judgescope.methods.overall"}
"""Result table -> the module whose `rows` adds what its datasets make up together."""

BESIDE = {
    "agreement": ["comparison", "criteria"],
    "confusion": ["criteria", "perturbations"],
    "discernment": ["perturbations", "responses"],
}
"""Method -> the tables that come with it. Verdicts, coverage and cost belong to every study,
repeatability and pairwise to those with judges of several draws, and of comparisons, construction
to those that build texts in a row or of every rating, spans to those with judges that list errors,
training to those that train a judge."""
