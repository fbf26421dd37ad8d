"""The two kinds of chart: lines over a size, and bars. No text stands inside the axes, so none can lie across a line or a mark.

Sizes are in pixels of the page: a chart is drawn 460 wide with letters of 12, which a phone of 390 shows at more than 9.
"""

import functools
import math
from dataclasses import dataclass, field

import matplotlib

matplotlib.use("Agg")

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator
from matplotlib.transforms import Bbox

from colours import LIGHT, STAND_INS
from quantities import binary_bytes, elements, three

matplotlib.rcParams.update(
    {
        "font.family": "DejaVu Sans",  # wider than what readers have, so what fits here fits there
        "svg.fonttype": "none",
        "svg.hashsalt": "onefold",
        "text.parse_math": False,
        "axes.unicode_minus": True,
    }
)

WIDTH = 460
DOTS = 72  # to an inch, so that a pixel is a point
LETTERS = 12
EDGE = 6

# For each role: the mark, the dash and the line's width.
STYLES = {
    "onefold": ("o", "-", 2.4),
    "limit": (None, (0, (5, 3)), 1.5),
    "peer": ("s", "-", 1.8),
    "lecture": ("^", (0, (6, 1.5, 1.5, 1.5)), 1.6),
    "other1": ("D", (0, (4, 1.5)), 1.6),
    "other2": ("v", (0, (2, 1)), 1.6),
    "other3": ("P", (0, (7, 2)), 1.6),
    "other4": ("X", (0, (1, 1)), 1.8),
}
OTHERS = ["lecture", "other1", "other2", "other3", "other4"]
MARKS = "o s ^ D v P X p h < >".split()

_ROLES = {"onefold": "onefold", "fixed_order": "onefold", "cub": "peer", "best loop": "peer", "read": "limit", "read limit": "limit"}


def roles_of(names) -> dict[str, tuple[str, str | None]]:
    """A role and a mark for each name. Ours and CUB look the same everywhere; when the colours are used up the marks still differ."""
    found = {}
    free = 0
    for name in names:
        role = _ROLES.get(name.lower())
        if role is None:
            role = OTHERS[free % len(OTHERS)]
            mark = STYLES[role][0] if free < len(OTHERS) else MARKS[(free + 3) % len(MARKS)]
            free += 1
            found[name] = (role, mark)
        else:
            found[name] = (role, STYLES[role][0])
    return found


@dataclass
class Series:
    label: str
    x: list
    y: list
    role: str = "onefold"
    mark: str | None = "as the role"
    dash: object = None  # another than the role's

    def style(self, colours) -> dict:
        mark, dash, width = STYLES[self.role]
        mark = mark if self.mark == "as the role" else self.mark
        return {
            "color": colours[self.role],
            "linestyle": dash if self.dash is None else self.dash,
            "linewidth": width,
            "marker": mark,
            "markersize": 5.5,
            "markeredgecolor": colours["paper"],
            "markeredgewidth": 0.6,
        }


@dataclass
class Bar:
    label: str
    value: float | None
    role: str = "onefold"
    texts: list = field(default_factory=list)  # what stands right of the axes, a column each


@functools.cache
def _renderer():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    return FigureCanvasAgg(Figure(dpi=DOTS)).get_renderer()


@functools.lru_cache(maxsize=100_000)  # the same names and numbers stand in many charts
def _text_width(words: str, letters: float, bold: bool) -> float:
    font = FontProperties(family="DejaVu Sans", size=letters, weight="bold" if bold else "normal")
    return _renderer().get_text_width_height_descent(words, font, False)[0]


class _Paper:
    """A figure whose parts are placed by the pixel, from the top."""

    def __init__(self, width: float, letters: float, colours: dict):
        self.width, self.letters, self.colours = width, letters, colours
        self.figure = Figure(figsize=(width / 72, 1), dpi=DOTS)
        self.pieces = []  # (draw, height), in order
        self.height = float(EDGE)

    def text_width(self, words: str, bold: bool = False) -> float:
        return _text_width(words, self.letters, bold) if words else 0.0

    def fitted(self, words: str, room: float, bold: bool = False) -> str:
        """`words`, cut where they would be wider than `room`."""
        words = " ".join(words.split())
        if self.text_width(words, bold) <= room:
            return words
        while words and self.text_width(words + "…", bold) > room:
            words = words[:-1]
        return words.rstrip() + "…"

    @property
    def line(self) -> float:
        return self.letters * 1.5

    def finish(self) -> None:
        self.figure.set_size_inches(self.width / 72, self.height / 72)

    def write(self, x: float, y: float, words: str, role: str = "muted", align: str = "left", bold: bool = False) -> None:
        """At `y` pixels from the top, the letters' middle."""
        if words:
            self.pieces.append(
                lambda: self.figure.text(
                    x / self.width,
                    1 - y / self.height,
                    words,
                    ha=align,
                    va="center",
                    fontsize=self.letters,
                    color=self.colours[role],
                    weight="bold" if bold else "normal",
                )
            )

    def legend(self, entries: list[tuple[str, dict]]) -> None:
        """Rows of samples with their names, as many to a row as fit."""
        gap, after = 6, 16
        x, y = float(EDGE), self.height + self.line / 2
        for label, style in entries:
            sample = 14 if style.get("linestyle") == "none" else 26
            label = self.fitted(label, self.width - 2 * EDGE - sample - gap)
            room = sample + gap + self.text_width(label)
            if x > EDGE and x + room > self.width - EDGE:
                x, y = float(EDGE), y + self.line
            self._sample(x, y, sample, style)
            self.write(x + sample + gap, y, label, "ink")
            x += room + after
        self.height = y + self.line / 2 + 2

    def _sample(self, x: float, y: float, width: float, style: dict) -> None:
        def draw():
            places = [x, x + width / 2, x + width] if style.get("linestyle") not in ("none", None) else [x + width / 2]
            self.figure.add_artist(
                Line2D(
                    [one / self.width for one in places], [1 - y / self.height] * len(places), markevery=[len(places) // 2], **style
                )
            )

        self.pieces.append(draw)

    def axes(self, left: float, right: float, top: float, height: float):
        axes = self.figure.add_axes(
            (left / self.width, 1 - (top + height) / self.height, (self.width - left - right) / self.width, height / self.height)
        )
        axes.patch.set_visible(False)
        axes.set_axisbelow(True)
        for side in axes.spines.values():
            side.set_visible(False)
        axes.tick_params(length=0, labelsize=self.letters, colors=self.colours["muted"], pad=5)
        return axes


# --- ticks ---


def _spaced(candidates, place, room: float, most: int = 99) -> list:
    """Those of `candidates` that stand at least `room` pixels apart, none that is nearer dropped in favour of a later one."""
    kept = []
    for one in candidates:
        if (not kept or abs(place(one) - place(kept[-1])) >= room) and len(kept) < most:
            kept.append(one)
    return kept


def _steps(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers from low to high at equal distances."""
    span = high - low
    if not span > 0:
        return [low]
    rough = span / max(1, wanted)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * one for one in (1, 2, 2.5, 5, 10) if power * one >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 12 - math.floor(math.log10(step))) for k in range(first, last + 1)]


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    """Powers of ten, with 2 and 5 between them where there are few, round steps where there is none."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    inside = lambda found: [one for one in found if low * 0.9999 <= one <= high * 1.0001]
    decades = inside([10.0**k for k in range(first, last + 1)])
    if len(decades) > most:
        stride = math.ceil(len(decades) / most)
        return decades[::stride]
    if len(decades) >= 3:
        return decades
    finer = inside([m * 10.0**k for k in range(first, last + 1) for m in (1, 2, 5)])
    if len(finer) >= 3:
        return finer[:: math.ceil(len(finer) / most)]
    return _steps(low, high, min(4, most)) or [low]


def _power_ticks(low: float, high: float, most: int) -> list[float]:
    """Powers of two, every second or fourth and so on."""
    first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
    powers = list(range(first, last + 1))
    for stride in (1, 2, 4, 5, 8, 10, 16, 20, 32):
        kept = [k for k in powers if k % stride == 0]
        if len(kept) <= most:
            return [2.0**k for k in kept]
    return [2.0 ** powers[0]] if powers else []


def _plain(value: float, step: float | None) -> str:
    """For an axis with equal steps: as many digits behind the point as the step has."""
    digits = 0 if step is None or step <= 0 else max(0, -math.floor(math.log10(step) + 1e-9))
    if step and digits < 6 and abs(round(step, digits) - step) > step * 1e-6:
        digits += 1
    return f"{value:,.{digits}f}"


def _short(value: float) -> str:
    """For an axis with ratios or decades: three digits without the zeros that say nothing."""
    words = three(value)
    return words.rstrip("0").rstrip(".") if "." in words and "·" not in words else words


# --- lines ---


def lines(
    series: list[Series],
    *,
    y_title: str,
    x_title: str = "elements",
    x_is_count: bool = True,
    x_text=None,
    y_scale: str = "linear",
    y_text=None,
    y_low: float | None = None,
    at_one: bool = False,
    bytes_per_element: float | None = None,
    marks: list[tuple[float, str]] | None = None,
    ring: tuple[float, float, str] | None = None,
    title: str = "",
    width: float = WIDTH,
    height: float = 230,
    letters: float = LETTERS,
    colours: dict | None = None,
) -> Figure:
    """Lines over sizes, which are on a scale of powers of two.

    y_scale: "linear" (from zero, or y_low), "log", or "ratio" (of powers of two, with a line at one). y_text: a tick's number to text.
    marks: upright lines (x, name), for caches. bytes_per_element: adds the size in bytes above.
    ring: (x, y, name) of a point to notice.
    """
    colours = STAND_INS if colours is None else colours
    paper = _Paper(width, letters, colours)
    drawn = []
    for one in series:
        points = [(x, y) for x, y in zip(one.x, one.y) if x and y and x > 0 and y > 0 and math.isfinite(y)]
        if points:
            xs, ys = zip(*sorted(points))
            drawn.append((one, list(xs), list(ys)))
    if not drawn:
        raise ValueError("there is nothing to draw")
    least_x, most_x = min(min(xs) for _, xs, _ in drawn), max(max(xs) for _, xs, _ in drawn)
    least_y, most_y = min(min(ys) for *_, ys in drawn), max(max(ys) for *_, ys in drawn)
    marks = [(x, name) for x, name in marks or [] if least_x <= x <= most_x]

    if title:
        paper.write(EDGE, paper.height + paper.line / 2, paper.fitted(title, width - 2 * EDGE, True), "ink", bold=True)
        paper.height += paper.line + 4
    entries = [(one.label, one.style(colours)) for one, _, _ in drawn]
    mark_style = {"color": colours["muted"], "linestyle": (0, (1, 2)), "linewidth": 1.6}
    ring_style = {
        "color": colours["ink"],
        "linestyle": "none",
        "marker": "o",
        "markersize": 12,
        "markerfacecolor": "none",
        "markeredgewidth": 1.4,
    }
    entries += [(name, mark_style) for _, name in marks]
    if ring is not None:
        entries.append((ring[2], ring_style))
    paper.legend(entries)

    # The limits of y, then its ticks, then the room that their names take.
    if y_scale == "linear":
        low = 0.0 if y_low is None else y_low
        ticks = _steps(low, most_y * 1.04, 6)
        high = max(most_y * 1.06, low + 1e-12)
        step = ticks[1] - ticks[0] if len(ticks) > 1 else None
        y_text = y_text or (lambda value: _plain(value, step))
    elif y_scale == "ratio":
        low, high = min(least_y, 1.0) / 1.06, max(most_y, 1.0) * 1.06
        if high / low > 6:
            ticks = _power_ticks(low, high, 8)
        else:
            fine = [0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.6, 2, 2.5, 3, 4, 5]
            ticks = [one for one in fine if low <= one <= high]
        y_text = y_text or _short
    else:
        factor = (most_y / least_y) ** 0.04 if most_y > least_y else 1.0
        low, high = least_y / max(factor, 1.15), most_y * max(factor, 1.15)
        ticks = _log_ticks(low, high, 7)
        y_text = y_text or _short
    scale = (lambda y: y) if y_scale == "linear" else math.log2
    place_y = lambda y: (scale(y) - scale(low)) / (scale(high) - scale(low)) * height
    apart = letters * 1.6
    if y_scale == "ratio" and 1 in ticks:  # the tick at one stays, the others give way
        above = _spaced([one for one in ticks if one >= 1], place_y, apart)
        below = _spaced([one for one in reversed(ticks) if one <= 1], place_y, apart)
        ticks = sorted({*above, *below})
    else:
        ticks = _spaced(ticks, place_y, apart)
    names_y = [y_text(one) for one in ticks]

    paper.write(EDGE, paper.height + paper.line / 2, paper.fitted(y_title, width - 2 * EDGE), "muted")
    paper.height += paper.line
    if bytes_per_element is not None:
        paper.height += paper.line
    paper.height += 6
    top = paper.height
    left = EDGE + max((paper.text_width(name) for name in names_y), default=0) + 7
    right = EDGE + 22
    paper.height = top + height + paper.line * 2 + 10
    paper.finish()

    axes = paper.axes(left, right, top, height)
    pad = max(1.0, (math.log2(most_x) - math.log2(least_x)) * 0.03) if most_x == least_x else (math.log2(most_x / least_x)) * 0.03
    axes.set_xscale("log", base=2)
    axes.set_xlim(2 ** (math.log2(least_x) - pad), 2 ** (math.log2(most_x) + pad))
    if y_scale != "linear":
        axes.set_yscale("log", base=2 if y_scale == "ratio" else 10)
    axes.set_ylim(low, high)
    plot_width = width - left - right
    low_x, high_x = (math.log2(one) for one in axes.get_xlim())
    place_x = lambda x: (math.log2(x) - low_x) / (high_x - low_x) * plot_width
    all_x = sorted({x for _, xs, _ in drawn for x in xs})
    x_text = x_text or (elements if x_is_count else _short)

    def ticks_x(candidates, name):
        """As many as leave room for their names, in the axes and over the edge by half a name."""
        inside = [x for x in candidates if low_x <= math.log2(x) <= high_x]
        widest = max((paper.text_width(name(x)) for x in inside), default=0)
        kept = _spaced(inside, place_x, widest + 10)
        fits = lambda x: left + place_x(x) + paper.text_width(name(x)) / 2 <= width - 1
        return [x for x in kept if fits(x) and left + place_x(x) - paper.text_width(name(x)) / 2 >= 1]

    powers = _power_ticks(least_x, most_x, 7)
    few = ticks_x(powers, x_text) if len(powers) >= 2 else []
    chosen = few or ticks_x(all_x, x_text)
    axes.xaxis.set_major_locator(FixedLocator(chosen))
    axes.set_xticklabels([x_text(x) for x in chosen])
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.set_yticklabels(names_y)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_minor_formatter(NullFormatter())
    axes.grid(axis="y", color=colours["grid"], linewidth=1)
    axes.axhline(low, color=colours["muted"], linewidth=1, zorder=1.5) if y_scale == "linear" else None
    if y_scale == "ratio" or at_one:
        axes.axhline(1, color=colours["limit"], linewidth=1.6, zorder=1.6)
    for x, _ in marks:
        axes.axvline(x, **mark_style, zorder=1.7)
    for order, (one, xs, ys) in enumerate(drawn):
        front = 3 if one.role == "onefold" else 2.5 if one.role == "limit" else 2
        axes.plot(xs, ys, **one.style(colours), zorder=front + order * 0.01, solid_capstyle="round", clip_on=False)
    if ring is not None:
        axes.plot([ring[0]], [ring[1]], **ring_style, zorder=4, clip_on=False)
    if bytes_per_element is not None:
        names = {x: binary_bytes(x * bytes_per_element) for x in chosen}
        shown = ticks_x(chosen, lambda x: names[x])
        for x in shown:
            paper.write(left + place_x(x), top - 6 - paper.line / 2, names[x], "muted", "center")
    paper.write(left + plot_width / 2, paper.height - paper.line / 2 - 2, x_title, "muted", "center")
    for draw in paper.pieces:
        draw()
    return paper.figure


# --- bars ---


def bars(
    rows: list[Bar],
    *,
    title: str = "",
    columns: list[str] | None = None,
    scale: str = "linear",
    x_title: str = "",
    x_text=None,
    limit: tuple[float, str] | None = None,
    legend: list[tuple[str, str]] | None = None,
    width: float = WIDTH,
    letters: float = LETTERS,
    row_height: float = 20,
    colours: dict | None = None,
) -> Figure:
    """Lying bars, each with a mark at its end, its name on the left and its figures in columns on the right.

    limit: an upright line (value, name). legend: (role, name) of the roles that are there.
    """
    colours = STAND_INS if colours is None else colours
    paper = _Paper(width, letters, colours)
    values = [bar.value for bar in rows if bar.value and bar.value > 0 and math.isfinite(bar.value)]
    if not values:
        raise ValueError("there is nothing to draw")
    if title:
        paper.write(EDGE, paper.height + paper.line / 2, paper.fitted(title, width - 2 * EDGE, True), "ink", bold=True)
        paper.height += paper.line + 4
    mark = lambda role: {
        "color": colours[role],
        "linestyle": "-",
        "linewidth": 5,
        "marker": STYLES[role][0] or "o",
        "markersize": 8,
        "markeredgecolor": colours["paper"],
        "markeredgewidth": 0.8,
        "solid_capstyle": "butt",
    }
    limit_style = {"color": colours["limit"], "linestyle": STYLES["limit"][1], "linewidth": 1.5}
    entries = [(name, {**mark(role), "linestyle": "none"}) for role, name in legend or []]
    if limit is not None:
        entries.append((limit[1], limit_style))
    if entries:
        paper.legend(entries)

    columns = columns or []
    texts = [[paper.fitted(str(text), width * 0.25) for text in bar.texts] for bar in rows]
    column_widths = [
        max([paper.text_width(name), *(paper.text_width(row[place]) for row in texts if place < len(row))])
        for place, name in enumerate(columns)
    ]
    right = EDGE + sum(one + 12 for one in column_widths)
    bold = [bar.role == "onefold" and bool(legend) for bar in rows]
    names = [paper.fitted(bar.label, max(70.0, width - right - 130), heavy) for bar, heavy in zip(rows, bold)]
    left = EDGE + max(paper.text_width(name, heavy) for name, heavy in zip(names, bold)) + 9

    if columns:
        paper.height += 2
        header = paper.height + paper.line / 2
        paper.height += paper.line
    top = paper.height + 4
    height = row_height * len(rows)
    paper.height = top + height + paper.line + (paper.line if x_title else 0) + 8
    paper.finish()

    most = max([*values, limit[0]] if limit else values)
    least = min([*values, limit[0]] if limit else values)
    axes = paper.axes(left, right, top, height)
    if scale == "log":
        axes.set_xscale("log")
        room = max(1.25, (most / least) ** 0.05)
        low, high = least / room**1.5, most * room
    else:
        low, high = 0.0, most * 1.07
    axes.set_xlim(low, high)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    plot_width = width - left - right
    to_scale = math.log10 if scale == "log" else (lambda value: value)
    place_x = lambda value: (to_scale(value) - to_scale(low)) / (to_scale(high) - to_scale(low)) * plot_width
    ticks = _log_ticks(low, high, 5) if scale == "log" else _steps(0, high, 4)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else None
    x_text = x_text or (_short if scale == "log" else (lambda value: _plain(value, step)))
    widest = max((paper.text_width(x_text(one)) for one in ticks), default=0)
    ticks = _spaced(ticks, place_x, widest + 10)
    ticks = [one for one in ticks if left + place_x(one) + paper.text_width(x_text(one)) / 2 < width - 1]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.set_xticklabels([x_text(one) for one in ticks])
    axes.yaxis.set_major_locator(NullLocator())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", color=colours["grid"], linewidth=1)
    if limit is not None:
        axes.axvline(limit[0], **limit_style, zorder=1.8)
    for place, bar in enumerate(rows):
        middle = top + row_height * (place + 0.5)
        paper.write(left - 9, middle, names[place], "ink", "right", bold[place])
        end = width - EDGE
        for column in reversed(range(len(columns))):
            if column < len(texts[place]):
                paper.write(end, middle, texts[place][column], "ink", "right")
            end -= column_widths[column] + 12
        if bar.value and bar.value > 0 and math.isfinite(bar.value):
            axes.plot([low, bar.value], [place, place], **mark(bar.role), markevery=[1], zorder=2, clip_on=False)
    if columns:
        end = width - EDGE
        for column in reversed(range(len(columns))):
            paper.write(end, header, columns[column], "muted", "right")
            end -= column_widths[column] + 12
    if x_title:
        words = paper.fitted(x_title, width - 2 * EDGE)
        half = paper.text_width(words) / 2
        middle = min(max(left + plot_width / 2, EDGE + half), width - EDGE - half)
        paper.write(middle, paper.height - paper.line / 2 - 2, words, "muted", "center")
    for draw in paper.pieces:
        draw()
    return paper.figure


def save(figure: Figure, path: str) -> None:
    """As a picture for light paper; the figure was drawn in the colours of LIGHT."""
    figure.savefig(path, dpi=216, facecolor=LIGHT["paper"], metadata={"Software": None} if path.endswith(".png") else None)


def faults(figure: Figure) -> list[str]:
    """What is wrong with a figure's letters: those that lie on others, in the axes or over the edge. Empty where all is well."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes = [
        (text.get_text(), text.get_window_extent(renderer))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip()
    ]
    inside = [axes.get_window_extent(renderer).padded(-1) for axes in figure.axes]
    found = []
    overlaps = lambda a, b: min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5
    page = Bbox.from_bounds(0, 0, *canvas.get_width_height())
    for place, (words, box) in enumerate(boxes):
        if box.x0 < page.x0 - 0.5 or box.x1 > page.x1 + 0.5 or box.y0 < page.y0 - 0.5 or box.y1 > page.y1 + 0.5:
            found.append(f"'{words}' leaves the figure")
        found += [f"'{words}' lies on '{other}'" for other, its in boxes[:place] if overlaps(box, its)]
        found += [f"'{words}' lies in the axes" for one in inside if overlaps(box, one)]
    return found
