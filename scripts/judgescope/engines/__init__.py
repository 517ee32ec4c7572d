"""Engines, which answer for judges: each module has the record of one."""
