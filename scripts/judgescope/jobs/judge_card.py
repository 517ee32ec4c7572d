"""Write the card of every judge, and delete those of an earlier state of the study."""

import pandas as pandas  # pages draw from frames; jobs hide pandas later

from judgescope.report.judge_card import judge_card as run

__all__ = ["run"]
