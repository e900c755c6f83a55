#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tutorial works exactly as written from an installation, in C++, C and Fortran, with
pkg-config and with CMake: in each language by itself, without the programs of the others. So do the
commands of the examples' page."""
import netCDF4
import numpy
from _follow import Newcomer

LANGUAGES = {"C++": ("hello.cpp", "CXX"), "C": ("hello.c", "C"), "Fortran": ("hello.f90", "Fortran")}


def check_file(path):
    with netCDF4.Dataset(path) as file:
        expected = 280.0 + numpy.arange(96).reshape(12, 8) + 100.0 * numpy.arange(3)[:, None, None]
        numpy.testing.assert_array_equal(file["t2m"][:], expected)
        assert file["t2m"].units == "K"
    path.unlink()


def cmake_lists(page, language):
    """The CMakeLists.txt that the page gives for a language; that of C is that of C++ with the
    changes that the page names."""
    program, name = LANGUAGES[language]
    given = [text for kind, title, text in page if (kind, title) == ("test", "CMakeLists.txt")]
    if language == "C":
        given = [text.replace("CXX", name).replace("hello.cpp", program) for text in given]
    [found] = [text for text in given if f"LANGUAGES {name})" in text]
    return found


def one_language_is_enough(user, page, language):
    """Follows the page in a directory that contains only this language's program."""
    user.begin(language)
    hello = user.work / "hello.nc"
    blocks = {(kind, title): text for kind, title, text in page}
    program = LANGUAGES[language][0]
    user.save(program, blocks["test", program])
    user.save("CMakeLists.txt", cmake_lists(page, language))
    user.save("run.yaml", blocks["test", "run.yaml"])
    written = 0
    for title in (language, "CMake", "next"):
        for command in blocks["run", title].splitlines():
            user.run(f"{language}, {title}: {command}", command)
            if "mpirun" in command:
                assert hello.exists(), f"{command} wrote no file"
                if language == "C++" and title == "C++":
                    continue  # the next command shows the file
            if hello.exists():
                check_file(hello)
                written += 1
    assert written == 4, f"{written} files were written"


def main():
    user = Newcomer()
    user.read_settings()
    page = user.page("docs/tutorial.md")
    for language in LANGUAGES:
        one_language_is_enough(user, page, language)
    user.run("any number of ranks", "mpirun --oversubscribe -np 6 ./hello")
    check_file(user.work / "hello.nc")
    [help_of_the_command] = [text for kind, title, text in page if (kind, title) == ("run", "help")]
    assert "--markdown" in user.run("help", help_of_the_command)
    [examples] = [text for kind, title, text in user.page("examples/README.md") if kind == "run"]
    user.begin("examples")
    user.run("examples", examples)


main()
