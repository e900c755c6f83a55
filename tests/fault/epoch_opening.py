#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run is killed before each of the first fsyncs of its journal. Where the journal's line about
the opening of a file has been written and not yet synced, a loss of power may take it: no epoch of
that file may be complete by then, because `recover` would not find it in the journal."""
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


def killed_before(sync, store, ranks, settings):
    """Whether the journal names the file, and the epochs to which it can be recovered."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    RULES.write_text(f"ops=sync path=*.jsonl from={sync} kill\n", encoding="utf-8")
    words = ["mpirun", "--oversubscribe", "-np", str(ranks), "-x", f"LD_PRELOAD={BUILD / 'tests/fault/libfault_shim.so'}", "-x",
             f"FAULT_RULES={RULES}", str(MODEL), "1", "7", "6", "replace", store, "1", "finalize", "--afterbay.deadline=20s",
             *(f"--afterbay.{setting}" for setting in settings)]
    subprocess.run(words, cwd=WORK, capture_output=True, text=True, timeout=120, check=False)
    lines = "".join(path.read_text() for path in WORK.glob("**/*.jsonl"))
    return '"event":"file_opened"' in lines, offered()


def main():
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
