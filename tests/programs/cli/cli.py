#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# The command line as a user meets it: what it says, what it returns, and what it leaves behind when
# the input is bad; and whether culprits behind a launcher end in one folder. Launchers are played by
# this script: it starts the ranks with the variables that a launcher would set.
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests/support"))
import schema  # noqa: E402

BUILD = pathlib.Path()
RANKS = 6
# Nothing of a launcher around the tests may reach the culprits in them.
LAUNCHERS = ("OMPI_", "PMI_", "PMIX_", "SLURM_", "CULPRIT_", "LD_PRELOAD")
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHERS)}
ENVIRONMENT["OMP_WAIT_POLICY"] = "passive"
ENVIRONMENT["CULPRIT_NAME_CACHE"] = "off"
ENVIRONMENT["XDG_CONFIG_HOME"] = ENVIRONMENT["XDG_CONFIG_DIRS"] = "/nonexistent"  # a developer's defaults


class Helpers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="culprit_cli_"))
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, *arguments, **variables):
        return subprocess.Popen([BUILD / "bin/culprit", *map(str, arguments)], cwd=self.folder,
                                env={**ENVIRONMENT, **variables}, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def culprit(self, *arguments, **variables):
        process = self.start(*arguments, **variables)
        process.out, process.err = process.communicate(timeout=120)
        return process

    def onto_full_disk(self, *arguments):
        with open("/dev/full", "w") as full:
            return subprocess.run([BUILD / "bin/culprit", *map(str, arguments)], cwd=self.folder, text=True,
                                  env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, timeout=120)

    def left(self):
        return sorted(entry.name for entry in self.folder.iterdir())

    def refused(self, status, words, *arguments):
        """One clear sentence, this status, and nothing new in the folder."""
        before = self.left()
        done = self.culprit(*arguments)
        self.assertEqual(done.returncode, status, done.err)
        told = [l for l in done.err.splitlines() if not l.startswith("culprit: measuring")]
        self.assertEqual(len(told), 1, done.err)
        self.assertTrue(told[0].startswith("culprit: "), done.err)
        self.assertIn(words, told[0])
        self.assertEqual(self.left(), before)

    def program(self, name):
        program = BUILD / "tests/programs/cli" / name
        if not program.exists():
            self.skipTest(f"{name} was not built")
        return program

    def threads(self):
        return self.program("threads")

    def recorded(self, name="experiment", *options):
        done = self.culprit("record", *options, "-o", name, "--", self.threads())
        self.assertEqual(done.returncode, 0, done.err)
        return self.folder / name


class CommandLine(Helpers):
    # --- bad input ---

    def test_program_that_cannot_start(self):
        self.refused(127, "no such program", "run", "--", "no-such-program")
        self.refused(127, "no such program", "record", "./no-such-program")
        self.refused(126, "not an executable", "run", "--", "/etc/passwd")
        self.refused(126, "not an executable", "run", "-o", "x", "--", "/etc")

    def test_program_that_gives_nothing_to_record(self):
        """The status is the program's, with run and with record."""
        for command in ("run", "record"):
            self.refused(0, "nothing was recorded", command, "--", "true")
            self.refused(1, "nothing was recorded", command, "--", "false")

    def test_command_that_fails_before_anything_is_recorded(self):
        self.refused(5, "ended with status 5 before", "record", "--", "sh", "-c", "exit 5")
        killed = 128 + signal.SIGKILL
        self.refused(killed, f"ended with status {killed} before", "run", "--", "sh", "-c",
                     "kill -KILL $$")

    def test_output_that_cannot_be_made(self):
        (self.folder / "mine").mkdir()
        (self.folder / "file").write_text("x")
        self.refused(2, "'mine' already exists", "run", "-o", "mine", "--", "true")
        self.refused(2, "'file' already exists", "run", "-o", "file", "--", "true")

    def test_folder_that_is_refused(self):
        """A job that has waited for its turn is not lost for want of a measurement."""
        for command in ("run", "record"):
            for folder in ("missing/mine", "/proc/mine"):
                self.refused(0, "cannot create", command, "-o", folder, "--", "true")
                self.refused(5, "without being measured", command, "-o", folder, "--", "sh", "-c",
                             "exit 5")

    def test_working_folder_that_is_gone(self):
        """With a folder named in full the run is measured; without, the program runs all the same."""
        program = self.threads()
        for options, told in ((["-o", str(self.folder / "mine")], " --full"),
                              ([], "without being measured"), (["-o", "mine"], "without being measured")):
            gone = self.folder / "gone"
            gone.mkdir()
            line = ["sh", "-c", 'rmdir "$0" && exec "$@"', str(gone), str(BUILD / "bin/culprit"),
                    "run", *options, "--", str(program), "3"]
            done = subprocess.run(line, cwd=gone, env=ENVIRONMENT, text=True, capture_output=True,
                                  timeout=120)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertTrue(done.stdout.startswith("threads: done\n"), done.stdout)
            self.assertIn(told, done.stdout + done.stderr)

    def test_report_that_cannot_be_printed(self):
        """What is lost is said; the status is the program's."""
        for status in (0, 3):
            done = self.onto_full_disk("run", "--", "sh", "-c", f"{self.threads()} {status} >/dev/null")
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn("cannot write to standard output", done.stderr)

    def test_all_that_is_printed_gets_there_or_is_missed(self):
        """Whatever a command prints: onto a full disk, it fails and says so."""
        experiment = self.recorded()
        self.assertEqual(self.culprit("analyze", experiment).returncode, 0)
        printing = [["--help"], ["--version"], ["run", "--help"], ["patterns"],
                    ["patterns", "mpi.late_sender"], ["doctor"], ["stuck", experiment],
                    ["manual"], ["completion", "bash"], ["info", experiment], ["report", experiment],
                    ["report", experiment, "--format", "json"], ["analyze", experiment, "--report"],
                    ["analyze", experiment, "--passes"], ["machine", "--seconds", "1"],
                    ["whatif", experiment, "--scale", "main=0.5"], ["periods", experiment],
                    ["model", "--help"], ["diff", experiment, experiment]]
        for arguments in printing:
            with self.subTest(arguments=arguments):
                to_null = self.culprit(*arguments)
                if to_null.returncode not in (0, 5) or not to_null.out:
                    continue  # nothing is printed on stdout
                done = self.onto_full_disk(*arguments)
                self.assertNotEqual(done.returncode, 0, done.stderr)
                self.assertIn("to standard output", done.stderr)

    def test_closed_standard_files(self):
        """No file of culprit's gets their numbers, and the program finds them closed as before."""
        look = 'for f in 0 1 2; do test -e /proc/self/fd/$f && echo $f is open >> seen; done; exit 3'
        done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", BUILD / "bin/culprit", "run", "--",
                               "sh", "-c", look], cwd=self.folder, env=ENVIRONMENT, timeout=120)
        plain = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", "sh", "-c",
                                look.replace("seen", "plain")], cwd=self.folder, env=ENVIRONMENT, timeout=120)
        self.assertEqual(done.returncode, plain.returncode)
        def text(name):
            file = self.folder / name
            return file.read_text() if file.exists() else ""
        self.assertEqual(text("seen"), text("plain"))

    def test_analyze_of_what_is_none(self):
        (self.folder / "plain").mkdir()
        (self.folder / "empty.otf2").write_text("")
        (self.folder / "text.otf2").write_text("certainly not a trace\n" * 100)
        (self.folder / "half").mkdir()
        (self.folder / "half/experiment.json").write_text('{"culprit": "0"}')
        self.refused(1, "there is no 'missing'", "analyze", "missing")
        self.refused(1, "not an experiment", "analyze", "plain")
        self.refused(1, "contains neither", "analyze", "half")
        self.refused(1, "empty.otf2", "analyze", "empty.otf2")
        self.refused(1, "text.otf2", "analyze", "text.otf2", "-o", "new")

    def test_report_of_what_is_none(self):
        (self.folder / "plain").mkdir()
        (self.folder / "half").mkdir()
        (self.folder / "half/experiment.json").write_text('{"culprit": "0"}')
        (self.folder / "findings.db").write_text("no database " * 1000)
        self.refused(1, "there is no 'missing'", "report", "missing")
        self.refused(1, "not an experiment", "report", "plain")
        self.refused(1, "not been analyzed yet", "report", "half")
        self.refused(1, "not a findings file", "report", "findings.db")

    # --- in front of the program ---

    def test_run(self):
        done = self.culprit("run", "--", self.threads(), 3)
        self.assertEqual(done.returncode, 3, done.err)
        self.assertTrue(done.out.startswith("threads: done\n"), done.out)
        self.assertIn(" --full", done.out)
        names = self.left()
        self.assertEqual(len(names), 1)
        self.assertTrue(names[0].startswith("culprit.threads.2"))
        kept = {entry.name for entry in (self.folder / names[0]).iterdir()}
        self.assertEqual(kept, {"experiment.json", "findings.db", "names", "raw"})

    def test_run_never_overwrites(self):
        for _ in range(2):
            self.assertEqual(self.culprit("run", "--", self.threads()).returncode, 0)
        self.assertEqual(len(self.left()), 2)

    def test_shells_and_helpers_are_not_measured(self):
        """They get the preload library with the rest of the environment, and must not notice."""
        line = f"env true; printf x | sort; {self.threads()} | tee copy | cat"
        done = self.culprit("record", "-o", "mine", "--", "bash", "-c", line)
        self.assertEqual((done.returncode, done.out), (0, "x\nthreads: done\n"), done.err)
        self.assertEqual([l for l in done.err.splitlines() if not l.startswith("culprit: ")], [])
        processes = [entry for entry in (self.folder / "mine/raw").iterdir() if (entry / "process").exists()]
        self.assertEqual(len(processes), 1)
        self.assertEqual(self.left(), ["copy", "mine"])

    def test_record_analyze_report(self):
        experiment = self.recorded()
        self.assertFalse((experiment / "findings.db").exists())
        self.refused(1, "not been analyzed yet", "report", experiment)
        for _ in range(2):
            self.assertEqual(self.culprit("analyze", experiment).returncode, 0)
        text = self.culprit("report", experiment)
        self.assertEqual((text.returncode, text.err), (0, ""))
        result = json.loads(self.culprit("report", experiment, "--format", "json").out)
        self.assertEqual(result["run"]["locations"], 2)
        published = json.loads((SOURCE / "docs/findings.schema.json").read_text())
        self.assertEqual(list(schema.faults(result, published)), [])
        self.assertIn("omp.barrier", {wait["pattern"] for wait in result["waits"]})
        same = json.loads(self.culprit("report", experiment / "findings.db", "--format", "json").out)
        self.assertEqual(result, same)

    def test_foreign_trace(self):
        trace = self.folder / "foreign"
        shutil.move(self.recorded("experiment", "--otf2") / "trace", trace)
        before = sorted(trace.rglob("*"))
        done = self.culprit("analyze", trace / "traces.otf2", "-o", "new", "--report")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn(" --full", done.out)
        self.assertEqual(self.culprit("report", "new").returncode, 0)
        self.assertEqual(self.culprit("analyze", trace).returncode, 0)
        self.assertTrue(any(name.startswith("culprit.foreign.2") for name in self.left()))
        self.assertEqual(sorted(trace.rglob("*")), before)
        self.refused(1, "already exists", "analyze", trace, "-o", "new")

    def test_trace_too_large_for_the_memory(self):
        self.recorded()
        self.refused(1, "--memory allows", "analyze", "experiment", "--memory", "1M", "-o", "small")
        few = self.culprit("analyze", "experiment", "--memory", "1M").err
        self.assertRegex(few, r"contains \d+ events, ")
        self.assertFalse((self.folder / "small").exists())

    def test_cut_trace(self):
        """Events are missing: findings of the rest, a sentence, and a status that tells."""
        cut = self.folder / "cut"
        shutil.move(self.recorded("experiment", "--otf2") / "trace", cut)
        events = max((cut / "traces").glob("*.evt"), key=lambda file: file.stat().st_size)
        os.truncate(events, events.stat().st_size // 2)
        done = self.culprit("analyze", cut / "traces.otf2", "-o", "rest")
        self.assertEqual(done.returncode, 3, done.err)
        self.assertIn("damaged or missing", done.err)
        page = self.culprit("report", "rest")
        self.assertEqual(page.returncode, 0)
        self.assertIn("data loss", page.out)

    def test_damaged_trace(self):
        experiment = self.recorded("experiment", "--otf2")
        anchor = experiment / "trace/traces.otf2"
        anchor.write_bytes(anchor.read_bytes()[:40])
        self.refused(1, "traces.otf2", "analyze", anchor)
        self.assertEqual(self.culprit("analyze", experiment).returncode, 0)  # it has its records
        shutil.rmtree(experiment / "raw")
        self.refused(1, "traces.otf2", "analyze", experiment)

    def test_experiment_stays_as_it_is_when_analyzed_elsewhere(self):
        """Even if nobody has named its code yet: there may be no room."""
        experiment = self.recorded()
        (experiment / "names").unlink()
        facts = json.loads((experiment / "experiment.json").read_text())
        (experiment / "experiment.json").write_text(
            json.dumps({k: v for k, v in facts.items() if k != "measured"}))
        def state():
            return {file: file.read_bytes() for file in experiment.rglob("*") if file.is_file()}
        before = state()
        done = self.culprit("analyze", experiment, "-o", "new", "--report")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn("omp parallel", done.out)
        self.assertEqual(state(), before)
        again = self.culprit("analyze", "new", "--report")
        self.assertEqual(again.returncode, 0, again.err)
        self.assertIn("omp parallel", again.out)

    def test_experiment_without_its_program(self):
        """Names are kept with the records: another machine has neither program nor cache."""
        program = self.folder / "program"
        shutil.copy(self.threads(), program)
        done = self.culprit("record", "-o", "mine", "--", program)
        self.assertEqual(done.returncode, 0, done.err)
        def names():
            done = self.culprit("analyze", "mine", CULPRIT_NAME_CACHE="off")
            self.assertEqual(done.returncode, 0, done.err)
            told = json.loads(self.culprit("report", "mine", "--format", "json").out)
            return {wait["callpath"] for wait in told["waits"]}, told["run"]["notes"]
        here = names()
        self.assertTrue(any("@threads.c:" in name for name in here[0]), here)
        for change in (lambda: shutil.copy(shutil.which("env"), program), program.unlink):
            change()
            self.assertEqual(names(), here)

    def test_losses_of_the_measurement_are_known_elsewhere(self):
        experiment = self.recorded()
        info = json.loads((experiment / "experiment.json").read_text())
        info["measured"]["losses"].append({"name": "damaged_records", "count": 1,
                                           "severity": "data loss", "advice": "Told."})
        (experiment / "experiment.json").write_text(json.dumps(info))
        for arguments in ([], ["-o", "new"]):
            done = self.culprit("analyze", experiment, "--report", *arguments)
            self.assertEqual(done.returncode, 3, done.err)
            self.assertIn("damaged_records", done.out)

    def test_passes(self):
        experiment = self.recorded()
        whole = self.culprit("analyze", experiment, "--passes", "--verify")
        self.assertEqual(whole.returncode, 0, whole.err)
        self.assertRegex(whole.out, r"(?m)^ +\d+\.\d{3} s  detect\.openmp +waits in OpenMP")
        self.assertRegex(whole.out, r"(?m)^ +\d+\.\d{3} s  critical path +always$")
        less = self.culprit("analyze", experiment, "--disable-passes", "detect.openmp,locks", "--report", "--full")
        self.assertEqual(less.returncode, 0, less.err)
        self.assertIn("detect.openmp, locks", less.out)
        self.assertNotIn("Wait at OpenMP barrier", less.out)
        self.refused(2, "is no pass that can be left out", "analyze", experiment, "--disable-passes", "all")

    def test_archive_for_other_tools(self):
        for command in ("record", "run"):
            done = self.culprit(command, "--otf2", "-o", command, "--", self.threads())
            self.assertEqual(done.returncode, 0, done.err)
            self.assertTrue((self.folder / command / "trace/traces.otf2").exists(), done.err)
        self.refused(1, "exists and is not empty", "analyze", "run", "--otf2")
        shutil.rmtree(self.folder / "run/trace")
        self.assertEqual(self.culprit("analyze", "run", "--otf2").returncode, 0)
        self.assertTrue((self.folder / "run/trace/traces.otf2").exists())
        self.assertEqual(self.culprit("analyze", "run/trace", "-o", "again").returncode, 0)
        shutil.rmtree(self.folder / "record/trace")
        done = self.culprit("export", "record", "--format", "otf2", "-o", "archive")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(self.culprit("analyze", "archive/traces.otf2", "-o", "of_archive").returncode, 0)
        self.refused(1, "exists and is not empty", "export", "record", "--format", "otf2", "-o", "archive")
        self.refused(2, "--output is required", "export", "record", "--format", "otf2")
        self.refused(1, "there is no", "export", "nothing", "--format", "otf2", "-o", "none")

    def test_program_with_a_long_name(self):
        program = self.folder / ("é" * 125)  # 250 bytes
        shutil.copy(self.threads(), program)
        done = self.culprit("run", "--", program)
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(len([name for name in self.left() if name.startswith("culprit.")]), 1)

    def test_preload_library_in_the_place_of_culprits(self):
        line = ["env", "LD_PRELOAD=libm.so.6", self.threads()]
        done = self.culprit("record", "--", *line)
        self.assertEqual(done.returncode, 0)
        self.assertIn("displaces culprit's library", done.err)

    def test_without_proc(self):
        """Its own place must be found all the same."""
        line = f"umount -l /proc && cd {self.folder} && {BUILD}/bin/culprit run -- {self.threads()}"
        done = subprocess.run(["unshare", "-m", "sh", "-c", line], env=ENVIRONMENT, text=True,
                              capture_output=True, timeout=120)
        if "unshare" in done.stderr or "umount" in done.stderr:
            self.skipTest("no mount namespaces")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" --full", done.stdout)

    def test_interrupt(self):
        process = self.start("run", "--", "sh", "-c", "echo ready; exec sleep 60")
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertEqual(self.left(), [])

    def test_inside_another_culprit(self):
        done = self.culprit("run", "-o", "outer", "--", BUILD / "bin/culprit", "run", "--",
                            self.threads())
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(self.left(), ["outer"])
        self.assertEqual(done.out.count(" --full"), 1)

    def unobserved(self, name, reason, *way):
        """OpenMP that cannot be observed: the report says why, and nothing else changes."""
        program = self.program(name)
        for options in ([*way], [*way, "--sampling", "0"]):
            for arguments, status in (([], 0), (["3"], 3), (["0", "at once"], 0)):
                with self.subTest(options=options, arguments=arguments):
                    done = self.culprit("run", "--full", *options, "--", program, *arguments)
                    self.assertEqual(done.returncode, status, done.err)
                    self.assertTrue(done.out.startswith("unobserved: done\n"), done.out)
                    self.assertIn(reason, re.sub(r"\s+", " ", done.out))
                    self.assertIn("openmp_not_observed", done.out)
                    self.assertNotIn("disk", done.err)

    def test_feature_that_keeps_a_program_from_being_observed(self):
        self.unobserved("unobserved", "The program uses target regions", "--openmp", "libomp")

    def test_nothing_seen_of_what_is_linked_statically(self):
        done = self.culprit("run", "--", self.program("unobserved.static"))
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn("unobserved.static is linked statically", done.err)
        self.assertEqual(done.out, "unobserved: done\n")

    def test_runtime_inside_a_program_that_is_observed_otherwise(self):
        """By its use of MPI, or by the threads that the runtime makes."""
        for name in ("unobserved.mpi", "unobserved.gomp"):
            with self.subTest(name):
                done = self.culprit("run", "--full", "--", self.program(name))
                self.assertEqual(done.returncode, 0, done.err)
                self.assertIn(f"{name} contains GNU's OpenMP runtime (libgomp.a) instead of loading it",
                              re.sub(r"\s+", " ", done.out))
                self.assertIn("openmp_not_observed", done.out)

    def test_tool_of_the_programs_own(self):
        self.unobserved("unobserved.clang", "another OMPT tool is in use")

    def sanitized(self, name, *arguments):
        """With culprit and without: the same status, the same words of program and sanitizer."""
        program = self.program(name)
        plain = subprocess.run([program, *arguments], env=ENVIRONMENT, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        done = self.culprit("run", "-o", name, "--", program, *arguments)
        self.assertEqual(done.returncode, plain.returncode, done.err)
        self.assertTrue(done.out.startswith(plain.stdout), done.out)
        kinds = [re.findall(r"^SUMMARY: (\S+ \S+)", text, re.M) for text in (plain.stderr, done.err)]
        self.assertEqual(kinds[0], kinds[1])
        self.assertIn(" --full", done.out)
        return kinds[0]

    def test_sanitizers(self):
        for compiler in ("gcc", "clang"):
            for sanitizer in ("address", "undefined", "leak"):
                with self.subTest(compiler=compiler, sanitizer=sanitizer):
                    self.assertEqual(self.sanitized(f"{sanitizer}.{compiler}"), [])
            with self.subTest(compiler=compiler, finds="overflow"):
                shutil.rmtree(self.folder / f"address.{compiler}", ignore_errors=True)
                self.assertEqual(self.sanitized(f"address.{compiler}", "1"),
                                 ["AddressSanitizer: heap-buffer-overflow"])

    def test_thread_sanitizer(self):
        """Runtimes that are not instrumented have races for it, with culprit and without."""
        for compiler in ("gcc", "clang"):
            with self.subTest(compiler=compiler):
                done = self.culprit("run", "--", self.program(f"thread.{compiler}"))
                self.assertIn("sanitized: 2\n", done.out)
                self.assertIn(" --full", done.out)

    # --- behind a launcher ---

    def ranks(self, launcher, *arguments):
        """Starts all ranks at once, waits for all, and returns them."""
        processes = [self.start(*arguments, **launcher(rank)) for rank in range(RANKS)]
        for process in processes:
            process.out, process.err = process.communicate(timeout=120)
        return processes

    @staticmethod
    def hydra(rank):
        return {"PMI_RANK": str(rank), "PMI_SIZE": str(RANKS)}

    @staticmethod
    def openmpi(rank):
        return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(RANKS),
                "PMIX_NAMESPACE": "4711", "PMIX_RANK": str(rank)}

    @staticmethod
    def slurm(rank):
        return {"SLURM_JOB_ID": "1", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank),
                "SLURM_NTASKS": str(RANKS)}

    def test_ranks_meet_in_one_folder(self):
        for launcher in (self.hydra, self.openmpi, self.slurm):
            with self.subTest(launcher.__name__):
                before = set(self.left())
                done = self.ranks(launcher, "record", "--", self.threads())
                self.assertEqual([p.returncode for p in done], [0] * RANKS, done[0].err)
                new = set(self.left()) - before
                self.assertEqual(len(new), 1, new)
                folder = self.folder / new.pop()
                self.assertTrue((folder / "names").exists())
                self.assertEqual(len(list(folder.glob("log/rank-*.done"))), RANKS)

    def test_one_rank_reports_for_all(self):
        done = self.ranks(self.hydra, "run", "-o", "mine", "--", self.threads())
        self.assertEqual([p.returncode for p in done], [0] * RANKS, [p.err for p in done])
        self.assertEqual(sum(" --full" in p.out for p in done), 1)
        result = json.loads(self.culprit("report", "mine", "--format", "json").out)
        self.assertEqual(result["run"]["locations"], 2 * RANKS)

    def test_ranks_refuse_a_folder_of_another_run(self):
        self.recorded("mine")
        for process in self.ranks(self.openmpi, "run", "-o", "mine", "--", self.threads()):
            self.assertEqual(process.returncode, 2)
            self.assertIn("'mine' already exists", process.err)

    def test_killed_ranks_leave_the_rest_to_analyze(self):
        processes = [self.start("record", "-o", "mine", "--", self.threads(), **self.hydra(rank))
                     for rank in range(RANKS - 1)]
        for process in processes:
            process.communicate(timeout=120)
        self.assertFalse((self.folder / "mine/trace").exists())
        done = self.culprit("analyze", "mine", "--report")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn(" --full", done.out)

    def test_ranks_without_records_leave_nothing(self):
        done = self.ranks(self.hydra, "run", "--", "true")
        self.assertEqual([p.returncode for p in done], [0] * RANKS)
        self.assertEqual(sum("nothing was recorded" in p.err for p in done), 1)
        self.assertEqual(self.left(), [])

    # --- what it says on the way ---

    def test_messages(self):
        done = self.culprit("run", "-o", "mine", "--", self.threads())
        said = done.err.splitlines()
        self.assertEqual([l.split(" ")[1] for l in said], ["measuring", "analyzed"], done.err)
        self.assertNotIn("culprit: ", done.out)

    def test_quiet(self):
        done = self.culprit("run", "-q", "--", self.threads())
        self.assertEqual((done.returncode, done.err), (0, ""))
        self.assertIn(" --full", done.out)
        self.refused(127, "error: cannot start", "run", "--quiet", "--", "no-such-program")
        failed = self.culprit("-q", "record", "--", self.threads(), 3)
        self.assertEqual((failed.returncode, failed.err), (3, ""))

    def test_debug_messages(self):
        line = re.compile(r"culprit: \d\d:\d\d:\d\d\.\d\d\d (measure|assemble|analyze): .+")
        for arguments, variables in ((["-v"], {}), ([], {"CULPRIT_LOG": "debug"}),
                                     (["-v"], {"CULPRIT_LOG": "error"})):
            with self.subTest(arguments=arguments, variables=variables):
                done = self.culprit("run", *arguments, "--", self.threads(), **variables)
                self.assertEqual(done.returncode, 0, done.err)
                matches = [line.fullmatch(l) for l in done.err.splitlines()]
                self.assertTrue(all(matches), done.err)
                self.assertEqual({m.group(1) for m in matches}, {"measure", "assemble", "analyze"})
                self.assertIn("critical path: ", done.err)
                self.assertNotIn("culprit: ", done.out)

    def test_levels_that_are_none(self):
        self.refused(2, "--quiet", "report", "-v", "-q", "x")
        done = self.culprit("patterns", CULPRIT_LOG="loud")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(len(done.err.splitlines()), 1)
        self.assertTrue(done.err.startswith("culprit: warning: CULPRIT_LOG is 'loud'"), done.err)

    def test_options_of_the_program_are_its_own(self):
        done = self.culprit("run", "--", "sh", "-c", "echo $0 $1; exit 4", "-v", "-q")
        self.assertEqual((done.returncode, done.out), (4, "-v -q\n"), done.err)
        self.assertIn("culprit: measuring", done.err)

    def test_names_do_nothing_to_the_terminal(self):
        self.refused(1, "'a\\x1b[2Jb\\nc'", "analyze", "a\x1b[2Jb\nc")

    # --- the rest ---

    def test_doctor(self):
        done = self.culprit("doctor")
        self.assertEqual(done.returncode, 0, done.out)
        for topic in ("collector", "Open MPI", "MPICH", "OpenMP", "PAPI", "CUDA", "OpenCL", "clock", "disk"):
            self.assertIn(topic, done.out)

    def test_patterns(self):
        self.assertIn("mpi.late_sender", self.culprit("patterns").out)
        self.assertIn("Try: ", self.culprit("patterns", "mpi.late_sender").out)
        self.assertIn("omp.critical", self.culprit("patterns", "omp.mutex").out)
        self.assertNotIn("Try: ", self.culprit("patterns", "omp.mutex").out)
        self.assertEqual(self.culprit("patterns", "mpi.no_such").returncode, 1)


def main():
    """Of this file, and of others that test commands so."""
    global BUILD
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    BUILD = options.build.resolve()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
