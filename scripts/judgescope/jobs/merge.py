"""Let a supervisor make one list of the errors that the members of an ensemble found in a text."""

from judgescope.core.cells import unpack
from judgescope.replies.asking import asker
from judgescope.replies.judging import reply_columns
from judgescope.schema.tables import table_of, write_table
from judgescope.scoring.supervising import MergeSpec, questions


def main(spec: MergeSpec, *, card: str, store: str, budget: str) -> None:
    """Ask about every text in which a member that is heard found an error; write the replies."""
    with asker(spec.model, card=card, store=store, budget=budget) as (model, obtain):
        asked = [one for cell in unpack(spec.cells) for one in questions(spec, model, cell)]
        replies = obtain(request for _, request in asked)
    rows = [{**row, **reply_columns(replies[request.key, 0])} for row, request in asked]
    write_table("answers", table_of("answers", rows), spec.output)
