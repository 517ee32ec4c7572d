"""What several tests of annotators share."""

from itertools import product

from judgescope.schema.cards import Aspect

ASPECT = Aspect.model_validate(
    {
        **{"aspect": "clear", "name": "Clarity", "definition": "How clear it is."},
        **{"unlike": ["grammar", "length"], "worst": "a riddle", "best": "clear at once"},
        "tasks": {
            "qa": {"unlike": ["truth"], "worst": "no reply", "steps": ["Look.", "Weigh."]},
            "story": {"best": "a clear tale"},
        },
    }
)


VARIANTS = [
    {"score": score, "severity": severity, "rules": rules, "categories": categories}
    for score, severity, rules, categories in product(
        ("categories", "integers", "percent"),
        ("integers", "categories"),
        (True, False),
        ([], ["Wrong name", "Wrong number"]),
    )
]
