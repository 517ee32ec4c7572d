"""The methods: each turns a dataset's scores into rows of one result table.

A method module has one function `rows(study: DatasetStudy) -> list[dict]`; `METHODS` names them.
"""

METHODS = {
    "agreement": "metajudge.methods.agreement",
    "discernment": "metajudge.methods.discernment",
    "faults": "metajudge.methods.faults",
    "perturbations": "metajudge.methods.perturbations",
    "coverage": "metajudge.methods.coverage",
    "cost": "metajudge.methods.cost",
}
"""Result table -> its module. Every table but the first three belongs to every study."""
