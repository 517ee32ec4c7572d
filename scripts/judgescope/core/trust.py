"""Keys that would cross to a foreign host, and the record of what the user accepted.

A card names both a key's source and the host that receives it, so a card that somebody
else wrote could send a key of this user anywhere.
"""

import json
import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

from judgescope.core.api_keys import KeySource
from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError
from judgescope.core.files import atomic_write, naming_path

VARIABLE = "JUDGESCOPE_TRUST"
"""The environment variable with accepted pairs, `VARIABLE@HOST,…`."""
_AZURE = ("azure.com", "azure-api.net", "windows.net")
_GOOGLE = ("googleapis.com",)
_HUB = ("huggingface.co", "huggingface.cloud", "hf.co", "hf.space")
BOUND: Mapping[str, tuple[str, ...]] = {
    "ANTHROPIC_API_KEY": ("anthropic.com",),
    "AWS_*": ("amazonaws.com", "api.aws"),
    "AZURE_*": _AZURE,
    "CEREBRAS_API_KEY": ("cerebras.ai",),
    "COHERE_API_KEY": ("cohere.com", "cohere.ai"),
    "DASHSCOPE_API_KEY": ("aliyuncs.com",),
    "DEEPSEEK_API_KEY": ("deepseek.com",),
    "FIREWORKS_API_KEY": ("fireworks.ai",),
    "GEMINI_API_KEY": _GOOGLE,
    "GH_*": ("github.com", "github.ai", *_AZURE),
    "GITHUB_*": ("github.com", "github.ai", *_AZURE),
    "GOOGLE_*": _GOOGLE,
    "GROQ_API_KEY": ("groq.com",),
    "HF_*": _HUB,
    "HUGGING_FACE_HUB_TOKEN": _HUB,
    "MISTRAL_API_KEY": ("mistral.ai",),
    "NVIDIA_API_KEY": ("nvidia.com",),
    # many servers speak OpenAI's protocol, so this one is asked about, not refused
    "OPENAI_API_KEY": ("openai.com",),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "PERPLEXITY_API_KEY": ("perplexity.ai",),
    "TOGETHER_API_KEY": ("together.xyz", "together.ai"),
    "XAI_API_KEY": ("x.ai",),
}
"""Variable or pattern -> the domains to which its key belongs."""


class EndpointCrossing(NamedTuple):
    """A key that would be sent to a host to which it does not belong, and why."""

    source: str
    """The variable or the file."""
    host: str
    model: str
    reason: str

    @property
    def pair(self) -> str:
        """Return the pair that accepts it."""
        return f"{self.source}@{self.host}"

    def error(self) -> UserError:
        """Return the refusal."""
        return UserError(
            f"a key would be sent to a foreign host; nothing was sent: {self.reason}",
            where=f"models/{self.model}.yaml",
            got=self.pair,
            todo=f"if you want this: add --trust {self.pair} to the command, or "
            f"export {VARIABLE}={self.pair}",
        )


def source_name(source: KeySource) -> str | None:
    """Return the variable or the file of a key; None for a program."""
    if source.command:
        return None
    return source.variable or source.file


def host_of(url: str) -> str:
    """Return the host of an address as it is looked up: in ASCII and lower case.

    >>> host_of("https://API.example.com/v1")
    'api.example.com'
    >>> host_of("https://api\N{IDEOGRAPHIC FULL STOP}example.com/v1")
    'api.example.com'
    """
    from yarl import URL  # here: `audit` runs without

    # As the HTTP client reads it: other signs than a full stop can part its labels.
    return (URL(url).raw_host or "").removesuffix(".")


def is_public(host: str) -> bool:
    """Return whether a host is not on this machine or in a private network.

    >>> [is_public(h) for h in ("localhost", "10.1.2.3", "node7", "api.example.com")]
    [False, False, False, True]
    """
    try:
        return ip_address(_numbers_of(host)).is_global
    except ValueError:
        return "." in host and not host.endswith((".localhost", ".local"))


def _numbers_of(host: str) -> str:
    """Return the usual form of an IPv4 address, which may be written as one number:
    134744072 is 8.8.8.8; any other host as it is.
    """
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        return host


def _bound_to(source: str) -> tuple[str, ...] | None:
    """Return the domains to which a key belongs; None if it is bound to none."""
    if "/" not in source:
        patterns = [name for name in BOUND if fnmatchcase(source, name)]
        if patterns:
            return BOUND[patterns[0]]
        return None
    path = Path(source).resolve()
    # A file or folder in the home folder -> the domains to which its keys belong.
    bound_files: Mapping[str, tuple[str, ...]] = {
        ".aws": ("amazonaws.com", "api.aws"),
        ".cache/huggingface": _HUB,
        ".config/gcloud": _GOOGLE,
        ".docker": (),
        ".kube": (),
        ".netrc": (),
        ".ssh": (),
    }
    for name, domains in bound_files.items():
        if path.is_relative_to((Path.home() / name).resolve()):
            return domains
    return None


def _belongs(host: str, domains: Iterable[str]) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in domains)


@dataclass
class TrustRecord:
    """What this user accepted: source of a key -> hosts, and hashes of programs."""

    keys: dict[str, list[str]] = field(default_factory=dict)
    programs: list[str] = field(default_factory=list)

    @classmethod
    def path(cls) -> Path:
        """Return the record's file."""
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        return Path(state) / "judgescope" / "trust.json"

    @classmethod
    def read(cls) -> "TrustRecord":
        """Return the record, with the pairs of the variable; raise UserError if it is
        damaged.
        """
        path = cls.path()
        record = cls()
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            for source, hosts in content["keys"].items():
                record.keys[str(source)] = [str(host) for host in hosts]
            record.programs = [str(program) for program in content["programs"]]
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"the record of accepted keys cannot be read: {error}",
                where=str(path),
                todo="delete this file; you are then asked again",
            ) from None
        for source, host in accepted_pairs():
            record.add(source, host)
        return record

    def add(self, source: str, host: str) -> None:
        """Accept a pair."""
        hosts = self.keys.setdefault(source, [])
        if host not in hosts:
            hosts.append(host)

    def remember(self) -> None:
        """Write the record, or print why it cannot be written: the guard holds without
        it, and a container may have no folder for it.
        """
        try:
            self.write()
        except OSError as error:
            print(
                f"accepted keys are not remembered: {error.strerror}: {self.path()}; "
                "set XDG_STATE_HOME to a folder in which you can write",
                flush=True,
            )

    def write(self) -> None:
        """Write the record for this user only; raise OSError if it cannot be
        written.
        """
        path = self.path()
        path.parent.mkdir(parents=True, exist_ok=True)
        known = {source: sorted(hosts) for source, hosts in self.keys.items()}
        text = canonical({"keys": known, "programs": sorted(self.programs)}) + "\n"
        with atomic_write(path) as part, naming_path(path):
            part.touch(mode=0o600)
            part.write_text(text, encoding="utf-8")

    def crossing(self, source: KeySource, url: str) -> EndpointCrossing | None:
        """Return why a key does not belong to the host of an address, or None."""
        name = source_name(source)
        host = host_of(url)
        if name is None or not is_public(host) or host in self.keys.get(name, []):
            return None
        domains = _bound_to(name)
        reason = ""
        if domains is not None and not _belongs(host, domains):
            of = " and ".join(domains) or "other programs"
            reason = f"{name} belongs to {of}, not to {host}"
        elif domains is None and name in self.keys:
            known = ", ".join(self.keys[name])
            reason = f"you have used {name} with {known} only, not with {host}"
        if reason:
            return EndpointCrossing(name, host, source.model, reason)
        return None


def accepted_pairs() -> list[tuple[str, str]]:
    """Return the pairs in the variable JUDGESCOPE_TRUST; raise UserError for others."""
    pairs = []
    for pair in filter(None, os.environ.get(VARIABLE, "").split(",")):
        source, _, host = pair.strip().rpartition("@")
        if not source or not host or "*" in pair:
            raise UserError(
                "this does not accept a key for a host",
                where=f"--trust or {VARIABLE}",
                got=pair,
                allowed="VARIABLE@HOST, for one variable or file and one host",
            )
        pairs.append((source, host.lower()))
    return pairs


def check_keys(sources: Iterable[tuple[KeySource, str]]) -> None:
    """Raise UserError for the first key that would cross to a foreign host; record the
    others.

    sources: the source of each key, and the address that receives it.
    """
    record = TrustRecord.read()
    public = []
    for pair in sources:
        if is_public(host_of(pair[1])):
            public.append(pair)
    for source, url in public:
        if crossing := record.crossing(source, url):
            raise crossing.error()
    before = canonical(record.keys)
    for source, url in public:
        if name := source_name(source):
            record.add(name, host_of(url))
    if canonical(record.keys) != before or accepted_pairs():
        record.remember()
