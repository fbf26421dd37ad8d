"""Two GPUs or more: which is better for sums, which resource explains it, and whether rewriting a code gains more than buying."""

import itertools

import charts
import figures
from charts import Series
from figures import DEFAULT, plural
from quantities import NOT_MEASURED, elements, factor, identifier, percent, rate, seconds, span, three
from records import Machine
from parts import Picture, Section, Table

ALIKE = 0.05  # two ratios nearer than this are said to be the same


def _rates(machine: Machine, type_name: str) -> dict[int, tuple[float, float | None]]:
    """By count: onefold's bytes per second and those of the bare read, for sums."""
    points = figures.sweep(machine.first("sweep", op="sum", type=type_name))
    return {
        point.count: (point.bytes / point.ours(), point.bytes / point.limit if point.limit else None)
        for point in points
        if point.ours()
    }


def _small(machine: Machine):
    return {one.count: one for one in figures.latencies(machine.first("latency", op="sum", type="f32"))}


def _common(per_machine: list[dict]) -> list[int]:
    return sorted(set.intersection(*(set(one) for one in per_machine))) if per_machine else []


def comparison(machines: list[Machine]) -> Section | None:
    gpus = [machine for machine in machines if machine.gpu is not None]
    if len(gpus) < 2:
        return None
    section = Section("Which of these GPUs to buy for sums" if len(gpus) > 2 else "Which of the two GPUs to buy for sums")
    rows: list[list[str]] = []
    columns = ["", *(machine.name for machine in gpus)]
    if len(gpus) == 2:
        columns.append("ratio")

    def add(what: str, values: list, write, more_is_better: bool) -> None:
        if all(value is None for value in values):
            return
        cells = [write(value) if value is not None else NOT_MEASURED for value in values]
        if len(gpus) == 2:
            known = all(values)
            cells.append(three(values[0] / values[1] if more_is_better else values[1] / values[0]) if known else NOT_MEASURED)
        rows.append([what, *cells])

    answers = []
    for type_name in ("f32", "f64"):
        rates = [_rates(machine, type_name) for machine in gpus]
        counts = _common(rates)
        if not counts:
            continue
        n = counts[-1]
        what = f"{elements(n)} {plural(type_name)}"
        sums, reads = [one[n][0] for one in rates], [one[n][1] for one in rates]
        add(f"sum of {what}", sums, rate, True)
        add(f"bare read of {what}", reads, rate, True)
        middle = min(counts, key=lambda count: abs(count - 2**20))
        if middle != n:
            add(f"sum of {elements(middle)} {plural(type_name)}", [one[middle][0] for one in rates], rate, True)
        answers.append((type_name, n, sums, reads))
        series = []
        for machine, role, one in zip(gpus, itertools.cycle(["onefold", "other1", "other2", "other3"]), rates):
            series.append(Series(machine.name, sorted(one), [one[count][0] * 1e-12 for count in sorted(one)], role, dash="-"))
            having = [count for count in sorted(one) if one[count][1]]
            series.append(
                Series(f"{machine.name}, bare read", having, [one[count][1] * 1e-12 for count in having], role, None, (0, (3, 2)))
            )
        figure = charts.lines(
            series, y_title=f"TB/s of input, sum of {plural(type_name)}", bytes_per_element=4 if type_name == "f32" else 8
        )
        words = f"Sum of {plural(type_name)} by onefold on each GPU, nothing in the cache."
        section.pictures.append(
            Picture(identifier(f"compare {type_name}"), figure, words, "lines of the speed of each GPU over the number of elements")
        )

    if answers:
        type_name, n, sums, reads = answers[0]
        section.paragraphs += _large(gpus, type_name, n, sums, reads)
        if len(answers) > 1:
            other_type, count, sums, _ = answers[1]
            best, least = _best_and_least(sums)
            section.paragraphs.append(
                f"For {plural(other_type)} the {gpus[best].name} is {factor(sums[best] / sums[least])} times as fast as the {gpus[least].name}, at "
                f"{elements(count)} elements."
            )

    smalls = [_small(machine) for machine in gpus]
    counts = [count for count in _common(smalls) if count <= 4096 and all(one[count].host for one in smalls)]
    if counts:
        n = counts[-1]
        hosts, streams, bares = ([getattr(one[n], name) for one in smalls] for name in ("host", "stream", "bare"))
        add(f"sum of {elements(n)} floats, to the host", hosts, seconds, False)
        add(f"sum of {elements(n)} floats, in stream", streams, seconds, False)
        add("a kernel that writes a word, to the host", bares, seconds, False)
        section.paragraphs += _small_words(gpus, n, hosts, bares)

    section.paragraphs += _rewriting(gpus, answers, add)
    if not rows:
        return None
    note = "In the column ratio more than 1 says that the GPU on the left is the faster." if len(gpus) == 2 else ""
    section.tables.append(Table("Side by side", columns, rows, True))
    if note:
        section.paragraphs.append(note)
    return section


def tiles(machines: list[Machine]) -> list[tuple[str, str]]:
    """The speed of each GPU for large arrays, and what lies between the fastest and the slowest."""
    gpus = [machine for machine in machines if machine.gpu is not None]
    rates = [_rates(machine, "f32") for machine in gpus]
    counts = _common(rates)
    if len(gpus) < 2 or not counts:
        return []
    sums = [one[counts[-1]][0] for one in rates]
    shown = [(rate(speed), f"{machine.name}, sum of {elements(counts[-1])} floats") for machine, speed in zip(gpus, sums)]
    return [*shown[:3], (f"{factor(max(sums) / min(sums))} ×", "between the fastest and the slowest")]


def _best_and_least(values: list[float]) -> tuple[int, int]:
    """The places of the most and of the least; never the same one."""
    order = sorted(range(len(values)), key=lambda place: -values[place])
    return order[0], order[-1]


def _large(gpus: list[Machine], type_name: str, n: int, sums: list[float], reads: list[float | None]) -> list[str]:
    best, least = _best_and_least(sums)
    ratio = sums[best] / sums[least]
    pair = f"{elements(n)} {plural(type_name)}"
    if ratio < 1 + ALIKE:
        words = f"For large arrays they are alike: {pair} are summed at {rate(sums[best])} on the {gpus[best].name} and at {rate(sums[least])} on the "
        words += f"{gpus[least].name}, {100 * (ratio - 1):.1f} % apart. Buy the cheaper one for sums."
    else:
        words = f"For sums of large arrays take the {gpus[best].name}: it sums {pair} at {rate(sums[best])}, {factor(ratio)} times as fast as the "
        words += f"{gpus[least].name} ({rate(sums[least])})."
    words = [words]
    if reads[best] and reads[least]:
        reading = reads[best] / reads[least]
        part = [sums[place] / reads[place] for place in (best, least)]
        shares = f"{percent(part[0])} and {percent(part[1])} of them"
        if ratio < 1 + ALIKE and abs(reading - 1) < ALIKE:
            words.append(f"So are their memories: a bare read of the same bytes runs at {rate(reads[best])} and {rate(reads[least])}.")
        elif abs(ratio / reading - 1) < ALIKE:
            words.append(
                f"The memory explains it: a bare read of the same bytes runs at {rate(reads[best])} and {rate(reads[least])}, a factor of "
                f"{factor(reading)}, and the sums reach {shares}."
                + (" Only more memory bandwidth would make them faster." if min(part) > 0.9 else "")
            )
        else:
            words.append(
                f"The memory alone does not explain it: bare reads differ by a factor of {factor(reading)}, and the sums reach {shares}. The rest is in "
                f"the kernel: its launch choices fit one of the two GPUs better."
            )
    return words


def _small_words(gpus: list[Machine], n: int, hosts: list[float], bares: list[float | None]) -> list[str]:
    least, best = _best_and_least(hosts)
    ratio = hosts[least] / hosts[best]
    words = (
        f"For small arrays: {elements(n)} floats are summed, to the host, in {seconds(hosts[best])} on the {gpus[best].name} and in "
    )
    words += f"{seconds(hosts[least])} on the {gpus[least].name}"
    if bares[best] and bares[least]:
        part = [bares[place] / hosts[place] for place in (best, least)]
        share = span(f"{100 * min(part):.0f}", f"{100 * max(part):.0f}")
        words += f". {share} % of that is what a kernel takes that does nothing but write a word"
        words += ": the host and the bus, not the GPU's memory, decide here" if min(part) > 0.5 else ""
    if ratio < 1 + ALIKE:
        words += f". The two differ by {100 * (ratio - 1):.1f} %, less than is worth money"
    return [words + "."]


def _rewriting(gpus: list[Machine], answers: list, add) -> list[str]:
    """A tree kernel on the slower GPU: what buying the faster one gains, and what onefold gains on the GPU that is there."""
    found = [figures.ladder(machine.first("ladder", op="sum", type="f32")) for machine in gpus]
    if any(one is None or one.rung(DEFAULT) is None for one in found) or len({one.count for one in found}) != 1:
        return []
    what = f"{elements(found[0].count)} floats"
    for name in ("atomic_global", "warp_shuffle", "cub", DEFAULT):
        add(f"{name}, {what}", [one.rung(name).seconds if one.rung(name) else None for one in found], seconds, False)
    if any(one.rung("warp_shuffle") is None for one in found):
        return []
    ours = [one.rung(DEFAULT).seconds for one in found]
    slow, fast = _best_and_least(ours)
    tree = [one.rung("warp_shuffle").seconds for one in found]
    buying, rewriting = tree[slow] / tree[fast], tree[slow] / ours[slow]
    more = "Rewriting gains more" if rewriting > buying else "Buying gains more"
    return [
        f"A code with an unrolled tree (warp_shuffle, {what}) takes {seconds(tree[slow])} on the {gpus[slow].name}. Moved as it is to the "
        f"{gpus[fast].name} it becomes {factor(buying)} times as fast; with onefold on the GPU that is there, {factor(rewriting)} times; with both, "
        f"{factor(tree[slow] / ours[fast])} times. {more}."
    ]
