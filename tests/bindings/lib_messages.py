"""Common functions of the tests of messages: a program makes the mistake named by its first
argument, on two model ranks and one I/O server, prints one error per job, and the journal contains
the reason."""
import pathlib
import re

from lib_bindings import mpirun, program

LINE = r"^\[.*\] error: \S|^afterbay: "


def run(mistake, language, expect=1):
    for leftover in pathlib.Path.cwd().glob("out.nc*"):
        leftover.unlink()
    return mpirun(3, program(f"mistakes_{language}"), mistake, "--afterbay.servers=1", "--afterbay.memory.server=16MiB",
                  "--afterbay.deadline=4s", "--afterbay.report.table=off",
                  f"--afterbay.journal.directory={pathlib.Path.cwd() / journal_of(mistake, language)}", seconds=40, expect=expect)


def journal_of(mistake, language):
    return f"journal_{language}_{mistake}"


def check(mistake, *says, language, journal=True):
    said = run(mistake, language)
    errors = [line for line in said.splitlines() if re.search(LINE, line)]
    assert len(errors) == 1, f"{mistake} in {language}: {len(errors)} errors:\n{said}"
    for words in says:
        assert re.search(words, said), f"{mistake} in {language}: no '{words}' in\n{said}"
    for unwanted in ("Backtrace", "ERROR STOP", "has died", "#0 ", "terminate called", "Signal: Aborted"):
        assert unwanted not in said, f"{mistake} in {language}: '{unwanted}' in\n{said}"
    if journal:
        lines = "".join(path.read_text() for path in pathlib.Path(journal_of(mistake, language)).glob("*.jsonl"))
        assert re.search(says[0], lines), f"{mistake} in {language}: the journal does not know the reason:\n{lines}"
    print(f"{mistake} in {language}: ok: {errors[0]}")


def check_never_put(language):
    """A warning, once, although two files lack the variable; not for the constant, the scalar and
    the variable without records."""
    said = run("never_put", language, expect=0)
    warnings = [line for line in said.splitlines() if "warning:" in line]
    assert len(warnings) == 1, f"never_put in {language}: {len(warnings)} warnings:\n{said}"
    words = r"file out\.nc2?: variable 'depth' was never put"
    assert re.search(words, warnings[0]), f"never_put in {language}: {warnings[0]}"
    lines = "".join(path.read_text() for path in pathlib.Path(journal_of("never_put", language)).glob("*.jsonl"))
    assert re.search(words, lines), f"never_put in {language}: the journal does not have the warning:\n{lines}"
    print(f"never_put in {language}: ok: {warnings[0]}")
