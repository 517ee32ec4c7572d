"""What several tests of annotation share."""

from itertools import product

from judgescope.schema.cards import Aspect

PLAIN = """Error 1:
Location: Al Horford
Explanation: The source has another player.
Severity: 4

Error 2:
Location: 18 points
Explanation: The source says 16.
Severity: 2

Overall score: Fair
Explanation of the score: Two facts are wrong.
"""


PIECES = (
    "Error 1:|Error 2 (Major):|Location: |Explanation: |Severity: |Category: |Overall "
    "score: |\n"
    '|"a"|“|”|`|3|5/5|Excellent|Poor|No Error|None|**|- |1. |{|}|[|]|"errors": '
    '|"severity":|,|:'
    "|<think>|</think>|: |```json|\ud800|\u202e|：|\\|1e999|NaN|Explanation of the "
    "score:|(|)| "
)
ASPECT = Aspect.model_validate(
    {
        **{"aspect": "clear", "name": "Clarity", "definition": "How clear it is."},
        **{
            "unlike": ["grammar", "length"],
            "worst": "a riddle",
            "best": "clear at once",
        },
        "tasks": {
            "qa": {
                "unlike": ["truth"],
                "worst": "no reply",
                "steps": ["Look.", "Weigh."],
            },
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
