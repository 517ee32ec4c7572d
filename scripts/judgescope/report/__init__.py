"""The report: one offline HTML file from the result tables, a section per method.

A section is a record in `contents`, whose blocks are made by a function in a module of
`sections`; `page.render` puts the sections into the templates.
"""
