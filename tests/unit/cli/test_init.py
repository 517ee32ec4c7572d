"""`judgescope init`: what columns hold, what is asked, what is refused, what is
written.
"""

import argparse
import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

import running
from init_setup import ROWS, card, init, working_folder, written
from judgescope.cli.commands import add_init
from judgescope.cli.init import begin
from judgescope.cli.init.column_values import numbers, scale
from judgescope.cli.init.endpoint import variable
from judgescope.cli.init.flags import read_scale
from judgescope.cli.init.guess import guess
from judgescope.cli.init.pair_columns import pairs_of
from judgescope.cli.init.rating_columns import aspect_of
from judgescope.cli.main import command_line, main
from judgescope.cli.options import PROVIDERS
from judgescope.core.errors import UserError, UserErrors
from judgescope.core.names import slug
from judgescope.core.paths import HOME

__all__ = ["working_folder"]


def test_columns_are_guessed_from_names_and_cells() -> None:
    result = guess(ROWS)
    assert (result.text, result.source, result.system, result.item) == (
        *("summary", ["article"], "model"),
        None,
    )
    assert result.ratings == {"fluency": ["fluency_rater1", "fluency_rater2"]}
    assert (result.task, result.means) == ("summarization", False)
    assert ROWS[0].keys() - result.used == {"remark"}


def test_the_longest_texts_are_judged_where_no_name_tells() -> None:
    rows = [
        {"id": at, "bla": "word " * (20 + at), "tag": "x", "q": at % 3}
        for at in range(12)
    ]
    result = guess(rows)
    assert (result.text, result.item, result.ratings) == ("bla", "id", {"q": ["q"]})


def test_long_cells_that_repeat_are_what_texts_were_written_from() -> None:
    rows = [
        {"notice": "word " * (30 + at % 3), "summary": "short " * 9 + str(at)}
        for at in range(6)
    ]
    assert guess(rows).source == ["notice"]
    assert (
        guess(
            [{**row, "notice": f"{row['notice']}{at}"} for at, row in enumerate(rows)]
        ).source
        == []
    )


def test_a_mean_beside_its_raters_is_left_out_and_alone_it_is_a_mean() -> None:
    beside = [{"text": "t", "fluency_1": 1, "fluency_2": 2, "fluency_mean": 1.5}]
    assert guess(beside).ratings == {"fluency": ["fluency_1", "fluency_2"]}
    alone = guess([{"text": "t", "avg_fluency": 1.5}])
    assert alone.ratings == {"fluency": ["avg_fluency"]} and alone.means


@pytest.mark.parametrize(
    ("column", "aspect"),
    [
        ("fluency", "fluency"),
        ("Fluency_rater2", "fluency"),
        ("rater1Fluency", "fluency"),
        ("human fluency score", "fluency"),
        ("maintains_context", "maintains-context"),
        ("score", "overall"),
        ("rating_3", "overall"),
        ("güte_1", slug("güte")),
        ("Gu\u0308te (Anna)", slug("Güte")),
        ("Größe_rater2", slug("Größe")),
    ],
)
def test_an_aspect_is_what_a_name_says_beside_the_rater(
    column: str, aspect: str
) -> None:
    assert aspect_of(column) == aspect


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1, 3, 2], {"min": 1, "max": 5, "step": 1}),
        ([0, 1], {"min": 0, "max": 1, "step": 1}),
        ([0.2, 0.31], {"min": 0, "max": 1}),
        ([2.5, 4], {"min": 1, "max": 5, "step": 0.5}),
        ([1, 7], {"min": 1, "max": 7, "step": 1}),
        ([12, 93.4], {"min": 0, "max": 100}),
        ([-3, 3], {"min": -3, "max": 3, "step": 1}),
        ([900, 900], {"min": 900, "max": 901, "step": 1}),
    ],
)
def test_a_scale_is_the_smallest_usual_scale_that_has_all_ratings(
    values: list[float], wanted: dict[str, float]
) -> None:
    assert scale(values) == wanted


def test_numbers_are_read_from_lists_and_words_are_none() -> None:
    rows: list[dict[str, Any]] = [
        {"a": "[1, 2]", "b": "good", "c": ""},
        {"a": 3, "b": "4"},
    ]
    assert numbers(rows, "a") == [1, 2, 3]
    assert numbers(rows, "b") is None and numbers(rows, "c") is None


def test_the_cards_say_what_was_guessed_and_never_a_key(
    working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = [
        "--endpoint",
        "http://127.0.0.1:9/v1",
        "--model",
        "Org/Big-1",
        "--key-env",
        "MY_KEY",
    ]
    assert init("mine.csv", "--yes", *end, "--price", ".1", ".4") == 0
    printed = capsys.readouterr().out
    assert (
        "fluency: fluency_rater1, fluency_rater2 (2 columns, values 1 to 5)"
        in printed.replace("scale 1:5:1; ", "")
    )
    assert (
        "not used    remark" in printed and "4 texts of 2 items, 8 ratings" in printed
    )
    assert (
        "judgescope check config/studies/mine.yaml" in printed
        and "export MY_KEY" in printed
    )
    data = card("datasets", "mine")
    assert data["files"] == "../../mine.csv" and data["columns"]["source"] == "article"
    assert data["aspects"] == {"fluency": {"min": 1, "max": 5, "step": 1}}
    model = card("models", "org-big-1")
    assert (model["name"], model["api_key_env"]) == ("Org/Big-1", "MY_KEY")
    assert model["price"] == {"input": 0.1, "output": 0.4}
    assert card("studies", "mine")["judges"][0] == "org-big-1"
    assert not list(working_folder.glob(".config-*"))


def test_a_table_without_sources_hides_them_from_judges(working_folder: Path) -> None:
    rows = [
        {
            "id": f"i{at}",
            "reply": f"reply {at} has " + "words " * 9,
            "score": at % 5 + 1,
        }
        for at in range(12)
    ]
    Path("r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert init("r.jsonl", "--yes") == 0
    assert card("datasets", "r")["aspects"]["overall"]["source_visible"] is False
    assert card("studies", "r")["judges"] == ["rules", "length"]


def test_a_new_aspect_has_a_separate_a_card(working_folder: Path) -> None:
    words = ["--rating", "pace=fluency_rater1", "--define", "pace=How fast it reads."]
    assert init("mine.csv", "--yes", *words, "--scale", "pace=1:7:1") == 0
    assert card("aspects", "pace")["definition"] == "How fast it reads."
    assert card("datasets", "mine")["aspects"]["pace"]["max"] == 7


WRONG: dict[str, tuple[list[str], str, str | None]] = {
    "column": (["--text", "sumary"], "the table does not have this column", "summary"),
    "words": (["--rating", "fluency=remark"], "a rating is not a number", None),
    "aspect": (
        ["--rating", "fluncy=fluency_rater1"],
        "this aspect has no card",
        "fluency",
    ),
    "scale": (["--scale", "five"], "lowest and its highest", None),
    "other": (["--scale", "coherence=1:5"], "no column rates this aspect", None),
    "range": (["--scale", "1:4:1"], "a rating is outside the scale", None),
    "half": (["--endpoint", "http://h/v1"], "must be given together", None),
    "url": (["--endpoint", "h/v1", "--model", "m"], "this is not the URL", None),
    "judge": (["--judge", "rulez"], "unknown judge card", "rules"),
    "form": (
        ["--endpoint", "http://h/v1", "--model", "m", "--form", "score-olny"],
        "score-olny",
        "score-only",
    ),
    "define": (["--define", "fluency"], "a definition must name its aspect", None),
    "defined": (["--define", "pace=How fast."], "no column rates this aspect", None),
    "average": (
        ["--rating", "average=fluency_rater1", "--define", "average=How good it is."],
        "this aspect id is reserved for means over aspects",
        None,
    ),
}


@pytest.mark.parametrize("mistake", sorted(WRONG))
def test_a_mistake_is_named_and_nothing_is_written(
    mistake: str, working_folder: Path
) -> None:
    words, what, nearest = WRONG[mistake]
    with pytest.raises((UserError, UserErrors)) as caught:
        init("mine.csv", "--yes", *words)
    error = caught.value
    each = error.errors[0] if isinstance(error, UserErrors) else error
    assert isinstance(each, UserError) and what in str(each)
    assert ".config-" not in str(each)
    assert nearest is None or each.nearest() == nearest
    assert sorted(path.name for path in working_folder.iterdir()) == ["mine.csv"]


@pytest.mark.parametrize(
    "text", ["sk-1234567890", "abcdefghij0123456789x", "A" * 41, "with space", "0day"]
)
def test_what_may_be_a_key_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UserError) as caught:
        variable(text)
    assert text not in str(caught.value)
    assert (
        variable("MY_PROVIDER_API_KEY") == "MY_PROVIDER_API_KEY" and variable("") == ""
    )


def test_a_scale_has_colons_and_a_step_if_it_is_not_continuous() -> None:
    assert read_scale("1 : 5 : 1") == {"min": 1, "max": 5, "step": 1}
    assert read_scale("-1:1") == {"min": -1, "max": 1}
    for text in ("1-5", "1-5-1", "1 to 5", "1,5"):
        with pytest.raises(UserError) as caught:
            read_scale(text)
        assert "MIN:MAX[:STEP]" in str(caught.value) and f"'{text}'" in str(
            caught.value
        )


def test_a_missing_file_names_what_exists(working_folder: Path) -> None:
    with pytest.raises(UserError, match="file not found") as caught:
        init("mine.cvs", "--yes")
    assert caught.value.nearest() == "mine.csv"
    Path("empty.csv").write_text("text,score\n")
    with pytest.raises(UserError, match="has no rows"):
        init("empty.csv", "--yes")


def test_nothing_is_overwritten(working_folder: Path) -> None:
    assert init("mine.csv", "--yes") == 0
    before = {path: Path(path).read_bytes() for path in written()}
    with pytest.raises(UserError, match="a card with this name already exists"):
        init("mine.csv", "--yes")
    end = ["--endpoint", "http://127.0.0.1:9/v1", "--model", "m"]
    Path("config/models").mkdir()
    Path("config/models/m.yaml").write_text("mine: own\n")
    with pytest.raises(UserErrors) as caught:
        init("mine.csv", "--yes", "--study", "other", *end)
    assert "config/models/m.yaml" in str(caught.value)
    Path("config/models/m.yaml").unlink()
    assert {path: Path(path).read_bytes() for path in written()} == before


def test_a_file_of_a_key_is_named_in_the_card_by_its_absolute_path(
    working_folder: Path,
) -> None:
    Path("key.txt").write_text("sk-secret\n")
    Path("key.txt").chmod(0o600)
    end = [
        "--endpoint",
        "http://127.0.0.1:9/v1",
        "--model",
        "m",
        "--key-file",
        "key.txt",
    ]
    assert init("mine.csv", "--yes", *end) == 0
    model = card("models", "m")
    assert (
        model["api_key_file"] == str(working_folder / "key.txt")
        and "api_key_env" not in model
    )
    assert "sk-secret" not in Path("config/models/m.yaml").read_text()


def test_an_endpoint_behind_a_proxy_needs_no_card_by_hand(working_folder: Path) -> None:
    Path("login").write_text("me:word\n")
    Path("login").chmod(0o600)
    words = [
        "--provider",
        "openai-reasoning",
        "--proxy",
        "http://proxy.example.org:3128",
    ]
    words += [
        "--proxy-auth-file",
        "login",
        "--ca-file",
        "mine.csv",
        "--key-env",
        "MY_KEY",
    ]
    assert init("mine.csv", "--yes", *words) == 0
    path = next(Path("config/models").glob("*.yaml"))
    model = yaml.safe_load(path.read_text())
    assert (model["proxy"], model["api_key_env"]) == (
        "http://proxy.example.org:3128",
        "MY_KEY",
    )
    assert model["proxy_auth_file"] == str(working_folder / "login")
    assert (
        model["ca_file"] == str(working_folder / "mine.csv")
        and "word" not in path.read_text()
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--proxy", "http://me:word@h:1"], "not the URL of a proxy"),
        (["--proxy", "http://h:1", "--proxy-auth-env", "me:word"], "not the name"),
        (["--proxy-auth-env", "LOGIN"], "only together with `proxy`"),
        (["--ca-file", "none.pem"], "no such file"),
    ],
)
def test_a_wrong_way_to_the_endpoint_is_named_without_its_secret(
    working_folder: Path, more: list[str], message: str
) -> None:
    with pytest.raises((UserError, UserErrors), match=message) as caught:
        init("mine.csv", "--yes", "--endpoint", "http://h/v1", "--model", "m", *more)
    assert "word" not in str(caught.value).replace("password", "") and not written()


@pytest.mark.parametrize(
    ("mode", "more", "message"),
    [
        (0o644, ["--key-file", "key.txt"], "other users can read the key"),
        (0o600, ["--key-file", "sk-secret"], "no such file"),
        (0o600, ["--key-file", "key.txt", "--key-env", "MY_KEY"], "only one source"),
    ],
    ids=["open to others", "no file", "two sources"],
)
def test_an_unusable_file_of_a_key_is_an_error_that_shows_no_key(
    working_folder: Path, mode: int, more: list[str], message: str
) -> None:
    Path("key.txt").write_text("sk-secret\n")
    Path("key.txt").chmod(mode)
    with pytest.raises(UserError, match=message) as caught:
        init("mine.csv", "--yes", "--endpoint", "http://h/v1", "--model", "m", *more)
    assert "--key-file" in str(caught.value) and "sk-secret" not in str(caught.value)
    assert not written()


def test_any_line_is_changed_and_a_wrong_answer_shows_the_table_again(
    working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines: 1-5 roles, 6 ratings, 7 and 8 scales, 9 a meaning, 10 scores, 11 endpoint,
    19 name.
    """
    ratings = ["6", "fluency=remark", "6", "fluency=fluency_rater1 pace=fluency_rater2"]
    scales = ["8", "5:1", "8", "1:7:1", "99", "9", "How fast it reads."]
    end = [
        "11",
        "h/v1",
        "11",
        "http://127.0.0.1:9/v1",
        "",
        "m",
        *("13", "a b", "13", ".1 .2", "14", "sk-secret-1", "14", "MY_KEY"),
        *(
            "15",
            "http://me:word@p:3128",
            "15",
            "http://p:3128",
            "16",
            "me:word",
            "16",
            "LOGIN",
        ),
        *(
            "17",
            "nothing.pem",
            "17",
            "mine.csv",
            "18",
            "much",
            "18",
            "2.5",
            "19",
            "other",
        ),
    ]
    answers = ["mine.csv", "1", "sumary", *ratings, *scales, *end, "", "y"]
    assert init(answers=answers) == 0
    printed = capsys.readouterr().out
    assert "nearest: summary" in printed and "no line has this number: 99" in printed
    assert "sk-secret" not in printed and "a rating is not a number" in printed
    assert card("datasets", "other")["columns"]["ratings"]["pace"] == ["fluency_rater2"]
    assert card("datasets", "other")["aspects"]["pace"]["max"] == 7
    assert card("aspects", "pace")["definition"] == "How fast it reads."
    assert "me:word" not in printed
    assert card("models", "m") == {
        **{"model": "m", "engine": "openai", "base_url": "http://127.0.0.1:9/v1"},
        **{"api_key_env": "MY_KEY", "price": {"input": 0.1, "output": 0.2}},
        **{
            "proxy": "http://p:3128",
            "proxy_auth_env": "LOGIN",
            "ca_file": str(working_folder / "mine.csv"),
        },
    }
    assert card("studies", "other")["max_usd"] == 2.5


def test_no_question_comes_twice_in_a_row(working_folder: Path) -> None:
    asked: list[str] = []
    wrong = iter(["", "-", "1", "nothing", "7", "five", "1", "", "", "-", "q"])

    def ask(question: str) -> str:
        asked.append(question)
        return next(wrong)

    parser = argparse.ArgumentParser()
    add_init(parser.add_subparsers())
    words = ["init", "mine.csv", "--rating", "pace=fluency_rater1"]
    words += ["--endpoint", "http://127.0.0.1:9/v1", "--model", "m"]
    assert begin(parser.parse_args(words), ask) == 1
    assert len(asked) == 11 and all(each != after for each, after in pairwise(asked))
    assert "meaning of pace" in asked[1] and written() == []


@pytest.mark.parametrize(
    "typed", [["q"], ["1", "quit"], ["1", "article", "q"], ["", "n"]]
)
def test_quitting_leaves_no_trace(typed: list[str], working_folder: Path) -> None:
    assert init("mine.csv", answers=typed) == 1
    assert [path.name for path in working_folder.iterdir()] == ["mine.csv"]


def test_back_takes_a_change_back_and_enter_leaves_a_line(working_folder: Path) -> None:
    answers = [
        "1",
        "remark",
        "2",
        "-",
        "4",
        "article",
        "b",
        "b",
        "b",
        "1",
        "b",
        "2",
        "",
        "b",
    ]
    assert init("mine.csv", answers=[*answers, "", "y"]) == 0
    columns = card("datasets", "mine")["columns"]
    assert (columns["text"], columns["source"]) == ("summary", "article")
    assert "item" not in columns


def test_a_column_that_gets_a_role_leaves_its_earlier_role(
    working_folder: Path,
) -> None:
    answers = ["10", "fluency_rater2", "3", "article", "4", "remark", "2", "-", "q"]
    assert init("mine.csv", answers=answers) == 1
    answers = ["10", "fluency_rater2", "", "y"]
    assert init("mine.csv", answers=["8", "fluency_rater2", "", "y"]) == 0
    assert card("datasets", "mine")["columns"]["ratings"] == {
        "fluency": ["fluency_rater1"]
    }
    assert card("models", "rater-2")["rows"]["scores"] == {"fluency": "fluency_rater2"}


def test_what_a_run_cannot_read_is_reported_before_the_table_comes_again(
    working_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert init("mine.csv", answers=["7", "1:4:1", "", "7", "1:5:1", "", "y"]) == 0
    assert "a rating is outside the scale" in capsys.readouterr().out


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_is_a_copy_of_the_card_that_ships(
    provider: str, working_folder: Path
) -> None:
    own_part = (
        ["--endpoint", "https://mine.example.org/v1"] if "azure" in provider else []
    )
    assert (
        init(
            "mine.csv", "--yes", "--provider", provider, "--model", "my-own", *own_part
        )
        == 0
    )
    shipped = yaml.safe_load(
        (HOME / "config" / "models" / f"{provider}.yaml").read_text("utf-8")
    )
    shipped |= {
        "model": "my-own",
        "base_url": own_part[1] if own_part else shipped["base_url"],
    }
    del shipped["name"]
    assert card("models", "my-own") == shipped
    reasons = "reasoning_effort" in shipped.get("extra_body", {})
    assert card("judges", "my-own")["max_tokens"] == (4096 if reasons else 1024)


def test_a_provider_needs_what_only_its_user_knows(working_folder: Path) -> None:
    with pytest.raises(UserErrors) as caught:
        init("mine.csv", "--yes", "--provider", "azure")
    assert "--endpoint" in str(caught.value) and "--model" in str(caught.value)
    assert not written()


def test_a_metric_is_a_judge_and_no_rating(working_folder: Path) -> None:
    words = ["--metric", "fluency_rater2", "--max-usd", "3"]
    assert init("mine.csv", "--yes", *words) == 0
    assert card("datasets", "mine")["columns"]["ratings"] == {
        "fluency": ["fluency_rater1"]
    }
    assert card("studies", "mine")["judges"][0] == "rater-2"
    assert card("studies", "mine")["max_usd"] == 3
    with pytest.raises(UserError, match="no column rates this aspect"):
        init("mine.csv", "--yes", "--study", "o", "--metric", "pace=fluency_rater2")


def test_recorded_replies_are_a_judge(working_folder: Path) -> None:
    rows = [{**row, "reply": f"Rating: {at}"} for at, row in enumerate(ROWS, start=1)]
    Path("asked.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert init("mine.csv", "--yes", "--recorded", "asked.jsonl") == 0
    assert card("models", "asked")["rows"] == {
        "source": ["article"],
        "text": "summary",
        "system": "model",
        "reply": "reply",
    }
    assert card("judges", "asked") == {
        "judge": "asked",
        "model": "asked",
        "parser": "score",
    }
    for words, text in (
        (
            ["--recorded", "asked.jsonl", "--reply", "repli"],
            "does not have this column",
        ),
        (["--reply", "reply"], "needs a file of replies"),
        (
            [
                *("--recorded", "asked.jsonl", "--rating", "fluency=fluency_rater1"),
                *("--rating", "coherence=fluency_rater2"),
            ],
            "no column identifies the aspect",
        ),
    ):
        with pytest.raises(UserError, match=text):
            init("mine.csv", "--yes", "--study", "other", *words)


@pytest.mark.heavy
def test_without_a_terminal_or_flags_it_says_what_to_do(working_folder: Path) -> None:
    done = running.run("-m", "judgescope", "init", "mine.csv", cwd=working_folder)
    assert done.returncode == 1 and "which need a terminal" in done.stdout
    assert "--yes" in done.stdout and written() == []
    assert "rating      fluency: fluency_rater1, fluency_rater2" in done.stdout


@pytest.mark.heavy
def test_what_init_writes_passes_check(working_folder: Path) -> None:
    """A study of measures alone: what a run asks of a model is tried by the tutorial's
    test.
    """
    done = running.run(
        "-m", "judgescope", "init", "mine.csv", "--yes", cwd=working_folder
    )
    assert done.returncode == 0, done.stdout
    done = running.run(
        "-m", "judgescope", "check", "config/studies/mine.yaml", cwd=working_folder
    )
    assert done.returncode == 0 and "all cards and files are in order" in done.stdout


def test_labels_of_people_make_a_study_of_labels(working_folder: Path) -> None:
    rows = [
        f"q{at},text {at},{('Fail', 'PASS', 'wrong')[at % 3]},{('no', 'yes')[at % 2]}"
        f",{at / 40},{1 + at % 5}"
        for at in range(40)
    ]
    header = "question,answer,Verdict (Anna),gpt_verdict,gpt_score,fluency"
    Path("l.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    assert (
        init("l.csv", "--yes", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m")
        == 0
    )
    aspects = card("datasets", "l")["aspects"]
    assert (
        aspects["overall"]["labels"] == ["fail", "pass"]
        and aspects["fluency"]["max"] == 5
    )
    assert aspects["overall"]["read_as"]["wrong"] == "fail"
    study = card("studies", "l")
    assert (
        study["methods"] == ["agreement", "labels"] and "rules" not in study["judges"]
    )
    read = {"no": "fail", "yes": "pass", "wrong": "fail"}
    assert card("judges", "gpt_verdict")["read_as"] == read
    assert card("judges", "gpt_score")["threshold"] == "best"
    asked = {name: card("judges", name) for name in ("m", "m-labels")}
    assert (asked["m"]["form"], asked["m"]["aspects"]) == ("analyze-rate", ["fluency"])
    assert asked["m-labels"]["form"] == "reason-verdict"
    assert asked["m-labels"]["aspects"] == ["overall"]


def test_0_and_1_are_labels_unless_their_scale_is_stated(working_folder: Path) -> None:
    rows = [f"q{at},text {at},{at % 2}" for at in range(20)]
    Path("l.csv").write_text(
        "\n".join(["question,answer,correctness", *rows]), encoding="utf-8"
    )
    words = ["l.csv", "--yes"]
    assert init(*words) == 0
    scale = card("datasets", "l")["aspects"]["correctness"]
    assert scale == {"labels": ["fail", "pass"], "read_as": {"0": "fail", "1": "pass"}}
    assert init(*words, "--scale", "0:1:1", "--study", "numbers") == 0
    assert card("datasets", "numbers")["aspects"]["correctness"] == {
        "min": 0,
        "max": 1,
        "step": 1,
    }


def test_choices_between_two_texts_make_a_study_of_pairs(working_folder: Path) -> None:
    rows = [
        f"q{at},one {at},two "
        f"{at},{('left', 'Right', 'both bad')[at % 3]},{'AB'[at % 2]}"
        for at in range(12)
    ]
    header = "question,answer_left,answer_right,winner,llm_winner"
    Path("p.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    assert (
        init("p.csv", "--yes", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m")
        == 0
    )
    columns = card("datasets", "p")["columns"]
    assert (
        columns["texts"] == ["answer_left", "answer_right"]
        and columns["source"] == "question"
    )
    assert columns["preferences"] == {"overall": ["winner"]}
    assert columns["choices"] == {
        "answer_left": ["left"],
        "answer_right": ["right"],
        "tie": ["both bad"],
    }
    assert card("judges", "m")["form"] == "compare"
    assert card("studies", "p")["methods"] == ["pairwise"]
    rows_of = card("models", "llm_winner")["rows"]
    assert (rows_of["text"], rows_of["text_b"]) == ("answer_left", "answer_right")
    assert (
        rows_of["labels"]["text"] == ["left", "a"] and rows_of["reply"] == "llm_winner"
    )


def test_columns_of_two_texts_can_be_changed_in_the_table(working_folder: Path) -> None:
    rows = [f"q{at},one {at},two {at},u{at},{'AB'[at % 2]}" for at in range(12)]
    Path("p.csv").write_text(
        "\n".join(["question,answer_a,answer_b,other,winner", *rows]), encoding="utf-8"
    )
    assert init("p.csv", answers=["1", "answer_a, other", "", "y"]) == 0
    assert card("datasets", "p")["columns"]["texts"] == ["answer_a", "other"]


def test_two_studies_may_record_the_judges_of_a_single_table(
    working_folder: Path,
) -> None:
    rows = [f"q{at},text {at},{1 + at % 5},{1 + at % 4}" for at in range(20)]
    Path("t.csv").write_text(
        "\n".join(["question,answer,fluency,gpt_score", *rows]), encoding="utf-8"
    )
    assert (
        init("t.csv", "--yes") == 0 and init("t.csv", "--yes", "--study", "other") == 0
    )
    assert "gpt_score" in card("studies", "t")["judges"]
    assert "gpt_score-other" in card("studies", "other")["judges"]
    assert card("models", "gpt_score-other")["dataset"] == "other"


@pytest.mark.parametrize(
    ("first", "other", "pairs"),
    [
        ("draft", "fluency", False),
        ("reference", "fluency", False),
        ("draft", "note", True),
        ("reference", "note", False),
    ],
)
def test_a_group_beside_ratings_is_no_choice(
    first: str, other: str, pairs: bool
) -> None:
    rows = [
        {
            f"{first}_1": f"x {at}",
            f"{first}_2": f"y {at}",
            "group": "AB"[at % 2],
            other: at % 5 + 1,
        }
        for at in range(20)
    ]
    if other == "note":
        rows = [{**row, other: f"n{at}"} for at, row in enumerate(rows)]
    assert (pairs_of(rows, [*rows[0]], {}) is not None) is pairs


def test_a_table_may_lie_in_the_folder_of_cards(working_folder: Path) -> None:
    Path("config/tables").mkdir(parents=True)
    Path("mine.csv").rename("config/tables/mine.csv")
    init("config/tables/mine.csv", "--yes", "--scale", "1:5:1")
    [dataset] = [path for path in written() if "datasets" in str(path)]
    content = yaml.safe_load(Path(dataset).read_text("utf-8"))
    assert content["files"] == "../../config/tables/mine.csv"


def test_each_row_without_a_source_is_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No definition is asked for, either, if no model is asked about an aspect."""
    monkeypatch.chdir(tmp_path)
    lines = ["answer,human_wit,gpt4_wit"]
    for at in range(12):
        lines.append(f"Answer {at} is as long as the others are.,{at % 5},{at % 4}")
    Path("wit.csv").write_text("\n".join(lines), encoding="utf-8")
    parser = command_line()
    asked = ["--endpoint", "http://127.0.0.1:9/v1", "--model", "m"]
    with pytest.raises(UserErrors) as raised:
        begin(parser.parse_args(["init", "wit.csv", "--yes", *asked]), None)
    assert "wit" in str(raised.value) and "--define wit=" in str(raised.value)
    assert not Path("config").exists()
    capsys.readouterr()
    assert begin(parser.parse_args(["init", "wit.csv", "--yes"]), None) == 0
    printed = capsys.readouterr().out
    assert "12 texts of 12 items, 12 ratings" in printed
    dataset = yaml.safe_load(Path("config/datasets/wit.yaml").read_text("utf-8"))
    assert dataset["columns"]["item"] == "row"
    aspect = yaml.safe_load(Path("config/aspects/wit.yaml").read_text("utf-8"))
    assert aspect["definition"] == "What people rated in the column human_wit."
    assert "results/" in Path(".gitignore").read_text("utf-8")
    readme = Path("config/README.md").read_text("utf-8")
    assert "judgescope run config/studies/wit.yaml" in " ".join(readme.split())
    Path(".gitignore").write_text("mine\n", "utf-8")
    words = ["init", "wit.csv", "--yes", "--study", "again"]
    assert begin(parser.parse_args(words), None) == 0
    assert Path(".gitignore").read_text("utf-8") == "mine\n"


@pytest.mark.parametrize("labels", [("fail", "pass"), ("no", "yes")])
def test_the_copy_of_rows_without_ids_says_what_its_numbers_mean(
    labels: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["answer,human,judge"]
    for at in range(12):
        text = f"{labels[at % 2]},{labels[at % 3 == 0]}"
        lines.append(f"Answer {at} is as long as the others are.,{text}")
    Path("own.csv").write_text("\n".join(lines), encoding="utf-8")
    assert begin(command_line().parse_args(["init", "own.csv", "--yes"]), None) == 0
    dataset = yaml.safe_load(Path("config/datasets/own.yaml").read_text("utf-8"))
    overall = dataset["aspects"]["overall"]
    assert overall["labels"] == list(labels)
    assert overall["read_as"] == {"0": labels[0], "1": labels[1]}


def test_the_card_says_how_columns_were_read_and_no_header_leaves_its_comment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [["id", "answer", "human", "odd\nlicence: mine\u2028#"]]
    for at in range(12):
        rows.append([f"t{at}", f"A text with the number {at}.", str(at % 5 + 1), "x"])
    with Path("t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    monkeypatch.setattr("sys.argv", ["judgescope", "init", "t.csv", "--yes"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    text = Path("config/datasets/t.yaml").read_text("utf-8")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert comments[0] == "# How `judgescope init` read t.csv:"
    assert "#   text: answer" in comments
    assert any("odd" in line and "licence: mine" in line for line in comments)
    assert yaml.safe_load(text)["licence"] == "not stated"
