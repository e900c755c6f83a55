# SPDX-License-Identifier: Apache-2.0
"""The machine of a benchmark: stored in the JSON file and printed above the tables."""

import os
import pathlib
import platform
import subprocess


def output_of(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def first_line(text: str) -> str:
    return text.splitlines()[0].strip() if text else ""


def field(path: str, name: str) -> str:
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except OSError:
        return "unknown"
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def system_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:  # no /etc/os-release
        return "unknown"


def file_system(path: pathlib.Path) -> str:
    """Type, options and device of the file system that holds `path`."""
    best = ("", "unknown file system")
    try:
        lines = pathlib.Path("/proc/self/mounts").read_text().splitlines()
    except OSError:  # no /proc
        lines = []
    for line in lines:
        device, mount, kind, options, *_ = line.split()
        if path.resolve().is_relative_to(mount) and len(mount) >= len(best[0]):
            best = (mount, f"{kind} on {device} ({options})")
    return best[1]


def describe(scratch: pathlib.Path) -> dict:
    libraries = {name: output_of("pkg-config", "--modversion", name)
                 for name in ("netcdf", "netcdf-mpi", "pnetcdf", "hdf5-serial", "hdf5-openmpi")}
    return {
        "cpu": field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": field("/proc/meminfo", "MemTotal"),
        "kernel": platform.release(),
        "system": system_name(),
        "file_system": file_system(scratch),
        "mpi": first_line(output_of("mpirun", "--version")),
        "libraries": libraries,
        "commit": output_of("git", "-C", str(pathlib.Path(__file__).parent), "describe", "--always", "--dirty"),
        "load_at_start": os.getloadavg()[0],
    }


def summary(environment: dict) -> str:
    return (f"{environment['cpu']}, {environment['cores']} cores, {environment['memory']}; "
            f"Linux {environment['kernel']}; {environment['file_system']}\n"
            f"{environment['mpi']}; " + ", ".join(f"{k} {v or 'missing'}" for k, v in environment["libraries"].items()))
