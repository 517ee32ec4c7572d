"""The methods: each turns a dataset's scores into rows of one result table.

A method module has one function `rows(study: DatasetStudy) -> list[dict]`; `METHODS` names them.
"""

METHODS = {
    "agreement": "metajudge.methods.agreement",
    "comparison": "metajudge.methods.comparison",
    "confusion": "metajudge.methods.confusion",
    "criteria": "metajudge.methods.criteria",
    "discernment": "metajudge.methods.discernment",
    "ensemble": "metajudge.methods.ensemble",
    "faults": "metajudge.methods.faults",
    "perspectives": "metajudge.methods.perspectives",
    "repeatability": "metajudge.methods.repeatability",
    "pairwise": "metajudge.methods.pairwise",
    "perturbations": "metajudge.methods.perturbations",
    "robustness": "metajudge.methods.robustness",
    "responses": "metajudge.methods.responses",
    "construction": "metajudge.methods.construction",
    "spans": "metajudge.methods.spans",
    "training": "metajudge.methods.training",
    "verdicts": "metajudge.methods.verdicts",
    "coverage": "metajudge.methods.coverage",
    "cost": "metajudge.methods.cost",
}
"""Result table -> its module. `BESIDE` tells which belong to a method."""

ACROSS = {"perspectives": "metajudge.methods.overall"}
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
