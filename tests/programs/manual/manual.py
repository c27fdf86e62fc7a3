# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Compares what `culprit --help` prints, the one text that people are sure to read, with the manual page
# and with what bash completes. They have one source; this shows that nothing is lost on the way.
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = None


def output_of(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def help_of(*words):
    return output_of(os.path.join(BUILD, "bin", "culprit"), *words, "--help")


def options_in(help_text):
    """The long options that stand at the beginning of a line."""
    return set(re.findall(r"^ +(?:-\w,\s?)?(--[\w-]+)", help_text, re.MULTILINE))


def commands():
    """The words at the beginning of lines, with what they mean behind them."""
    return re.findall(r"^  (\w+) {2,}\w", help_of(), re.MULTILINE)


class ManualPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(os.path.join(BUILD, "share/man/man1/culprit.1"), encoding="utf-8") as file:
            cls.page = file.read()
        parts = re.split(r"^\.S[SH] (?:culprit )?(.*)$", cls.page, flags=re.MULTILINE)
        cls.sections = dict(zip(parts[1::2], parts[2::2]))

    def options(self, section):
        entries = re.findall(r"^\.TP\n(.*)$", self.sections[section], re.MULTILINE)
        text = "\n".join(entries).replace("\\-", "-").replace("\\fB", "")
        return set(re.findall(r"(?<![\w-])--[\w-]+", text))

    def test_every_option_of_every_command_is_there_and_no_other(self):
        self.assertGreaterEqual(len(commands()), 6)
        for command in commands():
            with self.subTest(command):
                self.assertEqual(self.options(command), options_in(help_of(command)))
        self.assertEqual(self.options("OPTIONS"), options_in(help_of()))

    def test_variables_are_those_that_help_names(self):
        named = set()
        for command in commands():
            named.update(re.findall(r"\[(CULPRIT_\w+)\]", help_of(command)))
        self.assertTrue(named)
        # What no option says.
        self.assertEqual(set(re.findall(r"CULPRIT_\w+", self.sections["ENVIRONMENT"])),
                         named | {"CULPRIT_LOG", "CULPRIT_NAME_CACHE", "CULPRIT_DISABLE", "CULPRIT_CLOCK",
                                  "CULPRIT_SLOT"})

    def test_a_formatter_reads_it(self):
        groff = shutil.which("groff")
        if not groff:
            self.skipTest("groff is not installed")
        done = subprocess.run([groff, "-man", "-Tascii", "-P-cbou", "-ww"], input=self.page, capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stderr, "")
        self.assertIn("EXIT STATUS", done.stdout)

    def test_each_command_has_a_page(self):
        """As `man culprit-run` looks for it, with the options that its help has."""
        for command in commands():
            with self.subTest(command):
                with open(os.path.join(BUILD, f"share/man/man1/culprit-{command}.1"), encoding="utf-8") as file:
                    page = file.read()
                entries = "".join(re.findall(r"^\.TP\n(.*\n)", page, re.MULTILINE))
                plain = entries.replace("\\-", "-").replace("\\fB", "")
                self.assertEqual(set(re.findall(r"(?<![\w-])--[\w-]+", plain)), options_in(help_of(command)))
                if shutil.which("groff"):
                    done = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", "-ww"], input=page,
                                          capture_output=True, text=True, check=True)
                    self.assertEqual(done.stderr, "")
                    self.assertIn(f"culprit {command} [options]", done.stdout)


class Completion(unittest.TestCase):
    def complete(self, *words, folder=None):
        """What bash offers for the last word."""
        script = os.path.join(BUILD, "share/bash-completion/completions/culprit")
        line = (f"source {shlex.quote(script)}; COMP_WORDS=({shlex.join(words)}); "
                f"COMP_CWORD={len(words) - 1}; _culprit; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return set(output_of("bash", "--norc", "-c", line, cwd=folder).split())

    def test_commands(self):
        self.assertEqual(self.complete("culprit", "re"), {"record", "report"})
        self.assertTrue(set(commands()) <= self.complete("culprit", ""))

    def test_options_of_a_command(self):
        for command in commands():
            with self.subTest(command):
                offered = self.complete("culprit", command, "--")
                self.assertEqual(offered, options_in(help_of(command)))

    def test_values_that_an_option_takes(self):
        self.assertEqual(self.complete("culprit", "run", "--cuda-graphs", ""), {"launches", "nodes"})

    def test_files_where_any_value_will_do(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "culprit.chain.1"))
            self.assertEqual(self.complete("culprit", "report", "cul", folder=folder),
                             {"culprit.chain.1"})
            self.assertEqual(self.complete("culprit", "run", "-o", "cul", folder=folder),
                             {"culprit.chain.1"})

    def test_behind_the_command_line_is_the_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "--sampling-data"), "w", encoding="utf-8").close()
            self.assertEqual(self.complete("culprit", "run", "--", "prog", "--samp", folder=folder),
                             {"--sampling-data"})
            self.assertEqual(self.complete("culprit", "run", "prog", "--samp", folder=folder),
                             {"--sampling-data"})
        self.assertIn("mktemp", self.complete("culprit", "run", "-j", "2", "mktem"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    arguments, rest = parser.parse_known_args()
    BUILD = os.path.abspath(arguments.build)
    unittest.main(argv=[sys.argv[0]] + rest)
