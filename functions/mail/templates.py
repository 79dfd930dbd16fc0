"""Templates of mails: a missing value is an error, and values in HTML are escaped."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape


def templates_in(folder: Path) -> Environment:
    """The templates in `folder`, and `frame.html`; `*.html` templates escape their values."""
    return Environment(
        loader=FileSystemLoader([folder, Path(__file__).parent]),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        auto_reload=False,  # no check of the files for each mail
        trim_blocks=True,
        lstrip_blocks=True,
    )
