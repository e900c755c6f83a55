#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run is killed before each of the first fsyncs of its journal. Where the journal's line about
the opening of a file has been written and not yet synced, a loss of power may take it: no epoch of
that file may be complete by then, because `recover` would not find it in the journal.

And the first fsync of the file's data fails, once, as the kernel reports data that it could not
write: no epoch is complete, and no file is published."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/epoch_order_model"
COMMAND = BUILD / "apps/afterbay/afterbay"
WORK = pathlib.Path("work").resolve()
RULES = pathlib.Path("rules").resolve()
MOST_SYNCS = 12


def offered():
    listed = subprocess.run([COMMAND, "recover", "--list", "--json", "out.nc"], cwd=WORK, capture_output=True, text=True, check=False)
    return json.loads(listed.stdout)[0]["epochs"] if listed.returncode == 0 else []


def run(ranks, store, settings):
    words = ["mpirun", "--oversubscribe", "-np", str(ranks), "-x", f"LD_PRELOAD={BUILD / 'tests/fault/libfault_shim.so'}", "-x",
             f"FAULT_RULES={RULES}", str(MODEL), "1", "7", "6", "replace", store, "1", "finalize", "--afterbay.deadline=20s",
             *(f"--afterbay.{setting}" for setting in settings)]
    return subprocess.run(words, cwd=WORK, capture_output=True, text=True, timeout=120, check=False)


def lost_data(store, ranks, settings):
    what = f"{store}, {ranks} processes, {settings}: the first fsync of the data fails"
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    RULES.write_text("ops=sync path=*.part from=1 to=1 errno=5\n", encoding="utf-8")
    done = run(ranks, store, settings)
    lines = "".join(path.read_text() for path in WORK.glob("**/*.jsonl"))
    text = done.stdout + done.stderr
    if done.returncode == 0 or "Input/output error" not in text or "out.nc" not in text:
        sys.exit(f"{what}: exit code {done.returncode}: {text}")
    for event in ("epoch_completed", "file_published"):
        if f'"event":"{event}"' in lines:
            sys.exit(f"{what}: the journal has {event}: {lines}")


def killed_before(sync, store, ranks, settings):
    """Whether the journal names the file, and the epochs to which it can be recovered."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    RULES.write_text(f"ops=sync path=*.jsonl from={sync} kill\n", encoding="utf-8")
    run(ranks, store, settings)
    lines = "".join(path.read_text() for path in WORK.glob("**/*.jsonl"))
    return '"event":"file_opened"' in lines, offered()


def main():
    for store in ("netcdf4", "cdf5"):
        lost_data(store, 2, ("servers=1",))
        lost_data(store, 3, ("servers=2", "placement=slab"))
    for store in ("netcdf4", "cdf5"):
        for ranks, settings in ((1, ("topology=inline",)), (2, ("servers=1",))):
            what = f"{store}, {ranks} processes, {settings}"
            epochs_by_sync = []
            for sync in range(1, MOST_SYNCS + 1):
                opened, epochs = killed_before(sync, store, ranks, settings)
                if not opened and epochs:
                    sys.exit(f"{what}: killed before sync {sync}: the journal does not name the file, recover offers {epochs}")
                if opened:
                    epochs_by_sync.append(epochs)
                if epochs:
                    break
            if not epochs_by_sync or not epochs_by_sync[-1]:
                sys.exit(f"{what}: no epoch was complete before sync {MOST_SYNCS}")
            if epochs_by_sync[0]:
                sys.exit(f"{what}: an epoch is complete, and the opening of its file is not durable in the journal: {epochs_by_sync[0]}")


if __name__ == "__main__":
    main()
