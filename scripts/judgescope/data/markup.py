"""Reading XML that nobody vouches for: no document type, so no entities of the file's own."""

from pathlib import Path
from xml.etree import ElementTree

from judgescope.core.errors import UserError


class _Builder(ElementTree.TreeBuilder):
    """Builds a tree, and stops where a document type would declare entities."""

    def doctype(self, name: str, *_: object) -> None:
        raise UserError(
            "XML of a data set declares no document type", where="", got=f"<!DOCTYPE {name}"
        )


def read_xml(path: Path) -> ElementTree.Element:
    """Return the root of an XML file, or raise UserError with the line at which it is none."""
    parser = ElementTree.XMLParser(target=_Builder())
    try:
        return ElementTree.parse(path, parser).getroot()
    except UserError as error:
        error.where = str(path)
        error.todo = "delete the declaration; the published files have none"
        raise
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise UserError(f"this is not XML: {error}", where=str(path)) from error
