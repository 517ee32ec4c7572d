"""What an audit says as commands of a CI runner: at a file and line, without texts.

GitHub's runner reads `::error file=F,line=L::message` from the log of a step; it shows
ten annotations of each kind. A line of data that looks like a command would be one, so
line breaks and per cent signs are escaped, and in properties also colons and commas.
"""

from collections.abc import Iterator
from pathlib import Path

from judgescope.cli.audit.findings import AuditFindings
from judgescope.cli.terminal import plain, with_commas
from judgescope.core.errors import UserError, UserErrors
from judgescope.methods.claims.base import BAR
from judgescope.report.claims import ReportedClaim
from judgescope.report.sections.sentences import BARS, number
from judgescope.statistics.verdict import Outcome


def escaped_data(text: str) -> str:
    r"""Return a message that a runner reads as one line.

    >>> escaped_data("50 %\n::error::no")
    '50 %25%0A::error::no'
    """
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """Return the value of a property, such as a file's name.

    >>> escaped_property("a,b:c.csv")
    'a%2Cb%3Ac.csv'
    """
    return escaped_data(text).replace(":", "%3A").replace(",", "%2C")


def command(level: str, file: str, line: int | None, message: str) -> str:
    """Return a command that annotates a line of a file."""
    position = f"file={escaped_property(file)}"
    if line is not None:
        position += f",line={line}"
    return f"::{level} {position}::{escaped_data(message)}"


def of_findings(findings: AuditFindings) -> Iterator[str]:
    """Yield a command for each bar that is not met, then for the rows to read."""
    file = _shown(findings.draft.table.file)
    # Outcome of a bar -> the kind of its annotation, "" for none; of others a warning.
    level_of = {Outcome.MEETS: "", Outcome.MISSES: "error"}
    for judge, of_judge in findings.claims.items():
        for claim in of_judge:
            level = level_of.get(claim.outcome, "warning")
            if claim.kind.startswith(BAR) and level:
                yield command(level, file, None, _bar(findings.named(judge), claim))
    for row in findings.rows_to_read:
        message = (
            f"row {row.row}, {findings.report.aspect(row.aspect)}: "
            f"{findings.named(row.judge)} says {row.judged}, people say {row.rated}"
        )
        yield command("notice", file, row.line, plain(message))


def of_error(file: Path, error: UserError | UserErrors) -> str:
    """Return a command for a table or a command line that cannot be used."""
    return command("error", _shown(file), None, str(error))


def _bar(judge: str, claim: ReportedClaim) -> str:
    title = BARS.get(claim.outcome, BARS[Outcome.CANNOT_TELL]).removesuffix(":")
    about = claim.respect.format(claim.subject)
    shown = number(claim)
    number_shown = f" ({shown})" if shown else ""
    return plain(with_commas(f"{judge}: {title}: {about}{number_shown}"))


def _shown(file: Path) -> str:
    """Return a file's path as the runner knows it: below the working folder."""
    path = file.absolute()
    folder = Path.cwd()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)
