"""The page and its summary: the same sections as HTML that needs nothing else, and as Markdown."""

import os
from dataclasses import replace
from html import escape

import svg
from colours import DARK, LIGHT, css_variables
from comparison import comparison
from comparison import tiles as comparison_tiles
from quantities import identifier, sentence_list
from records import Machine
from parts import Section, Table
from sections import facts, lede, sections, tiles

MOST_OPEN_ROWS = 14  # a longer table is closed, whatever it holds
HERE = os.path.dirname(os.path.abspath(__file__))


class Report:
    """All that is said of the machines, computed once."""

    def __init__(self, machines: list[Machine], sentences: list[str]):
        self.machines = machines
        self.comparison = comparison(machines)
        self.sections = {id(machine): sections(machine) for machine in machines}
        self.sentences = sentences

    @property
    def title(self) -> str:
        return sentence_list([machine.name for machine in self.machines]) if self.machines else "no machine"


# --- HTML ---


def _cells(table: Table, row: list[str], tag: str) -> str:
    marked = [f'<{tag} class="w">' if place < table.words else f"<{tag}>" for place in range(len(row))]
    return "".join(f"{open_}{escape(cell)}</{tag}>" for open_, cell in zip(marked, row))


def _table(table: Table) -> str:
    head = f"<thead><tr>{_cells(table, table.columns, 'th')}</tr></thead>"
    body = "".join(f"<tr>{_cells(table, row, 'td')}</tr>\n" for row in table.rows)
    # The box scrolls on a phone; with a place in the order of tabs it does so from the keyboard too.
    inner = f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title, quote=True)}"><table>{head}<tbody>\n{body}</tbody></table></div>'
    if table.brief and len(table.rows) <= MOST_OPEN_ROWS:
        return f'<div class="plain"><b>{escape(table.title)}</b>{inner}</div>'
    return f"<details><summary>{escape(table.title)}</summary>{inner}</details>"


def _section(section: Section, level: int, place: str) -> str:
    name = f"{place}-{identifier(section.title)}"
    parts = [f'<section id="{name}"><h{level}>{escape(section.title)}</h{level}>']
    if section.title == "Warnings":
        words = ['<ul class="said">' + "".join(f"<li>{escape(one)}</li>" for one in section.paragraphs) + "</ul>"]
    else:
        words = [f"<p>{escape(one)}</p>" for one in section.paragraphs]
    words += [_table(table) for table in section.tables if table.brief]
    drawn = []
    for number, picture in enumerate(section.pictures):
        drawing = svg.inline(picture.figure, f"{place}-{picture.name}-{number}", picture.description)
        drawn.append(f"<figure>{drawing}<figcaption>{escape(picture.caption)}</figcaption></figure>")
    if len(drawn) == 1:  # beside its words, where there is room
        parts.append('<div class="pair"><div>' + "\n".join(words) + f"</div>{drawn[0]}</div>")
    else:
        parts += words
        parts += ['<div class="pictures">', *drawn, "</div>"] if drawn else []
    parts += [_table(table) for table in section.tables if not table.brief]
    parts += [_section(part, level + 1, name) for part in section.parts]
    return "\n".join([*parts, "</section>"])


def _tiles(shown: list[tuple[str, str]]) -> str:
    items = "".join(f"<li><b>{escape(figure)}</b><span>{escape(what)}</span></li>" for figure, what in shown)
    return f'<ul class="tiles">{items}</ul>\n' if shown else ""


def _first_screen(machine: Machine) -> str:
    known = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts(machine))
    return f'<p class="lede">{escape(lede(machine))}</p>\n{_tiles(tiles(machine))}<dl class="facts">{known}</dl>'


def html(report: Report) -> str:
    with open(os.path.join(HERE, "page.css"), encoding="utf-8") as file:
        style = file.read()
    variables = (
        f":root {{ color-scheme: light dark; --sans: {svg.SANS}; {css_variables(LIGHT)} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {css_variables(DARK)} }} }}\n"
        "@media print { :root { color-scheme: light; } }\n"
    )
    several = len(report.machines) > 1
    links, body = [], []
    if report.comparison is not None:
        links.append(("buy-" + identifier(report.comparison.title), report.comparison.title))
        rest = replace(report.comparison, paragraphs=report.comparison.paragraphs[1:])  # the answer stands above, in large letters
        body.append(_section(rest, 2, "buy"))
    for machine in report.machines:
        place = identifier(machine.name)
        if several:
            links.append((place, machine.name))
            body.append(f'<div class="machine" id="{place}"><h2>{escape(machine.name)}</h2>{_first_screen(machine)}')
        for section in report.sections[id(machine)]:
            if not several:
                links.append((f"{place}-{identifier(section.title)}", section.title))
            body.append(_section(section, 3 if several else 2, place))
        body.append("</div>" if several else "")
    if report.sentences:
        body.append(_section(Section("Warnings", report.sentences), 2, "files"))
    first = "" if several or not report.machines else _first_screen(report.machines[0])
    if several and report.comparison is not None:
        first = f'<p class="lede">{escape(report.comparison.paragraphs[0])}</p>' if report.comparison.paragraphs else ""
        first += _tiles(comparison_tiles(report.machines))
    menu = "".join(f'<li><a href="#{name}">{escape(words)}</a></li>' for name, words in links)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>onefold on {escape(report.title)}</title>
<style>
{variables}{style}</style>
</head>
<body>
<header>
<p class="product">onefold, performance</p>
<h1>{escape(report.title)}</h1>
{first}
</header>
<nav aria-label="Sections"><ul>{menu}</ul></nav>
<main>
{chr(10).join(body)}
</main>
<footer>Times are medians; the spread is half the interquartile range over the median. Each result was checked before it was timed. A GB is 10⁹ bytes, a
GiB 2³⁰. Written by onefold-perf report.</footer>
</body>
</html>
"""


# --- Markdown ---


def _markdown_cell(words: str) -> str:
    return words.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ").strip() or " "


def _markdown_table(table: Table) -> list[str]:
    rows = ["| " + " | ".join(_markdown_cell(cell) for cell in row) + " |" for row in table.rows]
    ruler = "| " + " | ".join("---" if place < table.words else "---:" for place in range(len(table.columns))) + " |"
    return ["| " + " | ".join(_markdown_cell(cell) for cell in table.columns) + " |", ruler, *rows, ""]


def _markdown_text(words: str) -> str:
    return words.replace("<", "&lt;").replace("\n", " ")


def _markdown_section(section: Section, level: int) -> list[str]:
    written = []
    bullet = "- " if section.title == "Warnings" else ""
    for paragraph in section.paragraphs:
        written += [bullet + _markdown_text(paragraph), *([] if bullet else [""])]
    written += [""] if bullet else []
    for table in section.tables:
        if table.brief or table.title == "Records":
            written += _markdown_table(table)
    for part in section.parts:
        written += _markdown_section(part, level + 1)
    return ["#" * level + " " + _markdown_text(section.title), "", *written] if written else []


MOST_LINES = 10


def brief(report: Report) -> list[str]:
    """What a terminal shows at the end of a run: the first sentence of each section, ten lines at most."""
    lines = [] if report.comparison is None else report.comparison.paragraphs[:1]
    for machine in report.machines:
        lines.append(f"{machine.name}: {lede(machine)}")
        lines += [f"{one.title}: {one.paragraphs[0]}" for one in report.sections[id(machine)] if one.paragraphs]
    return lines[:MOST_LINES]


def markdown(report: Report) -> str:
    written = [f"# onefold on {_markdown_text(report.title)}", ""]
    if report.comparison is not None:
        written += _markdown_section(report.comparison, 2)
    for machine in report.machines:
        if len(report.machines) > 1:
            written += [f"## {_markdown_text(machine.name)}", ""]
        written += [_markdown_text(lede(machine)), ""]
        written += _markdown_table(Table("", ["", ""], [list(one) for one in facts(machine)], words=2))
        for section in report.sections[id(machine)]:
            written += _markdown_section(section, 3 if len(report.machines) > 1 else 2)
    if report.sentences:
        written += _markdown_section(Section("Warnings", report.sentences), 2)
    return "\n".join(written).rstrip() + "\n"
