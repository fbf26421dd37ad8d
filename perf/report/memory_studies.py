"""The section of the memory studies: each with its lesson, the lecture's word, charts of what its rows have in common, and a table."""

import re

import charts
from charts import Bar, Series
from parts import Picture, Section, Table, a_mark
from quantities import NOT_MEASURED, binary_bytes, identifier, is_number, microseconds, spread, three
from records import Machine, bytes_of, is_noisy, list_of, median, text
from records import spread as spread_of

A_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(B|KiB|MiB|GiB)\b,?")
BINARY_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
MOST_LINES = 7  # in one chart of a memory study
MOST_BARS = 16


def memory_section(machine: Machine) -> Section | None:
    section = Section("What decides it: the studies of memory and instructions")
    for record in machine.of("memory"):
        listed = [one for one in list_of(record.body, "studies") if isinstance(one, dict)]
        parts = [part for part in (_memory_part(machine, one) for one in listed) if part is not None]
        if not parts:
            machine.remarks.append(f"{record.short_path} is left out: it has no study that this report can read.")
        section.parts += parts
    return section if section.parts else None


def _memory_part(machine: Machine, study: dict) -> Section | None:
    name = text(study.get("name"), "a study without a name")
    part = Section(text(study.get("title"), name))
    for where, rows in (study["on"] if isinstance(study.get("on"), dict) else {}).items():
        rows = [row for row in rows if isinstance(row, dict) and text(row.get("case"), "")] if isinstance(rows, list) else []
        if not rows:
            continue
        place = {"gpu": "GPU", "cpu": "CPU"}.get(where, str(where))
        values = lambda row: (
            [one for one in row["values"] if isinstance(one, dict) and is_number(one.get("number"))]
            if isinstance(row.get("values"), list)
            else []
        )
        extra = list(dict.fromkeys((text(one.get("name"), "?"), text(one.get("unit"), "")) for row in rows for one in values(row)))
        has_time = any(median(row.get("time")) for row in rows)
        has_bytes = any(bytes_of(row) and median(row.get("time")) for row in rows)
        has_operations = any(is_number(row.get("operations")) and row["operations"] > 0 and median(row.get("time")) for row in rows)
        columns = ["case"]
        columns += ["time, µs", "spread"] if has_time else []
        columns += ["GB/s"] if has_bytes else []
        columns += ["10⁹ operations/s"] if has_operations else []
        columns += [f"{one}, {unit}" if unit else one for one, unit in extra]
        cells = []
        for row in rows:
            time = median(row.get("time"))
            line = [row["case"] + a_mark(is_noisy(row.get("time")))]
            line += [microseconds(time), spread(spread_of(row.get("time")))] if has_time else []
            line += [three(bytes_of(row) / time * 1e-9) if bytes_of(row) and time else NOT_MEASURED] if has_bytes else []
            operations = row.get("operations")
            line += (
                [three(operations / time * 1e-9) if is_number(operations) and operations > 0 and time else NOT_MEASURED]
                if has_operations
                else []
            )
            for key in extra:
                number = next(
                    (one["number"] for one in values(row) if (text(one.get("name"), "?"), text(one.get("unit"), "")) == key), None
                )
                line.append(three(number) if number is not None else NOT_MEASURED)
            cells.append(line)
        drawn = _memory_pictures(machine, name, place, rows, has_bytes, has_operations)
        part.pictures += drawn
        part.tables.append(Table(f"Exact figures: {name}, {place}", columns, cells, brief=not drawn))
    if not part.tables:
        return None
    if text(study.get("lesson"), ""):
        part.paragraphs.append(study["lesson"])
    if text(study.get("lecture"), ""):
        part.paragraphs.append(f"The lecture: {study['lecture']}")
    return part


def _memory_pictures(
    machine: Machine, name: str, place: str, rows: list[dict], has_bytes: bool, has_operations: bool
) -> list[Picture]:
    """What the rows have in common: speed where bytes are moved, else operations, else the time. Over sizes as lines, else as bars."""
    if has_bytes:
        value = lambda row: bytes_of(row) / median(row.get("time")) * 1e-9 if bytes_of(row) and median(row.get("time")) else None
        unit = "GB/s"
    elif has_operations:
        value = lambda row: (
            row["operations"] / median(row.get("time")) * 1e-9
            if is_number(row.get("operations")) and median(row.get("time"))
            else None
        )
        unit = "10⁹ operations/s"
    else:
        value = lambda row: median(row.get("time")) * 1e6 if median(row.get("time")) else None
        unit = "µs"
    rows = [row for row in rows if value(row) and value(row) > 0]
    pictures = []

    def add(what: str, figure) -> None:
        place_in_page = identifier(f"{machine.name} memory {name} {place} {len(pictures)}")
        pictures.append(Picture(place_in_page, figure, f"{what}: {unit}.", f"the figures of the study {what} in {unit}"))

    swept, rest = _over_sizes(rows)
    if swept:
        styles = charts.roles_of(swept)
        series = [Series(kind, [x for x, _ in ones], [value(row) for _, row in ones], *styles[kind]) for kind, ones in swept.items()]
        title = f"{unit}, {name}, {place}, logarithmic"
        add(
            f"{name}, {place}",
            charts.lines(series, y_title=title, y_scale="log", x_title="bytes", x_is_count=False, x_text=binary_bytes),
        )
    for kind, ones in _groups(rest).items():
        if len(ones) < 2:
            continue
        known = [value(row) for _, row in ones]
        scale = "log" if max(known) / min(known) > 30 else "linear"
        bars = [Bar(label, value(row), "lecture", [three(value(row))]) for label, row in ones]
        title = unit + (", logarithmic" if scale == "log" else "")
        what = f"{name}, {place}" + (f", {kind}" if kind else "")
        add(what, charts.bars(bars, columns=[unit], scale=scale, x_title=title, row_height=18 if len(ones) > 20 else 20))
    return pictures


def _over_sizes(rows: list[dict]) -> tuple[dict, list[dict]]:
    """Cases that are one thing at many sizes ("1 KiB to the device, pinned", "1 MiB to the device, pinned") by the words without the
    size, and the other rows."""
    kinds: dict[str, list] = {}
    for row in rows:
        found = A_SIZE.search(row["case"])
        if found:
            kind = " ".join((row["case"][: found.start()] + " " + row["case"][found.end() :]).split()).strip(" ,:")
            kinds.setdefault(kind, []).append((float(found[1]) * BINARY_UNITS[found[2]], row))
    swept = {kind: sorted(ones, key=lambda one: one[0]) for kind, ones in kinds.items() if kind and len({x for x, _ in ones}) >= 4}
    if len(swept) > MOST_LINES:
        return {}, rows
    drawn = {id(row) for ones in swept.values() for _, row in ones}
    return swept, [row for row in rows if id(row) not in drawn]


def _groups(rows: list[dict]) -> dict[str, list[tuple[str, dict]]]:
    """Many rows named "kind: case" as a group for each kind; few as one."""
    split = [row["case"].split(": ", 1) for row in rows]
    if len(rows) <= MOST_BARS or not all(len(parts) == 2 for parts in split):
        return {"": [(row["case"], row) for row in rows]}
    groups: dict[str, list] = {}
    for (kind, case), row in zip(split, rows):
        groups.setdefault(kind, []).append((case, row))
    return groups
