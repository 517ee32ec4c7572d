import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from generate import generated, sections
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.process_limits import without
from judgescope.engines.factory import settled
from judgescope.replies.ledger import Account
from judgescope.schema.cards import (
    FOLDERS,
    Card,
    ListedPrice,
    OpenAIModel,
    Price,
    RatingScale,
    Study,
)
from judgescope.schema.loading import (
    PRICES,
    Cards,
    load_yaml,
    priced,
    read_card,
    validate_card,
)

HOME = Path(__file__).resolve().parents[3]
CONFIG = HOME / "config"
SHIPPED = [
    (kind, path)
    for kind, folder in FOLDERS.items()
    for path in (CONFIG / folder).glob("*.yaml")
] + [("study", CONFIG / "config.yaml")]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("kind", "path"), SHIPPED, ids=lambda value: getattr(value, "stem", value)
)
def test_shipped_cards_are_valid_and_name_their_schema(kind: str, path: Path) -> None:
    assert getattr(read_card(kind, path), kind)
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    schema = (path.parent / first.partition("=")[2]).resolve()
    assert schema == HOME / "workflow" / "schemas" / f"{kind}.json"


@pytest.mark.heavy
def test_generated_files_equal_their_sources() -> None:
    # from 3.13 on, argparse breaks the lines of a usage elsewhere
    form = str if sys.version_info < (3, 13) else str.split
    stale = [
        path.name
        for path, text in generated()
        if form(path.read_text(encoding="utf-8")) != form(text)
    ]
    assert not stale, f"{stale}: run `make generated`"


def test_the_reference_has_a_section_for_every_mapping_in_a_card() -> None:
    titles = [title for title, _ in sections()]
    names = {card.__name__ for _, card in sections()}
    assert len(set(titles)) == len(titles)
    assert names >= {
        "AttackPerturbation",
        "AltTest",
        "Caps",
        "Fallback",
        "SubAspectCard",
        "Supervisor",
    }
    assert "Study: `distill.recipe`" in titles


def invalid(kind: str, card: object) -> list[str]:
    """Return what an editor underlines in a card."""
    schema = json.loads(
        (HOME / "workflow" / "schemas" / f"{kind}.json").read_text("utf-8")
    )
    return [error.message for error in Draft202012Validator(schema).iter_errors(card)]


@pytest.mark.heavy
def test_editors_find_nothing_wrong_with_shipped_cards() -> None:
    wrong = {path.name: invalid(kind, load_yaml(path)[0]) for kind, path in SHIPPED}
    assert len(wrong) > 100 and not {name: each for name, each in wrong.items() if each}


@pytest.mark.parametrize(
    ("kind", "card"),
    [
        ("judge", {"judge": "j", "model": "m", "form": "score-only", "parser": "scor"}),
        (
            "study",
            {"study": "s", "datasets": ["d"], "judges": ["j"], "methods": ["agreemnt"]},
        ),
        (
            "perturbation",
            {
                **{"perturbation": "p", "name": "P", "level": "word", "method": "rule"},
                **{"rule": "delete_word", "degrees": {"minor": {"k": 1}}},
            },
        ),
    ],
)
def test_editors_know_the_registered_names(kind: str, card: dict[str, object]) -> None:
    assert len(invalid(kind, card)) == 1
    wrong = {"parser": "score", "methods": ["agreement"], "rule": "delete_words"}
    assert not invalid(
        kind, card | {key: wrong[key] for key in card.keys() & wrong.keys()}
    )


def test_unknown_key_names_file_line_key_and_nearest(tmp_path: Path) -> None:
    path = write(
        tmp_path / "mine.yaml",
        "aspect: mine\nname: Mine\ndefintion: x\ndefinition: y\n",
    )
    with pytest.raises(UserErrors) as caught:
        read_card("aspect", path)
    message = str(caught.value)
    assert f"{path}:3, key defintion" in message
    assert "nearest: definition" in message
    assert "allowed: aspect, best, criteria, definition, name, parent" in message


def test_unknown_key_deep_inside_a_card(tmp_path: Path) -> None:
    text = (CONFIG / "datasets" / "demo-news.yaml").read_text(encoding="utf-8")
    path = write(tmp_path / "demo-news.yaml", text.replace("step:", "stepp:", 1))
    with pytest.raises(UserErrors) as caught:
        read_card("dataset", path)
    message = str(caught.value)
    assert (
        "unknown key" in message and "nearest: step" in message and ".stepp" in message
    )


@pytest.mark.parametrize(
    ("kind", "text", "parts"),
    [
        ("aspect", "aspect: a\nname: A\n", ["a required key is missing", "definition"]),
        (
            "aspect",
            "aspect: A b\nname: A\ndefinition: d\n",
            ["this value has the wrong format", "'A b'"],
        ),
        (
            "model",
            "model: m\nengine: lexicall\n",
            ["unknown value", "nearest: lexical"],
        ),
        (
            "judge",
            "judge: j\nmodel: m\nestimator: men\n",
            ["unknown value", "nearest: mean"],
        ),
        ("judge", "judge: j\nmodel: m\ndraws: 0\n", ["must be 1 or more", "draws"]),
        (
            "judge",
            "judge: j\nmodel: m\nscale: {min: 5, max: 1, step: 1}\n",
            ["max (1.0) must be above min (5.0)", "key scale"],
        ),
        (
            "judge",
            "judge: j\nmodel: m\nscale: {min: 1, max: 5, step: 3}\n",
            ["whole number of steps"],
        ),
        ("aspect", "- a\n- b\n", ["must be a mapping"]),
        ("aspect", "aspect: [\n", ["not YAML"]),
        ("aspect", "aspect: a\naspect: b\n", ["duplicate key", "lines 1 and 2"]),
    ],
)
def test_wrong_cards(tmp_path: Path, kind: str, text: str, parts: list[str]) -> None:
    path = write(tmp_path / "a.yaml", text)
    with pytest.raises((UserError, UserErrors)) as caught:
        read_card(kind, path)
    assert all(part in str(caught.value) for part in parts), str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "wrong", "keys"),
    [
        ("study", {"require": {"spearman": "high"}}, ["require.spearman"]),
        (
            "study",
            {"require": {"spearman": {"a": 0.5, "b": "x"}}},
            ["require.spearman.b"],
        ),
        ("study", {"alt_test": {"epsilon": {"d": "x"}}}, ["alt_test.epsilon.d"]),
        ("judge", {"threshold": "high"}, ["threshold"]),
        ("judge", {"use_reference": "originals"}, ["use_reference"]),
        ("judge", {"scale": {"min": 1, "max": "x"}}, ["scale.max"]),
        ("judge", {"scale": {"min": 1}}, ["scale"]),
        ("judge", {"scale": {"a": {"min": 1, "max": 5, "stp": 1}}}, ["scale.a.stp"]),
        # the value that decides the member of a union, which is also the name of a key
        ("perturbation", {"steps": "x", "errors": [3]}, ["errors.0", "steps"]),
    ],
)
def test_an_error_names_the_key_as_in_the_card(
    kind: str, wrong: dict[str, object], keys: list[str]
) -> None:
    rule = {
        "method": "rule",
        "rule": "typos",
        "level": "word",
        "degrees": {"minor": {"k": 1}},
    }
    cards: dict[str, dict[str, object]] = {
        "study": {
            "study": "s",
            "datasets": ["d"],
            "judges": ["a"],
            "methods": ["agreement"],
        },
        "judge": {"judge": "j", "model": "m"},
        "perturbation": {"perturbation": "p", "name": "P", **rule},
    }
    with pytest.raises(UserErrors) as caught:
        validate_card(kind, cards[kind] | wrong, "a.yaml")
    named = {error.where.removeprefix("a.yaml, key ") for error in caught.value.errors}
    assert sorted(named) == keys, str(caught.value)


def test_yaml_cannot_make_objects(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.yaml", "aspect: !!python/object/apply:os.system ['true']\n"
    )
    with pytest.raises(UserError, match="not YAML"):
        load_yaml(path)


def test_card_is_detected_by_file_name(tmp_path: Path) -> None:
    path = write(tmp_path / "other.yaml", "aspect: mine\nname: M\ndefinition: d\n")
    with pytest.raises(UserError, match="file name"):
        read_card("aspect", path)


def test_first_folder_wins_and_nearest_name_is_reported(tmp_path: Path) -> None:
    write(
        tmp_path / "aspects" / "fluency.yaml",
        "aspect: fluency\nname: Mine\ndefinition: d\n",
    )
    cards = Cards([tmp_path, CONFIG])
    assert cards.read("aspect", "fluency", where="here").name == "Mine"
    assert cards.read("aspect", "coherence", where="here").aspect == "coherence"
    with pytest.raises(UserError, match="unknown aspect card") as caught:
        cards.read("aspect", "flunecy", where="study x, key aspects")
    assert "nearest: fluency" in str(caught.value) and "study x" in str(caught.value)


@pytest.mark.parametrize("study", ["study.yaml", "config/studies/s.yaml"])
def test_a_card_beside_the_study_of_another_folder_says_where_to_run(
    tmp_path: Path, study: str
) -> None:
    home = tmp_path / "my folder"
    write(
        home / "config" / "aspects" / "mine.yaml",
        "aspect: mine\nname: M\ndefinition: d\n",
    )
    cards = Cards([CONFIG], str(home / study))
    with pytest.raises(UserError, match="unknown aspect card") as caught:
        cards.read("aspect", "mine", where="here")
    assert caught.value.todo.endswith(f"run the command in '{home}'")
    with pytest.raises(
        UserError, match=r"do:      write aspects/other\.yaml or name an existing"
    ):
        cards.read("aspect", "other", where="here")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"datasets": []}, "length 1 or more"),
        ({"judges": ["a", "a"]}, "names a twice"),
        ({"seed": -1}, "must be 0 or more"),
        ({"jugdes": ["a"]}, "nearest: judges"),
        (
            {"methods": "agreement"},
            "must be a list\n  where:   s.yaml, key methods\n  got:     'ag",
        ),
        (
            {"methods": "agreement"},
            "do:      write [value, value], or each value on a line that",
        ),
        ({"caps": []}, "must be keys with values"),
        ({"seed": 1.5}, "must be a whole number"),
        (
            {"require": {"f1": "x"}},
            "must be a number or keys with values\n  where:   s.yaml, key ",
        ),
        ({"require": {"f1": "x"}}, "key require.f1\n"),
    ],
)
def test_wrong_studies(change: dict[str, object], part: str) -> None:
    study = {"study": "s", "datasets": ["d"], "judges": ["a"], "methods": ["agreement"]}
    with pytest.raises(UserErrors) as caught:
        validate_card("study", study | change, "s.yaml")
    assert part in str(caught.value)


def test_a_wrong_part_of_a_value_with_several_forms_is_a_single_problem() -> None:
    study = {"study": "s", "datasets": ["d"], "judges": ["a"], "methods": ["agreement"]}
    with pytest.raises(UserErrors) as caught:
        validate_card("study", study | {"require": {"f1": {"a": "x"}}}, "s.yaml")
    [error] = caught.value.errors
    assert (error.what, error.got) == ("this value must be a number", "x")
    assert error.where == "s.yaml, key require.f1.a"


@pytest.mark.heavy
def test_asking_side_imports_no_heavy_package() -> None:
    code = (
        "import sys, judgescope.schema.tables, judgescope.parsing, judgescope.scoring, "
        "judgescope.engines.controls; "
        "heavy = {'pandas', 'scipy', 'nltk', 'snakemake', 'pydantic'} & "
        "set(sys.modules); assert heavy <= {'pydantic'}, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=HOME / "scripts")


@pytest.mark.heavy
def test_a_job_leaves_pandas_alone() -> None:
    code = (
        "import sys; from judgescope.plan.jobs import run\n"
        "def main(spec: dict) -> None:\n"
        "    import pyarrow as pa; assert pa.array(['a', None]).null_count == 1\n"
        "    assert 'pandas' not in sys.modules\n"
        "run(main)"
    )
    command = [sys.executable, "-c", code, "--spec", "-"]
    subprocess.run(command, check=True, cwd=HOME / "scripts", input="{}", text=True)


@pytest.mark.heavy
def test_a_job_beside_torch_has_pandas(tmp_path: Path) -> None:
    """torch looks for pandas when it is imported."""
    (tmp_path / "torch.py").touch()
    code = (
        "from importlib.util import find_spec; from judgescope.plan.jobs import run\n"
        "def main(spec: dict) -> None:\n"
        "    assert find_spec('pandas')\n"
        "run(main)"
    )
    command = [sys.executable, "-c", code, "--spec", "-"]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{HOME / 'scripts'}{os.pathsep}{tmp_path}",
    }
    subprocess.run(command, check=True, env=environment, input="{}", text=True)


def test_what_a_job_does_without_is_back_when_it_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "sqlite3", raising=False)
    with pytest.raises(ModuleNotFoundError, match="sqlite3"), without("sqlite3"):
        importlib.import_module("sqlite3")
    assert importlib.import_module("sqlite3")


def test_the_values_of_a_scale_are_the_numbers_that_people_write() -> None:
    tenths = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert RatingScale(min=0, max=1, step=0.1).values() == tenths


def test_a_study_that_is_missing_names_the_one_that_was_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)
    Path("config/studies/mine.yaml").touch()
    for wrong in ("mien", "config/studies/mie.yaml", "elsewhere/mine"):
        with pytest.raises(UserError, match=r"did you mean config/studies/mine\.yaml"):
            load_yaml(Path(wrong))
    with pytest.raises(
        UserError,
        match=r"allowed: config/studies/mine\.yaml\n.*give the path of the YAML file",
    ):
        load_yaml(Path("quite-another.yaml"))
    Path("results/mine").mkdir(parents=True)
    with pytest.raises(UserError, match=r"a folder, not a file") as caught:
        load_yaml(Path("results/mine"))
    assert caught.value.todo == "did you mean config/studies/mine.yaml?"


def subclasses(card: type[Card]) -> Iterator[type[Card]]:
    for sub in card.__subclasses__():
        yield from (sub, *subclasses(sub))


JUDGE: dict[str, object] = {"judge": "j", "model": "m"}
OPENAI: dict[str, object] = {
    "model": "m",
    "engine": "openai",
    "base_url": "http://a/v1",
}
RULE: dict[str, object] = {
    "perturbation": "p",
    "name": "P",
    "level": "word",
    "method": "rule",
}


def anchored(**anchors: object) -> dict[str, object]:
    return {
        **RULE,
        "method": "graded",
        "targets": 2,
        "anchors": {"model": "m", **anchors},
    }


ALT: dict[str, object] = {
    **{
        "study": "s",
        "datasets": ["one", "two"],
        "judges": ["length"],
        "methods": ["agreement"],
    }
}


def test_the_epsilon_of_the_alternative_annotator_test_may_differ_by_dataset() -> None:
    card: Study = validate_card(
        "study", ALT | {"alt_test": {"epsilon": {"two": 0.2}}}, "s.yaml"
    )
    assert [card.alt_test.epsilon_of(name) for name in ("one", "two")] == [0.1, 0.2]
    card = validate_card("study", ALT | {"alt_test": {"epsilon": 0.15}}, "s.yaml")
    assert card.alt_test.epsilon_of("one") == 0.15


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (1, "epsilon must be at least 0 and below 1"),
        (-0.1, "epsilon must be at least 0 and below 1"),
        ({"two": 2}, "epsilon of two must be"),
        ({"tow": 0.2}, "names tow, which is not one of the study's datasets: one, two"),
    ],
)
def test_an_epsilon_that_cannot_be_is_an_error(epsilon: object, message: str) -> None:
    with pytest.raises(UserErrors) as caught:
        validate_card("study", ALT | {"alt_test": {"epsilon": epsilon}}, "s.yaml")
    assert message in str(caught.value)


TABLE = validate_card("prices", load_yaml(PRICES)[0], "prices.yaml").prices
BY_TOKEN = {"openai", "openai-reasoning", "anthropic", "gemini"}
"""Shipped cards of a provider's model whose price is listed."""
ROW = {
    "host": "h.org",
    "model": "m",
    "input": 1,
    "output": 2,
    "source": "https://h.org/p",
}


def card(host: str, name: str, **keys: object) -> OpenAIModel:
    fields = {
        "model": "it",
        "engine": "openai",
        "base_url": f"https://{host}/v1",
        "name": name,
    }
    return OpenAIModel.model_validate(fields | keys)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.model)
def test_every_price_is_plausible_and_names_where_and_when_it_was_read(
    row: ListedPrice,
) -> None:
    assert (
        0 < row.input < row.output < 100
        and row.batch in (0.5, 1)
        and date(2026, 1, 1) <= row.date
    )
    assert row.cached_input is None or row.cached_input < row.input
    result = priced(card(row.host, row.model))
    assert result.price == row


def test_a_price_holds_for_a_single_model_at_a_single_host() -> None:
    row = TABLE[0]
    for host, name in (
        ("127.0.0.1", row.model),
        (row.host, "another"),
        (row.host, f"{row.model}x"),
    ):
        assert priced(card(host, name)).price is None
    port = card(f"{row.host}:443", row.model)
    assert priced(port).price == row
    assert priced(port).identity() == port.identity()


def test_the_card_goes_before_the_table_also_where_it_says_nothing_is_paid() -> None:
    row = TABLE[0]
    free = card(row.host, row.model, price={"input": 0, "output": 0})
    assert priced(free) is free


@pytest.mark.parametrize(
    "path", [*(HOME / "config/models").glob("*.yaml")], ids=lambda p: p.stem
)
def test_shipped_cards_of_priced_providers_have_a_price(path: Path) -> None:
    model = read_card("model", path)
    if isinstance(model, OpenAIModel):
        model = settled(model, path.parent, path.parent)
        assert isinstance(model, OpenAIModel)
        assert isinstance(model.price, ListedPrice) == (path.stem in BY_TOKEN)


def test_jobs_and_ledger_see_a_listed_price_as_any_other() -> None:
    """Without source and date, which change no number."""
    row = TABLE[0]
    content = row.model_dump()
    assert content.keys() == Price.model_fields.keys() - (
        {"batch"} if row.batch == 1 else set()
    )
    assert Price.model_validate(content).input == row.input
    assert Account("it", content, "j", "h", 1).price == content


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"date": "soon"}, "key prices.0.date"),
        ({"date": "2026-11-26", "source": "a blog"}, "key prices.0.source"),
        ({"date": "2026-11-26", "input": -1}, "key prices.0.input"),
        ({"date": "2026-11-26", "outputs": 1}, "key prices.0.outputs"),
    ],
)
def test_a_wrong_row_is_named(change: dict[str, object], problem: str) -> None:
    with pytest.raises(UserErrors, match=problem):
        validate_card("prices", {"prices": [ROW | change]}, "prices.yaml")


def test_two_prices_of_a_model_are_refused() -> None:
    row = ROW | {"date": "2026-11-26"}
    with pytest.raises(UserErrors, match=r"two prices: m at h\.org"):
        validate_card("prices", {"prices": [row, row]}, "prices.yaml")
