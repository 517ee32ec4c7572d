"""Programs as scorers: what they are given, what they say, what is kept of it."""

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from guides import cards_of
from judgescope.engines.base import Subject
from judgescope.engines.command import located, words
from judgescope.engines.factory import asking
from judgescope.engines.requests import Reply, Work
from judgescope.replies.judging import ProgramQuestions
from judgescope.schema.cards import Aspect, CommandModel, Judge, RatedAspect
from programs import LENGTHS, ask, card, refused, requests, texts_of
from prompts_setup import SUMMARY, asked_about
from running import HOME


def test_every_target_is_a_line_in_and_a_line_out(tmp_path: Path) -> None:
    model = card(tmp_path)
    replies = ask(model, "one", "seven77", "é\u2028\n\"'")
    assert texts_of(replies) == ["3", "7", "5"]
    assert {reply.status for reply in replies} == {"ok"}
    assert replies[0].provenance == {"engine": "command", "model": "mine"}


def test_a_line_holds_what_the_program_is_shown(tmp_path: Path) -> None:
    model = card(
        tmp_path, "for one in read(): tell(one, text=json.dumps(one))", batch=1
    )
    [first, second] = [json.loads(text) for text in texts_of(ask(model, "Ä", draws=2))]
    assert set(first) == {"id", "text", "seed", "draw"}
    assert (first["text"], first["draw"], second["draw"]) == ("Ä", 0, 1)
    [request] = requests(model, "Ä")
    assert [first["seed"], second["seed"]] == [request.seed(0), request.seed(1)]
    assert first["id"] != second["id"]


def test_lines_are_ascii_for_programs_that_split_them_anyhow(tmp_path: Path) -> None:
    model = card(
        tmp_path,
        """
        lines = sys.stdin.buffer.read().decode("ascii").splitlines()
        for line in lines: tell(json.loads(line), score=len(lines))
        """,
    )
    assert texts_of(ask(model, "a\u2028b\x85c\x1cd", "e")) == ["2", "2"]


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ({"score": 3.5}, "3.5"),
        ({"score": -1e-30}, "-1e-30"),
        ({"score": float("nan")}, "nan"),
        ({"score": float("-inf")}, "-inf"),
        ({"score": None}, ""),
        ({"score": 2, "error": None}, "2"),
        ({"text": "Rating: 4"}, "Rating: 4"),
        ({"text": "half \ud83d of a pair"}, "half ? of a pair"),
    ],
)
def test_an_answer_is_a_score_or_a_text(
    tmp_path: Path, expected: dict[str, Any], text: str
) -> None:
    model = card(
        tmp_path, "for one in read(): print(json.dumps({'id': one['id'], **TOLD}))"
    )
    program = tmp_path / "score.py"
    head = f"TOLD = json.loads({json.dumps(expected)!r})\n"
    program.write_text(
        program.read_text("utf-8").replace("def tell", head + "def tell"), "utf-8"
    )
    assert texts_of(ask(model, "x")) == [text]


def test_what_a_program_cannot_score_is_an_error_of_a_single_target(
    tmp_path: Path,
) -> None:
    program = """
    for one in read():
        tell(one, error="no words") if not one["text"] else tell(one, score=1)
    """
    first, second = ask(card(tmp_path, program), "", "x")
    assert (first.status, first.finish, first.text) == ("error", "error", "no words")
    assert (second.status, second.text) == ("ok", "1")


def test_tokens_that_a_program_has_used_are_counted(tmp_path: Path) -> None:
    usage = {"prompt": 7, "completion": 3, "total": 10, "cached": -1, "reasoning": True}
    model = card(tmp_path, f"for one in read(): tell(one, score=1, usage={usage})")
    assert ask(model, "x")[0].usage == {"prompt": 7, "completion": 3}


def test_answers_come_in_any_order(tmp_path: Path) -> None:
    model = card(tmp_path, "for one in read()[::-1]: tell(one, text=one['text'])")
    assert texts_of(ask(model, *"abcdef")) == list("abcdef")


def test_answers_come_before_the_input_has_ended(tmp_path: Path) -> None:
    """More than two pipes hold, both ways: who only wrote or only read would wait for
    ever.
    """
    model = card(
        tmp_path, "for line in sys.stdin: tell(json.loads(line), text='x' * 5000)"
    )
    texts = [f"{number} " + "y" * 5000 for number in range(200)]
    assert texts_of(ask(model, *texts)) == ["x" * 5000] * 200


def test_each_answer_is_kept_when_its_line_comes(tmp_path: Path) -> None:
    program = f"""
    for line in sys.stdin:
        given = json.loads(line)
        tell(given, score=1)
        while not os.path.exists({str(tmp_path)!r} + "/" + given["text"]): \
time.sleep(0.01)
    """
    model, kept = card(tmp_path, program), list[Reply]()

    def keep(reply: Reply) -> None:
        kept.append(reply)
        (tmp_path / "ab"[len(kept) - 1]).touch()  # or the program never goes on

    asking(model)(
        [Work(request, (0,)) for request in requests(model, "a", "b")], False, keep
    )
    assert len(kept) == 2


@pytest.mark.heavy
def test_a_start_gets_a_batch_and_workers_share_them(tmp_path: Path) -> None:
    program = """
    given = read()
    for one in given: tell(one, text=f"{os.getpid()} {len(given)}")
    """
    alone = texts_of(ask(card(tmp_path, program, batch=4), *"abcdefghij"))
    assert [int(text.split()[1]) for text in alone] == [4, 4, 4, 4, 4, 4, 4, 4, 2, 2]
    assert len({text.split()[0] for text in alone}) == 3
    together = """
    open(sys.argv[1] + "/" + str(os.getpid()), "w").close()
    while len(os.listdir(sys.argv[1])) < 3: time.sleep(0.01)
    """
    (tmp_path / "there").mkdir()
    line = ["{python}", "{program}", str(tmp_path / "there")]
    model = card(
        tmp_path, textwrap.dedent(together) + LENGTHS, batch=2, workers=3, argv=line
    )
    assert texts_of(ask(model, *"abcdef")) == ["1"] * 6


def test_nothing_to_ask_starts_nothing(tmp_path: Path) -> None:
    model = card(tmp_path, f"open({str(tmp_path / 'started')!r}, 'w')")
    assert ask(model) == []
    assert not (tmp_path / "started").exists()


def test_a_program_sees_the_variables_that_are_named_and_few_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MY_TOKEN", "OTHER_TOKEN", "LC_TIME"):
        monkeypatch.setenv(name, f"value-of-{name}")
    model = card(
        tmp_path,
        """
        [one] = read()
        tell(one, text=" ".join(os.environ) + " is " + os.environ["MY_TOKEN"])
        sys.stderr.write(os.environ["MY_TOKEN"])
        """,
        env=["MY_TOKEN"],
    )
    [text] = texts_of(ask(model, "x"))
    assert {"MY_TOKEN", "PATH", "LC_TIME"} <= set(text.split())
    assert "OTHER_TOKEN" not in text
    assert text.endswith("is <MY_TOKEN>")
    error, _ = refused(model, "x", "y")
    assert "last output" in str(error) and "value-of-MY_TOKEN" not in str(error)


def test_other_words_files_or_variants_are_other_keys_and_other_limits_are_not(
    tmp_path: Path,
) -> None:
    def key(program: str = LENGTHS, **keys: Any) -> str:
        return requests(card(tmp_path, program, **keys), "x")[0].key

    first = key()
    assert key(batch=7, timeout=9, workers=2, env=["PATH"], family="f") == first
    others = [
        key(LENGTHS + "#"),
        key(variant="v2"),
        key(argv=["{python}", "{program}", "-v"]),
    ]
    assert len({first, *others}) == 4
    (tmp_path / "elsewhere").mkdir()
    assert requests(card(tmp_path / "elsewhere"), "x")[0].key == first


def test_roles_stand_for_paths_and_other_braces_for_themselves(tmp_path: Path) -> None:
    line = ["{python}", "{program}", "--weights={weights}", '{"a": 1}', "{}"]
    (tmp_path / "w.bin").touch()
    model = CommandModel.model_validate(
        {"model": "mine", "engine": "command", "argv": line}
        | {"files": {"program": "score.py", "weights": "w.bin"}}
    )
    (tmp_path / "score.py").touch()
    result = words(located(model, tmp_path, tmp_path))
    paths = [str(tmp_path / "score.py"), f"--weights={tmp_path / 'w.bin'}"]
    assert result == [sys.executable, *paths, '{"a": 1}', "{}"]


ASPECT = Aspect(aspect="fluency", name="Fluency", definition="How well it reads.")
HIDDEN = RatedAspect(min=1, max=5, step=1, labels=[], source_visible=False)
TEXTS = [
    Subject(
        f"a:{name}",
        "a",
        name,
        "systems",
        f"Text {name}.",
        "The source.",
        ("One.", "Two."),
    )
    for name in "xyz"
]


def shown_to(sees: list[str], scale: RatedAspect = HIDDEN, **keys: Any) -> list[Any]:
    """Return what a program is shown of each question of a cell."""
    fields = {"model": "mine", "engine": "command", "argv": ["sh"], "inputs": sees}
    model = CommandModel.model_validate(fields)
    judge = Judge.model_validate({"judge": "j", "model": "mine"} | keys)
    asked = ProgramQuestions(
        model,
        judge,
        ASPECT,
        scale,
        asked_about(judge, TEXTS),
        {},
        0,
        SUMMARY,
    )
    return [asked[number].asked["target"] for number in range(len(asked))]


def test_a_program_is_shown_what_its_card_says_it_sees() -> None:
    text = {"form": "", "text": "Text x."}
    assert shown_to([])[0] == text
    aspect = {"id": "fluency", "name": "Fluency", "definition": "How well it reads."}
    scale = {"min": 1, "max": 5, "step": 1, "labels": []}
    assert shown_to(["aspect"])[0] == {**text, "aspect": aspect, "scale": scale}
    assert shown_to(["references"])[0] == {**text, "references": ["One.", "Two."]}
    assert shown_to(["source"])[0] == {**text, "source": None}
    visible = HIDDEN.model_copy(update={"source_visible": True})
    assert shown_to(["source"], visible)[0] == {**text, "source": "The source."}
    parts = [{"name": "Source", "text": "The source."}]
    assert shown_to(["parts"], visible)[0] == {**text, "parts": parts}
    assert shown_to(["parts"])[0] == {**text, "parts": []}


def test_a_program_that_compares_is_shown_both_texts_in_both_orders() -> None:
    result = shown_to([], form="compare")
    assert [(row["text"], row["text_b"]) for row in result] == [
        *(("Text x.", "Text y."), ("Text y.", "Text x.")),
        *(("Text y.", "Text z."), ("Text z.", "Text y.")),
    ]


def test_the_guides_example_is_the_card_that_ships() -> None:
    cards = cards_of("programs")
    shipped = [name for name in cards if (HOME / name).exists()]
    assert len(shipped) == 2
    for name in shipped:
        text = cards[name]
        assert yaml.safe_load(text) == yaml.safe_load((HOME / name).read_text("utf-8"))
