# SPDX-License-Identifier: Apache-2.0
"""The cases of the E3SM benchmark: the output of E3SM components, read from files captured from
real runs.

A case is the header of a file (`ncdump -h`), a table of its variables (which map each lies on) and
the maps of all ranks (E3SM-IO's combined netCDF file). `write` puts it into one JSON file and one
file of 64-bit indices, which the benchmark's programs read.

Values are known in advance: see `expected` here and value_at in e3sm/fields.hpp.
"""

from __future__ import annotations

import csv
import json
import os
import pathlib
import re
from dataclasses import dataclass, field, replace

try:
    import numpy
except ImportError:  # other benchmarks do without; e3sm.plan says so
    numpy = None

HERE = pathlib.Path(__file__).resolve().parent

#: case -> header, table, maps
SOURCES = {
    "f_h0": ("f_case_h0.txt", "vars_f_h0.csv", "map_f_case_16p.nc"),
    "f_h1": ("f_case_h1.txt", "vars_f_h1.csv", "map_f_case_16p.nc"),
    "g": ("g_case_hist.txt", "vars_g.csv", "map_g_case_16p.nc"),
}
#: Which map variables lie on, by their dimensions without the record dimension, as E3SM-IO's cases
#: have it
MAPS_BY_DIMENSIONS = {
    "f": {("ncol",): "D2", ("lev", "ncol"): "D3"},
    "g": {("nCells",): "D1", ("nEdges",): "D2", ("nCells", "nVertLevels"): "D3", ("nEdges", "nVertLevels"): "D4",
          ("nVertices", "nVertLevels"): "D5", ("nCells", "nVertLevelsP1"): "D6"},
}
#: Variables that lie on another map than others with the same dimensions
MAPS_BY_NAME = {"f": {"area": "D1"}, "g": {}}
#: PIO's text form of the maps of the F case
DAT_FILES = {
    "D1": "piodecomp16tasks16io01dims_ioid_514.dat",
    "D2": "piodecomp16tasks16io01dims_ioid_516.dat",
    "D3": "piodecomp16tasks16io02dims_ioid_548.dat",
}
UNLIMITED = 0
NUMPY_TYPES = {"char": "S1", "int": "i4", "float": "f4", "double": "f8"}
DEFAULT_FILLS = {"char": b"\0", "int": -2147483647, "float": 9.969209968386869e36, "double": 9.969209968386869e36}


class Malformed(ValueError):
    """Names the file, the place in it and what is wrong there."""


@dataclass(frozen=True)
class Attribute:
    name: str
    type: str  #: char, int, float, double
    values: str | tuple


@dataclass(frozen=True)
class Variable:
    name: str
    type: str
    dimensions: tuple[str, ...]
    attributes: tuple[Attribute, ...] = ()
    map: str | None = None  #: None: not decomposed


@dataclass
class Map:
    """The indices of every captured rank: 0-based, C order, in the order of the rank's array,
    without holes."""

    dims: tuple[int, ...]
    ranks: list[numpy.ndarray]


@dataclass
class Case:
    name: str
    dimensions: dict[str, int]  #: UNLIMITED for the record dimension
    variables: list[Variable]
    attributes: list[Attribute]
    order: list[str] = field(default_factory=list)  #: in which the model writes the variables
    maps: dict[str, Map] = field(default_factory=dict)

    def is_record(self, variable: Variable) -> bool:
        return any(self.dimensions[name] == UNLIMITED for name in variable.dimensions)

    def shape(self, variable: Variable) -> tuple[int, ...]:
        """The shape of one record."""
        return tuple(self.dimensions[name] for name in variable.dimensions if self.dimensions[name] != UNLIMITED)


def data_directory(given: str | None) -> pathlib.Path | None:
    """The directory of the captured files: `given`, $AFTERBAY_BENCH_DATA, or shared/data beside the
    source tree."""
    places = [given, os.environ.get("AFTERBAY_BENCH_DATA"), HERE.parent.parent / "shared" / "data"]
    for place in places:
        if place and (pathlib.Path(place) / SOURCES["f_h0"][0]).is_file():
            return pathlib.Path(place)
    return None


def load(name: str, directory: pathlib.Path, other_maps: pathlib.Path | None = None) -> Case:
    """`other_maps`: an E3SM-IO file with the same maps of another size, instead of the captured
    one."""
    header, table, maps = (directory / file for file in SOURCES[name])
    case = parse_header(header)
    case.name = name
    case.maps = read_maps(other_maps or maps)
    expected = read_maps(maps) if other_maps else case.maps
    for map_name, found in case.maps.items():
        if len(found.dims) != len(getattr(expected.get(map_name), "dims", ())):
            raise Malformed(f"{other_maps}: {map_name} has {len(found.dims)} dimensions: not the maps of the case {name}")
    assign_maps(case, table)
    return case


# --- the header, as ncdump prints it --------------------------------------------------------------

STRING = r'"(?:[^"\\]|\\.)*"'
STATEMENT = re.compile(rf'(?:[^;"]|{STRING})*;', re.S)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}


def parse_header(path: pathlib.Path) -> Case:
    # A comment begins with "//" outside a string; text values of these files hold no "//" after a
    # blank.
    text = re.sub(rf'({STRING})|//[^\n]*', lambda match: match[1] or "", path.read_text())
    body = text[text.find("{") + 1:text.rfind("}")]
    sections = re.split(r"^(dimensions|variables):$", body, flags=re.M)
    if len(sections) != 5 or not 0 <= text.find("{") < text.rfind("}"):
        raise Malformed(f"{path}: not the header of a netCDF file with dimensions and variables")
    case = Case(path.stem, {}, [], [])
    for statement in statements(sections[2]):
        name, _, length = (part.strip() for part in statement.partition("="))
        if length != "UNLIMITED" and not length.isdigit():
            raise Malformed(f"{path}: dimension {name}: '{length}' is not a length")
        case.dimensions[name] = UNLIMITED if length == "UNLIMITED" else int(length)
    attributes: dict[str, list[Attribute]] = {}
    declared = []
    for statement in statements(sections[4]):
        if declaration := re.fullmatch(r"(\w+)\s+(\w+)\s*(?:\(([^)]*)\))?", statement):
            dimensions = tuple(part.strip() for part in (declaration[3] or "").split(",") if part.strip())
            declared.append(Variable(declaration[2], declaration[1], dimensions))
        elif attribute := re.fullmatch(r"(\w*):([\w.]+)\s*=\s*(.*)", statement, re.S):
            attributes.setdefault(attribute[1], []).append(parse_attribute(attribute[2], attribute[3], path))
        else:
            raise Malformed(f"{path}: cannot read '{statement}'")
    case.variables = [replace(variable, attributes=tuple(attributes.get(variable.name, ()))) for variable in declared]
    case.attributes = attributes.get("", [])
    return case


def statements(text: str) -> list[str]:
    return [match[0][:-1].strip() for match in STATEMENT.finditer(text)]


def parse_attribute(name: str, text: str, path: pathlib.Path) -> Attribute:
    if text.startswith('"'):
        joined = "".join(string[1:-1] for string in re.findall(STRING, text))
        return Attribute(name, "char", re.sub(r"\\(.)", lambda match: ESCAPES[match[1]], joined))
    words = [word.strip() for word in text.split(",")]
    if all(re.fullmatch(r"[-+]?\d+", word) for word in words):
        return Attribute(name, "int", tuple(int(word) for word in words))
    kind = "float" if words[0].endswith("f") else "double"
    try:
        return Attribute(name, kind, tuple(float(word.removesuffix("f")) for word in words))
    except ValueError:
        raise Malformed(f"{path}: attribute {name}: '{text}' is neither text nor int, float or double") from None


# --- maps -----------------------------------------------------------------------------------------


def read_maps(path: pathlib.Path) -> dict[str, Map]:
    """From a combined netCDF file; the ranks' own order is that of the raw offsets (1-based, holes
    dropped)."""
    import netCDF4

    maps = {}
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        if "num_decomp" not in data.dimensions:
            raise Malformed(f"{path}: no dimension num_decomp: not E3SM-IO's combined file, or one of 2018 "
                            f"(afterbay decomp convert {path.name} new.nc --to e3sm)")
        for number in range(1, len(data.dimensions["num_decomp"]) + 1):
            name = f"D{number}"
            if f"{name}.raw_nreqs" not in data.variables:
                raise Malformed(f"{path}: no variable {name}.raw_nreqs: make the file with the ranks' own lists "
                                f"(dat2decomp -r, or afterbay decomp convert {path.name} new.nc --to e3sm)")
            counts = data[f"{name}.raw_nreqs"][:]
            offsets = data[f"{name}.raw_offsets"][:].astype("i8") - 1
            dims = tuple(int(length) for length in numpy.atleast_1d(data.getncattr(f"{name}.dims")))
            if counts.sum() != offsets.size:
                raise Malformed(f"{path}: {name}.raw_nreqs sums to {counts.sum()}, {name}.raw_offsets has {offsets.size}")
            if offsets.size and (offsets.min() < 0 or offsets.max() >= numpy.prod(dims)):
                raise Malformed(f"{path}: {name}.raw_offsets leaves 1..{numpy.prod(dims)}")
            maps[name] = Map(dims, numpy.split(offsets, numpy.cumsum(counts)[:-1]))
    return maps


def read_requests(path: pathlib.Path, name: str) -> list[list[tuple[int, int]]]:
    """(offset, length) that each captured rank writes: a rank's pairs begin after the **nreqs** of
    the ranks before it, and the first fill_starts of them hold data."""
    import netCDF4

    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        starts = numpy.concatenate([[0], numpy.cumsum(data[f"{name}.nreqs"][:])])
        offsets, lengths = data[f"{name}.offsets"][:], data[f"{name}.lengths"][:]
        return [list(zip(offsets[start:start + count].tolist(), lengths[start:start + count].tolist()))
                for start, count in zip(starts, data[f"{name}.fill_starts"][:])]


def read_dat(path: pathlib.Path) -> Map:
    """PIO's text: version, lengths fastest first, then of each rank its number, how many and the
    1-based indices; a stack trace may follow. Holes (0) are dropped."""
    lines = iter(path.read_text().splitlines())
    words = next(lines, "").split()
    if len(words) < 6 or words[::2] != ["version", "npes", "ndims"]:
        raise Malformed(f"{path}:1: not 'version V npes P ndims N'")
    dims = tuple(int(length) for length in reversed(next(lines, "").split()))
    if len(dims) != int(words[5]):
        raise Malformed(f"{path}:2: {len(dims)} lengths where ndims is {words[5]}")
    points, ranks = int(numpy.prod(dims)), []
    for expected in range(int(words[3])):
        heading = next(lines, "").split()
        if len(heading) != 2 or heading[0] != str(expected) or not heading[1].isdigit():
            raise Malformed(f"{path}: rank {expected} of {words[3]} is not there")
        length = int(heading[1])
        indices = numpy.array(next(lines, "").split(), "i8") if length else numpy.array([], "i8")
        if indices.size != length:
            raise Malformed(f"{path}: rank {expected}: {indices.size} indices where {length} are announced")
        if length and not 0 <= indices.min() <= indices.max() <= points:
            raise Malformed(f"{path}: rank {expected}: its indices leave 0..{points}")
        ranks.append(indices[indices != 0] - 1)
    return Map(dims, ranks)


def assign_maps(case: Case, table: pathlib.Path) -> None:
    """Variables get their maps and the order in which the model writes them: from the table if
    there is one, else by their dimensions and in the order of the header. Dimensions get the
    lengths of the maps."""
    names = maps_in_table(case, table) if table.is_file() else maps_by_dimensions(case)
    for position, variable in enumerate(case.variables):
        name = names[variable.name]
        if name is None:
            continue
        if name not in case.maps:
            raise Malformed(f"{table if table.is_file() else case.name}: {variable.name} lies on the map {name}; there are {', '.join(case.maps)}")
        case.variables[position] = replace(variable, map=name)
        for dimension, length in zip(reversed(variable.dimensions), reversed(case.maps[name].dims)):
            case.dimensions[dimension] = length


def maps_in_table(case: Case, table: pathlib.Path) -> dict[str, str | None]:
    """Also sets the order of the case."""
    with table.open(newline="") as rows:
        reader = csv.DictReader(rows)
        if missing := {"name", "order", "decomp"} - set(reader.fieldnames or ()):
            raise Malformed(f"{table}:1: no column {', '.join(sorted(missing))}")
        listed = {row["name"]: row for row in reader}
    if sorted(listed) != sorted(variable.name for variable in case.variables):
        raise Malformed(f"{table}: does not list the variables of {case.name}")
    case.order = sorted(listed, key=lambda name: int(listed[name]["order"]))
    return {name: None if row["decomp"] == "-" else row["decomp"] for name, row in listed.items()}


def maps_by_dimensions(case: Case) -> dict[str, str | None]:
    """Also sets the order of the case. Fails for a horizontal dimension without a known map."""
    kind = case.name[0]
    known, by_name = MAPS_BY_DIMENSIONS[kind], MAPS_BY_NAME[kind]
    horizontal = {dimension for dimensions in known for dimension in dimensions} - {"lev", "nVertLevels", "nVertLevelsP1"}
    case.order = [variable.name for variable in case.variables]
    names = {}
    for variable in case.variables:
        dimensions = tuple(name for name in variable.dimensions if case.dimensions[name] != UNLIMITED)
        names[variable.name] = by_name.get(variable.name, known.get(dimensions))
        if names[variable.name] is None and horizontal & set(dimensions):
            raise Malformed(f"{case.name}: {variable.name} ({', '.join(dimensions)}) lies on no map of the case: "
                            f"{', '.join(' x '.join(dims) for dims in known)} are known; a table vars_*.csv can name another")
    return names


# --- variants -------------------------------------------------------------------------------------


def with_type(case: Case, kind: str) -> Case:
    """Decomposed floating-point records are stored as `kind` (float or double), their fill values
    too."""
    def changed(variable: Variable) -> Variable:
        if variable.map is None or not case.is_record(variable) or variable.type not in ("float", "double"):
            return variable
        attributes = tuple(replace(attribute, type=kind) if attribute.name in ("_FillValue", "missing_value") else attribute
                           for attribute in variable.attributes)
        return replace(variable, type=kind, attributes=attributes)
    return replace(case, variables=[changed(variable) for variable in case.variables])


def scaled(case: Case, factor: int) -> Case:
    """The F case with `factor` times the columns: each rank has its columns once again for every
    further copy of the grid, behind those that it had."""
    columns = case.dimensions["ncol"]
    def longer(points: numpy.ndarray) -> numpy.ndarray:
        level, column = points // columns, points % columns
        return numpy.concatenate([level * (columns * factor) + copy * columns + column for copy in range(factor)])
    maps = {name: Map((*map.dims[:-1], map.dims[-1] * factor), [longer(points) for points in map.ranks])
            for name, map in case.maps.items()}
    return replace(case, dimensions={**case.dimensions, "ncol": columns * factor}, maps=maps)


def with_gaps(case: Case, every: int) -> Case:
    """The case with every n-th point of each rank held by no rank."""
    def thinned(points: numpy.ndarray) -> numpy.ndarray:
        return points[numpy.arange(points.size) % every != every - 1]
    return replace(case, maps={name: Map(map.dims, [thinned(points) for points in map.ranks]) for name, map in case.maps.items()})


# --- for the programs -----------------------------------------------------------------------------


def write(case: Case, path: pathlib.Path) -> pathlib.Path:
    """`path` (JSON) and beside it the indices of all maps and ranks, one after another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = list(case.maps)
    points = path.with_suffix(".points")
    with points.open("wb") as file:
        for name in names:
            for indices in case.maps[name].ranks:
                file.write(indices.astype("<i8").tobytes())
    def attributes(listed) -> list[dict]:
        return [{"name": a.name, "type": a.type, "text" if a.type == "char" else "numbers": a.values} for a in listed]
    position = {variable.name: index for index, variable in enumerate(case.variables)}
    path.write_text(json.dumps({
        "name": case.name,
        "dimensions": [{"name": name, "length": length} for name, length in case.dimensions.items()],
        "attributes": attributes(case.attributes),
        "variables": [{"name": v.name, "type": v.type, "dimensions": v.dimensions, "attributes": attributes(v.attributes),
                       "map": names.index(v.map) if v.map else -1} for v in case.variables],
        "order": [position[name] for name in case.order],
        "points_file": points.name,
        "maps": [{"name": name, "dims": case.maps[name].dims,
                  "counts": [len(indices) for indices in case.maps[name].ranks]} for name in names],
    }))
    return path


def fill_value(variable: Variable):
    for attribute in variable.attributes:
        if attribute.name == "_FillValue":
            return attribute.values[0]
    return DEFAULT_FILLS[variable.type]


def expected(case: Case, position: int, record: int) -> numpy.ndarray:
    """One record of variable number `position`, points that no rank holds included; of records
    after the first as the programs have it with --every-point."""
    variable = case.variables[position]
    shape = case.shape(variable)
    points = numpy.arange(int(numpy.prod(shape)), dtype="i8")
    if variable.type == "char":
        values = (65 + (position + points + record) % 26).astype("u1").view("S1")
    else:
        values = ((position * 40503 + points * 13) & 0xFFFFF) + (((record + 1) & 7) << 20)
        values = values.astype(NUMPY_TYPES[variable.type])
    if variable.map:
        held = numpy.zeros(points.size, bool)
        for indices in case.maps[variable.map].ranks:
            held[indices] = True
        values[~held] = fill_value(variable)
    return values.reshape(shape)
