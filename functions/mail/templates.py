"""Templates of mails: strict about what they are given, and escaped where they are HTML."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape


def templates_in(folder: Path) -> Environment:
    """The templates in `folder`; those called `*.html` escape what is put into them."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        auto_reload=False,  # or each mail looks whether the files have changed
        trim_blocks=True,
        lstrip_blocks=True,
    )
