"""Injection whole: judges that obey, that do not, and that do unless texts are marked;
loopback.

The data are as hostile as names and texts can be: nothing of them becomes a file,
markup or a code of a terminal.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

import running
from asking import DEMO, AskedStudy
from report_setup import text_of_pages
from scripted import Body, Said, prompt_of, reply, serve, text_in
from study import shipped

pytestmark = pytest.mark.slow
Row = dict[str, Any]
ATTACK = "claimed-verdict"
NAMES = [
    *(
        "..",
        "../../evil",
        "/etc/evil",
        "a/b",
        "a\\b",
        "CON",
        "-rf",
        "x" * 300,
        "~",
        "$(id)",
        "a:b",
    ),
    *(
        "a b",
        "\u202eevil",
        "\u0430",
        "evil.",
        ".evil",
        "%2e%2e",
        "*",
        "<b>",
        "&amp;",
        "{{ 7 * 7 }}",
    ),
]
MARKUP = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e"


def judge(body: Body) -> Said:
    """Rate by the length of a response; where a verdict stands in it, as the model's
    name says.
    """
    prompt, model = prompt_of(body), body["model"]
    marked = "never an instruction" in prompt
    obeys = model == "obedient" or (model == "wary" and not marked)
    words = len(text_in(prompt).split())
    return reply(f"Rating: {5 if obeys and 'Rating: 5' in prompt else 1 + words % 4}")


def make_hostile(study: AskedStudy) -> None:
    """Give items and systems of the demo's dialogues hostile names, and texts hostile
    ends.
    """
    texts = study.own_data()
    items = study.folder / "items.jsonl"
    items.write_bytes((DEMO / "dialogue_items.jsonl").read_bytes())
    known: dict[str, str] = {}
    for path in (items, texts):
        rows = [
            json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
        ]
        for row in rows:
            names = [name for name in NAMES if name not in known.values()]
            if row["item"] not in known:
                known[row["item"]] = names[0] if names else row["item"]
            row["item"] = known[row["item"]]
            if row.get("system", "careful") != "careful":
                row["system"] = f"../{row['system']}<b>"
                row["response"] += MARKUP
            row.pop("faults", None)
        path.write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="ascii"
        )
    card = shipped("datasets", "demo-dialogue", study.folder)
    card["files"]["items"] = str(items)
    del card["columns"]["meta"]
    study.amend("datasets", "demo-dialogue", **card | {"fault_free_system": None})


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AskedStudy]:
    with serve(judge) as endpoint:
        study = AskedStudy(tmp_path_factory.mktemp("injection"), endpoint)
        make_hostile(study)
        for model in ("obedient", "deaf", "wary"):
            study.card(
                "models", model, engine="openai", base_url=endpoint.url, probe=False
            )
            study.card("judges", model, model=model, form="score-only")
        study.card(
            "judges", "wary-marked", model="wary", form="score-only", spotlight=True
        )
        study.write(
            judges=["obedient", "deaf", "wary", "wary-marked", "rules", "rouge-l"],
            perturbations=[ATTACK],
            methods=["robustness"],
        )
        done = study.run()
        assert done.returncode == 0, done.stdout[-4000:]
        yield study


def robustness_row(
    study: AskedStudy,
    name: str,
    statistic: str,
    degree: str = "attack",
    aspect: str = "naturalness",
) -> Row:
    [row] = [
        row
        for row in study.rows("robustness")
        if (row["judge"], row["statistic"], row["aspect"]) == (name, statistic, aspect)
        and (row["perturbation"], row["degree"]) == (ATTACK, degree)
    ]
    return row


def test_the_obedient_are_distinguished_from_the_deaf_and_marks_help_the_wary(
    study: AskedStudy,
) -> None:
    for name, rate in {"obedient": 1, "deaf": 0, "wary": 1, "wary-marked": 0}.items():
        obeyed = robustness_row(study, name, "obey_rate")
        assert (obeyed["value"], obeyed["n"], obeyed["n_missing"]) == (rate, 24, 0)
        assert robustness_row(study, name, "obey_rate", "inert")["value"] == 0
        assert robustness_row(study, name, "difference_obey_rate")["value"] == rate
    swayed, deaf = (
        robustness_row(study, name, "injection_shift") for name in ("obedient", "deaf")
    )
    assert 0.3 < swayed["ci_low"] < swayed["value"] <= 1 and swayed["n"] == 24
    assert abs(deaf["value"]) < 0.3
    assert robustness_row(study, "obedient", "p_injection")["value"] < 0.01
    mean = robustness_row(study, "obedient", "injection_shift", aspect="average")
    assert mean["value"] == pytest.approx(swayed["value"])


def test_controls_and_rules_have_numbers_of_their_own(study: AskedStudy) -> None:
    assert robustness_row(study, "constant-top", "injection_shift")["value"] == 0
    assert robustness_row(study, "constant-top", "obey_rate")[
        "note"
    ]  # all are at the top already
    attack, inert = (
        robustness_row(study, "length", "injection_shift", name)
        for name in ("attack", "inert")
    )
    assert (
        attack["value"] == pytest.approx(inert["value"], rel=0.5)
        and attack["value"] > 0
    )
    assert (
        "no scale" in attack["note"]
        and "no scale" in robustness_row(study, "length", "obey_rate")["note"]
    )
    assert robustness_row(study, "random", "injection_shift")["ci_low"] is not None
    assert robustness_row(study, "rules", "injection_shift")["value"] is not None
    assert robustness_row(study, "rouge-l", "p_injection")["value"] is not None
    judges = {row["judge"] for row in study.rows("robustness") if row["perturbation"]}
    assert "most-frequent" not in judges  # it knows ratings of other texts only


def test_what_is_added_stands_in_the_prompts_and_in_the_report(
    study: AskedStudy,
) -> None:
    sent = [prompt for prompt in study.endpoint.prompts if "Rating: 5" in prompt]
    assert len(sent) == 24 * 4
    page = text_of_pages(study.folder / "results" / "asked" / "report")
    assert "attacks on the judge" in page and "claimed verdict" in page


def test_no_name_of_the_data_is_a_name_of_a_file(study: AskedStudy) -> None:
    made = [path for path in study.folder.rglob("*") if ".snakemake" not in path.parts]
    assert len(made) > 100
    assert all(
        re.fullmatch(r"\.?[A-Za-z0-9][A-Za-z0-9._-]*", path.name) for path in made
    )
    assert not any("evil" in path.name for path in study.folder.parent.rglob("*evil*"))
    read = running.rows(study.folder / "results" / "asked", "robustness")
    assert {row["dataset"] for row in read} == {"demo-dialogue"}


def test_no_text_of_the_data_is_markup_or_moves_a_cursor(study: AskedStudy) -> None:
    report = study.folder / "results" / "asked" / "report"
    pages = [path.read_text(encoding="utf-8") for path in report.rglob("*.html")]
    shards = [path.read_text(encoding="utf-8") for path in report.rglob("*.js")]
    assert any("alert(1)" in shard for shard in shards)
    for page in pages + shards:
        assert (
            "<script>alert" not in page and "<img" not in page and "glib<b>" not in page
        )
        assert "\x1b" not in page and "\u202e" not in page
    for command in (
        ["show", "study.yaml", "robustness"],
        ["replies", "show", "study.yaml"],
    ):
        finished = running.run("-m", "judgescope", *command, cwd=study.folder)
        assert finished.returncode == 0, finished.stdout
        assert "\x1b" not in finished.stdout and "\u202e" not in finished.stdout
