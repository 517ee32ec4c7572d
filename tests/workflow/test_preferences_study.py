"""Studies of people's choices: the shipped one, and a judge that is asked about their
pairs.
"""

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from report_setup import text_of_pages
from running import HOME
from study import Study, shipped

pytestmark = pytest.mark.slow
COMPARING = """
import json, os, sys
for line in sys.stdin:
    one = json.loads(line)
    with open(os.environ["SEEN"], "a") as file:
        print(json.dumps([one["text"], one["text_b"]]), file=file)
    longer = "A" if len(one["text"]) > len(one["text_b"]) else "B"
    print(json.dumps({"id": one["id"], "text": f"Choice: {longer}"}), flush=True)
"""
Row = dict[str, Any]


def numbers(study: Study) -> dict[tuple[str, str, str], Row]:
    return {
        (row["judge"], row["statistic"], row["level"]): row
        for row in study.rows("pairwise")
        if row["system_subset"] is None
    }


def test_the_shipped_study(tmp_path: Path) -> None:
    study = Study(tmp_path, shipped("studies", "preferences"))
    study.write()
    study.run()
    rows = numbers(study)
    judge = "demo-pairs"
    consistent = rows[judge, "order_consistency", "pooled"]
    assert (consistent["n"], consistent["value"]) == (12, pytest.approx(7 / 12))
    assert rows[judge, "accuracy_comparison", "as_listed"]["value"] == pytest.approx(
        7 / 11
    )
    assert rows[judge, "accuracy_both_orders", "pooled"]["value"] == pytest.approx(
        5 / 11
    )
    assert rows["length", "longer_chosen", "pooled"]["value"] == 1
    people = rows["human", "vote_agreement_ties", "pooled"]
    assert (people["n"], people["n_tied"]) == (36, 6)
    assert rows[judge, "vote_agreement_ties", "pooled"]["n"] == 36
    strengths = [
        row
        for row in study.rows("pairwise")
        if (row["judge"], row["statistic"]) == ("human", "strength")
    ]
    assert [row["system_subset"] for row in strengths] == ["chatty", "plain", "short"]
    assert sum(row["value"] for row in strengths) == pytest.approx(0)
    text = text_of_pages(study.out / "report")
    assert (
        "how much more often a judge prefers" in text
        and "Votes agree, without ties" in text
    )


@pytest.mark.long(7)
@pytest.mark.parametrize("orders", ["both", "one"])
def test_a_judge_is_asked_about_the_pairs_that_people_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, orders: str
) -> None:
    seen = tmp_path / "seen.jsonl"
    monkeypatch.setenv("SEEN", str(seen))
    study = Study(
        tmp_path, shipped("studies", "preferences"), judges=["longer", "length"]
    )
    (tmp_path / "longer.py").write_text(textwrap.dedent(COMPARING), encoding="utf-8")
    fields: Row = {
        "engine": "command",
        "argv": ["{python}", "{program}"],
        "env": ["SEEN"],
    }
    study.card("models", "longer", **fields, files={"program": "../../longer.py"})
    study.card("judges", "longer", model="longer", form="compare", orders=orders)
    study.write()
    study.run()
    shown = [json.loads(line) for line in seen.read_text("utf-8").splitlines()]
    path = HOME / "config" / "demo" / "pairs.csv"
    listed = path.read_text("utf-8")
    assert len(shown) == (24 if orders == "both" else 12)
    first = [pair for pair in shown if listed.index(pair[0]) < listed.index(pair[1])]
    assert len(first) == 12  # once in the order in which people saw them
    rows = numbers(study)
    for statistic in ("vote_agreement_ties", "accuracy_comparison", "longer_excess"):
        same = [
            rows[judge, statistic, "pooled"]["value"] for judge in ("longer", "length")
        ]
        assert same[0] == pytest.approx(same[1])
    assert (("longer", "accuracy_both_orders", "pooled") in rows) == (orders == "both")
    assert rows["longer", "first_position_rate", "pooled"]["n"] == len(shown)
