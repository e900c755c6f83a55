#!/usr/bin/env python3
"""Checks that ./dev installs the commands that the tests, the demo, the benchmarks, its scripts and
the documentation run.

Every command that they start must be listed in PACKAGES with its Debian package, and that package
in the lists of tools/dev/setup.sh that ./dev installs for them. Commands are found if they come
first in a list of words passed to `subprocess` (Python), in a text passed to a shell (C++), or
first in a command (shell; only names of programs that this machine has), and in pages (the blocks
after `<!-- run: TITLE -->`; all names). Commands that these start in turn count too: compilers, and
`make` if CMake is given no generator. If a page with commands has a line `apt-get install`, that
names the packages of all of them.
"""
import pathlib
import re
import shutil
import sys

BASE = "every Debian system"  # packages that are essential or of priority "required"
PACKAGES = {
    BASE: """awk bash basename cat chmod chrt cksum command cp cut date df diff dirname dpkg dpkg-query echo env expr false find findmnt
        grep head hostname id install kill ln ls mkdir mkfifo mktemp mount mv nproc od paste printf prlimit pwd readlink realpath
        renice rm rmdir sed seq setarch setpriv sh sleep sort stat stty sync tail tar tee test timeout touch tr true truncate umount
        uname uniq unshare wc xargs apt-get flock""",
    "cmake": "cmake ctest cpack",
    "openmpi-bin": "mpirun mpiexec ompi_info",
    "libopenmpi-dev": "mpicc mpicxx mpifort mpif90",
    "pkg-config": "pkg-config",
    "g++": "g++ gcc c++ cc",
    "binutils": "nm",
    "gfortran": "gfortran",
    "ninja-build": "ninja",
    "make": "make",
    "man-db": "man",
    "chromium": "chromium",
    "ccache": "ccache",
    "netcdf-bin": "ncgen ncdump nccopy nc-config",
    "hdf5-tools": "h5dump h5diff h5repack h5ls h5stat",
    "iproute2": "ip ss tc",
    "xz-utils": "xz",
    "python3-venv": "python3 python",
    "cdo": "cdo",
    "fdb5": "fdb-read fdb-write",
    "libeccodes-tools": "grib_get grib_get_data",
    "pnetcdf-bin": "ncmpidiff ncmpidump ncvalidator",
    "clang": "clang clang++",
    "clang-tidy": "clang-tidy",
    "doxygen": "doxygen",
}
#: commands that a command runs itself
RUNS = {"mpicc": ("gcc",), "mpicxx": ("g++",), "mpifort": ("gfortran",), "mpif90": ("gfortran",)}
#: words of the shell and the project's own command, in pages
NO_PROGRAMS = {"cd", "export", "source", "afterbay"}
#: used only if it is there, or to ask for permission
OPTIONAL = {"git", "sudo", "lfs", "strace", "perf", "gdb"}
#: (what, where, lists of setup.sh)
USERS = (
    ("./dev test", ("tests",), ("build", "test", "reader", "browser")),
    ("./dev demo", ("tools/demo.sh", "tools/demo_map.py", "tools/demo_described.py", "tools/demo_summary.py"), ("build", "test")),
    ("./dev bench", ("bench",), ("build", "bench")),
    ("./dev", ("dev", "tools/dev", "tools/fuzz.sh"), ("build", "test", "reader", "browser", "bench", "lint", "docs")),
    ("./dev docs", ("tools/site",), ("docs",)),
    ("./dev build release", ("docs", "examples/README.md"), ("build", "user")),
)
SHELL_WORDS = {"if", "then", "else", "elif", "do", "while", "until", "!", "exec", "nice", "time", "{", "("}


def programs():
    return {name: package for package, names in PACKAGES.items() for name in names.split()}


def lists_of_setup(root):
    """The arrays NAME_packages of setup.sh; one may contain another."""
    text = (root / "tools" / "dev" / "setup.sh").read_text()
    found = {}
    for name, words in re.findall(r"^(\w+)_packages=\(([^)]*)\)", text, re.MULTILINE):
        names = []
        for word in words.split():
            inner = re.fullmatch(r'"\$\{(\w+)_packages\[@\]\}"', word)
            names += found[inner[1]] if inner else [word]
        found[name] = names
    return found


def blanked(pattern, text, flags=0):
    """The text with matches blanked out; everything else keeps its position and line."""
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=flags)


def started_by(name, words):
    """Programs that a command starts itself; `words` is the rest of the command."""
    yield from RUNS.get(name, ())
    option = r"(?<![\w-])-"
    if name == "cmake" and re.search(option + "[SB]", words) and not re.search(option + "(G|-preset)", words):
        yield "make"


def of_python(text):
    for match in re.finditer(r"(?:subprocess\.(?:run|Popen|call|check_call|check_output)|\bcall|\boutput_of)\(\s*[\[(]?\s*[\"']([\w.+-]+)[\"'],?", text):
        yield match.start(), match[1]
        for name in started_by(match[1], text[match.end():(text + "]").index("]", match.end())]):
            yield match.start(), name
    for match in re.finditer(r"\buser\.run\(\s*f?\"[^\"]*\",\s*f?\"([^\"]*)\"", text):  # tests/install: to be given to a shell
        for at, name in of_shell(match[1].replace("\\n", " \n")):
            yield match.start(1) + at, name
    for match in re.finditer(r"(?:MPIRUN|LAUNCHER|LITTLE_MEMORY|command|words|launcher)\s*=\s*[\[(]\s*[\"']([\w.+-]+)[\"']", text):
        yield match.start(), match[1]


def of_cpp(text):
    for match in re.finditer(r"\b(?:output_of|popen|system)\(\s*\"([\w.+-]+)[ \"]", text):
        yield match.start(), match[1]


def of_shell(text, is_program=shutil.which):
    """First words of commands, if they are programs on this machine."""
    text = blanked(r"<<-?\s*'?(\w+)'?.*?^\1$", text, re.MULTILINE | re.DOTALL)  # here-documents
    for match in re.finditer(r"(?:^|[;|&(`]|\$\()\s*(?:[A-Z]\w*=\S*\s+)*((?:[\w!{(]+\s+)*?)([a-z][\w.+-]*)(?=\s|$|\))", text, re.MULTILINE):
        line_start = text.rfind("\n", 0, match.start(2)) + 1
        if text[line_start:match.start(2)].lstrip().startswith("#") or not set(match[1].split()) <= SHELL_WORDS:
            continue
        if is_program(match[2]):
            yield match.start(2), match[2]
            for name in started_by(match[2], re.match(r"(?:\\\n|[^\n;|&])*", text[match.end(2):])[0]):
                yield match.start(2), name


def of_page(text):
    """The commands of a page that are run by tests/install, whether this machine has them or
    not."""
    for block in re.finditer(r"<!-- run: .+? -->\n```\w+\n(.*?)```", text, re.DOTALL):
        for at, name in of_shell(blanked(r"'[^'\n]*'", block[1]), lambda name: name not in NO_PROGRAMS):
            yield block.start(1) + at, name


def missing_in_page(text, known):
    """(place, command, package) for commands whose packages the page's `apt-get install` lines do
    not name."""
    lines = list(re.finditer(r"apt-get install((?: +[a-z0-9][a-z0-9.+-]*)+)", text))
    named = {package for line in lines for package in line[1].split()}
    if not lines:
        return
    for _, name in of_page(text):
        if name in known and known[name] != BASE and known[name] not in named:
            yield lines[0].start(), name, known[name]


def commands_of(path):
    text = path.read_text(errors="replace")
    if path.suffix == ".py" or text.startswith("#!/usr/bin/env python3"):
        return of_python(text), text
    if path.suffix in (".cpp", ".hpp", ".c"):
        return of_cpp(text), text
    if path.suffix == ".sh" or text.startswith("#!/usr/bin/env bash"):
        return of_shell(text), text
    if path.suffix == ".md":
        return of_page(text), text
    return (), text


def files_of(root, places):
    for place in places:
        path = root / place
        yield from sorted(p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts) if path.is_dir() else [path]


def violations(root):
    known, installed = programs(), lists_of_setup(root)
    for what, places, lists in USERS:
        packages = {package for name in lists for package in installed[name]}
        for path in files_of(root, places):
            found, text = commands_of(path)
            for at, name in found:
                where = f"{path.relative_to(root)}:{text.count(chr(10), 0, at) + 1}"
                if name in OPTIONAL:
                    continue
                if name not in known:
                    yield f"{where}: runs {name}: add it, with its package, to PACKAGES in tools/check_commands.py"
                elif known[name] != BASE and known[name] not in packages:
                    yield f"{where}: runs {name}: {what} does not install {known[name]} (tools/dev/setup.sh: {', '.join(lists)})"
            if path.suffix == ".md":
                for at, name, package in missing_in_page(text, known):
                    yield f"{path.relative_to(root)}:{text.count(chr(10), 0, at) + 1}: a command of this page runs {name}: name {package}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    found = list(violations(root))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
