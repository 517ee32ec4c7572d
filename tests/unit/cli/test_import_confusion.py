"""`judgescope cards import`: the confusion paper's criteria and demonstrations."""

import json
from pathlib import Path

import pytest

from data_samples import REAL
from judgescope.cli.import_confusion import CRITERIA, PROMPTS
from judgescope.cli.main import command_line
from judgescope.core.errors import UserError
from judgescope.core.paths import HOME
from judgescope.schema.loading import read_card

FILE = REAL / "confusion" / "aspect_criteria.json"
PROMPT = """Change the text a bit.

Original text:
Rain fell. Then more.
New text:
Rain fell and fell.
Then more.

Original text:
It was late.
New text:
Late it was.

Original text:
{{example}}
New text:
"""


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> int:
    args = command_line().parse_args(["cards", "import", *words])
    status: int = args.act(args)
    return status


def test_criteria_become_those_of_aspects(capsys: pytest.CaptureFixture[str]) -> None:
    texts = {
        "Fluency": {"Gold": "Fluency: Is the {T} fluent?", "Selection1": "As {S}."},
        "Overall_quality": {"Term": "Overall Quality: All in all."},
    }
    Path("c.json").write_text(json.dumps(texts))
    assert run("c.json") == 0
    assert capsys.readouterr().out.count("written: config/aspects/") == 2
    fluency = read_card("aspect", Path("config/aspects/fluency.yaml"))
    shipped = read_card("aspect", HOME / "config" / "aspects" / "fluency.yaml")
    assert {name: each.definition for name, each in fluency.criteria.items()} == {
        "default": "Is the text fluent?",
        "selection-1": "As source.",
    }
    kept = {"exclude": {"criteria"}}
    assert fluency.model_dump(**kept) == shipped.model_dump(**kept)
    overall = read_card("aspect", Path("config/aspects/overall.yaml"))
    assert overall.criteria["term"].definition == "All in all."


def test_demonstrations_become_those_of_perturbations() -> None:
    lines = [f"{name} = {PROMPT!r}" for name in PROMPTS]
    Path("p.py").write_text("\n".join([*lines, "other = 'no prompt'", "raise X"]))
    assert run("p.py") == 0
    made = read_card("perturbation", Path("config/perturbations/inversion.yaml"))
    assert [
        (demonstration.text, demonstration.changed)
        for demonstration in made.demonstrations
    ] == [
        ("Rain fell. Then more.", "Rain fell and fell.\nThen more."),
        ("It was late.", "Late it was."),
    ]
    for name in PROMPTS.values():
        card = read_card("perturbation", Path(f"config/perturbations/{name}.yaml"))
        assert len(card.demonstrations) == 2 and card.form == "adjust-examples"


def test_nothing_is_overwritten() -> None:
    Path("c.json").write_text(json.dumps({"Fluency": {"Gold": "Fluency: Good."}}))
    Path("d.json").write_text(
        json.dumps({"Coherence": {"Gold": "A: B."}, "Fluency": {"Gold": "Good."}})
    )
    run("c.json")
    with pytest.raises(UserError, match="exists and is not overwritten"):
        run("d.json")
    assert not Path("config/aspects/coherence.yaml").exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("c.json", "[]", "not a JSON object"),
        ("c.json", '{"Fluncy": {}}', "unknown aspect card"),
        ("c.json", '{"Fluency": "text"}', "laid out in another way"),
        ("c.json", '{"Fluency": {"Golden": "x"}}', "unknown description"),
        ("c.json", '{"Fluency": {"Gold": 3}}', "laid out in another way"),
        ("p.py", "x = (", "not a Python program"),
        ("p.py", "x = 'text'", "laid out in another way"),
        ("p.py", "prompt_simple_word = 'text'", "laid out in another way"),
    ],
)
def test_another_layout_is_an_error(name: str, content: str, words: str) -> None:
    Path(name).write_text(content)
    with pytest.raises(UserError, match=words) as error:
        run(name)
    assert name in error.value.where and not Path("config").exists()


def test_a_file_that_is_missing() -> None:
    with pytest.raises(UserError, match="no such file"):
        run("c.json")


@pytest.mark.skipif(not FILE.is_file(), reason="the authors' file is not here")
def test_the_authors_80_criteria() -> None:
    assert run(str(FILE)) == 0
    count = 0
    for path in Path("config/aspects").glob("*.yaml"):
        criteria = read_card("aspect", path).criteria
        assert criteria.keys() <= set(CRITERIA.values())
        for wording in criteria.values():
            assert "{" not in str(wording.definition) and wording.definition
        count += len(criteria)
    assert count == 80
