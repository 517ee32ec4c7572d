"""Keys that would cross to a foreign host are recognised, and the record of accepted
pairs.
"""

import json
import stat
from ipaddress import ip_address
from pathlib import Path

import pytest

from judgescope.core import trust
from judgescope.core.api_keys import KeySource
from judgescope.core.errors import UserError
from judgescope.core.trust import TrustRecord, check_keys

KEY = "do-not-show-this-key-1234567890"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder and a record of this test's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(trust.VARIABLE, raising=False)
    return tmp_path


def variable(name: str) -> KeySource:
    return KeySource(model="m", variable=name)


@pytest.mark.parametrize(
    ("name", "host", "crosses"),
    [
        ("AWS_SECRET_ACCESS_KEY", "collector.example.com", True),
        ("AWS_SECRET_ACCESS_KEY", "bedrock.eu-west-1.amazonaws.com", False),
        ("AWS_SECRET_ACCESS_KEY", "notamazonaws.com", True),
        ("AWS_SECRET_ACCESS_KEY", "amazonaws.com.example.org", True),
        ("HF_TOKEN", "router.huggingface.co", False),
        ("HF_TOKEN", "api.example.com", True),
        ("GITHUB_TOKEN", "models.github.ai", False),
        ("ANTHROPIC_API_KEY", "api.openai.com", True),
        ("OPENAI_API_KEY", "api.openai.com", False),
        ("OPENAI_API_KEY", "api.example.com", True),
        ("OPENAI_API_KEY", "127.0.0.1", False),
        ("AWS_SECRET_ACCESS_KEY", "10.1.2.3", False),
        ("AWS_SECRET_ACCESS_KEY", "[::1]", False),
        ("AWS_SECRET_ACCESS_KEY", "8.8.8.8", True),
        ("AWS_SECRET_ACCESS_KEY", "127.1", False),
        ("MY_KEY", "api.example.com", False),
    ],
)
def test_a_listed_key_may_go_to_its_hosts_only(
    name: str, host: str, crosses: bool
) -> None:
    result = TrustRecord().crossing(variable(name), f"https://{host}/v1")
    assert (result is not None) is crosses
    if result:
        assert result.pair == f"{name}@{host}"


@pytest.mark.parametrize(
    ("spelled", "host"),
    [
        ("134744072", "134744072"),
        ("0x08080808", "0x08080808"),
        ("\uff11\uff13\uff14\uff17\uff14\uff14\uff10\uff17\uff12", "134744072"),
        ("api\u3002example\uff0ecom", "api.example.com"),
        # Python 3.13 spells this address with the full stops of its IPv4 part.
        ("[::ffff:8.8.8.8]", str(ip_address("::ffff:808:808"))),
        ("API.example.com.", "api.example.com"),
    ],
)
def test_a_public_host_is_a_single_however_it_is_spelled(
    spelled: str, host: str
) -> None:
    sent = variable("AWS_SECRET_ACCESS_KEY")
    result = TrustRecord().crossing(sent, f"http://{spelled}:80/v1")
    assert result is not None and result.host == host


@pytest.mark.parametrize(
    "path", [".aws/token", ".ssh/id", ".cache/huggingface/token", ".netrc", ".kube/k"]
)
def test_a_file_of_another_program_crosses_also_behind_a_link(
    home: Path, path: str
) -> None:
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(KEY)
    link = home / "key"
    link.symlink_to(file)
    for each in (file, link):
        source = KeySource(model="m", file=str(each))
        assert TrustRecord().crossing(source, "https://api.example.com/v1")
    other = KeySource(model="m", file=str(home / "my-key"))
    assert TrustRecord().crossing(other, "https://api.example.com/v1") is None


def test_a_key_that_was_used_with_a_single_host_does_not_go_to_another() -> None:
    check_keys([(variable("MY_KEY"), "https://a.example.com/v1")])
    check_keys([(variable("MY_KEY"), "https://a.example.com/v1")])
    check_keys([(variable("MY_KEY"), "http://127.0.0.1:1/v1")])
    with pytest.raises(UserError, match="used MY_KEY with a") as error:
        check_keys([(variable("MY_KEY"), "https://b.example.com/v1")])
    assert "--trust MY_KEY@b.example.com" in error.value.todo


def test_an_accepted_pair_is_recorded_for_this_user_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = [(variable("AWS_SECRET_ACCESS_KEY"), "https://c.example.com/v1")]
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    with pytest.raises(UserError, match="nothing was sent"):
        check_keys(sent)
    assert not TrustRecord.path().exists()
    monkeypatch.setenv(
        trust.VARIABLE, "OTHER@x.org,AWS_SECRET_ACCESS_KEY@c.example.com"
    )
    check_keys(sent)
    monkeypatch.delenv(trust.VARIABLE)
    check_keys(sent)
    path = TrustRecord.path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KEY not in path.read_text()
    kept = json.loads(path.read_text())
    assert kept["keys"]["AWS_SECRET_ACCESS_KEY"] == ["c.example.com"]


@pytest.mark.parametrize(
    "pair", ["all", "AWS_*@c.example.com", "KEY@", "@host", "KEY@*"]
)
def test_no_flag_accepts_everything(monkeypatch: pytest.MonkeyPatch, pair: str) -> None:
    monkeypatch.setenv(trust.VARIABLE, pair)
    with pytest.raises(UserError, match="does not accept a key"):
        check_keys([])


def test_without_a_folder_for_the_record_the_guard_holds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a container whose user has no home folder."""
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    check_keys([(variable("MY_KEY"), "https://a.example.com/v1")])
    printed = capsys.readouterr().out
    assert "accepted keys are not remembered" in printed
    assert str(TrustRecord.path()) in printed and "XDG_STATE_HOME" in printed
    with pytest.raises(UserError, match="nothing was sent"):
        check_keys([(variable("HF_TOKEN"), "https://a.example.com/v1")])


def test_a_damaged_record_is_named() -> None:
    TrustRecord.path().parent.mkdir(parents=True)
    TrustRecord.path().write_text("[]")
    with pytest.raises(UserError, match="record of accepted keys") as error:
        TrustRecord.read()
    assert error.value.where == str(TrustRecord.path())
