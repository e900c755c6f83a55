"""Input files for the tests of `afterbay replay` and `afterbay compare`: synthetic ones with every
type and shape, and real model output from the package iris-sample-data."""
import pathlib
import subprocess
import sys
import warnings

import netCDF4
import numpy as np

warnings.filterwarnings("ignore", message="endian-ness of dtype")

CLASSIC_TYPES = ["i1", "i2", "i4", "f4", "f8", "S1"]
NETCDF4_TYPES = CLASSIC_TYPES + ["u1", "u2", "u4", "i8", "u8"]
CDF5_TYPES = NETCDF4_TYPES

# Real output: NEMO, the Met Office UM, analyses and observations; unlimited dimensions that are not
# time, none at all.
IRIS = ["NEMO/nemo_1m_20150101-20150201_grid-T", "A1B_north_america", "hybrid_height", "rotated_pole",
        "orca2_votemper", "ostia_monthly", "atlantic_profiles", "toa_brightness_stereographic",
        "mesh_C4_synthetic_float", "space_weather", "vlstr_type"]


def numbers(kind, shape, seed=0):
    """Values of a type over its whole range, by their bits: for floating point NaNs with payloads,
    infinities, negative zeros and subnormals are among them."""
    count = int(np.prod(shape, dtype=int))
    random = np.random.default_rng([seed, count, ord(kind[0]), int(kind[1])])
    dtype = np.dtype(kind)
    if kind == "S1":
        return random.integers(0, 256, count, dtype=np.uint8).view("S1").reshape(shape)
    values = np.frombuffer(random.bytes(count * dtype.itemsize), dtype=dtype).copy()
    if dtype.kind == "f" and count > 3:
        bits = values.view(f"u{dtype.itemsize}")
        bits[0] = 0x7FC0BEEF if kind == "f4" else 0x7FF80000DEADBEEF
        bits[1] = 1 << (8 * dtype.itemsize - 1)
        values[2] = np.inf
    return values.reshape(shape)


def texts(shape, seed=0):
    count = int(np.prod(shape, dtype=int))
    words = ["", "a", "Grüße", "two words", "x" * 300, "tab\there", "雪"]
    return np.array([words[(i + seed) % len(words)] for i in range(count)], dtype=object).reshape(shape)


def put_attributes(target, kinds, strings):
    for kind in kinds:
        if kind == "S1":
            target.setncattr("text", "K")
            target.setncattr("text_long", "first line\nsecond line, " + "x" * 5000)
            continue
        target.setncattr(f"one_{kind}", numbers(kind, (1,))[0])
        target.setncattr(f"many_{kind}", numbers(kind, (7,)))
    target.setncattr("empty", "")
    if strings:
        target.setncattr_string("string", "one string")
        target.setncattr("strings", ["several", "", "Strings über alles"])


def put_values(variable, values):
    variable.set_auto_maskandscale(False)
    variable[...] = values


def add_types(data, kinds, records, **storage):
    """Each type in each role: record, fixed and scalar, with one, two and three dimensions."""
    for kind in kinds:
        for role, names in (("field", ("time", "lat", "lon")), ("levels", ("time", "lev", "lat", "lon")),
                            ("series", ("time",)), ("profile", ("time", "lev")), ("fixed", ("lat", "lon")),
                            ("vector", ("lev",)), ("scalar", ())):
            variable = data.createVariable(f"{role}_{kind}", kind, names, **(storage if names else {}))
            shape = tuple(records if n == "time" else len(data.dimensions[n]) for n in names)
            put_values(variable, numbers(kind, shape, len(names)))


def add_strings(data, records):
    for name, names in (("words", ("time",)), ("labels", ("time", "lat")), ("names", ("lat",)), ("title", ())):
        variable = data.createVariable(name, str, names)
        shape = tuple(records if n == "time" else len(data.dimensions[n]) for n in names)
        if names:
            variable[...] = texts(shape)
        else:
            variable[...] = "scalar string"
        variable.long_name = name


def add_grid(data):
    data.createDimension("lat", 7)
    data.createDimension("time", None)  # the unlimited dimension is not the first
    data.createDimension("lon", 9)
    data.createDimension("lev", 3)
    data.createDimension("unused", 4)
    for name, kind in (("lat", "f8"), ("lon", "f4"), ("lev", "i2")):
        variable = data.createVariable(name, kind, (name,))
        variable.units = "1"
        put_values(variable, np.arange(len(data.dimensions[name])).astype(kind))


def every_type(path, form, kinds, strings=False):
    with netCDF4.Dataset(path, "w", format=form) as data:
        add_grid(data)
        put_attributes(data, kinds, strings)
        time = data.createVariable("time", "f8", ("time",))
        put_attributes(time, kinds, strings)
        put_values(time, np.arange(3) * 0.5)
        add_types(data, kinds, 3)
        if strings:
            add_strings(data, 3)


def storage_kinds(path):
    """netCDF-4: chunks, deflate, shuffle, byte order, fill values, packing; names that are awkward
    in HDF5."""
    with netCDF4.Dataset(path, "w", format="NETCDF4") as data:
        add_grid(data)
        add_types(data, ["f4"], 4, zlib=True, complevel=3, shuffle=True)
        add_types(data, ["i2"], 4, chunksizes=None, endian="big")
        for name, chunks, options in (("chunked", (1, 4, 5), {}), ("deep", (3, 7, 9), {}), ("tiny", (1, 1, 1), {}),
                                      ("deep_packed", (3, 4, 5), {"zlib": True, "complevel": 9, "shuffle": False}),
                                      ("shuffled", (2, 7, 9), {"zlib": True, "complevel": 1, "shuffle": True}),
                                      ("summed", (1, 7, 9), {"fletcher32": True}), ("big", None, {"endian": "big"})):
            variable = data.createVariable(name, "f8", ("time", "lat", "lon"), chunksizes=chunks, **options)
            put_values(variable, numbers("f8", (4, 7, 9), len(name)))
        fixed = data.createVariable("fixed_chunked", "i4", ("lat", "lon"), chunksizes=(2, 9), zlib=True)
        put_values(fixed, numbers("i4", (7, 9)))
        packed = data.createVariable("packed", "i2", ("time", "lat", "lon"), fill_value=-32767)
        packed.units = "K"
        packed.scale_factor = np.float32(0.01)
        packed.add_offset = np.float64(273.15)
        packed.valid_range = np.array([-32000, 32000], "i2")
        put_values(packed, numbers("i2", (4, 7, 9), 5))
        gaps = data.createVariable("gaps", "f4", ("time", "lat", "lon"), fill_value=np.float32(1e20))
        gaps.set_auto_maskandscale(False)
        gaps[1, 2:4] = 5.0  # the rest, and the last records, are read as the fill value
        data.createVariable("never_written", "i4", ("time", "lat"))
        bytes_filled = data.createVariable("ubyte_filled", "u1", ("time", "lon"), fill_value=0)
        put_values(bytes_filled, numbers("u1", (4, 9)))
        # Variables named like dimensions that they do not have, or that are not their only ones.
        data.createDimension("region", 4)
        data.createDimension("length", 6)
        region = data.createVariable("region", "S1", ("region", "length"))
        put_values(region, numbers("S1", (4, 6)))
        put_values(data.createVariable("length", "f4", ("lat",)), numbers("f4", (7,)))
        put_values(data.createVariable("unused", "i4", ()), np.int32(7))
        umlaut = data.createVariable("Größe in m", "f4", ("lat", "lon"))
        umlaut.setncattr("Einheit für Größe", "m")
        put_values(umlaut, numbers("f4", (7, 9)))


def late_fill(path):
    """`_FillValue` between other attributes, which only ncgen writes in the order that it was
    given."""
    text = "netcdf late_fill { dimensions: time = UNLIMITED ; x = 5 ; variables: "
    for kind, fill in (("float", "99.f"), ("short", "99s"), ("ubyte", "99UB")):
        text += f'{kind} v_{kind}(time, x) ; v_{kind}:units = "K" ; v_{kind}:_FillValue = {fill} ; '
        text += f'v_{kind}:long_name = "fill value in the middle" ; '
    text += "data: " + " ".join(f"v_{kind} = 1, 2, _, 4, 5, 6, 7, 8, 9, _ ;" for kind in ("float", "short", "ubyte"))
    subprocess.run(["ncgen", "-5", "-o", path, "-"], input=text + " }", text=True, check=True)


def one_record_variable(path, kind, form="NETCDF3_64BIT_OFFSET"):
    """Classic: the records of a lone variable of small type are not padded."""
    with netCDF4.Dataset(path, "w", format=form) as data:
        data.createDimension("time", None)
        data.createDimension("x", 5)
        put_values(data.createVariable("only", kind, ("time", "x")), numbers(kind, (7, 5)))


def no_records(path, form):
    with netCDF4.Dataset(path, "w", format=form) as data:
        add_grid(data)
        data.createVariable("time", "f8", ("time",)).units = "days since 2000-01-01"
        data.createVariable("t", "f4", ("time", "lat", "lon"), fill_value=np.float32(-1))
        put_values(data.createVariable("orography", "f4", ("lat", "lon")), numbers("f4", (7, 9)))
        if form == "NETCDF4":
            data.createVariable("words", str, ("time",))


def no_unlimited(path, form):
    with netCDF4.Dataset(path, "w", format=form) as data:
        data.createDimension("x", 1)
        data.createDimension("y", 130)
        put_values(data.createVariable("x", "f4", ("x",)), [1.5])
        put_values(data.createVariable("line", "f8", ("x", "y")), numbers("f8", (1, 130)))
        put_values(data.createVariable("pole", "i4", ()), np.int32(-5))
        data.createVariable("mapping", "S1", ()).grid_mapping_name = "latitude_longitude"


def many_dimensions(path, form):
    with netCDF4.Dataset(path, "w", format=form) as data:
        data.createDimension("t", None)
        lengths = (2, 3, 1, 2, 3, 2, 4)
        names = [f"d{i}" for i in range(7)]
        for name, length in zip(names, lengths):
            data.createDimension(name, length)
        for n in range(2, 8):
            put_values(data.createVariable(f"fixed_{n}", "i2", names[-n:]), numbers("i2", lengths[-n:]))
            put_values(data.createVariable(f"record_{n}", "f4", ["t"] + names[-n:]), numbers("f4", (2, *lengths[-n:])))
        put_values(data.createVariable("turned", "i1", ("t", "d6", "d0")), numbers("i1", (2, 4, 2)))
        put_values(data.createVariable("square", "i4", ("d1", "d1")), numbers("i4", (3, 3)))


def only_attributes(path, form):
    with netCDF4.Dataset(path, "w", format=form) as data:
        put_attributes(data, NETCDF4_TYPES, form == "NETCDF4")


def large_fields(path, form):
    """Records that are larger than a block of the server, beside small ones."""
    with netCDF4.Dataset(path, "w", format=form) as data:
        data.createDimension("time", None)
        for name, length in (("z", 13), ("y", 301), ("x", 401)):
            data.createDimension(name, length)
        put_values(data.createVariable("t", "f4", ("time", "z", "y", "x")), numbers("f4", (3, 13, 301, 401)))
        put_values(data.createVariable("mask", "i1", ("z", "y", "x")), numbers("i1", (13, 301, 401)))
        put_values(data.createVariable("p", "f8", ("time", "y", "x")), numbers("f8", (3, 301, 401)))
        put_values(data.createVariable("time", "f8", ("time",)), np.arange(3.0))


def synthetic(folder):
    """Creates all synthetic files; the names show to which formats they can be replayed."""
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    files = {}

    def make(name, maker, *arguments):
        files[name] = folder / f"{name}.nc"
        maker(files[name], *arguments)

    make("every_type", every_type, "NETCDF4", NETCDF4_TYPES, True)
    make("every_number", every_type, "NETCDF4", NETCDF4_TYPES)
    make("every_cdf5", every_type, "NETCDF3_64BIT_DATA", CDF5_TYPES)
    make("every_classic", every_type, "NETCDF3_CLASSIC", CLASSIC_TYPES)
    make("storage", storage_kinds)
    make("late_fill", late_fill)
    make("lone_byte", one_record_variable, "i1")
    make("lone_short", one_record_variable, "i2")
    make("no_records", no_records, "NETCDF4")
    make("no_records_classic", no_records, "NETCDF3_64BIT_OFFSET")
    make("no_unlimited", no_unlimited, "NETCDF4_CLASSIC")
    make("many_dimensions", many_dimensions, "NETCDF4")
    make("only_attributes", only_attributes, "NETCDF3_64BIT_DATA")
    make("large", large_fields, "NETCDF3_64BIT_DATA")
    return files


def real():
    """Files of iris-sample-data by name, or nothing if the package is not installed."""
    try:
        import iris_sample_data
    except ImportError:
        print("iris-sample-data is not installed: real model output is left out", file=sys.stderr)
        return {}
    folder = pathlib.Path(iris_sample_data.path)
    found = {name.split("/")[-1]: folder / f"{name}.nc" for name in IRIS}
    missing = [str(path) for path in found.values() if not path.exists()]
    if missing:
        raise SystemExit(f"iris-sample-data lacks {missing}")
    return found


# Files for which ncmpidiff is useless, because it treats NaNs as different.
WITH_NANS = {"every_type", "every_number", "every_cdf5", "every_classic", "storage", "no_records", "no_records_classic",
             "no_unlimited", "many_dimensions", "only_attributes", "large"}

# Files that CDF-5 cannot hold because of strings.
WITH_STRINGS = {"every_type", "no_records", "vlstr_type"}
