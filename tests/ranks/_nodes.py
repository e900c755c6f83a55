"""Jobs on emulated nodes (network namespaces, see `nodes`): Open MPI's ranks there have TCP between
nodes and shared memory within one only. Shared by the tests that run whole sessions there."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
AFTERBAY = BUILD / "apps" / "afterbay" / "afterbay"
MODEL = BUILD / "examples" / "shallow_water_c"
SKIPPED = 77

_NODES = pathlib.Path(__file__).with_name("nodes")
_OWN_SETTINGS = ("AFTERBAY_BUILD", "AFTERBAY_SOURCE", "AFTERBAY_PYTHON")


def need(*programs):
    """Skips the test if nodes cannot be created or a program was not built."""
    for program in programs:
        if not program.exists():
            print(f"skipped: {program} was not built")
            sys.exit(SKIPPED)
    probe = subprocess.run([_NODES, "1,1", "hostname"], capture_output=True, text=True, timeout=60, check=False)
    if probe.returncode == SKIPPED:
        print(probe.stderr)
        sys.exit(SKIPPED)
    if probe.returncode != 0 or sorted(probe.stdout.split()) != ["node1", "node2"]:
        sys.exit(f"two nodes with a rank on each say: {probe.stdout}{probe.stderr}")


def _environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("AFTERBAY_") or name.startswith("AFTERBAY_TEST_") or name in _OWN_SETTINGS}


def _command(layout, words):
    return [str(word) for word in (_NODES, layout, "--display-map", *words)]


def places(output):
    """The node of every rank of the job, from mpirun's map: ["node1", "node1", "node2"]."""
    node, found = None, {}
    for line in output.splitlines():
        if named := re.match(r" Data for node: (\S+)", line):
            node = named[1]
        if ranked := re.search(r"Process rank: (\d+)", line):
            found[int(ranked[1])] = node
    return [found[rank] for rank in sorted(found)]


def run(layout, *words, timeout_s=45):
    """The finished job; `layout` is the number of slots of each node, as in "3,1"."""
    started = time.monotonic()
    with subprocess.Popen(_command(layout, words), env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as job:
        try:
            output = job.communicate(timeout=timeout_s)[0]
        except subprocess.TimeoutExpired:
            output = end(job)
            sys.exit(f"HANGS for {timeout_s} s on nodes {layout}: {' '.join(map(str, words))}\n{output}")
    if job.returncode != 0:
        sys.exit(f"exit code {job.returncode} on nodes {layout}: {' '.join(map(str, words))}\n{output}")
    print(f"{time.monotonic() - started:.1f} s on nodes {layout}: {' '.join(map(str, words))}", flush=True)
    return output


def start(layout, *words, directory):
    """A job that is not waited for, because mpirun waits for ever after a node has been cut off.
    End it with end()."""
    return subprocess.Popen(_command(layout, words), env=_environment(), cwd=directory, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def end(job):
    """Ends a job and its nodes; returns its output."""
    if job.poll() is None:
        job.send_signal(signal.SIGTERM)
    try:
        return job.communicate(timeout=10)[0]
    except subprocess.TimeoutExpired:
        job.kill()
        return job.communicate()[0]
