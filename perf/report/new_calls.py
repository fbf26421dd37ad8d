"""The sections of the studies `folds` and `calls`: reductions beside loops by hand, and what a call on few elements costs."""

import charts
from charts import Series
from figures import is_limit, plural
from parts import Picture, Section, Table, a_mark
from quantities import (
    NOT_MEASURED,
    elements,
    factor,
    gigabytes_per_second,
    identifier,
    microseconds,
    percent,
    seconds,
    span,
    spread,
    three,
)
from records import Machine, at, bytes_of, count_of, is_noisy, median, text
from records import spread as spread_of

# Each chart has the lines of one of these.
KINDS = {
    "several results": ("argmin", "argmax", "minmax", "mean_variance", "together"),
    "functions of the index, own operators": ("lambda", "three_arrays", "filter", "box", "own_operator"),
}


def _threads_of(row) -> int | None:
    threads = row.get("threads")
    return threads if isinstance(threads, int) and not isinstance(threads, bool) and threads >= 1 else None


def _team(threads: int) -> str:
    return f"{threads} thread{'' if threads == 1 else 's'}"


# --- folds ---


class _Fold:
    """A row of the study folds; `best` is None where no loop by hand was timed."""

    def __init__(self, row: dict):
        self.case, self.type = text(row.get("case"), ""), text(row.get("type"), "f32")
        self.count, self.bytes, self.threads = count_of(row), bytes_of(row), _threads_of(row)
        self.ours, self.noisy, self.spread = median(row.get("onefold")), is_noisy(row.get("onefold")), spread_of(row.get("onefold"))
        held = row.get("by_hand")
        by_hand = [(median(times), str(name)) for name, times in (held if isinstance(held, dict) else {}).items() if median(times)]
        self.best, self.which = min(by_hand, default=(None, NOT_MEASURED))
        self.built_in = median(row.get("built_in"))
        limit = median(row.get("read_limit"))
        self.from_memory = limit is not None
        self.limit = limit if is_limit(limit, self.ours) else None

    def usable(self) -> bool:
        return bool(self.case and self.count and self.bytes and self.threads and self.ours)

    def what(self) -> str:
        return f"{self.case} of {elements(self.count)} {plural(self.type)}"


def _range_of(shares: list[tuple[float, _Fold]], words) -> tuple[str, str]:
    """From the least to the largest, and what has the least."""
    low, high = min(shares, key=lambda one: one[0]), max(shares, key=lambda one: one[0])
    return span(words(low[0]), words(high[0])), low[1].what()


def _sentences_on_folds(those: list[_Fold], threads: int) -> list[str]:
    said = []
    cached = [(one.best / one.ours, one) for one in those if one.best and not one.from_memory]
    if cached:
        shares, least = _range_of(cached, three)
        said.append(
            f"With {_team(threads)}, in the caches, onefold has {shares} times the speed of the best loop by hand, the least for {least}."
        )
    beyond = [(one.limit / one.ours, one) for one in those if one.limit]
    if beyond:
        shares, least = _range_of(beyond, percent)
        said.append(f"With {_team(threads)}, from memory, it has {shares} of the speed of a bare read, the least for {least}.")
    built_in = [(one.ours / one.built_in, one) for one in those if one.built_in]
    if built_in:
        times = [ratio for ratio, _ in built_in]
        said.append(
            f"With {_team(threads)} a function of the caller's takes {span(factor(min(times)), factor(max(times)))} times as long as what the "
            "library has built in."
        )
    return said


def _fold_picture(machine: Machine, kind: str, those: list[_Fold], what: str) -> Picture | None:
    names = [name for name in KINDS[kind] if any(one.case == name and one.best for one in those)]
    if not names:
        return None
    series = []
    for name, (role, mark) in charts.roles_of(names).items():
        ones = sorted((one for one in those if one.case == name and one.best), key=lambda one: one.count)
        series.append(Series(name, [one.count for one in ones], [one.best / one.ours for one in ones], role, mark))
    return Picture(
        identifier(f"{machine.name} folds {kind} {what}"),
        charts.lines(series, y_title=f"speed over the best loop's, {what}", y_scale="ratio"),
        f"{kind[0].upper()}{kind[1:]}, {what}: onefold's speed over that of the best loop by hand. Above the line at 1 onefold is faster.",
        f"lines of ratios of speeds over the number of elements, {kind}, {what}",
    )


def folds_section(machine: Machine) -> Section | None:
    section = Section("Several results and functions of one's own on the CPU")
    for record in machine.of("folds"):
        found = [one for one in map(_Fold, record.rows()) if one.usable()]
        if not found:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
            continue
        for threads in sorted({one.threads for one in found}):
            section.paragraphs += _sentences_on_folds([one for one in found if one.threads == threads], threads)
        for type_name, threads in dict.fromkeys((one.type, one.threads) for one in found):
            those = [one for one in found if (one.type, one.threads) == (type_name, threads)]
            what = f"{plural(type_name)}, {_team(threads)}"
            pictures = [_fold_picture(machine, kind, those, what) for kind in KINDS]
            section.pictures += [one for one in pictures if one is not None]
            rows = [
                [
                    one.case,
                    elements(one.count),
                    microseconds(one.ours) + a_mark(one.noisy),
                    spread(one.spread),
                    gigabytes_per_second(one.bytes / one.ours),
                    microseconds(one.best),
                    one.which,
                    three(one.best / one.ours) if one.best else NOT_MEASURED,
                    microseconds(one.built_in),
                    percent(one.limit / one.ours) if one.limit else NOT_MEASURED,
                ]
                for one in those
            ]
            columns = ["case", "n", "onefold, µs", "spread", "GB/s", "best loop, µs", "which", "speed over it", "built in, µs", "of a bare read"]
            section.tables.append(Table(f"Exact figures: {what}", columns, rows))
    return section if section.tables else None


# --- calls ---


def _one_call_sentence(rows: list[dict]) -> str | None:
    """Of the smallest sum."""
    sums = [row for row in rows if text(row.get("form"), "") == "sum"] or rows
    least = min(count_of(row) for row in sums)
    alone, with_driver = (
        next((row for row in sums if count_of(row) == least and (row.get("driver") is True) == loaded), None) for loaded in (False, True)
    )
    if alone is None:
        return None
    words = f"A call of serial() on {elements(least)} {plural(text(alone.get('type'), 'f64'))} takes {seconds(median(alone['onefold']))}"
    if median(alone.get("loop")):
        words += f", a loop in the caller's code {seconds(median(alone['loop']))}"
    if with_driver is not None:
        words += f"; with a CUDA driver in the process the call takes {seconds(median(with_driver['onefold']))}"
    return words + "."


def _at_once(machine: Machine, rows: list[dict]) -> tuple[str | None, Picture | None, Table | None]:
    """Calls from one thread, two, and so on to all."""
    rows = sorted((row for row in rows if _threads_of(row)), key=_threads_of)
    if not rows or _threads_of(rows[0]) != 1:
        return None, None, None
    gain = lambda row, name: median(rows[0][name]) / median(row[name]) if median(row.get(name)) and median(rows[0].get(name)) else None
    last = rows[-1]
    what = f"sums of {elements(count_of(last))} {plural(text(last.get('type'), 'f64'))}"
    sentence = None
    if len(rows) > 1:
        sentence = f"From {_team(_threads_of(last))} at once serial() makes {factor(gain(last, 'onefold'))} times as many calls as from one"
        sentence += f", where the loop does {factor(gain(last, 'loop'))} times as many ({what})." if gain(last, "loop") else f" ({what})."
    threads = [_threads_of(row) for row in rows]
    series = [Series("onefold", threads, [gain(row, "onefold") for row in rows])]
    looped = [row for row in rows if gain(row, "loop")]
    series.append(Series("loop in the caller's code", [_threads_of(row) for row in looped], [gain(row, "loop") for row in looped], "peer"))
    picture = Picture(
        identifier(f"{machine.name} calls at once"),
        charts.lines(series, y_title="calls a second over those of one thread", x_title="threads", x_is_count=False),
        f"serial() from several threads at once, {what}.",
        "lines of the number of calls over the number of threads",
    )
    cells = [
        [
            str(_threads_of(row)),
            three(1e-6 / median(row["onefold"])) + a_mark(is_noisy(row["onefold"])),
            three(gain(row, "onefold")),
            three(1e-6 / median(row["loop"])) if median(row.get("loop")) else NOT_MEASURED,
            three(gain(row, "loop")) if gain(row, "loop") else NOT_MEASURED,
        ]
        for row in rows
    ]
    columns = ["threads", "million calls a second", "over one thread's", "loop, million a second", "over one thread's"]
    return sentence, picture, Table(f"From several threads at once: {what}", columns, cells)


def calls_section(machine: Machine) -> Section | None:
    section = Section("Calls on few elements")
    for record in machine.of("calls"):
        rows = [row for row in record.rows() if count_of(row) and median(row.get("onefold"))]
        single = [row for row in rows if text(row.get("case"), "") == "one call"]
        several = [row for row in rows if text(row.get("case"), "") == "at once"]
        sentence = _one_call_sentence(single) if single else None
        section.paragraphs += [sentence] if sentence else []
        said, picture, table = _at_once(machine, several)
        section.paragraphs += [said] if said else []
        section.pictures += [picture] if picture else []
        if single:
            cells = [
                [
                    text(row.get("form"), "sum"),
                    elements(count_of(row)),
                    "yes" if row.get("driver") is True else "no",
                    seconds(median(row["onefold"])) + a_mark(is_noisy(row["onefold"])),
                    spread(spread_of(row["onefold"])),
                    seconds(median(row["loop"])) if median(row.get("loop")) else NOT_MEASURED,
                ]
                for row in single
            ]
            columns = ["what", "n", "CUDA driver loaded", "onefold", "spread", "loop in the caller's code"]
            section.tables.append(Table("One call of serial()", columns, cells, True))
        section.tables += [table] if table else []
        if not single and table is None:
            machine.remarks.append(f"{record.short_path} is left out: it has no row that this report can read.")
        elif text(at(record.body, "no_driver"), ""):
            section.paragraphs.append(f"With a CUDA driver nothing was timed: {text(record.body['no_driver']).rstrip('.')}.")
    return section if section.tables else None
