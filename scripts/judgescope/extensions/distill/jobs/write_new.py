"""Write texts for the training of a judge, for the items of the sample."""

from judgescope.extensions.distill.new_texts import write_new as run

__all__ = ["run"]
