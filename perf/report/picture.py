"""The one picture of the README: how fast a GPU sums floats, from small to large arrays."""

import charts
import figures
import svg
from figures import DEFAULT, plural
from records import Machine
from sections import l2_mark, variant_series

MOST_LINES = 4  # onefold, CUB and two of the lectures' kernels


def picture(machines: list[Machine]) -> str | None:
    """An SVG file's text; None where no GPU was swept. Of several GPUs the first counts."""
    for machine in machines:
        for record in machine.of("sweep"):
            points = figures.sweep(record)
            if machine.gpu is None or figures.largest(points) is None:
                continue
            speeds = variant_series(points, lambda bytes_, time: bytes_ / time * 1e-12)
            limit = [one for one in speeds if one.role == "limit"]
            variants = [one for one in speeds if one.role != "limit"][:MOST_LINES]
            size = points[0].bytes / points[0].count
            what = f"{record.op} of {plural(record.type)} on one {machine.name}"
            figure = charts.lines(
                variants + limit,
                y_title="TB/s of input, nothing in the cache",
                bytes_per_element=size,
                marks=l2_mark(machine, size),
                title=f"{what[0].upper()}{what[1:]}",
                width=720,
                height=300,
                letters=15,
            )
            return svg.alone(
                figure, "onefold", f"{what}: speed over the number of elements, of {DEFAULT} and others, with a bare read as the limit"
            )
    return None
