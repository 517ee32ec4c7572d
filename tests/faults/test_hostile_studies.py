"""Studies that somebody else wrote: `check` starts nothing, and no key goes to a host
to which it does not belong.
"""

import shutil
from pathlib import Path

import pytest
import yaml

import running
from asking import AskedStudy, rate
from judgescope.core.api_keys import KeySource
from judgescope.core.errors import UserError
from judgescope.core.trust import TrustRecord
from judgescope.plan import access
from judgescope.plan.loading import load_plan
from running import HOME
from scripted import Body, Said, prompt_of, reply
from study import Card

STEPS = "\n".join(f"{number}. Look at word {number}." for number in range(1, 6))
KEY = "do-not-show-this-key-1234567890"
HOST = "collector.example.com"
AWS = "AWS_SECRET_ACCESS_KEY"


@pytest.fixture(autouse=True)
def user(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A user's home folder, outside the study's."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv(AWS, KEY)
    return home


def foreign(study: AskedStudy, **keys: str) -> None:
    """Let the model be behind a public host, which a loopback proxy stands in for."""
    proxy = study.endpoint.url.removesuffix("/v1")
    study.model(base_url=f"http://{HOST}/v1", proxy=proxy, **keys)


def draft_or_rate(body: Body) -> Said:
    """Draft where steps are asked for, perturb where a text is, else rate."""
    prompt = prompt_of(body)
    if "Write the list alone" in prompt:
        return reply(STEPS)
    if "Adjustment: " in prompt:
        text = prompt.rsplit("The reply:\n", 1)[1].split("\n\n")[0]
        return reply(f"{text} It was blue!")
    return rate(body)


def without_key(study: AskedStudy, user: Path) -> bool:
    files = [*study.folder.rglob("*"), *user.rglob("*")]
    return not any(
        KEY.encode() in path.read_bytes()
        for path in files
        if path.is_file() and path.name != "token"
    )


@pytest.mark.slow
def test_check_starts_no_program_of_a_card(study: AskedStudy) -> None:
    marker = study.folder / "marker"
    words = ["sh", "-c", f"touch {marker}; echo {KEY}"]
    study.model(token_command=words)
    done = study.judgescope("check")
    assert done.returncode == 0, done.stdout
    assert "prints its key; exists" in done.stdout and "touch" in done.stdout
    assert not marker.exists()
    study.model(token_command=["no-such-program"])
    done = study.judgescope("check")
    assert done.returncode == 0
    assert "not found" in done.stdout
    assert "before a run: the program that prints the endpoint's key" in done.stdout


@pytest.mark.slow
def test_a_foreign_key_is_refused_and_an_accepted_pair_is_sent(
    study: AskedStudy, user: Path
) -> None:
    foreign(study, api_key_env=AWS)
    done = study.judgescope("check")
    assert done.returncode == 0, done.stdout
    assert (
        f"contacts {HOST}:80 (models loop; key from variable {AWS}, set)" in done.stdout
    )
    assert f"--trust {AWS}@{HOST}" in done.stdout
    for refused in (study.judgescope("run"), study.ask()):
        assert refused.returncode == 1
        assert "nothing was sent" in refused.stdout
        assert f"{AWS}@{HOST}" in refused.stdout
    assert study.endpoint.asked == []
    study.endpoint.script = rate
    done = study.judgescope("run", "--trust", f"{AWS}@{HOST}")
    assert done.returncode == 0, done.stdout
    assert len(study.endpoint.asked) == 120
    assert study.ask().returncode == 0  # the pair is remembered
    assert KEY not in done.stdout and without_key(study, user)


COMMANDS = {
    "run": ("run",),
    "pilot": ("pilot",),
    "probe": ("check", "--probe"),
    "submit": ("batch", "submit"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_sends_a_foreign_key(study: AskedStudy, command: str) -> None:
    foreign(study, api_key_env=AWS)
    done = study.judgescope(*COMMANDS[command])
    assert done.returncode == 1, done.stdout
    assert "nothing was sent" in done.stdout and f"--trust {AWS}@{HOST}" in done.stdout
    assert study.endpoint.asked == [] and KEY not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", ["draft", "spotcheck"])
def test_writers_send_no_foreign_key_unless_it_is_accepted(
    study: AskedStudy, user: Path, command: str
) -> None:
    foreign(study, api_key_env=AWS)
    adjusting: Card = {"form": "adjust-steps", "adjustment": "a wrong colour"}
    if command == "spotcheck":
        adjusting |= {"instructions": ["Name a colour."], "checks": ["differs"]}
    study.card(
        "perturbations",
        "colour",
        **{"name": "Wrong colour", "level": "word", "method": "llm", "model": "loop"},
        **adjusting,
    )
    study.write(drafter="loop", perturbations=["colour"], methods=["discernment"])
    study.endpoint.script = draft_or_rate
    done = study.judgescope(command)
    assert done.returncode == 1, done.stdout
    contacted = f"contacts {HOST}:80 (models loop; key from variable {AWS}, set)"
    assert contacted in done.stdout
    assert "nothing was sent" in done.stdout and f"--trust {AWS}@{HOST}" in done.stdout
    assert study.endpoint.asked == []
    done = study.judgescope(command, "--trust", f"{AWS}@{HOST}")
    assert done.returncode == 0, done.stdout
    assert {*study.endpoint.authorised} == {f"Bearer {KEY}"}
    assert KEY not in done.stdout and without_key(study, user)


@pytest.mark.slow
def test_a_probe_sends_a_key_after_it_was_accepted(
    study: AskedStudy, user: Path
) -> None:
    foreign(study, api_key_env=AWS)
    study.endpoint.script = rate
    done = study.judgescope("check", "--probe", "--trust", f"{AWS}@{HOST}")
    assert done.returncode == 0, done.stdout
    assert study.endpoint.authorised == [f"Bearer {KEY}"] * len(study.endpoint.asked)
    assert study.endpoint.asked and without_key(study, user)


@pytest.mark.slow
def test_init_writes_its_cards_and_sends_no_foreign_key(study: AskedStudy) -> None:
    rows = [f"Source {at}.,Text {at}.,{1 + at % 5}" for at in range(20)]
    table = study.folder / "mine.csv"
    table.write_text("\n".join(["source,text,fluency", *rows]) + "\n", "utf-8")
    proxy = study.endpoint.url.removesuffix("/v1")
    command = ("init", "mine.csv", "--yes", "--endpoint", f"http://{HOST}/v1")
    options = ("--model", "it", "--key-env", AWS, "--proxy", proxy, "--probe")
    done = running.run("-m", "judgescope", *command, *options, cwd=study.folder)
    assert done.returncode == 1, done.stdout
    assert "written: config/models/it.yaml" in done.stdout
    assert "nothing was sent" in done.stdout and f"--trust {AWS}@{HOST}" in done.stdout
    assert study.endpoint.asked == [] and KEY not in done.stdout


@pytest.mark.slow
def test_a_file_of_another_program_is_refused(study: AskedStudy, user: Path) -> None:
    token = user / ".cache/huggingface/token"
    token.parent.mkdir(parents=True)
    token.write_text(KEY)
    token.chmod(0o600)
    foreign(study, api_key_file=str(token))
    done = study.judgescope("run")
    assert done.returncode == 1 and "nothing was sent" in done.stdout
    assert study.endpoint.asked == [] and KEY not in done.stdout
    assert f"reads    {token}" in done.stdout


@pytest.mark.slow
def test_check_shows_a_file_outside_the_study(study: AskedStudy, user: Path) -> None:
    texts = study.own_data()
    private = user / "private.jsonl"
    shutil.move(texts, private)
    items = HOME / "config/demo/dialogue_items.jsonl"
    files = {"items": str(items), "data": str(private)}
    study.change("datasets", "demo-dialogue", sha256={}, files=files)
    done = study.judgescope("check")
    assert done.returncode == 0, done.stdout
    assert f"reads    {private}" in done.stdout
    assert str(items) not in done.stdout


STUDIES = sorted((HOME / "config/studies").glob("*.yaml"))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_shipped_study_asks_nothing(path: Path) -> None:
    plan = load_plan(yaml.safe_load(path.read_text()), HOME, source=path.name)
    pairs = access.keys_sent(plan, plan.models)
    assert not [pair for pair in pairs if TrustRecord().crossing(*pair)]
    assert all(program.is_shipped for program in access.programs(plan))
    access.admit(plan, lambda _: False)


@pytest.mark.parametrize(
    "path", sorted((HOME / "config/models").glob("*.yaml")), ids=lambda path: path.stem
)
def test_a_shipped_card_asks_nothing(path: Path) -> None:
    card = yaml.safe_load(path.read_text())
    if variable := card.get("api_key_env"):
        source = KeySource(model=card["model"], variable=variable)
        assert TrustRecord().crossing(source, card["base_url"]) is None


@pytest.mark.parametrize("answer", ["", "n", "y"])
def test_a_terminal_is_asked_once(
    study: AskedStudy,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    answer: str,
) -> None:
    foreign(study, api_key_env=AWS)
    program = study.folder / "mine.py"
    program.write_text("print()")
    study.card(
        "models",
        "mine",
        engine="command",
        argv=["python", "{code}"],
        files={"code": str(program)},
    )
    study.card("judges", "own", model="mine", form="score-only")
    monkeypatch.chdir(study.folder)
    plan = study.plan(judges=["terse", "own"])
    questions: list[str] = []

    def agrees(question: str) -> bool:
        questions.append(question)
        return answer == "y"

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    if answer != "y":
        with pytest.raises(UserError, match="nothing was sent"):
            access.admit(plan, agrees)
        assert len(questions) == 1
        return
    access.admit(plan, agrees)
    access.admit(plan, agrees)
    assert len(questions) == 2  # the key and the program, once each
    program.write_text("print(1)")
    access.admit(plan, agrees)
    assert len(questions) == 3
    assert capsys.readouterr().out.count(f"python {program}") == 2
