"""The registry of claims: result tables and the claims that rest on them.

A module of claims names the tables, and a table does not name its claims: a changed
claim makes the verdicts anew and no other table.
"""

from typing import Final

from judgescope.core.registry import Registry
from judgescope.methods.claims.base import TableClaims

CLAIMS: Final = Registry("claims", TableClaims, "judgescope.methods.claims")
"""Result table -> the claims for table `verdicts` that rest on its statistics."""
