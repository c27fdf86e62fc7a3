#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# What makes the command line easy to use: help, what was meant by a misspelled word, the newest experiment, defaults in
# files, and what shells complete.
import re
import shutil
import subprocess

import cli


class Usage(cli.Helpers):
    def test_usage(self):
        self.refused(2, "subcommand")
        self.refused(2, "no program given", "run")
        self.refused(2, "no program given", "record", "--")
        self.refused(2, "no option '--nonsense'", "run", "--nonsense", "--", "true")
        self.refused(2, "--format", "report", "x", "--format", "nonsense")
        self.refused(2, "--sampling", "run", "--sampling", "-3", "true")
        self.refused(2, "nonsense", "nonsense")

    def test_help_is_no_error(self):
        for arguments in (["--help"], ["run", "--help"], ["--version"]):
            done = self.culprit(*arguments)
            self.assertEqual((done.returncode, done.err), (0, ""))
            self.assertIn("culprit", done.out)

    def test_misuse_names_the_help_and_what_was_meant(self):
        self.refused(2, "did you mean 'report'", "reprot", "x")
        self.refused(2, "did you mean '--format'", "report", "--fromat", "json")
        self.refused(2, "`culprit report --help`", "report", "--nonsense")
        self.refused(2, "`culprit --help`", "nonsense")
        self.refused(2, "did you mean '--output'", "run", "--outptu", "x", "--", "true")
        self.refused(2, "did you mean '--sampling'", "record", "--samplign=50", "true", "--verbose")
        self.refused(2, "'-n' (see `culprit run --help`)", "run", "-n", "4", "true")

    def test_nothing_there_is_no_misuse(self):
        """Whatever asks for an experiment, where there is none: the same status."""
        for arguments in (["ls"], ["report"], ["view"], ["stuck"], ["report", "missing"], ["ls", "missing"]):
            with self.subTest(arguments):
                self.refused(1, "", *arguments)

    def test_help_of_a_command(self):
        page = self.culprit("help", "report")
        self.assertEqual((page.returncode, page.out), (0, self.culprit("report", "--help").out))
        self.assertTrue(page.out.startswith("usage: culprit report "), page.out)
        for command in ("run", "export", "model"):
            lines = self.culprit(command, "--help").out.splitlines()
            self.assertEqual([line for line in lines if len(line) > 100], [])
        whole = self.culprit("--help").out
        self.assertLess(whole.index("Measure:"), whole.index("  run"))

    def test_commands_take_the_newest_experiment(self):
        self.recorded("first")
        self.recorded("second")
        for name in ("first", "second"):
            self.assertEqual(self.culprit("analyze", name).returncode, 0)
        info = self.folder / "first/experiment.json"
        info.write_text(re.sub(r'("date": ")\d{4}', r"\g<1>2001", info.read_text()))
        done = self.culprit("report")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn("second", done.err)
        lines = self.culprit("ls").out.splitlines()
        self.assertEqual([line.split()[3] for line in lines[1:]], ["second", "first"], lines)
        self.refused(1, "no experiments", "ls", "second")

    def test_what_was_made_of_runs_is_not_the_newest_run(self):
        self.recorded("only")
        self.assertEqual(self.culprit("analyze", "only").returncode, 0)
        self.assertEqual(self.culprit("diff", "only", "only", "-o", "change").returncode, 0)
        done = self.culprit("report")
        self.assertIn("only: the newest experiment here", done.err)
        states = {line.split()[3]: line.split()[2] for line in self.culprit("ls").out.splitlines()[1:]}
        self.assertEqual(states, {"only": "analyzed", "change": "diff"})

    def test_defaults_of_files(self):
        """An option is stronger than a variable, that is stronger than the user's file, that than the site's."""
        user, site = self.folder / "user", self.folder / "site"
        for folder, text in ((user, "sampling = nonsense\n"), (site, "sampling = 7\nopenmp = none\n")):
            (folder / "culprit").mkdir(parents=True)
            (folder / "culprit/config").write_text(text)
        given = {"XDG_CONFIG_HOME": str(user), "XDG_CONFIG_DIRS": str(site)}
        wrong = self.culprit("run", "--", "true", **given)
        self.assertEqual(wrong.returncode, 2, wrong.err)
        self.assertIn("sampling", wrong.err)
        right = self.culprit("run", "--sampling", "5", "--", "true", **given)
        self.assertEqual(right.returncode, 0, right.err)
        (user / "culprit/config").write_text("samplign = 5\n")
        done = self.culprit("doctor", **given)
        self.assertIn("did you mean 'sampling'", done.err)

    def test_completions_are_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.culprit("completion", shell)
            self.assertEqual(script.returncode, 0, script.err)
            for word in ("report", "format", "perfetto"):
                self.assertIn(word, script.out)
            if shutil.which(shell):
                check = subprocess.run([shell, "-n"], input=script.out, text=True, capture_output=True)
                self.assertEqual((check.returncode, check.stderr), (0, ""))


if __name__ == "__main__":
    cli.main()
