"""The JSON records of onefold-perf: read with suspicion, and sorted by the machine that they come from."""

import json
import os
from dataclasses import dataclass, field

from quantities import is_number

KNOWN_STUDIES = (
    "ladder", "cpu_ladder", "finishes", "sweep", "forms", "fused", "exact", "host", "ranges", "devices", "latency", "cpu", "folds", "calls", "memory", "peers", "scaling", "tune"
)

MOST = 1 << 63  # elements or bytes


class NoRecord(Exception):
    """A file that is none of ours; the message is a sentence that names it."""


@dataclass
class Record:
    path: str
    body: dict

    @property
    def study(self) -> str:
        return self.body["study"]

    @property
    def type(self) -> str:
        return text(self.body.get("type"), "f32")

    @property
    def op(self) -> str:
        return text(self.body.get("form") or self.option("--form") or self.body.get("op"), "sum")

    @property
    def command(self) -> str:
        words = self.body.get("command")
        return " ".join(str(word) for word in words if word != "") if isinstance(words, list) else text(words, "unknown")

    @property
    def file(self) -> str:
        return os.path.basename(self.path)

    @property
    def short_path(self) -> str:
        """The file with its folder: enough to find it, and nothing of the reader's machine."""
        return os.path.join(os.path.basename(os.path.dirname(os.path.abspath(self.path))), self.file)

    def option(self, name: str):
        """The latency record tells its form in the command only."""
        words = self.body.get("command")
        if not isinstance(words, list) or name not in words[:-1]:
            return None
        return str(words[words.index(name) + 1])

    def rows(self) -> list[dict]:
        rows = self.body.get("rows")
        return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []

    def warnings(self) -> list[str]:
        found = []
        for holder in [self.body, *self.rows()]:
            said = holder.get("warnings")
            found += [str(one).removeprefix("warning: ") for one in said] if isinstance(said, list) else []
        return list(dict.fromkeys(found))


@dataclass
class Machine:
    """One GPU with its host, or a host alone. `records` are newest first, one of each kind."""

    name: str
    gpu: dict | None
    cpu: str
    records: list[Record] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def of(self, study: str) -> list[Record]:
        found = [record for record in self.records if record.study == study]

        def place(record):  # the sum of floats comes first, and of several lengths the longest
            count = record.body.get("count")
            return record.op != "sum", record.op, record.type, -count if is_number(count) else 0

        return sorted(found, key=place)

    def first(self, study: str, **like) -> Record | None:
        for record in self.of(study):
            if all(getattr(record, name) == value for name, value in like.items()):
                return record
        return None


def text(value, otherwise: str = "unknown") -> str:
    return value if isinstance(value, str) and value else otherwise


def median(samples) -> float | None:
    """Seconds; None where nothing was measured. Older records have a bare number in some places."""
    value = samples.get("median_s") if isinstance(samples, dict) else samples
    return float(value) if is_number(value) and 1e-18 < value < 1e12 else None  # beyond is no time that somebody measured


def spread(samples) -> float | None:
    value = samples.get("spread") if isinstance(samples, dict) else None
    return float(value) if is_number(value) and value >= 0 else None


def is_noisy(samples) -> bool:
    return isinstance(samples, dict) and samples.get("noisy") is True


def at(holder, *names):
    """holder[a][b].. or None, whatever is in the way."""
    for name in names:
        if not isinstance(holder, dict):
            return None
        holder = holder.get(name)
    return holder


def list_of(holder, name: str) -> list:
    value = at(holder, name)
    return value if isinstance(value, list) else []


def count_of(row) -> int | None:
    value = at(row, "count")
    return int(value) if is_number(value) and 1 <= value < MOST else None


def bytes_of(row) -> int | None:
    value = at(row, "bytes")
    return int(value) if is_number(value) and 1 <= value < MOST else None


def load(path: str) -> list[Record]:
    """The record of a file that onefold-perf wrote, or those of one that keep.py put together."""
    try:
        with open(path, encoding="utf-8") as file:
            held = json.load(file)
    except OSError as problem:
        raise NoRecord(f"{path}: cannot be read: {problem.strerror}") from problem
    except (UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise NoRecord(f"{path}: is no JSON, so it is no record of onefold-perf") from problem
    bodies = held if isinstance(held, list) and held else [held]
    for body in bodies:
        if not isinstance(body, dict) or not isinstance(body.get("study"), str) or not body["study"]:
            raise NoRecord(f"{path}: is no record of onefold-perf: it names no study")
    return [Record(path, body) for body in bodies]


def kind(record: Record) -> tuple:
    """What two records of one thing have in common."""
    body = record.body
    return (record.study, record.type, record.op, str(body.get("count")), str(body.get("offset")), str(body.get("spread") or 0))


def _keep_newest(machine: Machine) -> None:
    """Rows of the CPU's sizes come in several files and are put together; of anything else the newest record counts."""
    kept: dict[tuple, Record] = {}
    for record in sorted(machine.records, key=lambda one: text(one.body.get("time"), ""), reverse=True):
        first = kept.setdefault(kind(record), record)
        if first is record:
            continue
        if record.study != "cpu":
            machine.remarks.append(
                f"{record.short_path} is left out: {first.short_path} has the same study and is newer ({text(first.body.get('time'))})."
            )
            continue
        known = {(row.get("count"), row.get("threads")) for row in first.rows()}
        more = [row for row in record.rows() if (row.get("count"), row.get("threads")) not in known]
        first.body = {**first.body, "rows": first.rows() + more}
    machine.records = list(kept.values())


def machines(records: list[Record]) -> tuple[list[Machine], list[str]]:
    """The records by machine, and sentences on what could not be used.

    A record of the CPU names no GPU: it goes to the GPU that was measured on the same host, if there is just one such, with those in the
    same folder first, because hosts of a kind share their CPU's name.
    """
    sentences = []
    by_gpu: dict[tuple, Machine] = {}
    hosts: dict[tuple, set] = {}
    without_gpu = []
    for record in records:
        if record.study not in KNOWN_STUDIES:
            sentences.append(f"{record.short_path} is left out: this report does not know the study {record.study}.")
            continue
        gpu = record.body.get("gpu")
        cpu = text(record.body.get("cpu"))
        if not isinstance(gpu, dict):
            without_gpu.append((record, cpu))
            continue
        key = (text(gpu.get("name"), "a GPU without a name"), str(gpu.get("multiprocessors")))
        machine = by_gpu.setdefault(key, Machine(key[0], gpu, cpu))
        machine.records.append(record)
        for host in (cpu, (os.path.dirname(record.path), cpu)):
            hosts.setdefault(host, set()).add(key)
    by_cpu: dict[str, Machine] = {}
    for record, cpu in without_gpu:
        candidates = hosts.get((os.path.dirname(record.path), cpu)) or hosts.get(cpu) or set()
        if len(candidates) == 1:
            by_gpu[next(iter(candidates))].records.append(record)
        else:
            by_cpu.setdefault(cpu, Machine(cpu, None, cpu)).records.append(record)
    found = [*by_gpu.values(), *by_cpu.values()]
    for machine in found:
        _keep_newest(machine)
    return found, sentences
