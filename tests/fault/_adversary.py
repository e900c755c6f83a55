# SPDX-License-Identifier: Apache-2.0
"""The truth that adversary.py compares with what Afterbay reports: the contents of each file, read
by netCDF4 and h5py, and the contents that are allowed after all events in the directory."""
import collections
import ctypes
import ctypes.util
import json
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

import h5py
import netCDF4
import numpy

import _power

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/adversary_model"
COMMAND = BUILD / "apps/afterbay/afterbay"
SHIM = BUILD / "tests/fault/libfault_shim.so"
ROWS, COLUMNS = 48, 64
POINTS = numpy.arange(ROWS * COLUMNS, dtype=numpy.int64).reshape(ROWS, COLUMNS)
DEADLINE_S = 90
OK, FAILED, NO_JOURNAL, LOST = 0, 1, 3, 4
APART = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
NO_LOCKS = "ops=lock errno=38"  # a rule of fault_shim.c: ENOSYS, as on Lustre without -o flock

LZMA = ctypes.CDLL(ctypes.util.find_library("lzma") or "liblzma.so.5")
LZMA.lzma_crc64.restype = ctypes.c_uint64
LZMA.lzma_crc64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]

FileSpec = collections.namedtuple("FileSpec", "name store shape existing close_after")
Layout = collections.namedtuple("Layout", "processes settings")


class Broken(Exception):
    """A promise that was not kept."""


def require(condition, text):
    if not condition:
        raise Broken(text)


def checksum(path):
    data = pathlib.Path(path).read_bytes()
    return f"crc64-xz:{LZMA.lzma_crc64(data, len(data), 0):016x}"


def _run_of(values, record, what):
    """The number of the run that wrote a whole plane of values, which is record `record`."""
    values = numpy.asarray(values)
    require(bool(numpy.isfinite(values).all()), f"{what}: not all values are finite")
    numbers = values.astype(numpy.int64) - POINTS - record * POINTS.size
    run = int(numbers.flat[0]) // 1_000_000
    require(run >= 1 and bool((numbers == run * 1_000_000).all()), f"{what}: {int((numbers != run * 1_000_000).sum())} values are not of run {run}")
    return run


def _records_of(variables, strings, path):
    """The runs of all records; all variables agree on them."""
    counts = {name: len(variable) for name, variable in variables.items()}
    require(len(set(counts.values())) == 1, f"{path}: the variables have different numbers of records: {counts}")
    runs = []
    for record in range(counts["field"]):
        found = {name: _run_of(variable[record], record, f"{path}, record {record} of {name}") for name, variable in variables.items()}
        if strings is not None:
            label = strings[record]
            label = label.decode() if isinstance(label, bytes) else label
            run, _, number = label.partition("/")
            require(number == str(record), f"{path}, record {record}: its label is {label!r}")
            found["label"] = int(run)
        require(len(set(found.values())) == 1, f"{path}, record {record}: values of several runs: {found}")
        runs.append(found["field"])
    return tuple(runs)


def content_of(path, by_h5py=False):
    """The runs that wrote the file's records, in order; None when there is no such file. Broken for
    anything else."""
    if not os.path.lexists(path):
        return None
    try:
        if by_h5py:
            with h5py.File(path, "r") as file:
                return _records_of({name: file[name] for name in ("field", "wide")}, file["label"] if "label" in file else None, path)
        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            variables = {name: file[name] for name in ("field", "wide")}
            require(all(len(variable) == len(file.dimensions["time"]) for variable in variables.values()), f"{path}: variables shorter than the record dimension")
            return _records_of(variables, file["label"] if "label" in file.variables else None, path)
    except (OSError, KeyError, IndexError) as error:
        raise Broken(f"{path} cannot be read: {error}") from error


def journal_events(directory):
    """run id -> its events, in the order of each server's lines."""
    runs = collections.defaultdict(list)
    for file in sorted(pathlib.Path(directory).glob("server-*.jsonl")):
        for line in file.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and "journal" in entry:
                runs[entry["run"]].append(entry)
    return runs


class Run:
    """One run of the model: its directory, the files to write, and the completions reported to
    it."""

    def __init__(self, number, work, specs, layout, records, epoch_every, pause_ms):
        self.number, self.specs, self.layout = number, specs, layout
        self.records, self.epoch_every, self.pause_ms = records, epoch_every, pause_ms
        self.work = work / f"run{number}"
        self.work.mkdir()
        self.out = work / "disk" / "out"
        self.journal = work / "disk" / "afterbay-journal"
        self.before = {}  # path -> contents when the run began
        self.beside = None  # a concurrent run
        self.process = None
        self.apart = False
        self.mpirun_directory = None

    def paths(self):
        """path -> number of records that this run adds."""
        paths = {}
        for spec in self.specs:
            if not spec.close_after:
                paths[self.out / f"{spec.name}.nc"] = self.records
            for number in range(self.records // spec.close_after if spec.close_after else 0):
                paths[self.out / f"{spec.name}_{number}.nc"] = spec.close_after
        return paths

    def kept(self):
        return [self.out / f"{spec.name}.nc" for spec in self.specs if not spec.close_after]

    def spec_of(self, path):
        return next(spec for spec in self.specs if path.name in (f"{spec.name}.nc",) or path.name.startswith(f"{spec.name}_"))

    def content(self, path, records):
        """The contents of the file after this run has added this number of records."""
        before = self.before.get(path) if self.spec_of(path).existing == "append" else None
        return (before or ()) + (self.number,) * records

    def records_by(self, path, step):
        """How many of the run's first `step` records this file got: one of a series begins where
        the one before ends."""
        spec = self.spec_of(path)
        if not spec.close_after:
            return step
        first = int(path.stem.rsplit("_", 1)[1]) * spec.close_after
        return min(max(step - first, 0), spec.close_after)

    def whole(self, path):
        return self.content(path, self.paths()[path])

    def start(self, rules=(), power=False, clock_s=0, lock_free=False, apart=False, held=False):
        """`apart`: in a namespace of process numbers of its own (APART), as if on another
        machine. `held`: the model stays after its third record until `release` is called."""
        self.apart = apart
        if held:
            (self.work / "hold").touch()
        settings = {"deadline": "20s", "memory.server": "16MiB", "journal.directory": self.journal, "writers": 2} | self.layout.settings
        environment = {}
        if lock_free:
            rules = [*rules, NO_LOCKS]
        if rules or power or clock_s:
            (self.work / "rules").write_text("".join(rule + "\n" for rule in rules))
            environment = {"LD_PRELOAD": str(SHIM), "FAULT_RULES": str(self.work / "rules")}
        if power:
            environment |= _power.environment(self.out.parent, SHIM)
        if clock_s:
            environment["FAULT_CLOCK"] = str(clock_s)
        program = [str(MODEL), str(self.out), str(self.number), str(self.records), str(self.epoch_every), str(self.pause_ms),
                   *(",".join(map(str, spec)) for spec in self.specs), *(f"--afterbay.{name}={value}" for name, value in settings.items())]
        if self.layout.processes > 1:
            exported = [word for name, value in environment.items() for word in ("-x", f"{name}={value}")]
            command, environment = ["mpirun", "--oversubscribe", "-np", str(self.layout.processes), *exported, *program], {}
        else:
            command = program
        if apart:
            # Open MPI names its files after the number of mpirun, which is 1 in each namespace.
            self.mpirun_directory = tempfile.TemporaryDirectory(prefix="apart", ignore_cleanup_errors=True)
            environment = environment | {f"OMPI_MCA_{name}": self.mpirun_directory.name for name in ("orte_tmpdir_base", "btl_vader_backing_directory")}
            command = [*APART, *command]
        with open(self.work / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, cwd=self.work, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=os.environ | environment)

    def marks(self, who="*"):
        return list(self.work.glob(f"pid.{who}.[0-9]"))

    def log(self):
        return (self.work / "log").read_text(errors="replace")[-1500:]

    def wait_started(self):
        deadline = time.monotonic() + DEADLINE_S
        while len(self.marks()) < self.layout.processes and self.process.poll() is None:
            require(time.monotonic() < deadline, f"the run did not start: {self.log()}")
            time.sleep(0.003)

    def wait_for_epoch(self):
        """Until the model has been told that an epoch is complete."""
        deadline = time.monotonic() + DEADLINE_S
        while self.told()[1] < 1:
            require(time.monotonic() < deadline and self.process.poll() is None, f"no epoch: {self.log()}")
            time.sleep(0.05)

    def release(self):
        (self.work / "hold").unlink()

    def kill(self, who="*"):
        if self.apart:  # the marks are numbers of another namespace, which ends with its first
                        # process
            self.process.kill()
            return
        for mark in self.marks(who):
            try:
                os.kill(int(mark.read_text()), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def wait(self):
        """Whether it ended successfully."""
        try:
            return self.process.wait(timeout=DEADLINE_S) == 0
        except subprocess.TimeoutExpired as hung:
            hanging = [mark.name for mark in self.marks() if os.path.exists(f"/proc/{mark.read_text().strip()}/fd/0")]
            self.kill()
            self.process.kill()
            if not hanging:  # does not concern Afterbay
                return False
            raise Broken(f"the run hangs ({hanging}): {self.log()}") from hung

    def lose_power(self, dice):
        return _power.lose(self.out.parent, random.Random(dice.random()))

    def told(self):
        """The paths reported to the model as complete, and the last such epoch."""
        lines = (self.work / "told").read_text().splitlines() if (self.work / "told").exists() else []
        complete = {pathlib.Path(line.split(" ", 1)[1]) for line in lines if line.startswith("complete ")}
        if "finished" in lines:
            complete = set(self.paths())
        return complete, max((int(line.split()[1]) for line in lines if line.startswith("epoch ")), default=0)
