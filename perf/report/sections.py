"""The page's sections: for each study its sentences, which are computed from the figures, its charts and its tables."""

import re

import charts
import figures
from charts import Bar, Series
from device_calls import batch_table, devices_section, exact_section, fused_section, host_section, ranges_section
from figures import DEFAULT, TYPICAL, plural
from memory_studies import memory_section
from new_calls import calls_section, folds_section
from parts import Picture, Section, Table, a_mark, missing_peers, place_name, shown
from quantities import (
    NOT_MEASURED,
    binary_bytes,
    element_range,
    elements,
    factor,
    gigabytes_per_second,
    identifier,
    is_number,
    microseconds,
    percent,
    rate,
    seconds,
    sentence_list,
    span,
    spread,
    three,
)
from records import Machine, Record, at, bytes_of, count_of, is_noisy, median, text
from records import spread as spread_of

# --- the machine ---


def lede(machine: Machine) -> str:
    """The answer, first."""
    found = figures.headline(machine)
    if machine.gpu is None:
        return _cpu_lede(machine)
    if found.rate is None:
        return f"These records hold no sum on the {machine.name}, so there is no speed to put first."
    words = f"This GPU sums {plural(found.type)} at {rate(found.rate)} ({elements(found.count)} of them)"
    if found.share is not None:
        words += f", {percent(found.share)} of the speed of a bare read, {rate(found.limit_rate)}"
    if found.cub_rate is not None:
        words += f"; CUB reaches {rate(found.cub_rate)}"
    words += "."
    if found.small is not None:
        words += f" A sum of {elements(found.small.count)} is on the host after {seconds(found.small.host)}"
        if found.small.bare is not None:
            words += f", where a kernel that writes a single word takes {seconds(found.small.bare)}"
        words += "."
    return words


def _cpu_lede(machine: Machine) -> str:
    for record in machine.of("cpu"):
        points = [] if record.body.get("spread") else figures.cpu_points(record)
        if points:
            most = points[-1]
            words = f"This CPU runs {record.op} of {elements(most.count)} {plural(record.type)} at {rate(most.bytes / most.times['onefold'])}"
            words += f" with {most.threads} thread{'' if most.threads == 1 else 's'}"
            if most.best_seconds() is not None:
                words += (
                    f", {percent(most.best_seconds() / most.times['onefold'])} of the speed of the best loop that promises no order"
                )
            return words + "."
    for record in machine.of("cpu_ladder"):
        rungs = figures.ladder(record)
        ours = [rung for rung in rungs.rungs if rung.role == "onefold"] if rungs else []
        if ours:
            best = min(ours, key=lambda rung: rung.seconds)
            return f"This CPU runs {record.op} of {elements(rungs.count)} {plural(record.type)} at {rate(rungs.bytes / best.seconds)} ({best.name})."
    return "These records hold no figure of onefold's speed on this CPU."


def tiles(machine: Machine) -> list[tuple[str, str]]:
    """Three or four figures, large, with what they are."""
    found = figures.headline(machine)
    shown_tiles = []
    if found.rate is not None:
        shown_tiles.append((rate(found.rate), f"sum of {elements(found.count)} {plural(found.type)}"))
    if found.share is not None:
        shown_tiles.append((percent(found.share), "of the speed of a bare read"))
    if found.small is not None:
        shown_tiles.append((seconds(found.small.host), f"a sum of {elements(found.small.count)}, to the host"))
    if found.ratios:
        low, high = 1 / max(one.ratio for one in found.ratios), 1 / min(one.ratio for one in found.ratios)
        shown_tiles.append(
            (span(f"{factor(low)}", f"{factor(high)}") + " ×", f"as fast as CUB, {element_range([one.count for one in found.ratios])}")
        )
    if machine.gpu is None:
        for record in machine.of("cpu"):
            points = [] if record.body.get("spread") else figures.cpu_points(record)
            for threads in sorted({point.threads for point in points}):
                last = [point for point in points if point.threads == threads][-1]
                what = f"{record.op} of {elements(last.count)} {plural(record.type)}, {threads} thread{'' if threads == 1 else 's'}"
                shown_tiles.append((rate(last.bytes / last.times["onefold"]), what))
    return shown_tiles[:4]


def facts(machine: Machine) -> list[tuple[str, str]]:
    newest = max(machine.records, key=lambda record: text(record.body.get("time"), ""), default=None)
    listed = []
    gpu = machine.gpu
    if gpu is not None:
        capability = gpu.get("compute_capability")
        listed.append(("GPU", machine.name + (f", compute capability {capability}" if capability else "")))
        if is_number(gpu.get("multiprocessors")):
            listed.append(("Multiprocessors", three(gpu["multiprocessors"])))
        if is_number(gpu.get("memory_bytes")):
            listed.append(("Memory", binary_bytes(gpu["memory_bytes"])))
        if is_number(gpu.get("l2_bytes")):
            listed.append(("L2 cache", binary_bytes(gpu["l2_bytes"])))
        driver = text(gpu.get("driver"), "")
        version = next((word for word in driver.split() if word[:1].isdigit() and word.count(".") >= 1), driver)
        if version:
            listed.append(("Driver", version))
    listed.append(("CPU", machine.cpu))
    if newest is not None:
        listed.append(("System", text(newest.body.get("system"))))
        backends = newest.body.get("backends")
        if isinstance(backends, dict):
            listed.append(("Backends", "; ".join(dict.fromkeys(str(one) for one in backends.values()))))
        compilers = sorted({text(record.body.get("compiler")) for record in machine.records})
        listed.append(("Compiler", ", ".join(f"g++ {one}" if one[:1].isdigit() else one for one in compilers)))
        listed.append(("Commit", ", ".join(sorted({text(record.body.get("commit")) for record in machine.records}))))
        times = sorted(text(record.body.get("time"), "") for record in machine.records)
        listed.append(("Measured", span(times[0][:10], times[-1][:10]) or "unknown"))
    return listed


# --- the ladder ---


def rewriting(found: figures.Ladder) -> tuple[list[str], Table | None]:
    """What is gained by rewriting a typical code, from the ladder."""
    ours = found.rung(DEFAULT)
    known = [(found.rung(name), words) for name, words in TYPICAL if found.rung(name) is not None]
    if ours is None or not known:
        return [], None
    sentences = []
    by_name = {rung.name: rung for rung, _ in known}
    what = f"{elements(found.count)} {plural(found.record.type)}"
    trees = [name for name in ("shared_interleaved", "shared_sequential", "warp_shuffle") if name in by_name]
    if "atomic_global" in by_name:
        slow = by_name["atomic_global"]
        sentences.append(
            f"A code that adds every element to one variable with an atomic takes {seconds(slow.seconds)} for {what}; onefold takes "
            f"{seconds(ours.seconds)}, {factor(slow.seconds / ours.seconds)} times as fast."
        )
    if trees:
        times = [by_name[name].seconds for name in trees]
        gains = sorted(time / ours.seconds for time in times)
        low, high = factor(gains[0]), factor(gains[-1])
        sentences.append(
            f"Over a tree in shared memory ({seconds(max(times))} for the textbook's first, {seconds(min(times))} for the best one here) the gain "
            f"is a factor of {span(low, high)}."
            if len(trees) > 1
            else f"Over a tree in shared memory, {seconds(times[0])}, the gain is a factor of {low}."
        )
    near = [name for name in ("grid_stride", "cub") if name in by_name]
    if near:
        parts = [
            f"{'a grid-stride loop' if name == 'grid_stride' else 'CUB'} ({seconds(by_name[name].seconds)}) is at "
            f"{factor(by_name[name].seconds / ours.seconds)} times onefold's time"
            for name in near
        ]
        sentences.append(f"There is less to gain where the code is good already: {sentence_list(parts)}.")
    if found.limit is not None:
        sentences.append(
            f"No rewriting can gain more than the bare read of {seconds(found.limit)} allows: a factor of {factor(ours.seconds / found.limit)} "
            f"beyond onefold."
            if ours.seconds >= found.limit
            else f"The bare read of {seconds(found.limit)} leaves nothing to gain beyond onefold."
        )
    rows = []
    for rung, words in known:
        rows.append([f"{words} ({rung.name})", microseconds(rung.seconds), factor(rung.seconds / ours.seconds)])
        rows[-1].append(factor(rung.seconds / found.limit) if found.limit else NOT_MEASURED)
    return sentences, Table(
        "What typical codes gain", ["If your code …", "it takes, µs", "onefold is faster by", "the limit would be"], rows, True
    )


def ladder_figure(found: figures.Ladder, title: str = "", colours: dict | None = None, width: float = charts.WIDTH):
    rows = [
        Bar(
            rung.name,
            found.bytes / rung.seconds * 1e-9,
            rung.role,
            [microseconds(rung.seconds), three(found.bytes / rung.seconds * 1e-9)],
        )
        for rung in found.rungs
    ]
    present = {rung.role for rung in found.rungs}
    names = {"onefold": "onefold", "lecture": "lectures", "peer": "peers"}
    limit = (found.bytes / found.limit * 1e-9, f"bare read, {three(found.bytes / found.limit * 1e-9)} GB/s") if found.limit else None
    return charts.bars(
        rows,
        title=title,
        columns=["µs", "GB/s"],
        scale="log",
        x_title="GB/s of input, logarithmic",
        limit=limit,
        legend=[(role, name) for role, name in names.items() if role in present],
        width=width,
        colours=colours,
    )


def ladder_section(machine: Machine) -> Section | None:
    return _ladders(machine, "ladder", Section("What rewriting your code gains"))


def cpu_ladder_section(machine: Machine) -> Section | None:
    return _ladders(machine, "cpu_ladder", Section("The CPU's ladder"))


def _ladders(machine: Machine, study: str, section: Section) -> Section | None:
    for record in machine.of(study):
        found = figures.ladder(record)
        if found is None:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        what = f"{record.op} of {elements(found.count)} {plural(record.type)} ({binary_bytes(found.bytes)})"
        if study == "ladder" and record.op == "sum" and not section.paragraphs:  # of the longest array, which comes first
            sentences, table = rewriting(found)
            section.paragraphs += sentences
            section.tables += [table] if table else []
        name = identifier(f"{machine.name} {study} {record.op} {record.type} {found.count}")
        caption = f"{what[0].upper()}{what[1:]}, each variant of the library: time of a call and bytes of input over it."
        if study == "ladder":
            caption += " Nothing is in the cache."
        if any(rung.remark for rung in found.rungs):
            hosts = sentence_list([rung.name for rung in found.rungs if rung.remark])
            caption += f" {hosts} is timed to the host."
        section.pictures.append(
            Picture(name, ladder_figure(found), caption, f"bars of the speed of {len(found.rungs)} variants, {what}")
        )
        rows = []
        for rung in found.rungs:
            share = percent(rung.limit / rung.seconds) if rung.limit else NOT_MEASURED
            rows.append(
                [
                    rung.name + a_mark(rung.noisy),
                    microseconds(rung.seconds),
                    spread(rung.spread),
                    gigabytes_per_second(found.bytes / rung.seconds),
                    share,
                    microseconds(rung.hot),
                ]
            )
        columns = ["variant", "time, µs", "spread", "GB/s", "of a bare read", "in the cache, µs"]
        if study == "cpu_ladder":
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        section.tables.append(Table(f"Exact figures: {what}", columns, rows))
    return section if section.pictures else None


# --- over n ---


def microsecond_ticks(value: float) -> str:
    return seconds(value).replace(".00", "").replace(".0", "")


def l2_mark(machine: Machine, bytes_per_element: float) -> list[tuple[float, str]]:
    size = at(machine.gpu, "l2_bytes")
    return [(size / bytes_per_element, f"L2 cache, {binary_bytes(size)}")] if is_number(size) and size > 0 else []


def variant_names(points: list[figures.Point]) -> list[str]:
    """The default, CUB, and the others in the record's order."""
    names = list(dict.fromkeys(name for point in points for name in point.cold))
    return sorted(names, key=lambda name: (name != DEFAULT, name != "cub"))


def variant_series(points: list[figures.Point], value, with_limit=True) -> list[Series]:
    """`value` makes a figure of bytes and seconds."""
    names = variant_names(points)
    styles = charts.roles_of(names)
    series = []
    for name in names:
        having = [point for point in points if name in point.cold]
        series.append(
            Series(shown(name), [one.count for one in having], [value(one.bytes, one.cold[name]) for one in having], *styles[name])
        )
    having = [point for point in points if point.limit]
    if with_limit and having:
        series.append(Series("bare read", [one.count for one in having], [value(one.bytes, one.limit) for one in having], "limit"))
    return series


def sweep_section(machine: Machine) -> Section | None:
    section = Section("From small to large arrays")
    for record in machine.of("sweep"):
        points = figures.sweep(record)
        if not points:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        size = points[0].bytes / points[0].count
        what = f"{record.op} of {plural(record.type)}"
        section.paragraphs += sweep_sentences(record, points, machine)
        name = identifier(f"{machine.name} sweep {record.op} {record.type}")
        peak = max(point.bytes / min(point.cold.values()) for point in points)
        unit, unit_name = (1e-12, "TB/s") if peak >= 1e12 else (1e-9, "GB/s")
        hot = [point for point in points if DEFAULT in point.hot]
        speeds = variant_series(points, lambda bytes_, time: bytes_ / time * unit)
        if hot:
            series = Series(
                "onefold, array in the cache",
                [one.count for one in hot],
                [one.bytes / one.hot[DEFAULT] * unit for one in hot],
                "other3",
                None,
            )
            speeds.append(series)
        common = {"bytes_per_element": size, "marks": l2_mark(machine, size)}
        section.pictures.append(
            Picture(
                name + "-rate",
                charts.lines(speeds, y_title=f"{unit_name} of input, {what}", **common),
                f"Speed: {what}. Nothing is in the cache, except on the line that says so.",
                f"lines of the speed over the number of elements, {what}",
            )
        )
        times = variant_series(points, lambda bytes_, time: time)
        section.pictures.append(
            Picture(
                name + "-time",
                charts.lines(times, y_title=f"time of a call, {what}, logarithmic", y_scale="log", y_text=microsecond_ticks, **common),
                f"Time of a call in a stream: {what}, nothing in the cache.",
                f"lines of the time over the number of elements, {what}",
            )
        )
        keys = variant_names(points)
        rows = []
        for point in points:
            row = [elements(point.count) + a_mark(point.noisy), binary_bytes(point.bytes)]
            for key in keys:
                row += [microseconds(point.cold.get(key)), spread(point.spread.get(key))]
            row.append(microseconds(point.limit))
            row.append(percent(point.limit / point.ours()) if point.limit and point.ours() else NOT_MEASURED)
            row.append(microseconds(point.hot.get(DEFAULT)))
            rows.append(row)
        columns = ["n", "size"]
        for key in keys:
            columns += [f"{shown(key)}, µs", "spread"]
        section.tables.append(
            Table(f"Exact figures: {what}", [*columns, "bare read, µs", "of a bare read", "onefold in the cache, µs"], rows, words=1)
        )
    return section if section.pictures else None


def sweep_sentences(record: Record, points: list[figures.Point], machine: Machine) -> list[str]:
    last = figures.largest(points)
    if last is None:
        return []
    words = f"{record.op.capitalize()} of {plural(record.type)}: {rate(last.bytes / last.ours())} at {elements(last.count)}"
    if last.limit:
        words += f", {percent(last.limit / last.ours())} of a bare read"
    words += "."
    half = next((point for point in points if point.ours() and point.bytes / point.ours() >= 0.5 * last.bytes / last.ours()), None)
    if half is not None and half.count < last.count:
        words += f" Half of that speed is there from {elements(half.count)} ({binary_bytes(half.bytes)}) on: below it the start of a kernel counts, "
        words += "not the memory."
    l2 = at(machine.gpu, "l2_bytes")
    fitting = [point for point in points if is_number(l2) and point.bytes <= l2 / 2 and point.ours() and DEFAULT in point.hot]
    if fitting:
        best = max(fitting, key=lambda point: point.ours() / point.hot[DEFAULT])
        gain = best.ours() / best.hot[DEFAULT]
        if gain > 1.05:
            words += f" An array that the GPU has just written is summed up to {factor(gain)} times as fast ({elements(best.count)}), out of the L2 cache."
    return [words]


# --- ratios to peers ---


def ratio_section(machine: Machine) -> Section | None:
    found = figures.ratios(machine)
    missing = missing_peers(machine.of("peers"))
    for record in machine.of("peers"):
        if not any(True for row in record.rows() if median(row.get("onefold")) is not None):
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
    if not found and not missing:
        return None
    section = Section("Against the peers")
    groups: dict[tuple, list[figures.Ratio]] = {}
    for one in sorted(found, key=lambda one: not one.where.startswith("gpu")):  # the GPU first
        groups.setdefault((one.where, one.form, one.type), []).append(one)
    for place, those in (
        ("On the GPU", [one for one in found if one.where.startswith("gpu")]),
        ("On the CPU", [one for one in found if not one.where.startswith("gpu")]),
    ):
        if not those:
            continue
        worst = max(those, key=lambda one: one.ratio)
        words = f"{place} the worst of {len(those):,} points is {_point(worst)}, at {three(worst.ratio)} times the time of {shown(worst.peer)}"
        words += ", so no peer is ahead at any of them." if worst.ratio < 1 else "."
        behind = [one for one in those if one.ratio > 1]
        if behind:
            words += f" A peer is ahead at {len(behind):,} of them: {sentence_list(_ahead(behind, those))}."
        section.paragraphs.append(words)
    if found:
        section.paragraphs.append("Ratios are onefold's time over the peer's: below 1 onefold is ahead, above 1 the peer is.")
    for record in machine.of("peers"):
        noted = record.body.get("notes")
        section.paragraphs += [text(one) for one in noted if text(one)] if isinstance(noted, list) else []
    for (where, form, type_name), ones in groups.items():
        what = f"{form} of {plural(type_name)}, {place_name(where)}"
        names = list(dict.fromkeys((one.peer, one.state) for one in ones))
        styles = charts.roles_of(list(dict.fromkeys(peer for peer, _ in names)))
        series = []
        for peer, state in names:
            those = sorted((one for one in ones if (one.peer, one.state) == (peer, state)), key=lambda one: one.count)
            label = shown(peer) + {"cold": ", nothing in the cache", "hot": ", array in the cache"}.get(state, "")
            role, mark = styles[peer]
            if state == "hot":
                role, mark = "other3", charts.STYLES["other3"][0]
            series.append(Series(label, [one.count for one in those], [one.ratio for one in those], role, mark))
        worst = max(ones, key=lambda one: one.ratio)
        ring = (worst.count, worst.ratio, f"worst: {three(worst.ratio)} at {elements(worst.count)}")
        section.pictures.append(
            Picture(
                identifier(f"{machine.name} ratio {where} {form} {type_name}"),
                charts.lines(series, y_title=f"time over the peer's, {what}", y_scale="ratio", ring=ring),
                f"{what[0].upper()}{what[1:]}. Below the line at 1 onefold is faster. The worst point is {_point(worst)}, against {shown(worst.peer)}.",
                f"lines of ratios of times over the number of elements, {what}",
            )
        )
    ordered = [one for ones in groups.values() for one in ones]
    summary = []
    for peer, where in dict.fromkeys((one.peer, one.where) for one in ordered):
        ones = [one for one in ordered if (one.peer, one.where) == (peer, where)]
        extremes = []
        for one in (min(ones, key=lambda one: one.ratio), max(ones, key=lambda one: one.ratio)):
            extremes.append(f"{three(one.ratio)}{a_mark(one.noisy)}: {one.form} of {elements(one.count)} {plural(one.type)}")
        summary.append([shown(peer), place_name(where), f"{len(ones):,}", f"{len([one for one in ones if one.ratio > 1]):,}", *extremes])
    if summary:
        columns = ["peer", "where", "points", "it is ahead at", "best", "worst"]
        section.tables.append(Table("Time over each peer's", columns, summary, True, 2))
    summary = []
    for key in dict.fromkeys((one.peer, one.where, one.form, one.type) for one in ordered):
        ones = [one for one in found if (one.peer, one.where, one.form, one.type) == key]
        worst, best = max(ones, key=lambda one: one.ratio), min(ones, key=lambda one: one.ratio)
        cells = [
            shown(key[0]),
            place_name(key[1]),
            f"{key[2]} of {plural(key[3])}",
            f"{len(ones):,}",
            three(best.ratio) + f" at {elements(best.count)}",
        ]
        summary.append([*cells, three(worst.ratio) + f" at {elements(worst.count)}{a_mark(worst.noisy)}"])
    if summary:
        section.tables.append(
            Table("Best and worst ratio for each form", ["peer", "where", "what", "points", "best", "worst"], summary, False, 3)
        )
        section.tables += [_ratio_table(key, ones) for key, ones in groups.items()]
    section.paragraphs += [missing] if missing else []
    return section


def _ratio_table(key: tuple, ones: list[figures.Ratio]) -> Table:
    """One line for each size, one column for each peer."""
    where, form, type_name = key
    peers = list(dict.fromkeys((one.peer, one.state) for one in ones))
    known = {(one.count, one.peer, one.state): three(one.ratio) + a_mark(one.noisy) for one in ones}
    rows = [[elements(n), *(known.get((n, *peer), NOT_MEASURED) for peer in peers)] for n in sorted({one.count for one in ones})]
    columns = ["n", *(shown(peer) + (f", {state}" if state else "") for peer, state in peers)]
    return Table(f"Exact figures: {form} of {plural(type_name)}, {place_name(where)}", columns, rows)


def _point(one: figures.Ratio) -> str:
    state = {"cold": ", nothing in the cache", "hot": ", array in the cache"}.get(one.state, "")
    return f"{one.form} of {elements(one.count)} {plural(one.type)} on the {place_name(one.where)}{state}"


def _ahead(behind: list[figures.Ratio], found: list[figures.Ratio]) -> list[str]:
    parts = []
    for peer in dict.fromkeys(one.peer for one in behind):
        ones = [one for one in behind if one.peer == peer]
        of = len([one for one in found if one.peer == peer])
        worst = max(ones, key=lambda one: one.ratio)
        parts.append(f"{shown(peer)} at {len(ones)} of {of:,}, up to {three(worst.ratio)} times as fast")
    return parts


# --- latency ---


def latency_section(machine: Machine) -> Section | None:
    section = Section("Small arrays: latency")
    for record in machine.of("latency"):
        found = figures.latencies(record)
        if not found:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        what = f"{record.op} of {plural(record.type)}"
        hosts = [one for one in found if one.host]
        if hosts:
            hosts = [one for one in hosts if one.count <= 2**14] or hosts
            times = [one.host for one in hosts]
            words = f"{what[0].upper()}{what[1:]}: up to {elements(hosts[-1].count)} the value is on the host after {span(seconds(min(times)), seconds(max(times)))}"
            bare = [one.bare for one in hosts if one.bare]
            if bare:
                words += f"; a kernel that writes a single word takes {span(seconds(min(bare)), seconds(max(bare)))}, and that is the part of the host and the bus"
            cub = [one.cub_host for one in hosts if one.cub_host]
            if cub:
                words += f"; CUB takes {span(seconds(min(cub)), seconds(max(cub)))}"
            section.paragraphs.append(words + ".")
        kinds = [
            ("onefold, to the host", "host", "onefold", None),
            ("CUB, to the host", "cub_host", "peer", None),
            ("bare kernel, to the host", "bare", "limit", None),
            ("onefold, in stream", "stream", "onefold", (0, (2, 1.5))),
            ("CUB, in stream", "cub_stream", "peer", (0, (2, 1.5))),
        ]
        series = []
        for label, attribute, role, dash in kinds:
            having = [one for one in found if getattr(one, attribute)]
            if having:
                times = [getattr(one, attribute) * 1e6 for one in having]
                series.append(Series(label, [one.count for one in having], times, role, dash=dash))
        section.pictures.append(
            Picture(
                identifier(f"{machine.name} latency {record.op} {record.type}"),
                charts.lines(series, y_title=f"µs, {what}"),
                f"{what[0].upper()}{what[1:]}, the array in the cache: to a value on the host, and in a stream where nobody waits.",
                f"lines of latencies over the number of elements, {what}",
            )
        )
        rows = [
            [
                elements(one.count),
                *(microseconds(value) for value in (one.stream, one.cub_stream, one.host, one.bare, one.cub_host, one.enqueue)),
            ]
            for one in found
        ]
        columns = ["n", "in stream, µs", "CUB in stream", "to the host", "bare kernel", "CUB to the host", "to enqueue a call"]
        section.tables.append(Table(f"Exact figures: {what}", columns, rows))
        batch = batch_table(record)
        section.tables += [batch] if batch else []
    return section if section.pictures else None


# --- forms ---


def forms_section(machine: Machine) -> Section | None:
    records = []
    for record in machine.of("forms"):
        if count_of(record.body) and any(median(row.get("aligned")) for row in record.rows()):
            records.append(record)
        else:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
    if not records:
        return None
    section = Section("Dot products, norms, and odd addresses")
    for type_name in dict.fromkeys(record.type for record in records):
        record = max((one for one in records if one.type == type_name), key=lambda one: count_of(one.body))
        limit, size = median(record.body.get("read_limit")), bytes_of(record.body)
        what = f"{elements(count_of(record.body))} {plural(record.type)}"
        bars, slower = [], []
        for row in record.rows():
            time = median(row.get("aligned"))
            if time is None or size is None:
                continue
            inputs = 2 if row.get("inputs") == 2 else 1
            label = text(row.get("form"), "?") + (" in f64" if row.get("wide") is True else "")
            share = inputs * limit / time if limit and is_limit_row(inputs * limit, time) else None
            bars.append(Bar(label, inputs * size / time * 1e-9, "onefold", [three(inputs * size / time * 1e-9), percent(share)]))
            slower += [
                (median(row.get(case)) / time - 1, label, case) for case in ("cut", "one_off", "apart") if median(row.get(case))
            ]
        if not bars:
            continue
        words = (
            f"At {what} the forms run at {span(three(min(bar.value for bar in bars)), three(max(bar.value for bar in bars)))} GB/s."
        )
        if slower:
            worst = max(slower)
            cases = {
                "cut": "an end that cuts a tile",
                "one_off": "arrays one element beside a boundary",
                "apart": "a second input beside a boundary",
            }
            words += f" Odd addresses and lengths cost {100 * max(worst[0], 0):.1f} % at most: {worst[1]}, {cases[worst[2]]}."
        section.paragraphs.append(words)
        limit_rate = (size / limit * 1e-9, f"bare read, {three(size / limit * 1e-9)} GB/s") if limit and size else None
        figure = charts.bars(bars, columns=["GB/s", "of read"], limit=limit_rate, x_title=f"GB/s of input, {what}")
        name = identifier(f"{machine.name} forms {record.type}")
        section.pictures.append(
            Picture(name, figure, f"Every form at {what}, aligned, nothing in the cache.", f"bars of the speed of each form, {what}")
        )
    for record in sorted(records, key=lambda one: (one.type, -count_of(one.body))):
        rows = []
        for row in record.rows():
            time = median(row.get("aligned"))
            if time is not None:
                cases = [median(row.get(case)) for case in ("cut", "one_off", "apart")]
                label = text(row.get("form"), "?") + (" in f64" if row.get("wide") is True else "")
                more = [f"{100 * (case / time - 1):+.1f} %" if case else NOT_MEASURED for case in cases]
                rows.append([label + a_mark(is_noisy(row["aligned"])), microseconds(time), spread(spread_of(row["aligned"])), *more])
        columns = ["form", "aligned, µs", "spread", "cut end", "one off", "second apart"]
        section.tables.append(Table(f"Exact figures: {elements(count_of(record.body))} {plural(record.type)}", columns, rows))
    return section if section.pictures else None


is_limit_row = figures.is_limit


# --- scaling ---


def scaling_section(machine: Machine) -> Section | None:
    section = Section("More threads on the CPU")
    groups: dict[tuple, list[dict]] = {}
    for record in machine.of("scaling"):
        usable = [
            row
            for row in record.rows()
            if count_of(row) and is_number(row.get("threads")) and row["threads"] >= 1 and median(row.get("onefold"))
        ]
        if not usable:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
        for row in usable:
            key = (text(row.get("form"), record.op), text(row.get("type"), record.type), count_of(row))
            groups.setdefault(key, []).append(row)
    for (form, type_name, count), rows in groups.items():
        rows.sort(key=lambda row: row["threads"])
        what = f"{form} of {elements(count)} {plural(type_name)}"
        first, last = rows[0], rows[-1]
        if len(rows) > 1:
            gain = median(first["onefold"]) / median(last["onefold"])
            words = f"{what[0].upper()}{what[1:]}: from {first['threads']} to {last['threads']} threads onefold becomes {factor(gain)} times as fast"
            reads = median(first.get("read_limit")), median(last.get("read_limit"))
            words += f"; a bare read does by {factor(reads[0] / reads[1])}." if all(reads) else "."
            section.paragraphs.append(words)
        size = bytes_of(first)
        value = (lambda time: size / time * 1e-9) if size else (lambda time: time * 1e3)
        unit = "GB/s of input" if size else "ms"
        names = list(dict.fromkeys(name for row in rows if isinstance(row.get("peers"), dict) for name in row["peers"]))
        styles = charts.roles_of(names)
        series = [Series("onefold", [row["threads"] for row in rows], [value(median(row["onefold"])) for row in rows])]
        for name in names:
            having = [row for row in rows if median(at(row, "peers", name))]
            series.append(
                Series(name, [row["threads"] for row in having], [value(median(row["peers"][name])) for row in having], *styles[name])
            )
        having = [row for row in rows if median(row.get("read_limit"))]
        series.append(
            Series("bare read", [row["threads"] for row in having], [value(median(row["read_limit"])) for row in having], "limit")
        )
        picture = charts.lines(series, y_title=f"{unit}, {what}", x_title="threads", x_is_count=False)
        name = identifier(f"{machine.name} scaling {form} {type_name} {count}")
        section.pictures.append(Picture(name, picture, f"{what[0].upper()}{what[1:]}.", f"lines over the number of threads, {what}"))
        cells = []
        for row in rows:
            times = [row["onefold"], *(at(row, "peers", name) for name in names), row.get("read_limit")]
            cells.append(
                [
                    f"{row['threads']:g}",
                    *(microseconds(median(one)) + a_mark(is_noisy(one)) for one in times),
                    spread(spread_of(row["onefold"])),
                ]
            )
        columns = ["threads", "onefold, µs", *(f"{name}, µs" for name in names), "bare read, µs", "spread of onefold"]
        section.tables.append(Table(f"Exact figures: {what}", columns, cells))
    missing = missing_peers(machine.of("scaling"))
    section.paragraphs += [missing] if missing else []
    return section if section.pictures else None


# --- the CPU's sizes ---


def cpu_section(machine: Machine) -> Section | None:
    section = Section("The CPU from small to large arrays")
    for record in machine.of("cpu"):
        points = figures.cpu_points(record)
        if not points:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        rows = []
        for threads in sorted({point.threads for point in points}):
            those = [point for point in points if point.threads == threads]
            team = f"{threads} thread{'' if threads == 1 else 's'}"
            what = f"{record.op} of {plural(record.type)}, {team}"
            if record.body.get("spread"):
                what = f"{record.op} of {plural(record.type)} with exponents from -{record.body['spread']} to {record.body['spread']}, {team}"
            compared = [(point.best_seconds() / point.times["onefold"], point) for point in those if point.best_seconds()]
            large = [one for one in compared if one[1].count >= 2**20] or compared
            if large:
                low, high = min(large, key=lambda one: one[0]), max(large, key=lambda one: one[0])
                words = f"{what[0].upper()}{what[1:]}, {element_range([one[1].count for one in large])}: onefold has "
                words += f"{span(three(low[0]), three(high[0]))} times the speed of the best loop that promises no order"
                words += f", the least at {elements(low[1].count)}." if len(large) > 1 else "."
                exact = [one.times["onefold"] / one.times["exact"] for one in those if one.times.get("exact")]
                if exact:
                    words += f" guarantee::exact has {span(three(min(exact)), three(max(exact)))} times onefold's own speed from {elements(those[0].count)} on."
                section.paragraphs.append(words)
            speed = lambda point, time: point.bytes / time * 1e-9
            series = [Series("onefold", [one.count for one in those], [speed(one, one.times["onefold"]) for one in those])]
            best = [one for one in those if one.best_seconds()]
            series.append(
                Series(
                    "best loop that promises no order",
                    [one.count for one in best],
                    [speed(one, one.best_seconds()) for one in best],
                    "peer",
                )
            )
            others = [
                name
                for name in dict.fromkeys(name for one in those for name in one.times)
                if name in ("exact", "Kokkos", "std", "std with TBB")
            ]
            for name, (role, mark) in charts.roles_of(others).items():
                having = [one for one in those if name in one.times]
                series.append(Series(name, [one.count for one in having], [speed(one, one.times[name]) for one in having], role, mark))
            size = those[0].bytes / those[0].count
            picture = charts.lines(series, y_title=f"GB/s of input, {what}, logarithmic", y_scale="log", bytes_per_element=size)
            name = identifier(f"{machine.name} cpu {record.op} {record.type} {threads} {record.body.get('offset')} {record.body.get('spread') or 0}")
            section.pictures.append(
                Picture(
                    name, picture, f"{what[0].upper()}{what[1:]}: speed.", f"lines of the speed over the number of elements, {what}"
                )
            )
            for one in those:
                ratio = three(one.best_seconds() / one.times["onefold"]) if one.best_seconds() else NOT_MEASURED
                cells = [
                    elements(one.count),
                    str(threads),
                    microseconds(one.times["onefold"]),
                    microseconds(one.best_seconds()),
                    one.best or NOT_MEASURED,
                ]
                rows.append([*cells, microseconds(one.times.get("Kokkos")), microseconds(one.times.get("std")), ratio])
        columns = ["n", "threads", "onefold, µs", "best loop, µs", "which", "Kokkos, µs", "std, µs", "speed over the best loop's"]
        section.tables.append(Table(f"Exact figures: {record.op} of {plural(record.type)}", columns, rows))
    return section if section.pictures else None


# --- tune ---


def tune_section(machine: Machine) -> Section | None:
    section = Section("Tuned launches")
    for record in machine.of("tune"):
        rows = [row for row in record.rows() if median(row.get("built_in")) and median(row.get("tuned")) and count_of(row)]
        if not rows:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        found = record.body.get("search")
        search = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        named = [(text(one.get("variant")), text(one.get("choice")), one) for one in search]
        before = {(variant, choice): one.get("value") for variant, choice, one in named if one.get("built_in") is True}
        chosen = [(variant, choice, one) for variant, choice, one in named if one.get("chosen") is True]
        changed = [one for one in chosen if one[2].get("built_in") is not True]
        ours = [choice for variant, choice, _ in changed if variant == "fixed_order"]
        ratios = [(median(row["tuned"]) / median(row["built_in"]), row) for row in rows]
        least, most = min(ratios, key=lambda one: one[0]), max(ratios, key=lambda one: one[0])

        def place(row: dict) -> str:
            return f"{text(row.get('form'), record.op)} of {elements(count_of(row))} {plural(text(row.get('type'), record.type))}"

        section.paragraphs.append(
            f"The search changed {len(ours)} of the choices of fixed_order{': ' + ', '.join(ours) if ours else ''}. With what it found a reduction "
            f"takes {factor(least[0])} ({place(least[1])}) to {factor(most[0])} times ({place(most[1])}) as long as with what is built in. No choice "
            "changes a result's bits."
        )
        cells = [
            [
                f"{text(row.get('form'), record.op)} of {plural(text(row.get('type'), record.type))}",
                elements(count_of(row)),
                microseconds(median(row["built_in"])) + a_mark(is_noisy(row["built_in"])),
                microseconds(median(row["tuned"])) + a_mark(is_noisy(row["tuned"])),
                factor(ratio),
            ]
            for ratio, row in ratios
        ]
        section.tables.append(Table("fixed_order, built in and tuned", ["what", "n", "built in, µs", "tuned, µs", "ratio"], cells, False))
        if changed:
            cells = [
                [variant, choice, str(before.get((variant, choice), NOT_MEASURED)), str(one.get("value")), factor(one["relative_time"])]
                for variant, choice, one in changed
                if isinstance(one.get("relative_time"), (int, float)) and one["relative_time"] > 0
            ]
            columns = ["variant", "choice", "built in", "found", "time over built in"]
            section.tables.append(Table("What the search changed", columns, cells, True))
    return section if section.tables else None


# --- all of it ---


BUILDERS = [
    ladder_section,
    sweep_section,
    ratio_section,
    latency_section,
    forms_section,
    fused_section,
    exact_section,
    host_section,
    ranges_section,
    devices_section,
    scaling_section,
    cpu_ladder_section,
    cpu_section,
    folds_section,
    calls_section,
    memory_section,
    tune_section,
]


def remarks_section(machine: Machine) -> Section | None:
    said = list(machine.remarks)
    noisy = 0
    for record in machine.records:
        noisy += str(record.body).count("'noisy': True")
        alike: dict[str, list[str]] = {}  # the same sentence with other figures, said at several sizes
        for warning in record.warnings():
            alike.setdefault(re.sub(r"\d[\d.,]*", "", warning), []).append(warning)
        said += [f"{record.file}: {ones[0]}" + (f" (And {len(ones) - 1} more like it.)" if len(ones) > 1 else "") for ones in alike.values()]
        left_out = record.body.get("left_out")
        said += [f"{record.file}: left out: {one}" for one in left_out] if isinstance(left_out, list) else []
    if noisy:
        said.append(
            f"~ marks a noisy figure: do not lean on it. There {'is one' if noisy == 1 else f'are {noisy:,}'} in these records."
        )
    return Section("Warnings", said) if said else None


def sources_section(machine: Machine) -> Section:
    rows = [
        [
            record.study,
            f"{record.op} of {plural(record.type)}",
            text(record.body.get("time")),
            text(record.body.get("commit")),
            record.command,
        ]
        for record in machine.records
    ]
    tables = [Table("Records", ["study", "what", "time", "commit", "command"], rows, words=5)]
    versions = {}
    for record in machine.of("peers"):
        known = record.body.get("versions")
        versions.update(known if isinstance(known, dict) else {})
    if versions:
        tables.append(
            Table(
                "Versions of the peers", ["peer", "version"], [[str(one), str(version)] for one, version in versions.items()], words=2
            )
        )
    return Section("Where the figures are from", [], [], tables)


def sections(machine: Machine) -> list[Section]:
    found = [section for section in (build(machine) for build in BUILDERS) if section is not None]
    remarks = remarks_section(machine)
    return [*found, *([remarks] if remarks else []), sources_section(machine)]
