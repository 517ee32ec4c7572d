"""How probable a real llama.cpp server finds given texts; its model knows bytes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import llama
from judgescope.engines.factory import asking, settled
from judgescope.engines.llama import LlamaServer
from judgescope.engines.llama_scores import TokenRun, run_values, token_runs
from judgescope.engines.requests import Reply, Request, Work, request_of
from judgescope.engines.served import ServedEngine
from judgescope.schema.cards import Decoding, LlamaModel

llama.require()

CARD = {"model": "tiny", "engine": "llama", "path": "random.gguf", "context": 512}
PROMPT = [{"role": "user", "content": "Write a reply."}]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedEngine]:
    folder = tmp_path_factory.mktemp("weights")
    llama.write_random_gguf(folder / "random.gguf")
    card = settled(LlamaModel.model_validate(CARD), folder, folder)
    engine = asking(card)
    assert isinstance(engine, ServedEngine)
    yield engine
    server = engine.server
    assert isinstance(server, LlamaServer)
    server.close()


def asked(served: ServedEngine, limit: int, **wants: Any) -> Request:
    return request_of(
        served.card, Decoding(max_tokens=limit), PROMPT, seed=0, wants=wants
    )


def reply_to(served: ServedEngine, request: Request) -> Reply:
    result = list[Reply]()
    failures = served([Work(request, (0,))], True, result.append)
    assert not failures
    [reply] = result
    assert reply.key == request.key
    return reply


def score(served: ServedEngine, text: str, limit: int = 40) -> Reply:
    return reply_to(served, asked(served, limit, continuation=text))


def tokens_of(reply: Reply) -> list[str]:
    """Return the tokens of a scored text."""
    return [token for [(token, _)] in reply.logprobs or []]


def values_of(reply: Reply) -> list[float]:
    """Return the log probabilities of a scored text's tokens."""
    return [value for [(_, value)] in reply.logprobs or []]


def test_text_has_the_values_with_which_the_model_writes_it(
    served: ServedEngine,
) -> None:
    """The server reports values as they were before a grammar, whichever it is."""
    written = asked(served, 24, logprobs=1)
    fields = {"grammar": "root ::= [a-z ]{24}"}
    reply = reply_to(served, written.sent_as({**written.asked, "extra_body": fields}))
    assert reply.logprobs is not None and len(reply.text) == 24
    values = [entry[0] for entry in reply.logprobs]
    result = score(served, reply.text)
    assert result.text == reply.text and result.finish == "stop"
    assert tokens_of(result) == [token for token, _ in values]
    assert values_of(result) == pytest.approx([value for _, value in values])
    assert result.usage is not None and result.usage["completion"] == 24
    assert result.provenance == reply.provenance


@pytest.mark.parametrize(
    "text",
    [
        "  Leading blanks,\n\n\nruns of line breaks\tand tabs ",
        "<|im_end|> and <think>thought</think>",
        '{"rating": 5}',
        "\\n is no line break",
    ],
)
def test_any_text_of_single_tokens_comes_back_byte_for_byte(
    served: ServedEngine, text: str
) -> None:
    result = score(served, text, limit=80)
    assert (result.status, result.text) == ("ok", text)
    assert result.logprobs is not None
    assert "".join(entry[0][0] for entry in result.logprobs) == text
    assert all(len(entry) == 1 for entry in result.logprobs)


def test_only_the_first_tokens_are_scored(served: ServedEngine) -> None:
    long = score(served, "abcdefgh" * 5, limit=12)
    assert long.text == "abcdefghabcd"
    result = score(served, "abcdefgh" * 5, limit=40)
    assert tokens_of(long) == tokens_of(result)[:12]
    assert values_of(long) == pytest.approx(values_of(result)[:12])


def test_split_characters_have_no_values(served: ServedEngine) -> None:
    """A model of bytes splits every character beyond ASCII."""
    result = score(served, "a naïve 😀!")
    assert (result.status, result.text) == ("ok", "a naïve 😀!")
    assert result.logprobs is not None
    assert [len(entry) for entry in result.logprobs] == [
        *(1, 1, 1, 1),
        *(0, 0),
        *(1, 1, 1),
        *(0, 0, 0, 0),
        1,
    ]


def test_character_that_is_cut_is_left_out(served: ServedEngine) -> None:
    assert score(served, "naïve", limit=3).text == "na"


def test_text_without_tokens_asks_nothing(served: ServedEngine) -> None:
    result = score(served, "")
    assert (result.status, result.text, result.logprobs) == ("ok", "", [])


def test_full_context_is_an_error_that_says_so(served: ServedEngine) -> None:
    result = score(served, "a" * 600, limit=600)
    assert result.status == "error"
    assert "context" in result.text


def test_other_text_than_the_given_one_is_no_reply(served: ServedEngine) -> None:
    scorer = served._scorer
    request = asked(served, 40, continuation="abc")
    sent = scorer.prepared(request)
    assert isinstance(sent, Request) and sent.key == request.key
    other = Reply(request.key, 0, "abd", logprobs=[[("a", -1.0)]])
    result = scorer.scored(other)
    assert (result.status, result.finish) == ("error", "not_reproduced")
    assert result.text.startswith("not reproduced: 'abd'")
    assert result.logprobs is None


def test_reply_with_other_tokens_has_no_values() -> None:
    runs = [TokenRun("ab", (1,)), TokenRun("Ç", (2, 3)), TokenRun("d", (4,))]
    good = [[("ab", -1.0)], [("Ç", -2.0)], [("d", -3.0)]]
    assert run_values(runs, good) == [[("ab", -1.0)], [], [], [("d", -3.0)]]
    letters = [[("a", -1.0)], [("b", -1.0)], *good[1:]]
    assert run_values(runs, letters) is None
    assert run_values(runs, good[:2]) is None
    assert run_values(runs, [*good, [("e", -1.0)]]) is None
    assert run_values(runs, [*good, [("", -1.0)]]) is not None


def test_quotes_in_a_split_run_are_escaped() -> None:
    tokens = [{"id": 1, "piece": [34, 195]}, {"id": 2, "piece": [135, 92]}]
    [run] = token_runs(tokens, 40)
    assert run.text == '"Ç\\'
    assert run.term == '"\\"Ç\\\\"'


def test_same_text_asks_once_and_another_limit_asks_again(
    served: ServedEngine,
) -> None:
    first = asked(served, 40, continuation="abc")
    assert first.key == asked(served, 40, continuation="abc").key
    assert first.key != asked(served, 24, continuation="abc").key
    assert first.key != asked(served, 40, continuation="abd").key
    assert replace(first, draws=1) == first
