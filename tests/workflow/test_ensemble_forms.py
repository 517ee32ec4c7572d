"""One model as five annotators, each in another form, and a supervisor: from cards to
report.
"""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import running
from scripted import Body, Said, prompt_of, reply, serve
from study import Study

pytestmark = [pytest.mark.slow, pytest.mark.long(15)]
FORMS = [
    *("annotator", "annotator-integers", "annotator-exchanged"),
    *("annotator-severity-words", "annotator-no-rules"),
]
VERDICTS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
SEVERITIES = ("Neutral", "Minor", "Moderate", "Major", "Critical")


def say(body: Body) -> Said:
    """Answer in the scales that the prompt asks for: an error on the first word, and a
    verdict.
    """
    prompt = prompt_of(body)
    if body["model"] == "supervisor":
        return reply(prompt[prompt.index("Error 1:") :].split("\n\n")[0])
    [text] = re.findall(
        r"\n\n[A-Z][a-z]+ to annotate:\n(.*?)\n\n(?:Rules|Steps):\n", prompt, re.DOTALL
    )
    number = 1 + body["seed"] % 4
    severity = str(number) if "Severity: <a whole" in prompt else SEVERITIES[number - 1]
    verdict = (
        str(5 - number) if "Overall score: <a whole" in prompt else VERDICTS[4 - number]
    )
    words = " ".join(text.split()[:2])
    error = f"Error 1:\nLocation: {words}\nExplanation: Not so.\nSeverity: {severity}"
    return reply(
        f"{error}\n\nOverall score: {verdict}\nExplanation of the score: as said."
    )


def test_five_forms_and_a_supervisor(tmp_path: Path) -> None:
    keys = {"judges": [*FORMS, "together"], "methods": ["agreement", "ensemble"]}
    study = Study(tmp_path, aspects=["naturalness"], perturbations=[], **keys)
    card = {"members": FORMS, "combine": "supervisor", "min_annotators": 3}
    study.card("judges", "together", **card, supervisor={"model": "supervisor"})
    study.write()
    with serve(say) as endpoint:
        study.connect(endpoint.url, "judge", "supervisor")
        done = study.run()
        assert done.returncode == 0, done.stdout[-4000:]
        counts = Counter(body["model"] for body in endpoint.asked)
        again = study.run()
        assert again.returncode == 0 and len(endpoint.asked) == counts.total()
    values = ("judgments", "demo-dialogue/{}/systems/{}")
    judged = {
        name: running.cell(study.out, values[0], values[1].format("judge", name))
        for name in FORMS
    }
    texts = len(judged["annotator"])
    assert counts == {"judge": 5 * texts, "supervisor": texts}
    for rows in judged.values():
        assert {row["status"] for row in rows} == {"ok"}
        for row in rows:
            [span] = row[
                "spans"
            ]  # a severity and a verdict of any scale are read as 1 to 5
            assert (span["severity"], span["match"]) == (5 - row["value"], "exact")
    merged = running.cell(study.out, values[0], values[1].format("derived", "together"))
    assert len(merged) == texts and all(len(row["spans"]) == 1 for row in merged)
    result = subsets(study.rows("ensemble"))
    assert len(result) == 31 and None not in result.values()


def subsets(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return the members of each subset -> its pooled correlation."""
    where = {"aspect": "naturalness", "statistic": "pearson", "level": "pooled"}
    table = [row for row in rows if where.items() <= row.items()]
    return {row["judge_b"]: row["value"] for row in table}
