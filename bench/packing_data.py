# SPDX-License-Identifier: Apache-2.0
"""The data of the benchmarks `packing` and `servers`: real fields of the package iris-sample-data,
fields of the example model, and noise. Each set is one chunk; the programs repeat it, so that no
codec sees a value twice in a chunk."""

import atexit
import importlib.util
import pathlib
import shutil
import subprocess
import tempfile
import warnings
from dataclasses import dataclass

#: From iris-sample-data: key, name, file, name in the file, exponent of two of WGDOS's accuracy,
#: absolute error.
SAMPLES = (
    ("theta", "potential temperature (colpex)", "colpex.pp", "air_potential_temperature", -6, 0.01),
    ("pressure", "pressure (colpex)", "colpex.pp", "air_pressure", 0, 0.5),
    ("uk", "potential temperature (uk_hires), of few digits", "uk_hires.pp", "air_potential_temperature", -6, 0.01),
    ("sst", "sea surface temperature with missing points (ostia)", "ostia_monthly.nc", "surface_temperature", -6, 0.01),
)
SHALLOW_WATER = ("model", "example model: h, u, v and three more", -10, 1e-3)
NOISE = ("noise", "noise of 20 binades", -20, 1e-5)
NOISE_SHAPE = (8, 256, 256)
MISSING = -1073741824.0  #: -2^30, which all formats can hold


@dataclass(frozen=True)
class Dataset:
    key: str
    name: str
    path: pathlib.Path
    levels: int
    rows: int
    columns: int
    missing: bool  #: some points are MISSING
    wgdos: int
    absolute_error: float

    @property
    def bytes(self) -> int:
        return 4 * self.levels * self.rows * self.columns

    def magnitude_and_spread(self) -> tuple[float, float]:
        """The largest magnitude, and the difference of the largest and the least value."""
        import numpy

        values = numpy.fromfile(self.path, "<f4").astype("f8")
        values = values[values != MISSING] if self.missing else values
        return float(numpy.abs(values).max()), float(values.max() - values.min())

    def arguments(self, copies: int) -> tuple[str, ...]:
        """For all programs."""
        missing = ("--missing", f"{MISSING:.0f}") if self.missing else ()
        return ("--data", str(self.path), "--levels", str(self.levels), "--rows", str(self.rows), "--columns", str(self.columns),
                "--copies", str(copies), *missing)


def directory() -> pathlib.Path:
    """A directory that exists until the benchmark ends."""
    made = pathlib.Path(tempfile.mkdtemp(prefix="afterbay-bench-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def have_samples() -> bool:
    return all(importlib.util.find_spec(name) for name in ("iris", "iris_sample_data"))


def samples(place: pathlib.Path) -> list[Dataset]:
    """The samples of iris-sample-data; none if it is not installed."""
    if not have_samples():
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import iris
        import iris_sample_data
        import numpy

        found = []
        for key, name, file, variable, wgdos, error in SAMPLES:
            values = iris.load_cube(str(pathlib.Path(iris_sample_data.path) / file), variable).data
            *levels, rows, columns = values.shape
            missing = bool(numpy.ma.count_masked(values))
            path = place / f"{key}.bin"
            numpy.ma.filled(values, MISSING).astype("<f4").tofile(path)
            found.append(Dataset(key, name, path, int(numpy.prod(levels)), rows, columns, missing, wgdos, error))
    return found


def shallow_water(place: pathlib.Path, programs: pathlib.Path, small: bool) -> list[Dataset]:
    """Six fields of the example model; none if it is not built."""
    program = programs / "shallow_water_fields"
    if not program.is_file():
        return []
    nx, ny, steps = (24, 16, 5) if small else (480, 320, 600)
    key, name, wgdos, error = SHALLOW_WATER
    path = place / f"{key}.bin"
    subprocess.run(["mpirun", "--oversubscribe", "-np", "1", str(program), "--nx", str(nx), "--ny", str(ny), "--steps", str(steps), "--file", str(path)],
                   check=True, timeout=120, capture_output=True)
    return [Dataset(key, name, path, 6, ny, nx, False, wgdos, error)]


def noise(place: pathlib.Path, small: bool) -> list[Dataset]:
    """The worst case: random mantissas and signs, and magnitudes from 2^-10 to 2^10."""
    import numpy

    key, name, wgdos, error = NOISE
    random = numpy.random.default_rng(17)
    shape = (2, 8, 16) if small else NOISE_SHAPE
    values = numpy.ldexp(random.uniform(1, 2, shape), random.integers(-10, 10, shape)) * random.choice((-1.0, 1.0), shape)
    path = place / f"{key}.bin"
    values.astype("<f4").tofile(path)
    return [Dataset(key, name, path, *shape, False, wgdos, error)]


def all_of(programs: pathlib.Path, small: bool) -> list[Dataset]:
    place = directory()
    return [*([] if small else samples(place)), *shallow_water(place, programs, small), *noise(place, small)]
