# SPDX-License-Identifier: Apache-2.0
"""afterbay serve without a model: errors are reported at once."""
import unittest

from _cli import IO, OK, USAGE, WRONG, CommandTest, run

MPIRUN = ("timeout", "30", "mpirun", "--oversubscribe", "-np")


class Serve(CommandTest):
    def test_alone(self):
        done = self.expect(USAGE, "serve")
        self.assertIn("there is no model to serve; start it beside this: mpirun -np 4 MODEL : -np 2 afterbay serve",
                      done.stderr)

    def test_wrong_settings_end_every_rank(self):
        done = run("serve", "--afterbay.deadlin=5s", launcher=(*MPIRUN, "2"))
        self.assertEqual(done.returncode, WRONG, done.stderr)
        self.assertIn('--afterbay.deadlin: unknown setting "deadlin"; did you mean "deadline"?', done.stderr)

    def test_missing_file(self):
        done = run("serve", "--config", "nowhere.yaml", launcher=(*MPIRUN, "2"))
        self.assertEqual(done.returncode, IO, done.stderr)
        self.assertIn("nowhere.yaml: cannot read it: No such file or directory", done.stderr)

    def test_help_needs_no_mpi(self):
        self.assertIn("mpirun -np 4 ./model : -np 2 afterbay serve", self.expect(OK, "serve", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
