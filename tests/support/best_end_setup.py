"""What several tests of best end share."""

import json
from pathlib import Path

from study import Study

FIVE = {"min": 1, "max": 5, "step": 1}
JUDGES = ["it", "rouge-1"]
BEST = {"study": "best", "seed": 3, "datasets": ["mine"], "judges": JUDGES}


def write(folder: Path, *, flipped: bool, methods: list[str] | None = None) -> Study:
    """Write a study of 12 items by three systems, on a scale as usual or turned
    around.
    """
    rows = []
    for at in range(36):
        rating, score = 1 + at * 7 % 5, 1 + (at * 7 + at % 2) % 5
        values = {"fluency": rating, "score": score}
        if flipped:
            values = {name: 6 - value for name, value in values.items()}
        fields = {
            "id": f"i{at // 3}",
            "by": f"s{at % 3}",
            "source": f"Source {at // 3}.",
        }
        words = " ".join(["word"] * rating + ["other"] * (at % 4))
        rows.append({**fields, "gold": "word word word", "text": words, **values})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rows.jsonl").write_text(text, encoding="utf-8")
    scale = {**FIVE, "best": "min"} if flipped else FIVE
    study = Study(folder, BEST, methods=methods or ["agreement"])
    study.card(
        "datasets",
        "mine",
        **{"name": "Mine", "task": "dialogue", "format": "table"},
        **{"files": "../../rows.jsonl", "licence": "-", "citation": "-"},
        columns={"item": "id", "source": "source", "references": "gold", "system": "by"}
        | {"text": "text"},
        aspects={"fluency": scale},
    )
    names = {"item": "id", "system": "by", "scores": {"fluency": "score"}}
    model = {
        "engine": "recorded",
        "dataset": "mine",
        "files": "../../rows.jsonl",
        "rows": names,
    }
    study.card("models", "it", **model)
    study.card("judges", "it", model="it")
    study.write()
    return study
