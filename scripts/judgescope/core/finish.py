"""Why a model stopped, in every provider's spelling."""

from typing import Final, Literal

Ending = Literal["end", "cut", "filtered", "failed"]
"""How a reply ended: by itself, at a limit, at a filter, or by a fault."""

CUT: Final = frozenset(
    (
        "length",
        "max_tokens",
        "model_length",
        "max_output_tokens",
        "max_completion_tokens",
        "max_length",
        "token_limit",
        "context_window_exceeded",
        "model_context_window_exceeded",
        "incomplete",
        "error_limit",
        "time_limit",
    )
)
"""The reply was longer than it may be: what it says is not its answer."""
FILTERED: Final = frozenset(
    (
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "spii",
        "image_safety",
        "error_toxic",
        "safety",
        "recitation",
        "prohibited_content",
        "blocklist",
        "sensitive",
        "refusal",
    )
)
"""A filter of the provider ended or replaced the reply."""
FAILED: Final = frozenset(
    ("error", "abort", "cancelled", "canceled", "user_cancel", "timeout")
)
"""The server failed or the request ended during the reply."""
ENDED: Final = frozenset(
    (
        "",
        "stop",
        "end_turn",
        "eos",
        "eos_token",
        "stop_sequence",
        "complete",
        "completed",
        "done",
        "finished",
        "end",
        "repetition",
        "tool_calls",
        "tool_use",
        "function_call",
        "unload",
        "load",
    )
)
"""Known names of a reply that is complete; any other name counts as one, too."""


def plain_reason(finish: str | None) -> str:
    """Return a reason to stop as the sets spell it.

    >>> plain_reason("FinishReason.MAX_TOKENS"), plain_reason("Max-Tokens")
    ('max_tokens', 'max_tokens')
    """
    name = (finish or "").strip().lower().rpartition(".")[2]
    return name.removeprefix("finish_reason_").replace("-", "_").replace(" ", "_")


def ending(finish: str | None) -> Ending:
    """Return how a reply ended, from the engine's reason to stop.

    >>> [ending(name) for name in ("stop", "MAX_TOKENS", "Safety", "abort", None)]
    ['end', 'cut', 'filtered', 'failed', 'end']
    """
    if finish == "stop":
        return "end"
    name = plain_reason(finish)
    if name in CUT:
        return "cut"
    if name in FILTERED:
        return "filtered"
    return "failed" if name in FAILED else "end"


def is_unknown(finish: str | None) -> bool:
    """Return whether no provider is known to use this reason to stop.

    >>> is_unknown("stop"), is_unknown("Length"), is_unknown("bored")
    (False, False, True)
    """
    return plain_reason(finish) not in ENDED | CUT | FILTERED | FAILED
