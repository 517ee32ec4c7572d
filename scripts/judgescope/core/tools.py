"""Tools that a model may call: those that take a verdict, and others."""

import re


def is_other_tool(name: str) -> bool:
    """Return whether a tool of this name does something else than judge.

    >>> is_other_tool("web_search"), is_other_tool("submit_score")
    (True, False)
    """
    # Names of tools that do something else than judge.
    other_tool = re.compile(
        r"search|look_?up|find|retriev|fetch|browse|brows|query|crawl|calculat|python"
        r"|execut|run_|open_|read_|get_|web|wiki",
        re.IGNORECASE,
    )
    return other_tool.search(name) is not None
