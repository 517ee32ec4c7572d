"""Offline HTML forms that collect human judgments, and the tables read back from
them.
"""
