#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Folders as public suites have them, and what kinds.py finds in each."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import kinds


class Kinds(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def build(self, path):
        """Something that looks like a program."""
        file = self.write(path, "")
        file.write_bytes(b"\x7fELF")
        os.chmod(file, 0o755)

    def found(self, kind):
        return kinds.tests_of(kind, self.folder)

    def test_lists_of_mpich_are_read_wherever_they_lie(self):
        self.write("pt2pt/testlist", "# two of one program\nsendrecv 2\nsendrecv 2 arg=-x arg='a b' env=A=B=C timeLimit=30\n"
                   "sendrecv 2\nlater 4 mpiexecarg=-oversubscribe xfail=ticket1 strict=false mem=2\nno_number\n\n")
        self.write("f77/coll/testlist", "allred 4\nbad 'quote 2\n")
        tests = self.found("mpich")
        self.assertEqual([t.name for t in tests],
                         ["f77/coll/allred 4", "pt2pt/sendrecv 2", "pt2pt/sendrecv 2 -x a b A=B=C", "pt2pt/later 4"])
        self.assertEqual((tests[2].arguments, tests[2].environment, tests[2].limit), (["-x", "a b"], {"A": "B=C"}, 30))
        self.assertEqual(tests[3].launching, ["-oversubscribe"])
        self.assertEqual(tests[1].program, self.folder.resolve() / "pt2pt" / "sendrecv")

    def test_benchmarks_are_found_by_name(self):
        for path in ("c/mpi/pt2pt/osu_latency", "c/mpi/collective/osu_bcast", "c/mpi/pt2pt/.libs/other", "IMB-MPI1",
                     "lib/osu_helper.so"):
            self.build(path)
        self.write("c/mpi/pt2pt/osu_latency.c", "int main() {}")
        self.assertEqual([(t.name, t.ranks) for t in self.found("osu")], [("osu_bcast", 4), ("osu_latency", 2)])
        self.assertEqual([t.name for t in self.found("imb")], ["IMB-MPI1"])

    def test_tasks_have_inputs_of_their_folder_and_no_launcher(self):
        self.build("bin/fib.gcc.omp-tasks")
        self.build("bin/health.gcc.omp-tasks-tied")
        fib, health = self.found("bots")
        self.assertEqual((fib.arguments, fib.ranks), (["-n", "22"], None))
        self.assertEqual(health.arguments, ["-f", str(self.folder.resolve() / "inputs/health/test.input")])

    def test_bugs_say_how_they_are_started(self):
        self.write("one.c", "/*\n BEGIN_MBI_TESTS\n $ mpirun -np 3 ${EXE}\n | ERROR: deadlock\n END_MBI_TESTS */")
        self.write("include/helper.c", "int f() { return 1; }")
        self.assertEqual([(t.name, t.ranks) for t in self.found("mbi")], [("one.c", 3)])

    def test_openmp_takes_folders_and_files(self):
        source = self.write("a/one.c", "")
        self.write("a/two.f90", "")
        self.write("a/notes.txt", "")
        self.assertEqual([t.name for t in self.found("openmp")], ["a/one.c", "a/two.f90"])
        self.assertEqual([t.program for t in kinds.tests_of("openmp", source)], [source.resolve()])

    def test_an_empty_folder_has_no_tests_of_any_kind(self):
        for kind in kinds.KINDS:
            self.assertEqual(self.found(kind), [], kind)


if __name__ == "__main__":
    sys.exit(unittest.main())
