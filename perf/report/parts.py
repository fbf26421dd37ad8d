"""What a section of the report is made of, and the names that all sections use."""

from dataclasses import dataclass, field

from figures import DEFAULT
from quantities import sentence_list
from records import Record, list_of, text


@dataclass
class Picture:
    """A chart with what is written under it. `description` is for those who cannot see it."""

    name: str
    figure: object
    caption: str
    description: str
    wide: bool = False


@dataclass
class Table:
    title: str
    columns: list[str]
    rows: list[list[str]]
    brief: bool = False  # stands in the summary too, and is open on the page
    words: int = 1  # so many columns on the left are words, the rest figures


@dataclass
class Section:
    title: str
    paragraphs: list[str] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    parts: list["Section"] = field(default_factory=list)


OUR_NAMES = {
    DEFAULT: "onefold",
    "cub": "CUB",
    "cublas": "cuBLAS",
    "eigen": "Eigen",
    "kokkos": "Kokkos",
    "omp simd": "OpenMP simd",
    "openblas": "OpenBLAS",
    "thrust": "Thrust",
}


def shown(name: str) -> str:
    first, _, rest = name.partition(" ")
    return OUR_NAMES.get(name) or (f"{OUR_NAMES[first]} {rest}" if rest and first in OUR_NAMES else name)


def place_name(where: str) -> str:
    """gpu, to the host -> GPU, to the host."""
    return where[:3].upper() + where[3:] if where.startswith(("gpu", "cpu")) else where


def missing_peers(records: list[Record]) -> str:
    """A sentence, or nothing where all were there."""
    listed = [one for record in records for one in list_of(record.body, "missing") if isinstance(one, dict)]
    said = [
        f"{text(one.get('peer'), 'a peer without a name')} ({text(one.get('why'), 'no reason is given').rstrip('.')})"
        for one in listed
    ]
    return f"Not compared, because they were missing: {sentence_list(list(dict.fromkeys(said)))}." if said else ""


def a_mark(noisy: bool) -> str:
    return " ~" if noisy else ""
