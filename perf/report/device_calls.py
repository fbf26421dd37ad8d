"""The sections of the studies `fused`, `exact`, `host`, `ranges` and `devices`: reductions on a GPU beside a bare read of as many bytes, exact sums beside the
default, arrays in host memory beside a copy, states of ranges beside the reduction, several GPUs beside one; and of a batch beside its calls one by one, which the study `latency` times."""

from figures import is_limit, plural
from parts import Section, Table, a_mark
from quantities import NOT_MEASURED, binary_bytes, elements, factor, gigabytes_per_second, microseconds, percent, seconds, span
from records import Machine, at, bytes_of, count_of, is_noisy, median, text

TYPES = ("f32", "f64")


def _share(limit: float | None, arrays: float, time: float | None) -> float | None:
    """The speed of a call that reads so many arrays as a part of that of a bare read of one."""
    read = limit * arrays if limit is not None else None
    return read / time if is_limit(read, time) else None


# --- fused ---


def _calls_of(row: dict) -> dict[str, tuple[float, float | None, bool]]:
    """The name of a call: its time, its part of the read's speed, and whether it is noisy."""
    limit, size = median(row.get("read_limit")), bytes_of(row)
    found = {}
    for name, times in (row.get("calls") if isinstance(row.get("calls"), dict) else {}).items():
        time = median(times)
        if time is not None and size is not None:
            found[str(name)] = (time, _share(limit, (bytes_of(times) or size) / size, time), is_noisy(times))
    return found


def fused_section(machine: Machine) -> Section | None:
    section = Section("Several results, functions and operators of one's own on the GPU")
    for record in machine.of("fused"):
        by_count: dict[int, dict[str, dict]] = {}
        for row in record.rows():
            calls = _calls_of(row)
            if count_of(row) and calls:
                by_count.setdefault(count_of(row), {})[text(row.get("type"), "f32")] = calls
        if not by_count:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        largest = max(by_count)
        ours = [
            (part, f"{name} of {plural(type_name)}")
            for type_name, calls in by_count[largest].items()
            for name, (_, part, _) in calls.items()
            if part is not None and not name.endswith("by CUB")
        ]
        if ours:
            low, high = min(ours), max(ours)
            section.paragraphs.append(
                f"At {elements(largest)} elements the calls have {span(percent(low[0]), percent(high[0]))} of the speed of a bare read of as "
                f"many bytes, the least for {low[1]}."
            )
        for count, by_type in sorted(by_count.items(), reverse=True):
            types = [one for one in (*TYPES, *sorted(set(by_type) - set(TYPES))) if one in by_type]
            rows = []
            for name in sorted({name for calls in by_type.values() for name in calls}):
                cells = [name]
                for one in types:
                    time, part, noisy = by_type[one].get(name, (None, None, False))
                    cells += [microseconds(time) + a_mark(noisy) if time else NOT_MEASURED, percent(part)]
                rows.append(cells)
            columns = ["call"] + [words for one in types for words in (f"{plural(one)}, µs", "of a bare read")]
            section.tables.append(Table(f"{elements(count)} elements, nothing in the cache", columns, rows, count == largest))
    return section if section.tables else None


# --- exact ---


def _exact_share(row: dict, form: str, times) -> float | None:
    return _share(median(row.get("read_limit")), 2 if form == "dot" else 1, median(at(times, "exact")))


def _exact_sentences(rows: list[dict]) -> list[str]:
    """Of the largest arrays, and of the smallest."""
    said = []
    largest, least = max(map(count_of, rows)), min(map(count_of, rows))
    parts = []
    for row in rows:
        for form, times in row["forms"].items():
            part = _exact_share(row, form, times)
            if part is not None and count_of(row) == largest:
                parts.append((part, f"{form} of {plural(text(row.get('type'), 'f32'))}, {text(row.get('contents'), 'of unknown contents')}"))
    if parts:
        low, high = min(parts), max(parts)
        said.append(
            f"At {elements(largest)} elements exact sums have {span(percent(low[0]), percent(high[0]))} of the speed of a bare read: the most "
            f"for {high[1]}, the least for {low[1]}."
        )
    more = [
        median(at(times, "exact")) - median(at(times, "fixed"))
        for row in rows
        if count_of(row) == least
        for times in row["forms"].values()
        if median(at(times, "exact")) and median(at(times, "fixed"))
    ]
    if more and least != largest:
        said.append(f"At {elements(least)} elements an exact sum takes {span(seconds(min(more)), seconds(max(more)))} longer than the default.")
    return said


def exact_section(machine: Machine) -> Section | None:
    section = Section("Exact sums on the GPU")
    for record in machine.of("exact"):
        rows = [row for row in record.rows() if count_of(row) and isinstance(row.get("forms"), dict) and row["forms"]]
        if not rows:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        section.paragraphs += _exact_sentences(rows)
        forms = list(dict.fromkeys(str(form) for row in rows for form in row["forms"]))
        cells = []
        for row in rows:
            line = [text(row.get("contents"), ""), text(row.get("type"), "f32"), elements(count_of(row))]
            for form in forms:
                times = row["forms"].get(form)
                exact, fixed = (median(at(times, which)) for which in ("exact", "fixed"))
                part = _exact_share(row, form, times)
                line += [
                    microseconds(exact) + a_mark(is_noisy(at(times, "exact"))) if exact else NOT_MEASURED,
                    percent(part) if part is not None else NOT_MEASURED,
                    factor(exact / fixed) if exact and fixed else NOT_MEASURED,
                ]
            cells.append(line)
        columns = ["elements", "type", "n"] + [words for form in forms for words in (f"{form}, µs", "of a bare read", "times the default")]
        section.tables.append(Table("Exact sums, in stream", columns, cells, True, words=2))
    return section if section.tables else None


# --- host ---

HOST_CALLS = ("sum", "dot", "exact", "in place")


def host_section(machine: Machine) -> Section | None:
    section = Section("Arrays in host memory on the GPU")
    for record in machine.of("host"):
        rows = [row for row in record.rows() if bytes_of(row) and median(at(row, "times", "copy"))]
        if not rows:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        cells = []
        for row in rows:
            copy = median(row["times"]["copy"])
            line = [text(row.get("memory"), ""), binary_bytes(bytes_of(row)), gigabytes_per_second(bytes_of(row) / copy)]
            for call in HOST_CALLS:
                times = row["times"].get(call)
                line.append(percent(copy / median(times)) + a_mark(is_noisy(times)) if median(times) else NOT_MEASURED)
            cells.append(line)
        for memory in dict.fromkeys(text(row.get("memory"), "") for row in rows):
            largest = max((row for row in rows if text(row.get("memory"), "") == memory), key=bytes_of)
            ours = median(largest["times"].get("sum"))
            if ours:
                section.paragraphs.append(
                    f"A sum of {binary_bytes(bytes_of(largest))} of {memory} memory runs at {percent(median(largest['times']['copy']) / ours)} of "
                    "the speed of a copy to the GPU alone."
                )
        columns = ["memory", "bytes", "copy, GB/s", *(f"{call}, of the copy" for call in HOST_CALLS)]
        section.tables.append(Table("Floats in host memory: the speed of a copy, and the calls' as a part of it", columns, cells, True))
    return section if section.tables else None


# --- ranges ---


def ranges_section(machine: Machine) -> Section | None:
    section = Section("States of ranges on the GPU")
    for record in machine.of("ranges"):
        rows = [row for row in record.rows() if count_of(row) and median(at(row, "reduction")) and isinstance(row.get("states"), dict)]
        if not rows:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        begins = list(dict.fromkeys(str(begin) for row in rows for begin in row["states"]))
        cells = []
        for row in rows:
            alone = median(row["reduction"])
            line = [f'{text(row.get("form"), "")} of {text(row.get("type"), "f32")}', elements(count_of(row)), microseconds(alone) + a_mark(is_noisy(row["reduction"]))]
            for begin in begins:
                times = row["states"].get(begin)
                line.append(factor(median(times) / alone) + a_mark(is_noisy(times)) if median(times) else NOT_MEASURED)
            cells.append(line)
        columns = ["form", "n", "reduction, µs", *(f"state, {begin}" for begin in begins)]
        section.tables.append(Table("States of ranges to the host, in times of the reduction, by where the range begins", columns, cells, True))
    return section if section.tables else None


# --- several GPUs ---


def devices_section(machine: Machine) -> Section | None:
    section = Section("One array on several GPUs")
    for record in machine.of("devices"):
        rows = [row for row in record.rows() if count_of(row) and median(at(row, "one")) and median(at(row, "all"))]
        if not rows:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        in_order = [row for row in rows if median(at(row, "in_graph"))]
        cells = []
        for row in rows:
            one, several = median(row["one"]), median(row["all"])
            noisy = is_noisy(row["one"]) or is_noisy(row["all"])
            cells.append([elements(count_of(row)), microseconds(one), microseconds(several) + a_mark(noisy), microseconds(several - one), factor(one / several)])
            for name in ("to_all", "in_graph") if in_order else ():
                measured = median(at(row, name))
                cells[-1].append(microseconds(measured) + a_mark(is_noisy(row[name])) if measured else NOT_MEASURED)
        columns = ["elements of each", "one GPU, µs", "all, µs", "more, µs", "scaling"]
        if in_order:
            columns += ["to every GPU, µs", "in a graph, µs"]
        section.tables.append(Table("Sums of floats to the host: one part on its GPU, and as long a part on each of all GPUs", columns, cells, True))
    return section if section.tables else None


# --- a batch ---


def batch_table(record) -> Table | None:
    """Of the study latency: dots that are waited for once."""
    held = at(record.body, "batch")
    rows = [row for row in (at(held, "rows") or []) if median(at(row, "batch")) and median(at(row, "alone")) and at(row, "reductions")]
    if count_of(held) is None or not rows:
        return None
    one = next((median(row["batch"]) for row in rows if row["reductions"] == 1), None)
    cells = [
        [
            str(row["reductions"]),
            microseconds(median(row["batch"])) + a_mark(is_noisy(row["batch"])),
            microseconds(median(row["alone"])) + a_mark(is_noisy(row["alone"])),
            factor(median(row["batch"]) / one) if one else NOT_MEASURED,
        ]
        for row in rows
    ]
    columns = ["dots", "batch, µs", "one by one, µs", "times one"]
    return Table(f"Dots of {elements(count_of(held))} doubles to the host, in a batch and one by one", columns, cells, True)
