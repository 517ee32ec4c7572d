"""The report: one offline HTML file from the result tables, a section per method.

A section is a function `section(report) -> Section | None` with `@in_group`, in a
module of `sections`; `page.render` puts the sections into the templates.
"""
