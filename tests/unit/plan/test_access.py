"""What a run contacts, runs, reads and stores, line by line."""

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.paths import HOME
from judgescope.plan import access
from judgescope.plan.access import OutsideAction
from judgescope.schema import cards
from judgescope.schema.loading import adapter

FAR = {"engine": "openai", "base_url": "https://far.example/v1", "probe": False}
NEAR = {"engine": "openai", "base_url": "http://127.0.0.1:8000/v1", "probe": False}


def plan(folder: Path, **models: dict[str, Any]) -> Any:
    """A study of these models, whose cards lie in `folder`."""
    made = {}
    for name, card in models.items():
        made[name] = adapter("model", card).validate_python({"model": name, **card})
    return SimpleNamespace(
        models=made,
        folders={("model", name): str(folder) for name in models},
        study=SimpleNamespace(data="data", store="cache/replies"),
        all_cards=lambda: [("model", name, card) for name, card in made.items()],
    )


def lines(folder: Path, **models: dict[str, Any]) -> list[tuple[str, str]]:
    return [(line.kind, line.what) for line in access.access(plan(folder, **models))]


def test_models_of_a_host_with_the_same_key_share_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THERE", "x")
    monkeypatch.delenv("ABSENT", raising=False)
    far = {**FAR, "api_key_env": "THERE"}
    assert lines(
        tmp_path, b=far, a=far, c={**FAR, "api_key_env": "ABSENT"}, d=NEAR
    ) == [
        ("contacts", "127.0.0.1:8000 (models d; no key)"),
        ("contacts", "far.example:443 (models a, b; key from variable THERE, set)"),
        ("contacts", "far.example:443 (models c; key from variable ABSENT, not set)"),
        ("stores", "cache/replies"),
    ]


def test_an_address_without_a_port_has_that_of_its_scheme() -> None:
    assert access._host_and_port("http://far.example/v1") == "far.example:80"
    assert access._host_and_port("https://far.example") == "far.example:443"
    assert access._host_and_port("https://[::1]:8443/v1") == "::1:8443"


def test_a_proxy_is_contacted_too(tmp_path: Path) -> None:
    proxied = {**FAR, "proxy": "http://proxy.example:3128", "proxy_auth_env": "LOGIN"}
    far, proxy, _ = lines(tmp_path, far=proxied)
    assert far == ("contacts", "far.example:443 (models far; no key)")
    expected = "proxy.example:3128 (models far (proxy); key from variable LOGIN, "
    assert proxy[1].startswith(expected)
    keys = access.keys_sent(plan(tmp_path, far=proxied), ["far"])
    [(source, url)] = keys
    assert (source.variable, url) == ("LOGIN", "http://proxy.example:3128")


def test_keys_are_sent_by_the_models_that_are_asked(tmp_path: Path) -> None:
    both = plan(
        tmp_path,
        far={**FAR, "api_key_env": "KEY"},
        near={**NEAR, "api_key_file": str(tmp_path / "key")},
        open=NEAR,
    )
    sent = access.keys_sent(both, ["near", "open", "far"])
    assert [(source.file, source.variable, url) for source, url in sent] == [
        (str(tmp_path / "key"), None, "http://127.0.0.1:8000/v1"),
        (None, "KEY", "https://far.example/v1"),
    ]
    assert access.keys_sent(both, ["open"]) == []
    [near] = [line for line in access._contacts(both) if "near" in line.what]
    assert near.what.endswith(f"(models near; key from file {tmp_path / 'key'})")


def test_files_outside_of_the_working_folder_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study").mkdir()
    key = tmp_path / "elsewhere" / "key"
    monkeypatch.chdir(tmp_path / "study")
    inside = str(tmp_path / "study" / "certificates.pem")
    read = lines(
        tmp_path,
        far={**FAR, "api_key_file": str(key)},
        near={**NEAR, "ca_file": inside},
    )
    assert [what for kind, what in read if kind == "reads"] == [str(key)]


def test_weights_are_read_from_the_hub_or_a_folder(tmp_path: Path) -> None:
    weights = {"engine": "vllm", "name": "org/big"}
    read = lines(
        tmp_path,
        newest=weights,
        pinned={**weights, "revision": "4b825dc"},
        local={**weights, "path": str(tmp_path / "weights")},
    )
    assert [what for kind, what in read if kind == "reads"] == [
        str(tmp_path / "weights"),
        "hub org/big at 4b825dc",
        "hub org/big at its newest revision",
    ]


def command(folder: Path) -> dict[str, Any]:
    (folder / "rate.py").write_text("pass", encoding="utf-8")
    return {
        "engine": "command",
        "argv": ["python", "{code}", "a b"],
        "files": {"code": str(folder / "rate.py")},
        "env": ["TOKEN", "HOST"],
    }


def test_a_program_is_shown_with_its_files_and_variables(tmp_path: Path) -> None:
    code = tmp_path / "rate.py"
    runs, reads, _ = lines(tmp_path, mine=command(tmp_path))
    about = "(model mine; it sees the variables TOKEN, HOST)"
    assert runs == ("runs", f"python {code} 'a b' {about}")
    assert reads == ("reads", str(code))


def test_a_program_s_digest_is_of_its_folder_words_and_files(tmp_path: Path) -> None:
    study = plan(tmp_path, mine=command(tmp_path), far=FAR)
    [program] = access.programs(study)
    code = str(tmp_path / "rate.py")
    words = ["python", code, "a b"]
    hashes = {code: hashlib.sha256(b"pass").hexdigest()}
    content = canonical([str(Path.cwd()), words, hashes])
    assert program == access.Program(
        words=words,
        model="mine",
        digest=hashlib.sha256(content.encode()).hexdigest(),
        is_shipped=False,
    )
    assert list(access.programs(study, ["far"])) == []
    shipped = plan(HOME / "config" / "models", mine=command(tmp_path))
    assert [each.is_shipped for each in access.programs(shipped)] == [True]


@pytest.mark.parametrize(
    ("word", "known"), [("sh", "exists"), ("no-such-program", "not found")]
)
def test_a_program_that_prints_a_key_is_looked_for(
    tmp_path: Path, word: str, known: str
) -> None:
    keyed = plan(tmp_path, far={**FAR, "token_command": [word, "-c", "echo x"]})
    contacts, runs, _ = access.access(keyed)
    assert contacts.what == "far.example:443 (models far; key from a program)"
    about = f"(model far; prints its key; {known})"
    assert runs == OutsideAction("runs", f"{word} -c 'echo x' {about}")
    assert str(runs) == f"  runs     {runs.what}"
    [program] = access.programs(keyed)
    content = canonical([str(Path.cwd()), [word, "-c", "echo x"], {}])
    assert program.digest == hashlib.sha256(content.encode()).hexdigest()


# ---- the questions on a terminal -----------------------------------------------------


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.usefixtures("terminal")
def test_a_new_program_is_asked_about_once(tmp_path: Path) -> None:
    study = plan(tmp_path, mine=command(tmp_path))
    asked = list[str]()

    def agrees(question: str) -> bool:
        asked.append(question)
        return True

    access.admit(study, agrees)
    assert asked == ["Let this study run it?"]
    access.admit(study, agrees)
    assert len(asked) == 1


@pytest.mark.usefixtures("terminal")
def test_a_program_that_is_not_accepted_stops_the_run(tmp_path: Path) -> None:
    study = plan(tmp_path, mine=command(tmp_path))
    with pytest.raises(UserError, match="the program was not accepted") as refused:
        access.admit(study, lambda question: False)
    assert refused.value.where == "models/mine.yaml"
    access.admit(study, lambda question: False, models=[])


def test_endpoints_have_absolute_paths(tmp_path: Path) -> None:
    study = plan(
        tmp_path, far={**FAR, "ca_file": "certificates.pem"}, mine=command(tmp_path)
    )
    [card] = access.endpoints(study, ["far", "mine"])
    assert isinstance(card, cards.OpenAIModel)
    assert card.ca_file == str(tmp_path / "certificates.pem")
