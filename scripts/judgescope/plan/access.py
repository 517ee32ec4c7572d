"""What a run of a study contacts, starts, reads and writes, as lines; and the guard on
keys that cross to a foreign host.
"""

import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from judgescope.core import trust
from judgescope.core.api_keys import KeySource
from judgescope.core.canonical import canonical
from judgescope.core.errors import UserError, coded
from judgescope.core.paths import HOME
from judgescope.data.files import HasFiles, absolute, resolve
from judgescope.engines.factory import FILES_NAMED, located
from judgescope.plan.study import Plan
from judgescope.schema import cards


class OutsideAction(NamedTuple):
    """One thing that a run does outside its folder: the kind, and what exactly."""

    kind: str
    """contacts, runs, reads or stores."""
    what: str

    def __str__(self) -> str:
        """Return the line that is printed."""
        return coded(f"  {self.kind:<9}{self.what}")


class Program(NamedTuple):
    """A program that a card names: its words, its model, and a hash of its files."""

    words: list[str]
    model: str
    digest: str
    is_shipped: bool


def access(plan: Plan) -> list[OutsideAction]:
    """Return what a run contacts, runs, reads and stores; start and send nothing."""
    lines = {*_contacts(plan), *_programs_shown(plan), *_reads(plan)}
    lines.add(OutsideAction("stores", str(plan.study.store)))
    order = ("contacts", "runs", "reads", "stores")
    return sorted(lines, key=lambda line: (order.index(line.kind), line.what))


def endpoints(plan: Plan, models: Iterable[str]) -> list[cards.EndpointModel]:
    """Return the endpoints among some models, with absolute paths."""
    endpoints = list[cards.EndpointModel]()
    for name in models:
        card = plan.models[name]
        if isinstance(card, cards.EndpointModel):
            folder = Path(plan.folders["model", name])
            endpoints.append(located(card, folder, Path(plan.study.data)))
    return endpoints


def keys_sent(plan: Plan, models: Iterable[str]) -> list[tuple[KeySource, str]]:
    """Return the sources of keys, and the addresses that receive them."""
    pairs = []
    for card in endpoints(plan, models):
        if card.key_source:
            pairs.append((card.key_source, card.base_url))
        if card.proxy_auth and card.proxy:
            pairs.append((card.proxy_auth, card.proxy))
    return pairs


def _contacts(plan: Plan) -> Iterator[OutsideAction]:
    by_host: dict[tuple[str, str], list[str]] = {}
    for card in endpoints(plan, plan.models):
        key = _source_shown(card.key_source)
        by_host.setdefault((_host_and_port(card.base_url), key), []).append(card.model)
        if card.proxy:
            login = _source_shown(card.proxy_auth)
            proxied = by_host.setdefault((_host_and_port(card.proxy), login), [])
            proxied.append(f"{card.model} (proxy)")
    for (host, key), models in by_host.items():
        yield OutsideAction(
            "contacts", f"{host} (models {', '.join(sorted(models))}; {key})"
        )


def _host_and_port(url: str) -> str:
    address = urlsplit(url)
    port = address.port or (443 if address.scheme == "https" else 80)
    return f"{address.hostname}:{port}"


def _source_shown(source: KeySource) -> str:
    if source.command:
        return "key from a program"
    if source.file:
        return f"key from file {source.file}"
    if source.variable:
        state = "not set"
        if os.environ.get(source.variable):
            state = "set"
        return f"key from variable {source.variable}, {state}"
    return "no key"


def programs(plan: Plan, models: Iterable[str] | None = None) -> Iterator[Program]:
    """Yield every program that a run starts because a card names it.

    models: those whose programs are meant; None: all of the study's.
    """
    for name in plan.models if models is None else models:
        card = plan.models[name]
        folder = Path(plan.folders["model", name])
        is_shipped = folder.resolve().is_relative_to((HOME / "config").resolve())
        if isinstance(card, cards.ProgramModel):
            hashes = _hashes(card, folder, Path(plan.study.data))
            words = [_with_paths(word, card) for word in card.words]
        elif isinstance(card, cards.EndpointModel) and card.token_command:
            hashes = {}
            words = card.token_command
        else:
            continue
        content = canonical([str(Path.cwd()), words, hashes])
        digest = hashlib.sha256(content.encode()).hexdigest()
        yield Program(words, name, digest, is_shipped)


def _with_paths(word: str, card: cards.ProgramModel) -> str:
    """Return an argument with the paths of the card's files."""
    for role, file in card.files.items():
        word = word.replace(f"{{{role}}}", str(file))
    return word


def _hashes(card: cards.ProgramModel, folder: Path, data: Path) -> dict[str, str]:
    """Return path -> hash of a program's files; missing ones are left out."""
    hashes = {}
    for role in card.files:
        try:
            files = resolve(card.files, role, folder, data)
        except UserError:  # the check of the card's files reports it
            continue
        for path, _ in files:
            hashes[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashes


def _programs_shown(plan: Plan) -> Iterator[OutsideAction]:
    for program in programs(plan):
        card = plan.models[program.model]
        about = f"model {program.model}"
        if isinstance(card, cards.ProgramModel) and card.env:
            about += f"; it sees the variables {', '.join(card.env)}"
        if isinstance(card, cards.EndpointModel):
            known = "not found"
            if shutil.which(program.words[0]):
                known = "exists"
            about += f"; prints its key; {known}"
        yield OutsideAction("runs", f"{shlex.join(program.words)} ({about})")


def _reads(plan: Plan) -> Iterator[OutsideAction]:
    """Yield the files outside the study's folder and the product's, and hubs."""
    data = Path(plan.study.data)
    for kind, name, card in plan.all_cards():
        if kind not in ("dataset", "model"):  # the kinds whose cards name files
            continue
        folder = Path(plan.folders[kind, name])
        paths: list[str] = []
        if isinstance(card, HasFiles):
            for file in card.files.values():
                if isinstance(file, cards.Hub):
                    yield OutsideAction("reads", f"hub {file}")
                elif not file.startswith("package:"):
                    paths.append(file)
        if isinstance(card, cards.EndpointModel):
            named = [getattr(card, key, None) for key in FILES_NAMED]
            paths += [path for path in named if path]
        if isinstance(card, cards.VllmModel):
            if card.path:
                paths.append(card.path)
            else:
                revision = card.revision or "its newest revision"
                yield OutsideAction("reads", f"hub {card.name} at {revision}")
        for path in paths:
            full = Path(absolute(path, folder, data))
            if not any(_is_below(full, home) for home in (Path.cwd(), HOME)):
                yield OutsideAction("reads", str(full))


def _is_below(path: Path, folder: Path) -> bool:
    # links are followed: a link in the folder may lead outside
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_keys(plan: Plan, models: Iterable[str]) -> None:
    """Raise UserError if the key of a model would cross to a foreign host."""
    trust.check_keys(keys_sent(plan, models))


def admit(
    plan: Plan, agrees: Callable[[str], bool], models: Iterable[str] | None = None
) -> None:
    """Ask on a terminal about keys that cross to a foreign host and about new programs.

    agrees(question): the user's answer. Without a terminal, such keys are refused.
    models: those that are asked; None: all of the study's. Raises UserError if the user
    says no.
    """
    models = list(plan.models if models is None else models)
    record = trust.TrustRecord.read()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        check_keys(plan, models)
        return
    crossings = {}
    for source, url in keys_sent(plan, models):
        crossing = record.crossing(source, url)
        if crossing:
            crossings[crossing.pair] = crossing
    for crossing in crossings.values():
        print(f"{crossing.reason} (models/{crossing.model}.yaml)")
        if not agrees(f"Send the key of {crossing.source} to {crossing.host}?"):
            raise crossing.error()
        record.add(crossing.source, crossing.host)
    for program in programs(plan, models):
        if program.is_shipped or program.digest in record.programs:
            continue
        print(
            f"new program of models/{program.model}.yaml: {shlex.join(program.words)}"
        )
        if not agrees("Let this study run it?"):
            raise UserError(
                "the program was not accepted; nothing was sent",
                where=f"models/{program.model}.yaml",
                got=shlex.join(program.words),
                todo="read the program and its card, and run again",
            )
        record.programs.append(program.digest)
    if crossings or record.programs:
        record.remember()
    check_keys(plan, models)
