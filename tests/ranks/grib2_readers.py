#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`afterbay replay --store grib2` gives the same bytes whatever the layout, and CDO, ecCodes and
cfgrib read from them the values, levels, times, names and coordinates of the netCDF input."""
import os
import pathlib
import shutil
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

AFTERBAY = pathlib.Path(os.environ["AFTERBAY_BUILD"], "apps", "afterbay", "afterbay")
LAYOUTS = {
    "inline": (["--afterbay.topology=inline", "--afterbay.inline.mode=synchronous"], 2),
    "thread": (["--afterbay.topology=inline", "--afterbay.inline.mode=thread"], 3),
    "dedicated": (["--servers", "1"], 4),
    "two_servers": (["--servers", "2", "--afterbay.placement=slab"], 5),
    "mpi": (["--servers", "1", "--afterbay.transport=mpi", "--afterbay.writers=1"], 3),
    "little_memory": (["--servers", "1", "--afterbay.memory.chunks=64KiB"], 3),
}
MISSING = -1e30


def make_input(path):
    random = np.random.default_rng(1)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("plev", 3), ("lat", 37), ("lon", 72), ("bnds", 2)):
            file.createDimension(name, length)

        def variable(name, kind, dimensions, fill=None, **attributes):
            made = file.createVariable(name, kind, dimensions, fill_value=fill)
            made.setncatts(attributes)
            return made

        time = variable("time", "f8", ("time",), units="hours since 2026-11-01", standard_name="time", calendar="standard",
                        bounds="time_bnds")
        bounds = variable("time_bnds", "f8", ("time", "bnds"))
        variable("plev", "f8", ("plev",), units="Pa", standard_name="air_pressure")[:] = [85000, 50000, 25000]
        variable("lat", "f8", ("lat",), units="degrees_north", standard_name="latitude")[:] = np.linspace(90, -90, 37)
        variable("lon", "f8", ("lon",), units="degrees_east", standard_name="longitude")[:] = np.arange(72) * 5
        ta = variable("ta", "f4", ("time", "plev", "lat", "lon"), MISSING, units="K", standard_name="air_temperature")
        rain = variable("pr", "f4", ("time", "lat", "lon"), units="kg m-2 s-1", standard_name="precipitation_flux",
                        cell_methods="time: mean", GRIB_packingType="grid_ccsds", GRIB_decimalScaleFactor=np.int32(9))
        for record in range(4):
            time[record] = 6 * record + 6
            bounds[record] = [6 * record, 6 * record + 6]
            values = 250 + 20 * random.random((3, 37, 72))
            values[0, 3, record] = MISSING
            ta[record] = values
            rain[record] = 1e-4 * random.random((37, 72))
        rain[3, 20, 30] = 100  # more than 32 bits at that scale: this message is not packed


def replay(source, name):
    flags, processes = LAYOUTS[name]
    pathlib.Path(name).mkdir()
    words = ["mpirun", "--oversubscribe", "-np", str(processes), str(AFTERBAY), "replay", f"../{source}", "out.grib2", "--store", "grib2",
             *flags]
    result = subprocess.run(["timeout", "-k", "5", "60", *words], capture_output=True, text=True, cwd=name)
    if "has no ecCodes" in result.stdout + result.stderr:
        print("skipped: this build has no ecCodes")
        sys.exit(77)
    assert result.returncode == 0, f"{' '.join(words)}\n{result.stdout}{result.stderr}"
    subprocess.run([str(AFTERBAY), "verify", name], check=True)
    return pathlib.Path(name, "out.grib2").read_bytes()


def tolerance(values):
    """Half a step of 16 bits over the range; the factor of the packing is a power of two."""
    return float(values.max() - values.min()) / 2**16 + 1e-7 * float(abs(values).max())


RAIN_ERROR = 0.6e-9  # half of 10^-9, and the rounding of float32


def same(found, wanted, what, allowed=None):
    found, wanted = np.ma.filled(found, np.nan), np.ma.filled(wanted.astype("f8"), np.nan)
    assert found.shape == wanted.shape, f"{what}: {found.shape}, not {wanted.shape}"
    assert np.array_equal(np.isnan(found), np.isnan(wanted)), f"{what}: other values are missing"
    worst = float(np.nanmax(abs(found - wanted)))
    assert worst <= (allowed or tolerance(wanted[~np.isnan(wanted)])), f"{what}: differs by {worst}"


def read_by_cdo(path, wanted):
    subprocess.run(["cdo", "-s", "-O", "-f", "nc4", "copy", path, "cdo.nc"], check=True)
    with netCDF4.Dataset("cdo.nc") as file:
        levels = [name for name in file.variables if name.startswith("plev") or name == "isobaricInhPa"][0]
        assert list(file[levels][:]) == [85000, 50000, 25000], file[levels]
        np.testing.assert_allclose(file["lat"][:], np.linspace(90, -90, 37), atol=1e-6)
        np.testing.assert_allclose(file["lon"][:], np.arange(72) * 5, atol=1e-6)
        dates = netCDF4.num2date(file["time"][:], file["time"].units, "standard")
        assert [(it.day, it.hour) for it in dates] == [(1, 6), (1, 12), (1, 18), (2, 0)], dates
        same(file["t"][:], wanted["ta"], "ta, read by CDO")
        rain = next(it for it in file.variables.values() if it.dimensions == ("time", "lat", "lon"))
        same(rain[:], wanted["pr"], "pr, read by CDO", RAIN_ERROR)
    print("CDO: good", flush=True)


def read_by_eccodes(path):
    found = subprocess.run(["grib_get", "-p", "shortName,level,stepType,stepRange,dataTime,validityTime", path],
                           check=True, capture_output=True, text=True).stdout.split("\n")
    first = [" ".join(line.split()) for line in found[:8]]
    wanted = [f"t {level} instant 0 600 600" for level in (850, 500, 250)] + ["tprate 0 avg 0-6 0 600"]
    assert first[:4] == wanted, first
    assert first[7] == "tprate 0 avg 0-6 600 1200", first
    packing = subprocess.run(["grib_get", "-p", "packingType", path], check=True, capture_output=True, text=True).stdout.split()
    assert packing[3::4] == ["grid_ccsds"] * 3 + ["grid_ieee"], packing
    print("ecCodes: good", flush=True)


def read_by_cfgrib(path, wanted):
    import cfgrib

    by_name = {}
    for dataset in cfgrib.open_datasets(path, backend_kwargs={"indexpath": ""}):
        by_name.update({name: dataset for name in dataset.data_vars})
    t = by_name["t"]
    assert list(t["isobaricInhPa"].values) == [850, 500, 250], t
    assert str(t["valid_time"].values[-1]).startswith("2026-11-02T00:00"), t
    same(np.ma.masked_invalid(t["t"].values), wanted["ta"], "ta, read by cfgrib")
    rain = [name for name in by_name if name not in ("t",)][0]
    same(by_name[rain][rain].values, wanted["pr"], "pr, read by cfgrib", RAIN_ERROR)
    print("cfgrib: good", flush=True)


def main():
    make_input("in.nc")
    with netCDF4.Dataset("in.nc") as file:
        wanted = {name: file[name][:] for name in ("ta", "pr")}
    contents = {name: replay("in.nc", name) for name in LAYOUTS}
    assert len(set(contents.values())) == 1, {name: hash(value) for name, value in contents.items()}
    print(f"{len(contents)} layouts: the same bytes", flush=True)
    path = "dedicated/out.grib2"
    if shutil.which("cdo"):
        read_by_cdo(path, wanted)
    if shutil.which("grib_get"):
        read_by_eccodes(path)
    try:
        import cfgrib  # noqa: F401
    except (ImportError, RuntimeError) as error:
        print(f"not read by cfgrib: {error}")
        return
    read_by_cfgrib(path, wanted)


main()
