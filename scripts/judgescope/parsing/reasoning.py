"""Where a reply stops thinking: the marks of reasoning, and what is left without it.

Three kinds of mark are known, each with one list: tags (`<think>`), channels (the
Harmony format, `<|channel|>analysis`), and headings on a line (`Thinking:`).
"""

import re
from functools import cache
from typing import Final, NamedTuple

from judgescope.parsing.characters import without_invisible
from judgescope.parsing.judgment import Judgment

THOUGHTS: Final = (
    r"think(?:ing)?(?:[_ -]process)?",
    r"(?:inner[_ -]|internal[_ -])?thoughts?(?:[_ -]process)?",
    r"ant_?thinking",
    r"(?:begin|end)_of_thought",
    r"seed:think",
    r"chain[_ -]of[_ -]thoughts?",
    r"cot",
    r"step[_ -]by[_ -]step",
    r"scratch[_ -]?pad",
    r"(?:inner|internal)[_ -]?(?:monologue|voice|reasoning)",
    r"monologue",
    r"internal",
    r"deliberat(?:e|ion)",
    r"brainstorm(?:ing)?",
    r"ponder(?:ing)?",
    r"contemplat(?:e|ion|or)",
    r"planning",
    r"hidden",
    r"draft",
)
"""Names of tags around thoughts, as patterns of folded text: nobody is to read them."""
REASONS: Final = (
    r"reason(?:ing|s)?(?:[_ -](?:process|steps?|trace|content))?",
    r"rationale",
    r"explanation",
    r"justification",
    r"feedback",
    r"comments?",
    r"reflect(?:ions?|ing)?",
    r"(?:self[_ -])?(?:critiques?|criticism|reflection|check)",
    r"analy[sz]e",
    r"analysis",
    r"work(?:ing)?s?",
    r"notes",
    r"evaluation[_ -](?:process|steps?)",
)
"""Names of tags around the reasons of an answer: they hold no verdict either, but they
are the rationale."""
_BEFORE = r"(?:(?!final|overall|total)[a-z]{1,12}[_-]){0,3}?"
"""Words before a name in a tag: `<evaluation_thoughts>`, `<step_by_step_analysis>`."""
_BEHIND = r"(?:[_-](?:process|steps?|trace|content|section|summary))?"
_NAME = (
    rf"(?P<thought>{_BEFORE}(?:{'|'.join(THOUGHTS)}){_BEHIND})"
    rf"|(?P<reason>{_BEFORE}(?:{'|'.join(REASONS)}){_BEHIND})"
)
_OPENS = r"<\|?|\[|&lt;|◁"
_CLOSES = r"\|?>|\]|&gt;|▷"
_TAG = (
    rf"(?:{_OPENS})(?P<closing>[/\\]?)\s?(?P<name>{_NAME})"
    r"(?:\s[^<>\[\]\n]{0,80}?)?\s?(?P<empty>/?)"
    rf"(?:{_CLOSES})"
)
_BARE_NAMES: Final = frozenset(("think", "thinking", "thought"))
"""The names that may stand in square brackets: `[analysis]` is a heading."""
_MAY_RATE: Final = frozenset(
    ("reason", "reasons", "rationale", "explanation", "justification", "feedback",
     "comment", "comments", "notes")
)  # fmt: skip
"""Blocks that may hold the verdict if nothing stands outside of them."""
_UNUSED = re.compile(r"<unused94>\s{0,2}(?:thought\n)?(?s:.*?)(?:<unused95>|\Z)")
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(?P<channel>[a-z_]{1,20})[^<]{0,80}(?:<\|[a-z]+\|>[^<]{0,40})?"
    r"<\|message\|>"
)
_MARK_OF_TURN = re.compile(
    r"<\|(?:start|end|return|call|message)\|>(?:assistant\b)?"
    r"|<\|(?:begin|end)_of_solution\|>"
)
_LOST_CHANNELS = re.compile(
    r"\A\s*(?:assistant\s?)?(?:analysis|commentary).*assistant\s?final"
    r"(?:\s?:)?(?=\W|[A-Za-z0-9])",
    re.DOTALL,
)
"""The channels without their marks, as a tokenizer that skips special tokens writes
them: `analysis…assistantfinal…`."""
_DONE = re.compile(
    r"\A\s*thinking(?:\.{3}|…)[ \t]*\n.*?\n[ \t]*(?:\.{3}|…)\s?done thinking[.…]*",
    re.DOTALL | re.IGNORECASE,
)
_HEADING = re.compile(
    r"\A[ \t#*_]{0,6}(?:(?:my\s+)?(?:thinking|thoughts?|reasoning|internal)"
    r"(?:[ \t]+(?:process|steps?|trace|out loud|aloud|monologue))?)"
    r"[ \t]{0,2}[*_]{0,3}(?::|\.{3}|…)[*_]{0,3}(?:[ \t]|\n|\Z)",
    re.IGNORECASE,
)
_HEADED = re.compile(
    r"[ \t#*_]{0,6}(?:my |think|thought|reasoning|internal)",
    re.IGNORECASE,
)
"""How a reply begins if only a heading marks its reasoning."""
_BREAK = re.compile(r"\n[ \t]*\n")
_USER_TURN = (
    r"(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|start\|>)\s*user\b"
    r"|<\|user\|>|(?:<s>\s*)?\[INST\]"
)
_END_OF_TURN = re.compile(
    r"(?:<\|(?:im_end|eot_id|end|end_of_text|endoftext|eom_id)\|>|</s>|"
    r"<end_of_turn>)\s*"
    rf"(?:\Z|{_USER_TURN})",
    re.IGNORECASE,
)


class Thought(NamedTuple):
    """A reply in its parts.

    answer: the text without reasoning; reasoning: the blocks that were cut, None
    without any; reasons: those of them that explain the answer (`<explanation>`);
    unclosed: whether the reply ends within a thought.
    """

    answer: str
    reasoning: str | None = None
    reasons: str | None = None
    unclosed: bool = False


class _Cut(NamedTuple):
    """What has been cut from a reply: thoughts, and reasons of the answer."""

    thoughts: list[str]
    reasons: list[str]

    def beside(self, answer: str, *, unclosed: bool = False) -> Thought:
        """Return the parts of a reply with this answer."""
        reasons = _joined(self.reasons)
        reasoning = _joined(self.thoughts + self.reasons)
        return Thought(answer, reasoning, reasons, unclosed)


def _joined(parts: list[str]) -> str | None:
    kept = [part.strip() for part in parts]
    return "\n\n".join(part for part in kept if part) or None


def split_reasoning(text: str) -> Thought:
    """Return the answer and the reasoning of a reply.

    A closing tag without an opening one ends a block that the prompt opened: the text
    before it is reasoning. Of channels only the last `final` one is the answer. An
    end-of-turn token ends the text if it ends the reply or a user turn follows: a user
    turn that the model invents, and its reply to that, are not part of the answer.

    >>> split_reasoning("<think>A 2?</think>Rating: 3").answer
    'Rating: 3'
    >>> split_reasoning("<|channel|>analysis<|message|>2?<|channel|>final<|message|>3")
    Thought(answer='3', reasoning='2?', reasons=None, unclosed=False)
    """
    marked = "<" in text or "[" in text or "◁" in text or "&lt;" in text
    if not marked:  # most replies have no tag or token
        text = text.strip()
        if not _may_be_headed(text):
            return Thought(text)
    cut = _Cut([], [])
    if not marked:
        return _without_headings(text, cut)
    end = _END_OF_TURN.search(text)
    if end and text[: end.start()].strip():
        text = text[: end.start()]
    if "<|channel|>" in text:
        text, unclosed = _last_channel(text, cut)
        if unclosed:
            return cut.beside(text, unclosed=True)
    if "<unused94>" in text:
        cut.thoughts.extend(_UNUSED.findall(text))
        text = _UNUSED.sub("", text)
    text, unclosed = _without_blocks(text, cut)
    text = _MARK_OF_TURN.sub("", text).strip()
    if unclosed:
        return cut.beside(text, unclosed=True)
    return _without_headings(text, cut)


def _may_be_headed(text: str) -> bool:
    """Return whether a heading, or a channel without its marks, may begin a text."""
    return _HEADED.match(text) is not None or "assistant" in text


def _last_channel(text: str, cut: _Cut) -> tuple[str, bool]:
    """Return the message of the last `final` channel, and whether there is none.

    A commentary channel with a call (`to=functions.grade`) is a message, too.
    """
    marks = list(_CHANNEL.finditer(text))
    if not marks:
        return text, False
    answer = call = None
    ends = [mark.start() for mark in marks[1:]]
    ends.append(len(text))
    for mark, end in zip(marks, ends, strict=True):
        message = _MARK_OF_TURN.sub("", text[mark.end() : end]).strip()
        if mark["channel"] == "final":
            answer = message
        elif "to=" in mark[0]:
            call = message
        else:
            cut.thoughts.append(message)
    if answer is None:
        answer = call
    if answer is None:
        return text[: marks[0].start()], True
    return answer, False


@cache
def _tag() -> re.Pattern[str]:
    """Compile at the first use: this takes as long as a small import."""
    return re.compile(_TAG, re.IGNORECASE)


def _without_blocks(text: str, cut: _Cut) -> tuple[str, bool]:
    """Return the text without its tagged blocks, and whether a thought is unclosed.

    A reason that is unclosed, or outside of which nothing stands, stays.
    """
    tags = [tag for tag in _tag().finditer(text) if _is_mark(tag)]
    if not tags:
        return text, False
    kept: list[str] = []
    opened: re.Match[str] | None = None
    start = 0
    for tag in tags:
        if opened and _family(tag) != _family(opened):
            continue
        if tag["closing"] or tag["name"].lower() == "end_of_thought":
            if opened is None:
                if tag["reason"]:
                    continue
                cut.thoughts.extend(kept)
                kept.clear()
            block = text[start : tag.start()]
            (cut.reasons if tag["reason"] else cut.thoughts).append(block)
            opened = None
            start = tag.end()
        elif opened is None:
            kept.append(text[start : tag.start()])
            start = tag.end()
            if not tag["empty"]:
                opened = tag
    rest = text[start:]
    if opened and opened["thought"]:
        cut.thoughts.append(rest)
        return "".join(kept), True
    kept.append(rest)
    answer = "".join(kept)
    if not answer.strip() and any(tag["name"].lower() in _MAY_RATE for tag in tags):
        answer = "\n".join(cut.reasons)
        cut.reasons.clear()
    return answer, False


def _is_mark(tag: re.Match[str]) -> bool:
    """Return whether a tag marks reasoning; `[analysis]` is a heading."""
    if tag[0][0] != "[":
        return True
    return tag["name"].lower() in _BARE_NAMES


def _family(tag: re.Match[str]) -> str:
    """Return the name that an opening and a closing tag share.

    All thoughts share one: models write `<thinking>…</think>`.
    """
    if tag["thought"]:
        return "thought"
    return tag["name"].lower()


def _without_headings(text: str, cut: _Cut) -> Thought:
    """Return the text without reasoning that only a heading at its start marks."""
    lost = None
    if "assistant" in text:
        lost = _LOST_CHANNELS.match(text)
    done = lost or _DONE.match(text)
    if done:
        cut.thoughts.append(done[0])
        return cut.beside(text[done.end() :].strip())
    heading = _HEADING.match(text)
    paragraph = heading and _BREAK.search(text, heading.end())
    rest = ""
    if paragraph:
        rest = text[paragraph.end() :].strip()
    if rest and paragraph:
        cut.thoughts.append(text[: paragraph.start()])
        return cut.beside(rest)
    return cut.beside(text)


def without_reasoning(text: str) -> tuple[str, bool]:
    """Return the text without its reasoning blocks, and whether the last block is
    unclosed.
    """
    thought = split_reasoning(text)
    return thought.answer, thought.unclosed


def answer_of(text: str, *, plain: bool = False) -> str | Judgment:
    """Return the text without reasoning, or a judgment if the reply has no answer.

    plain: whether the text is known to have no character of markup (`is_plain`).
    """
    if plain:
        answer = text.strip()
        if answer and not _may_be_headed(answer):
            return answer
    thought = split_reasoning(without_invisible(text))
    if thought.unclosed:
        return Judgment("truncated", "unclosed_reasoning")
    return thought.answer or Judgment("empty", "only_reasoning")
