#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every fault causes an error within the deadline, on every rank, with a message that names it; no
partial file has its final name. Run as a test by ctest; `faults.py SCENARIO...` runs only those."""
import pathlib
import shutil
import sys
import tempfile

from _faults import ALL, DEADLINE_S, MODELS, check, expect, failing_writes, most_of, play, run_scenarios, whole


def wrong_variable():
    check("wrong_variable", play("wrong_variable"), code="unknown_name", ranks=[0], rank="rank 0", variable="variable temperatur",
          cause=["no variable 'temperatur'", "did you mean .?temperature"])
    check("wrong_variable: the others", play("wrong_variable"), code=["peer_lost", "timed_out"], ranks=[1, 2, 3],
          variable="variable temperatur", cause=["model rank 0 gave up", "did you mean"])


def existing_file():
    work = pathlib.Path(tempfile.mkdtemp(prefix="existing_", dir=".")).resolve()
    (work / "out.nc").write_bytes(b"older")
    check("existing_file", play("plain", directory=str(work)), code="exists", variable=None, cause="replace|append")
    if (work / "out.nc").read_bytes() != b"older":
        sys.exit("existing_file: the file that was there has been touched")


def unwritable():
    work = pathlib.Path(tempfile.mkdtemp(prefix="unwritable_", dir=".")).resolve()
    (work / "file").write_text("not a directory")
    check("unwritable", play("plain", directory=str(work / "file")), code="io", variable=None, cause="[Nn]ot a directory")


def absent_rank():
    """The server reports it a quarter of the deadline before the ranks give up."""
    check("absent_rank", play("absent_rank"), code="timed_out", ranks=[0, 1, 3], variable="variable temperature",
          cause=["model rank 2 did not put", "record 3"], most_seconds=most_of(DEADLINE_S))


def not_opened(scenario, cause, ranks=(0, 1, 4), deadline=10):
    check(scenario, play(scenario, deadline=deadline), code="timed_out", ranks=ranks, rank=None, file=None, variable=None,
          cause=[cause, f"{deadline}000 ms"], most_seconds=most_of(deadline))


def plain():
    work, outcomes, run = play("plain")
    expect([outcomes[r].code for r in range(MODELS + 1)] == ["ok"] * (MODELS + 1), "plain",
           f"not ok without a fault\n{run.stderr[-2000:]}", outcomes)
    expect((work / "out/out.nc").exists(), "plain", "no file", outcomes)
    shutil.rmtree(work)
    print("plain: ok")


def failed_report():
    """In a failed run a server writes the reason and its data to report.html."""
    work, outcomes, run = play("missing_rank", settings=["report.html=report.html"])
    page = work / "report.html"
    expect(page.exists(), "failed_report", f"no page\n{run.stderr[-2000:]}", outcomes)
    for text in ("The run failed", "model rank 2 did not put", "I/O server 0", "<svg"):
        expect(text in page.read_text(), "failed_report", f"the page does not say '{text}'", outcomes)
    shutil.rmtree(work)
    print("failed_report: ok")


def killed_after_close():
    """A rank dies after all have closed the file, while most of it is still to be written: it is
    published complete."""
    out = pathlib.Path(tempfile.mkdtemp(prefix="closed_", dir=".")).resolve()
    check("killed_after_close", play("killed_after_close", directory=str(out), rules=["ops=write path=*.part ms=50"]), code="peer_lost",
          ranks=[1, 2, 3], rank="rank 0", cause="model rank 0")
    if not (out / "out.nc").exists():
        sys.exit(f"killed_after_close: the file that all ranks had closed is not published: {list(out.iterdir())}")
    if not whole(out / "out.nc"):
        sys.exit("killed_after_close: the file is not whole")


run_scenarios({
    "plain": plain,
    "wrong_variable": wrong_variable,
    "wrong_type": lambda: check("wrong_type", play("wrong_type"), code="wrong_type", ranks=[0], rank="rank 0",
                                variable="variable temperature", cause=["text", "float32"]),
    "outside": lambda: check("outside", play("outside"), code="invalid_argument", ranks=[2], rank="rank 2", file=None, variable=None,
                             cause=["grid", "64"]),
    "overlap": lambda: check("overlap", play("overlap"), code=["conflict", "invalid_argument"], rank=r"ranks? 1", file=None,
                             variable=None, cause=["grid", "2", "overlap|both|twice"]),
    "gap": lambda: check("gap", play("gap"), code=["conflict", "invalid_argument"], rank=None, file=None, variable=None,
                         cause=["grid", r"64 points|gap|no rank"]),
    "missing_rank": lambda: check("missing_rank", play("missing_rank"), code="conflict", variable="variable temperature",
                                  cause=["model rank 2 did not put", "record 3"]),
    "absent_rank": absent_rank,
    "never_opens": lambda: not_opened("never_opens", "ranks 2 and 3 did not arrive"),
    # Rank 0 reads its namelist first: when its deadline has passed, no rank is left to ask.
    "opens_late": lambda: not_opened("opens_late", "(^|: )ranks 2 and 3 did not arrive"),
    # Rank 1, which could have asked, is absent: the others have left when rank 0 asks, but have
    # left a message.
    "opens_last": lambda: not_opened("opens_last", "(^|: )ranks 1 and 2 did not arrive", ranks=[0], deadline=2),
    "name_clash": lambda: check("name_clash", play("name_clash"), code=["conflict", "peer_lost"], variable=None,
                                cause=["history", "close"]),
    "existing_file": existing_file,
    "unwritable": unwritable,
    "no_space": lambda: check("no_space", failing_writes(28), code="no_space", ranks=range(MODELS + 1), cause="No space left"),
    "io_error": lambda: check("io_error", failing_writes(5), code="io", cause="Input/output error"),
    "quota": lambda: check("quota", failing_writes(122, store="cdf5"), code="no_space", cause="[Qq]uota"),
    "kill_server": lambda: check("kill_server", play("kill_server"), code=["peer_lost", "timed_out"],
                                 cause=["I/O server 0", "the last put of this rank was record"]),
    "kill_model": lambda: check("kill_model", play("kill_model"), code="peer_lost", ranks=[0, 2, 3], rank="rank 1",
                                cause=["model rank 1", "not complete: out/out.nc"]),
    "killed_after_close": killed_after_close,
    "failed_report": failed_report,
})
