#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model rank that dies while its contributions to reductions over grids are on their way: the
other processes end within the deadline and say which rank it was, no incomplete file is published,
and the next job writes the same files from the last epoch that the journal calls complete."""
import glob
import os
import pathlib
import re
import signal
import subprocess
import time

from lib_described import MODEL, run
from lib_jobs import compare, contents, inside, recover

TEXT = """
state: "states/{date:%Y%m%d}_{step:04}"
fields:
  zonal: mean(toce/3 over lon)
  globe: mean(tas/7 over lat, lon)
files:
  late: {every: 1d, split: 2 records, name: "{file}_{part:03}", mean: [zonal, globe], stddev: [zonal]}
  day: {every: 1d, split: 2 records, epochs: 8ts, name: "{file}_{part:03}", mean: [tas]}
"""
RANKS, SERVERS, LAST, KILL_AT, DEADLINE_S = 4, 1, 32, 21, 5


def dies(victim):
    """What the processes print. mpirun does not kill those that live, and its own exit code says
    nothing."""
    with open("output.yaml", "w") as file:
        file.write(TEXT)
    command = ["mpirun", "--oversubscribe", "--enable-recovery", "-np", str(RANKS + SERVERS),
               "sh", "-c", '"$@"; echo $? > exit.$OMPI_COMM_WORLD_RANK', "sh", str(MODEL), "decomposition=tiles",
               f"last={LAST}", f"kill_at={KILL_AT}", f"kill_rank={victim}", "kill_when=day_001.nc", "--afterbay.output=output.yaml",
               f"--afterbay.servers={SERVERS}", "--afterbay.report.table=off", f"--afterbay.deadline={DEADLINE_S}s"]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    codes = [int(pathlib.Path(f"exit.{rank}").read_text()) for rank in range(RANKS + SERVERS)]
    assert codes[victim] == 128 + signal.SIGKILL and all(codes), f"rank {victim}: exit codes {codes}"
    assert time.monotonic() - begin < 3 * DEADLINE_S + 10, f"rank {victim}: {time.monotonic() - begin} s"
    return done.stdout + done.stderr


def crash_and_resume(victim):
    """Whether an epoch was complete, from which the next job went on."""
    said = dies(victim)
    assert re.search(rf"rank {victim}\b.*(died|ended|lost|sent)", said), f"rank {victim} is not named in:\n{said}"
    published = sorted(glob.glob("*_*.nc"))
    assert "day_001.nc" in published, published
    for path in published:
        assert contents(path) == contents(f"../whole/{path}"), f"rank {victim} died: {path} differs"
    epoch = recover()
    if not epoch:
        return False
    step = int(re.search(r"_(\d+)\.nc", epoch).group(1))
    assert 0 < step <= KILL_AT and step % 8 == 0, epoch
    run(TEXT, ranks=3, servers=2, first=step + 1, last=LAST, resume=epoch)
    return True


inside("whole", lambda: run(TEXT, last=LAST))
for rank in range(RANKS):
    # On a busy machine a server may still write the first epoch when the rank dies.
    for _ in range(4):
        resumed = []
        inside(f"dies{rank}", lambda rank=rank: resumed.append(crash_and_resume(rank)))
        if resumed[0]:
            break
    assert resumed[0], f"rank {rank} died: no epoch is complete"
    compare("whole", f"dies{rank}", f"rank {rank} died")
    print(f"rank {rank} died: it is named, and the next job writes the same files", flush=True)
