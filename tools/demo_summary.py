#!/usr/bin/env python3
"""The summary of the demo: the cost of the output for the model, both ways, and the locations of
all files.

demo_summary.py DIRECTORY   (with afterbay.log, synchronous.log, afterbay/, synchronous/)
"""
import pathlib
import re
import sys

import netCDF4


def seconds(log, what):
    found = re.search(rf"{what}:?\s+([0-9.]+) s", log)
    if found is None:
        raise SystemExit(f"demo_summary.py: the log has no line '{what}'")
    return float(found[1])


def read_run(directory, name):
    log = (directory / f"{name}.log").read_text()
    return {"blocked": seconds(log, "was blocked for"), "steps": seconds(log, "time of the steps"),
            "end": seconds(log, "files at the end")}


def same_contents(directory):
    """Whether the files of both runs are equal, variable by variable, bit for bit."""
    for name in ("fields.nc", "surface.nc"):
        with netCDF4.Dataset(directory / "afterbay" / name) as a, netCDF4.Dataset(directory / "synchronous" / name) as b:
            if list(a.variables) != list(b.variables):
                return False
            for variable in a.variables:
                a[variable].set_auto_maskandscale(False)
                b[variable].set_auto_maskandscale(False)
                if len(a[variable]) != len(b[variable]):
                    return False
                for record in range(len(a[variable])):
                    if a[variable][record].tobytes() != b[variable][record].tobytes():
                        return False
    return True


def print_run(name, run):
    share = 100 * run["blocked"] / run["steps"]
    print(f"  {name:<34}{run['blocked']:8.2f} s{share:7.1f} %{run['steps']:10.2f} s{run['end']:10.2f} s")


def verdict(with_afterbay, without):
    if with_afterbay < without:
        return f"With Afterbay the model was blocked {without / max(with_afterbay, 1e-3):.1f} times less."
    return "Here Afterbay did not block the model less: this machine is too busy or too small to show it."


def main():
    directory = pathlib.Path(sys.argv[1])
    afterbay, synchronous = (read_run(directory, name) for name in ("afterbay", "synchronous"))
    size = sum(path.stat().st_size for path in (directory / "afterbay").glob("*.nc"))
    same = same_contents(directory)
    print(f"\nAfterbay demo: {size / 1e6:.0f} MB of netCDF-4 from 4 model ranks")
    print(f"  {'output':<34}{'blocked':>10}{'share':>9}{'run':>12}{'then wait':>12}")
    print_run("Afterbay, 2 I/O servers", afterbay)
    print_run("gather + serial netCDF, no servers", synchronous)
    print(f"\n  {verdict(afterbay['blocked'], synchronous['blocked'])}")
    print("  blocked: time in which a model rank could not compute because of output (the slowest rank);")
    print("  then wait: until every file is complete and on disk (Afterbay), or just closed (netCDF).")
    print(f"  Contents of both runs: {'the same, bit for bit' if same else 'DIFFERENT'}")
    print(f"\n  files  {directory}/afterbay/fields.nc, surface.nc")
    print(f"         {directory}/described/hour.nc, day.nc")
    print(f"  maps   {directory}/vorticity.png, described.png")
    print(f"  report {directory}/report.html, report.json (as a table at the end of a run: --afterbay.report.table=on)\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
