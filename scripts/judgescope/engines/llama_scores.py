"""How probable llama.cpp finds a given text: a grammar of its tokens leads the model.

llama.cpp's server gives no probabilities of a prompt's tokens. A grammar that allows
one token at each place makes the model write the text in a single request, and the
server reports each token's log probability as it was before the grammar. A grammar of
characters would not do: the model then spells words letter by letter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from judgescope.engines.requests import (
    CONTINUATION,
    Logprobs,
    Reply,
    Request,
    not_reproduced,
)
from judgescope.engines.served import LocalServer


class TokenRun(NamedTuple):
    """Whole characters of a text, and the tokens that spell them.

    It has several tokens where the tokenizer splits a character: most Chinese
    characters and emoji with small vocabularies.
    """

    text: str
    ids: tuple[int, ...]

    @property
    def term(self) -> str:
        """Return the part of the grammar that allows only this run.

        The server refuses token terms for parts of a character. A quoted string leaves
        it to the model how to spell the characters, so that the values are unusable.
        """
        if len(self.ids) == 1:
            return f"<[{self.ids[0]}]>"
        # Characters of a quoted string that a grammar spells in another way.
        escapes = {
            ord('"'): '\\"',
            ord("\\"): "\\\\",
            ord("\n"): "\\n",
            ord("\r"): "\\r",
        }
        return f'"{self.text.translate(escapes)}"'

    @property
    def most_tokens(self) -> int:
        """Return the most tokens in which a model can write it: one for each byte."""
        if len(self.ids) == 1:
            return 1
        return len(self.text.encode())


def token_runs(tokens: Sequence[Mapping[str, Any]], limit: int) -> list[TokenRun]:
    """Return the first tokens of a text, as the server lists them, in runs.

    A character whose last token is beyond `limit` tokens is left out.

    >>> token_runs([{"id": 5, "piece": "a"}, {"id": 7, "piece": [195]}], 40)
    [TokenRun(text='a', ids=(5,))]
    >>> token_runs([{"id": 7, "piece": [195]}, {"id": 8, "piece": [135]}], 40)
    [TokenRun(text='Ç', ids=(7, 8))]
    """
    runs = list[TokenRun]()
    ids = list[int]()
    spelled = b""
    for token in tokens[:limit]:
        piece = token["piece"]
        spelled += piece.encode() if isinstance(piece, str) else bytes(piece)
        ids.append(token["id"])
        try:
            runs.append(TokenRun(spelled.decode(), tuple(ids)))
        except UnicodeDecodeError:
            continue
        ids = []
        spelled = b""
    return runs


def run_values(runs: Sequence[TokenRun], logprobs: Logprobs) -> Logprobs | None:
    """Return one entry a token of the runs; None if the reply's tokens are others.

    Tokens that split a character have empty entries: the server reports only the last
    of those that the model wrote, which may be others.
    """
    values: Logprobs = []
    written = iter(logprobs)
    for run in runs:
        if len(run.ids) == 1:
            entry = next(written, None)
            if entry is None or entry[0][0] != run.text:
                return None
            values.append([entry[0]])
            continue
        if _spelled(written, len(run.text)) != run.text:
            return None
        values += [[] for _ in run.ids]
    # After a quoted string the model may have room for its end token.
    if any(entry[0][0] for entry in written):
        return None
    return values


def _spelled(written: Iterator[list[tuple[str, float]]], length: int) -> str:
    """Return the text of the next tokens, at least `length` characters if there are."""
    text = ""
    while len(text) < length:
        entry = next(written, None)
        if entry is None:
            break
        text += entry[0][0]
    return text


class LlamaScorer:
    """Asks a llama.cpp server for the probabilities of given texts."""

    def __init__(self, server: LocalServer) -> None:
        self._server = server
        self._runs: dict[str, list[TokenRun]] = {}
        """Key of a request under way -> the tokens of its text."""

    def prepared(self, request: Request) -> Request | Reply:
        """Return the request with the grammar of its text's tokens; of a text without
        tokens, the reply.
        """
        text = request.asked[CONTINUATION]
        runs = token_runs(self._tokens(text), request.asked["max_tokens"])
        part = "".join(run.text for run in runs)
        nothing = Reply(request.key, 0, part, usage={"prompt": 0, "completion": 0})
        if not text.startswith(part):
            return not_reproduced(nothing, f"the tokenizer reads the text as {part!r}")
        if not runs:
            return replace(nothing, logprobs=[])
        self._runs[request.key] = runs
        fields = {
            **request.asked["extra_body"],
            "grammar": "root ::= " + " ".join(run.term for run in runs),
            # Else the server would take a `<think>` in the text for the model's.
            "reasoning_format": "none",
        }
        asked = {
            **request.asked,
            "extra_body": fields,
            "logprobs": 1,
            "max_tokens": sum(run.most_tokens for run in runs),
        }
        return request.sent_as(asked)

    def scored(self, reply: Reply) -> Reply:
        """Return the reply with one entry a token; an error if it is not the text."""
        runs = self._runs.pop(reply.key)
        part = "".join(run.text for run in runs)
        values = run_values(runs, reply.logprobs or [])
        # Templates with a place for thoughts lose blanks at the beginning of a message;
        # the tokens still have them.
        if reply.text.lstrip() != part.lstrip():
            return not_reproduced(reply, f"{reply.text!r} in place of {part!r}")
        if values is None:
            return not_reproduced(reply, f"other tokens than those of {part!r}")
        usage = reply.usage and {**reply.usage, "completion": len(values)}
        return replace(reply, text=part, finish="stop", usage=usage, logprobs=values)

    def _tokens(self, text: str) -> list[dict[str, Any]]:
        """Return the tokens of a text alone; control tokens in it are characters."""
        body = {
            "content": text,
            "add_special": False,
            "parse_special": False,
            "with_pieces": True,
        }
        tokens: list[dict[str, Any]] = self._server.post("tokenize", body)["tokens"]
        return tokens
