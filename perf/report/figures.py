"""What the records say, as plain numbers: the sections, the comparison and the picture of the README are made from these."""

from dataclasses import dataclass, field

from records import Machine, Record, at, bytes_of, count_of, is_noisy, median, spread, text

# The names under which the catalogue has onefold's own kernels and those of others; every other variant is a lecture's.
OURS = ("fixed_order", "vector_load")
PEERS = ("cub", "parallel_reduce")
DEFAULT = "fixed_order"

# What codes do before they call a library, from slow to fast, with the variant that does the same.
TYPICAL = [
    ("atomic_global", "adds every element to one variable with an atomic"),
    ("atomic_shared", "has one atomic per element in shared memory"),
    ("shared_interleaved", "has the textbook's first tree in shared memory"),
    ("shared_sequential", "has the tree with sequential addressing"),
    ("warp_shuffle", "has an unrolled tree that ends in warp shuffles"),
    ("grid_stride", "has a grid-stride loop before its tree"),
    ("cub", "calls cub::DeviceReduce"),
]

TYPE_NAMES = {
    "f32": "floats",
    "f64": "doubles",
    "i32": "32-bit integers",
    "i64": "64-bit integers",
    "u32": "unsigned integers",
    "u64": "64-bit unsigned integers",
}


def plural(type_name: str) -> str:
    return TYPE_NAMES.get(type_name, f"{type_name} values")


def is_limit(limit, seconds) -> bool:
    """As perf/limit.hpp has it: a read that takes longer than this was disturbed."""
    return limit is not None and seconds is not None and limit <= 1.5 * seconds


@dataclass
class Rung:
    name: str
    seconds: float
    spread: float | None
    hot: float | None
    role: str
    limit: float | None  # a bare read with as many threads
    remark: str = ""
    noisy: bool = False


@dataclass
class Ladder:
    record: Record
    count: int
    bytes: int
    rungs: list[Rung]
    limit: float | None

    def rung(self, name: str) -> Rung | None:
        return next((rung for rung in self.rungs if rung.name == name), None)


def ladder(record: Record | None) -> Ladder | None:
    if record is None:
        return None
    count, size = count_of(record.body), bytes_of(record.body)
    on_cpu = record.study == "cpu_ladder"
    rungs = []
    for row in record.rows():
        name = text(row.get("name" if on_cpu else "variant"), "")
        times = row.get("time" if on_cpu else "cold")
        seconds = median(times)
        if not name or seconds is None:
            continue
        if on_cpu:
            role = "onefold" if name.startswith(("serial", "openmp", "best")) else "peer"
        else:
            role = "onefold" if name in OURS else "peer" if name in PEERS else "lecture"
        remark = "timed to the host" if row.get("clock") == "host" else ""
        limit = median(at(record.body, "read_limit", ("one" if row.get("threads") == 1 else "all") if on_cpu else "cold"))
        rungs.append(Rung(name, seconds, spread(times), median(row.get("hot")), role, limit, remark, is_noisy(times)))
    if not rungs or count is None or size is None:
        return None
    for limit in {rung.limit for rung in rungs}:
        same = [rung for rung in rungs if rung.limit == limit]
        if not is_limit(limit, min(rung.seconds for rung in same)):
            for rung in same:
                rung.limit = None
    limit = median(at(record.body, "read_limit", "all" if on_cpu else "cold"))
    return Ladder(record, count, size, rungs, limit if is_limit(limit, min(rung.seconds for rung in rungs)) else None)


@dataclass
class Point:
    """One size of a sweep: seconds by variant, with nothing in the cache (cold) and with the array there (hot)."""

    count: int
    bytes: int
    cold: dict[str, float]
    hot: dict[str, float]
    spread: dict[str, float | None]
    limit: float | None
    limit_hot: float | None
    noisy: bool = False

    def ours(self) -> float | None:
        return self.cold.get(DEFAULT)


def sweep(record: Record | None) -> list[Point]:
    points = []
    for row in record.rows() if record is not None else []:
        count, size, variants = count_of(row), bytes_of(row), row.get("variants")
        if count is None or size is None or not isinstance(variants, dict):
            continue
        known = {
            state: {name: median(at(times, state)) for name, times in variants.items() if median(at(times, state)) is not None}
            for state in ("cold", "hot")
        }
        if not known["cold"]:
            continue
        limits = {}
        for state in ("cold", "hot"):
            limit = median(at(row, "read_limit", state))
            limits[state] = limit if is_limit(limit, min(known[state].values(), default=None)) else None
        spreads = {name: spread(at(variants[name], "cold")) for name in known["cold"]}
        noisy = any(is_noisy(at(times, "cold")) for times in variants.values())
        points.append(Point(count, size, known["cold"], known["hot"], spreads, limits["cold"], limits["hot"], noisy))
    return sorted(points, key=lambda point: point.count)


def largest(points: list[Point]) -> Point | None:
    ours = [point for point in points if point.ours() is not None]
    return ours[-1] if ours else None


@dataclass
class Latency:
    count: int
    stream: float | None
    host: float | None
    bare: float | None
    cub_stream: float | None
    cub_host: float | None
    enqueue: float | None


def latencies(record: Record | None) -> list[Latency]:
    found = []
    for row in record.rows() if record is not None else []:
        count = count_of(row)
        twenty = median(row.get("enqueue_20"))
        one = Latency(
            count or 0,
            median(row.get("in_stream")),
            median(row.get("to_host")),
            median(row.get("bare_kernel")),
            median(at(row, "cub", "in_stream")),
            median(at(row, "cub", "to_host")),
            twenty / 20 if twenty else None,
        )
        if count is not None and (one.stream or one.host):
            found.append(one)
    return sorted(found, key=lambda one: one.count)


def small(found: list[Latency]) -> Latency | None:
    """The size that stands for small arrays: 4096 elements, or the nearest below that was timed to the host."""
    timed = [one for one in found if one.host is not None]
    return max((one for one in timed if one.count <= 4096), key=lambda one: one.count, default=timed[0] if timed else None)


@dataclass
class Ratio:
    """onefold's time over a peer's at one point; below one onefold is ahead."""

    peer: str
    where: str
    form: str
    type: str
    count: int
    ratio: float
    state: str = ""
    noisy: bool = False


def ratios(machine: Machine) -> list[Ratio]:
    """From the peers study; against CUB from the sweeps too, where the peers study has no CUB of that form and type."""
    found = []
    for record in machine.of("peers"):
        for row in record.rows():
            count, ours, peers = count_of(row), median(row.get("onefold")), row.get("peers")
            if count is None or ours is None or not isinstance(peers, dict):
                continue
            for name, times in peers.items():
                theirs = median(times)
                if theirs is not None:
                    threads = row.get("threads")
                    where = text(row.get("where"), "gpu")
                    if where == "cpu" and isinstance(threads, int):
                        where = f"cpu, {threads} thread{'' if threads == 1 else 's'}"
                    if row.get("to_host") is True and where == "gpu":
                        where = "gpu, to the host"
                    noisy = is_noisy(times) or is_noisy(row.get("onefold"))
                    found.append(
                        Ratio(name, where, text(row.get("form"), "sum"), text(row.get("type"), "f32"), count, ours / theirs, "", noisy)
                    )
    known = {(one.form, one.type) for one in found if one.where == "gpu" and one.peer == "cub"}
    for record in machine.of("sweep"):
        if (record.op, record.type) in known:
            continue
        for point in sweep(record):
            for state in ("cold", "hot"):
                times = getattr(point, state)
                if DEFAULT in times and "cub" in times:
                    found.append(
                        Ratio("cub", "gpu", record.op, record.type, point.count, times[DEFAULT] / times["cub"], state, point.noisy)
                    )
    return found


@dataclass
class Headline:
    """The answers that come first. All may be None."""

    count: int | None = None
    type: str = "f32"
    rate: float | None = None
    limit_rate: float | None = None
    share: float | None = None
    cub_rate: float | None = None
    small: Latency | None = None
    ratios: list[Ratio] = field(default_factory=list)


def headline(machine: Machine) -> Headline:
    found = Headline(small=small(latencies(machine.first("latency", op="sum"))))
    found.ratios = [one for one in ratios(machine) if one.peer == "cub" and one.where == "gpu"]
    for record in machine.of("sweep"):
        point = largest(sweep(record)) if record.op == "sum" else None
        if point is not None:
            found.count, found.type, found.rate = point.count, record.type, point.bytes / point.ours()
            if point.limit:
                found.limit_rate, found.share = point.bytes / point.limit, point.limit / point.ours()
            if "cub" in point.cold:
                found.cub_rate = point.bytes / point.cold["cub"]
            return found
    for record in machine.of("ladder"):
        rungs = ladder(record)
        ours = rungs.rung(DEFAULT) if rungs else None
        if ours is not None and record.op == "sum":
            found.count, found.type, found.rate = rungs.count, record.type, rungs.bytes / ours.seconds
            if rungs.limit:
                found.limit_rate, found.share = rungs.bytes / rungs.limit, rungs.limit / ours.seconds
            cub = rungs.rung("cub")
            found.cub_rate = rungs.bytes / cub.seconds if cub else None
            return found
    return found


@dataclass
class CpuPoint:
    count: int
    bytes: int
    threads: int
    best: str
    times: dict[str, float]

    def best_seconds(self) -> float | None:
        return self.times.get(self.best)


def cpu_points(record: Record | None) -> list[CpuPoint]:
    found = []
    for row in record.rows() if record is not None else []:
        count, size, threads, times = count_of(row), bytes_of(row), row.get("threads"), row.get("times")
        if count is None or size is None or not isinstance(threads, int) or not isinstance(times, dict):
            continue
        known = {name: median(one) for name, one in times.items() if median(one) is not None}
        if "onefold" in known:
            found.append(CpuPoint(count, size, threads, text(row.get("best"), ""), known))
    return sorted(found, key=lambda point: (point.threads, point.count))
