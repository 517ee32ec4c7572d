"""Snakemake whose dry run names rules and resources, though rules have a `message`.

`python tests/support/unworded.py -n …` is `snakemake -n …`: Snakemake prints the
message of a job in place of its rule, wildcards and resources.
"""

from typing import Any

from snakemake import cli, logging

_WITH_MESSAGE = logging.DefaultFormatter.format_job_info


def _without_message(self: logging.DefaultFormatter, msg: dict[str, Any]) -> str:
    printed: str = _WITH_MESSAGE(self, {**msg, "rule_msg": None})
    return printed


if __name__ == "__main__":
    logging.DefaultFormatter.format_job_info = _without_message
    cli.main()
