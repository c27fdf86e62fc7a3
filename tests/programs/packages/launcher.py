# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# The archive's launcher before programs that are made here: it starts what can be started, from wherever
# it is called, and says in one sentence what is missing.
import os
import subprocess
import sys
import tempfile
import unittest

LAUNCHER = None
PROGRAM = """#include <stdio.h>
int needed(void);
int main(int count, char** words) {
  printf("%s %d %d", words[count - 1], count, needed());
  return 5;
}
"""


def compiled(source, output, *flags):
    subprocess.run(["gcc", "-x", "c", "-", "-x", "none", "-o", output, *flags], input=source, text=True,
                   check=True)


class Launcher(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.root = os.path.join(self.scratch.name, "a place")
        for folder in ("bin", "lib/bundled"):
            os.makedirs(os.path.join(self.root, folder))
        self.launcher = os.path.join(self.root, "bin/culprit")
        with open(LAUNCHER, encoding="utf-8") as text, open(self.launcher, "w", encoding="utf-8") as out:
            out.write(text.read().replace("@glibc@", "2.99"))
        os.chmod(self.launcher, 0o755)
        bundled = os.path.join(self.root, "lib/bundled")
        self.needed = os.path.join(bundled, "libneeded.so")
        compiled("int needed(void) { return 7; }", self.needed, "-shared", "-fPIC",
                 "-Wl,-soname,libneeded.so")
        compiled("int nothing;", os.path.join(self.root, "lib/libculprit.so"), "-shared", "-fPIC")
        compiled(PROGRAM, os.path.join(self.root, "bin/culprit.bin"), "-L" + bundled, "-lneeded",
                 "-Wl,-rpath,$ORIGIN/../lib/bundled")

    def tearDown(self):
        self.scratch.cleanup()

    def run_it(self, name, **options):
        return subprocess.run([name, "one", "a  b*"], capture_output=True, text=True, check=False,
                              **options)

    def expect_started(self, done):
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("a  b* 3 7", "", 5))

    def test_starts_the_program_with_its_arguments_and_returns_its_status(self):
        self.expect_started(self.run_it(self.launcher))
        self.expect_started(self.run_it("./culprit", cwd=os.path.join(self.root, "bin")))

    def test_is_found_through_links_and_the_path(self):
        absolute = os.path.join(self.scratch.name, "absolute")
        relative = os.path.join(self.scratch.name, "relative")
        os.symlink(self.launcher, absolute)
        os.symlink("absolute", relative)
        self.expect_started(self.run_it(absolute))
        self.expect_started(self.run_it(relative))
        self.expect_started(self.run_it("relative", env={"PATH": self.scratch.name + ":/usr/bin:/bin"}))

    def want_newer_glibc(self, file):
        """As if the file had been built with a glibc that no machine has: the version's name and its hash."""
        with open(file, "rb") as binary:
            data = binary.read()
        def hashed(name):
            value = 0
            for byte in name:
                value = (value << 4) + byte
                value = (value ^ (value & 0xf0000000) >> 24) & 0x0fffffff
            return value.to_bytes(4, "little")
        old, new = b"GLIBC_2.34", b"GLIBC_9.99"
        self.assertIn(old + b"\0", data)
        with open(file, "wb") as binary:
            binary.write(data.replace(old + b"\0", new + b"\0").replace(hashed(old), hashed(new)))

    def test_brings_a_c_library_where_that_of_the_machine_is_too_old(self):
        folder = os.path.join(self.root, "lib/bundled/glibc")
        os.makedirs(folder)
        loader = os.path.join(folder, "ld-linux-x86-64.so.2")
        with open(loader, "w", encoding="utf-8") as text:  # says how it is called; the real one cannot start this program
            text.write('#!/bin/sh\nprintf "%s|" "$@"\n')
        os.chmod(loader, 0o755)
        program = os.path.join(self.root, "bin/culprit.bin")
        self.want_newer_glibc(program)
        self.assertNotEqual(self.run_it(program).returncode, 5)
        done = self.run_it(self.launcher)
        bin_folder = os.path.dirname(self.launcher)
        bundled = f"{bin_folder}/../lib/bundled"
        self.assertEqual(done.stdout, f"--library-path|{bundled}:{bundled}/glibc|{bin_folder}/culprit.bin|one|a  b*|")

    def test_what_goes_into_programs_takes_the_machines(self):
        compiled("#include <stdlib.h>\n#include <pthread.h>\nint f(void) { return pthread_detach(0); }",
                 os.path.join(self.root, "lib/libculprit.so"), "-shared", "-fPIC")
        self.want_newer_glibc(os.path.join(self.root, "lib/libculprit.so"))
        done = self.run_it(self.launcher)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("needs glibc 2.99 or later", done.stderr)

    def test_says_which_library_is_missing(self):
        os.remove(self.needed)
        done = self.run_it(self.launcher)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr,
                         "culprit: this machine lacks what this build needs: libneeded.so\n")


if __name__ == "__main__":
    LAUNCHER = os.path.abspath(sys.argv.pop(1))
    unittest.main()
