"""Turns a matplotlib figure into SVG whose colours and font are CSS variables."""

import io
import re
from html import escape

from colours import DARK, LIGHT, STAND_INS, css_variables

SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif'


def _drawn(figure) -> str:
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return file.getvalue()


def _body(figure, name: str) -> tuple[str, str]:
    """The drawing without its envelope, and its size as a viewBox. `name` keeps its identifiers apart from those of other pictures."""
    drawing = _drawn(figure)
    size = re.search(r'viewBox="([^"]*)"', drawing).group(1)
    body = drawing[drawing.index(">", drawing.index("<svg")) + 1 : drawing.rindex("</svg>")]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<style[^>]*>.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = re.sub(r'\bid="([^"]*)"', rf'id="{name}-\1"', body)
    body = re.sub(r'xlink:href="#([^"]*)"', rf'href="#{name}-\1"', body)
    body = re.sub(r"url\(#([^)]*)\)", rf"url(#{name}-\1)", body)
    body = re.sub(r"\bfont: ([^;\"]*?)(\d+(?:\.\d+)?px) [^;\"]*", r"font: \1\2 var(--sans)", body)
    for role, colour in STAND_INS.items():
        body = body.replace(colour, f"var(--{role})")
    # Grey of matplotlib's own where a style is left to its default would be unreadable in the dark.
    body = re.sub(r'<g id="[^"]*">\s*</g>', "", body)
    return re.sub(r"\n\s*\n+", "\n", body).strip(), size


def inline(figure, name: str, description: str) -> str:
    """For a page that defines the variables: as wide as its place allows."""
    body, size = _body(figure, name)
    return f'<svg viewBox="{size}" role="img" aria-label="{escape(description, quote=True)}">\n{body}\n</svg>'


def alone(figure, name: str, description: str) -> str:
    """A file of its own, which takes the reader's light or dark also where it stands in an <img>."""
    body, size = _body(figure, name)
    width, height = size.split()[2:]
    style = (
        f"svg {{ --sans: {SANS}; {css_variables(LIGHT)} }} @media (prefers-color-scheme: dark) {{ svg {{ {css_variables(DARK)} }} }}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="{size}" role="img">\n'
        f"<title>{escape(description)}</title>\n<style>{style}</style>\n{body}\n</svg>\n"
    )
