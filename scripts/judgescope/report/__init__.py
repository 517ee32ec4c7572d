"""The report: one offline HTML file from the result tables, a section per method.

A section is a module with one function `section(report) -> Section | None` and a line in
`sections.SECTIONS`; `page.render` puts the sections into the templates.
"""
