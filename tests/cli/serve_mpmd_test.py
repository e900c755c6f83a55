# SPDX-License-Identifier: Apache-2.0
"""afterbay serve beside a model (MPMD): the same files as from one executable whose ranks are
split."""
import filecmp
import os
import pathlib
import subprocess
import sys
import unittest

from _cli import BUILD, COMMAND, OK, CommandTest

MODEL = BUILD / "examples" / "shallow_water_c"
RUN = ("--grid", "61x43", "--steps", "12", "--fields-every", "4", "--surface-every", "3")
TIMED_OUT = 124
FILES = ("fields.nc", "surface.nc")


def mpirun(*programs, settings=None):
    """Each of `programs` is (number of processes, command ...); all in one job."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AFTERBAY_")}
    environment.update(settings or {})
    command = ["timeout", "-k", "5", "90", "mpirun", "--oversubscribe"]
    for number, (processes, *program) in enumerate(programs):
        command += [":"] * (number > 0) + ["-np", str(processes), *map(str, program)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


class ServeBesideModel(CommandTest):
    def finished(self, done):
        self.assertEqual(done.returncode, OK, f"\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def refused(self, done, *parts):
        """The job failed in time. Open MPI's mpirun may itself crash if several ranks abort, so
        its exit code is not checked further; the first rank that aborts ends the others, so only
        `parts` that every rank prints can be expected."""
        self.assertNotIn(done.returncode, (OK, TIMED_OUT), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def model(self, directory):
        pathlib.Path(directory).mkdir()
        return (MODEL, *RUN, "--directory", directory)

    def assert_same_files(self, first, second):
        for name in FILES:
            self.assertTrue(filecmp.cmp(pathlib.Path(first, name), pathlib.Path(second, name), shallow=False),
                            f"{name} differs between {first} and {second}")

    def test_same_files_as_from_one_executable(self):
        config = self.write("run.yaml", 'collections: {"*": {store: cdf5}}\nafterbay: {report: {table: off}}\n')
        settings = {"AFTERBAY_CONFIG": config}
        self.finished(mpirun((4, *self.model("split")), settings=settings))
        for servers in (1, 2):
            directory = f"mpmd_{servers}"
            done = self.finished(mpirun((3, *self.model(directory)), (servers, COMMAND, "serve"), settings=settings))
            self.assertNotIn("error", done.stderr)
            self.assert_same_files("split", directory)

    def test_config_file_by_option(self):
        config = self.write("option.yaml", 'afterbay: {memory: {server: 64MiB}, report: {table: off}}\n')
        self.finished(mpirun((2, *self.model("option"), f"--afterbay.config={config}"),
                             (1, COMMAND, "serve", "--config", config)))
        self.assertEqual(sorted(path.name for path in pathlib.Path("option").iterdir()), sorted(FILES))

    def test_other_settings_than_the_model(self):
        done = mpirun((2, *self.model("other")), (1, COMMAND, "serve", "--afterbay.memory.server=64MiB"))
        self.refused(done, "different settings: memory.server is 512MiB on rank 0 and 64MiB on rank 2; ",
                     "give all ranks the same configuration")
        self.assertEqual(list(pathlib.Path("other").iterdir()), [])

    def test_errors_name_the_command_and_the_process(self):
        done = mpirun((1, COMMAND, "serve"), (1, COMMAND, "serve", "--afterbay.memory.server=64MiB"))
        self.refused(done, "memory.server is 512MiB on rank 0 and 64MiB on rank 1; ")
        self.assertRegex(done.stderr, "afterbay serve: process [01]: ")

    def test_other_number_of_servers_than_configured(self):
        done = mpirun((2, *self.model("number"), "--afterbay.servers=2"),
                      (1, COMMAND, "serve", "--afterbay.servers=2"))
        self.refused(done, "1 of 3 ranks are server processes, but 'servers' is 2 (--afterbay.servers)")


if __name__ == "__main__":
    if not MODEL.exists():
        print(f"{MODEL} was not built; skipped")
        sys.exit(77)
    unittest.main()
