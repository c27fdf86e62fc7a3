# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The program `survive` with and without culprit: it must end alike and print the same, and what was
recorded must be analysed, with its losses told.

A case is one line in `GROUPS`. All cases of a group are judged before the test says what is wrong.
"""

import dataclasses
import errno
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import Report, Wrong, check, execute, succeed  # noqa: E402

ENVIRONMENT = {"OMP_NUM_THREADS": "2", "LC_ALL": "C"}


@dataclasses.dataclass
class Case:
    name: str
    early: bool = False  # ended without telling anybody, or without MPI_Finalize
    losses: tuple = ()   # told in the report
    recorded: bool = True  # if not, the sentence says why
    arguments: tuple = ()
    samples: bool = False  # still after what it does
    environment: dict = dataclasses.field(default_factory=dict)
    calls: dict = dataclasses.field(default_factory=dict)  # how often in the trace
    way: str = "omp"
    refuse: dict = dataclasses.field(default_factory=dict)  # what the system refuses (refuse.c)
    why: str = ""  # a word on what was refused

    def program(self, place):
        return [place.program("survival/survive"), self.way, self.name, *self.arguments]


def status_of(done):
    """As a shell gives it."""
    return 128 - done.returncode if done.returncode < 0 else done.returncode


def comparable(text):
    """Without numbers of processes and lines of different processes' order; Open MPI's messages hold
    addresses and names of the host."""
    text = re.sub(r"\[[^\]]*\]|0x[0-9a-f]+|\d+", "N", text)
    return sorted(line for line in text.splitlines() if "*** Process received" not in line)


def without_culprits(text):
    """What culprit's own process in front says, wherever it wraps its lines."""
    lines = text.splitlines()
    return "\n".join(line for line in lines if not line.startswith("culprit: "))


def measure(place, case, experiment, *options):
    refused = {}
    if case.refuse:
        refused = {"LD_PRELOAD": place.program("survival/librefuse.so"),
                   **{f"REFUSE_{what}": str(value) for what, value in case.refuse.items()}}
    return execute([place.culprit, "run", "--otf2", "--sampling", "1000", *options, "-o", experiment,
                    "--",
                    *case.program(place)], environment={**ENVIRONMENT, **case.environment, **refused})


def judge_behaviour(case, plain, done):
    status = status_of(plain)
    check(done.returncode == status,
          f"status {done.returncode} with culprit, {status} expected\n{done.stderr}")
    printed = done.stdout[:done.stdout.find("\nculprit")] if not plain.stdout else done.stdout
    check(printed.startswith(plain.stdout),
          f"it printed\n{done.stdout[:400]}\ninstead of\n{plain.stdout}")
    check(comparable(without_culprits(done.stderr)) == comparable(plain.stderr),
          f"on stderr came\n{done.stderr}\ninstead of\n{plain.stderr}")


def judge_experiment(place, case, experiment):
    report = Report(place, experiment)
    report.check_identities()
    losses = report.losses()
    check(("early_ends" in losses) == case.early, f"early end or not: {list(losses)}")
    for loss in case.losses:
        check(loss in losses, f"no loss {loss} is told: {list(losses)}")
    surplus = [name for name, loss in losses.items()
               if loss["severity"] == "data loss" and name not in case.losses]
    check(not surplus, f"lost in vain: {surplus}")
    # What a thread had not written yet, it may have been all.
    written_behind = case.why or case.refuse
    check(report.data["run"]["locations"] >= (1 if written_behind else 2), "a thread is missing")
    notes = report.data["run"]["notes"]
    check(not case.why or any(case.why in note for note in notes), f"not told why: {notes}")
    return report


def check_samples(place, experiment):
    """Samples are taken to the end: in the last regions, in which the program only computes."""
    dump = succeed([place.build / "tests" / "culprit-rawdump", experiment]).stdout
    first_thread = dump.split("  thread 0:")[1].split("  thread 1:")[0]
    kinds = re.findall(r"^ *-?\d+ ([a-z_]+)", first_thread, re.MULTILINE)
    regions = [i for i, kind in enumerate(kinds) if kind == "omp_parallel_begin"]
    check("sample" in kinds[regions[-6]:], f"no samples at the end: {kinds[regions[-6]:]}")


def check_calls(calls, experiment):
    listing = execute(["otf2-print", f"{experiment}/trace/traces.otf2"]).stdout
    for name, count in calls.items():
        found = len(re.findall(f'^ENTER .*"{name}"', listing, re.MULTILINE))
        check(found == count, f"{found} calls of {name} instead of {count}")


def survive(place, case):
    refused = "".join(f".{what}.{value}" for what, value in case.refuse.items())
    experiment = place.experiment(f"{case.way}.{case.name}{refused}")
    plain = execute(case.program(place), environment={**ENVIRONMENT, **case.environment})
    done = measure(place, case, experiment)
    judge_behaviour(case, plain, done)
    check(pathlib.Path(experiment).exists() == case.recorded,
          f"there is {'no' if case.recorded else 'an'} experiment\n{done.stderr}")
    if case.recorded:
        judge_experiment(place, case, experiment)
        check_calls(case.calls, experiment)
        if case.samples:
            check_samples(place, experiment)
    else:
        told = " ".join(done.stderr.split())
        check(f"could not write their records{case.why}" in told, f"not told why: {done.stderr}")


def judge_all(cases):
    def test(place):
        wrong = []
        for case in cases:
            try:
                survive(place, case)
            except (Wrong, subprocess.TimeoutExpired) as sentence:
                wrong.append(f"{case.way} {case.name}: {sentence}")
        check(not wrong, "\n".join(wrong))
    return test


SAME_WITH_MPI = ("exit", "abort", "uncaught", "fault", "fault_with_handler", "terminated",
                 "exit_from_thread", "threads_alive")

ENDINGS = [
    Case("exit"),
    Case("exit_at_once", early=True),
    Case("quick_exit", early=True),
    Case("abort", early=True),
    Case("uncaught", early=True),
    Case("terminate", early=True),
    Case("fault", early=True),
    Case("fault_with_handler", early=True),
    Case("fault_handed_on", early=True),
    Case("overflow", early=True),
    Case("overflow_with_altstack", early=True),
    Case("terminated", early=True),
    Case("terminated_with_handler"),
    Case("interrupted", early=True),
    Case("killed", early=True),
    Case("exit_from_thread"),
    Case("pthread_exit_from_main"),
    Case("threads_alive"),
]

MPI_ENDINGS = [dataclasses.replace(case, way="mpi", early=case.name != "threads_alive")
               for case in ENDINGS if case.name in SAME_WITH_MPI]
MPI_ENDINGS += [
    # The calls that fail name a rank that does not exist.
    Case("long_jump_from_mpi", way="mpi", losses=("records_of_unknown_communicators",),
         calls={"MPI_Send": 3, "MPI_Allreduce": 100}),
    Case("fork", way="mpi"),
    Case("system", way="mpi"),
    Case("first_much", way="mpi"),
]

FINALIZE = [
    Case("finalize_at_exit", way="mpi"),
    Case("finalize_in_destructor", way="mpi"),
    Case("finalize_in_library", way="mpi"),
    Case("work_after_finalize", way="mpi"),
    Case("team_in_library"),
]

PROCESSES = [
    Case("fork"),
    Case("fork_openmp"),
    Case("fork_exec"),
    Case("grandchildren"),
    Case("vfork_exec"),
    Case("spawn"),
    Case("system"),
    Case("popen"),
    Case("descriptors"),
    Case("first_fork"),
    Case("first_system"),
    Case("first_exec"),
    Case("first_daemon"),
    Case("exec", early=True),
]

THREADS = [
    Case("churn"),
    Case("many_at_once"),
    Case("small_stacks"),
    Case("huge_stack"),
    Case("deep_recursion"),
    Case("fibers"),
    Case("long_jumps"),
]

RESOURCES = [
    Case("first_files_of_8k", recorded=False),
    Case("first_files_of_256k", recorded=False),
    Case("files_of_64k", losses=("dropped_records",)),
    Case("first_few_descriptors", recorded=False),
    Case("few_descriptors", losses=("dropped_records",)),
    Case("little_memory"),
    Case("unreadable_paths"),
    Case("first_memory_for_itself"),
    Case("first_no_core"),
    Case("first_no_signals"),
    Case("close_all"),
    Case("take_all_numbers"),
    Case("go_elsewhere"),
    Case("change_root", losses=("dropped_records",)),
    Case("change_user", losses=("dropped_records",)),
    Case("change_mask"),
    Case("clear_environment"),
    Case("first_refuse_timers"),
]

SIGNALS = [Case(name) for name in (
    "own_sigprof", "first_own_sigprof", "own_sigsegv", "own_sigbus", "own_sigusr1", "all_default",
    "all_ignored", "all_blocked", "waits_for_all", "first_waits_for_all", "own_profiler",
    "first_ask", "ask", "faults_by_design")]

CLAIMS = [Case(name, samples=True) for name in (
    "fatal", "first_fatal", "by_signal", "first_by_signal", "by_sysv_signal", "by_sigaction",
    "first_by_sigaction", "by_internal_sigaction", "by_system_call", "all_handled",
    "first_all_handled", "queued", "signal_file", "waits_for_it", "interrupts", "on_small_stack",
    "inherited", "own_timer")]
CLAIMS += [
    Case("claimed_early", samples=True, environment={"SURVIVE_CLAIMS_EARLY": "1"}),
    # All signals are blocked to the end.
    Case("signal_file_of_all"),
    Case("pending", samples=True),
    # Where nobody can stand in front of the system call.
    Case("by_its_own_system_call", losses=("displaced_samplers",)),
    Case("hands_on", losses=("displaced_samplers",)),
    Case("all_default_by_itself", losses=("displaced_samplers",)),
]

CONFINED = [Case(name, losses=("confined_samplers",)) for name in (
    "to_little", "to_little_by_prctl", "to_little_with_trap", "strictly", "one_thread")]
CONFINED.append(Case("loosely", samples=True))

# With AddressSanitizer there is no bound to the address space, and no sense in strange stacks.
if "CULPRIT_SANITIZER_RUNTIME" in os.environ:
    RESOURCES = [case for case in RESOURCES if "memory" not in case.name]
    THREADS = [case for case in THREADS if case.name not in ("fibers", "huge_stack")]

# Only root may become somebody else, or lock itself in.
if os.geteuid() != 0:
    RESOURCES = [case for case in RESOURCES if case.name not in ("change_root", "change_user")]

# Where files cannot be mapped, records are written; what a process that is killed had not written
# is told. Both ends of what is refused: the mapping, and the room for it.
REFUSALS = [Case("exit", refuse={"MMAP": number})
            for number in (errno.ENODEV, errno.EACCES, errno.EPERM, errno.ENOMEM, errno.EAGAIN)]
REFUSALS += [Case("exit", refuse={"FALLOCATE": number})
             for number in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.EPERM, errno.ENOSPC)]
REFUSALS += [
    Case("exit", way="mpi", early=True, refuse={"MMAP": errno.ENODEV}),
    Case("threads_alive", refuse={"MMAP": errno.ENODEV}),
    Case("churn", refuse={"MMAP": errno.ENODEV}),
    Case("fork", refuse={"MMAP": errno.ENODEV}),
    Case("first_much", way="mpi", refuse={"MMAP": errno.ENODEV}),
    Case("killed", early=True, refuse={"MMAP": errno.ENODEV}, why="(No such device)"),
    Case("fault", early=True, refuse={"FALLOCATE": errno.EDQUOT}, why="(Disk quota exceeded)"),
    # Full at once.
    Case("exit", recorded=False, refuse={"FALLOCATE": errno.ENOSPC, "WRITES_AFTER": 0},
         why=" (No space left on device)"),
]

GROUPS = {"refusals": REFUSALS, "endings": ENDINGS, "mpi_endings": MPI_ENDINGS, "finalize": FINALIZE,
          "processes": PROCESSES,
          "threads": THREADS, "resources": RESOURCES, "signals": SIGNALS, "claims": CLAIMS,
          "confined": CONFINED}

class SmallDisk:
    """A file system of a few megabytes, mounted while this lives."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        if os.geteuid() != 0:
            raise harness.Skip("mounting needs root")
        if execute(["mount", "-t", "tmpfs", "-o", "size=3m", "none", folder]).returncode != 0:
            raise harness.Skip("nothing can be mounted here")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        execute(["umount", "-l", self.folder])

    def enlarge(self):
        harness.succeed(["mount", "-o", "remount,size=300m", self.folder])


def full_disk(place, refuse=None, ballast=0):
    """The disk has room for a small part of the records: the program goes on, and what was written is
    analysed. Records are lost only if others take the room that the budget counts on."""
    with SmallDisk(place.scratch / "disk") as disk:
        (disk.folder / "ballast").write_bytes(bytes(ballast))
        case = Case("much", refuse=refuse or {})
        experiment = str(disk.folder / "experiment")
        plain = execute(case.program(place), environment={**ENVIRONMENT, **case.environment})
        done = measure(place, case, experiment)
        check(done.stdout.startswith(plain.stdout), f"it printed {done.stdout}{done.stderr}")
        check(done.returncode == plain.returncode, f"status {done.returncode} with a full disk")
        disk.enlarge()
        status = execute([place.culprit, "analyze", experiment]).returncode
        check(status in (0, 3), f"status {status} of an analysis that may lack records")
        report = Report(place, experiment)
        broken = report.data["identities"]["violations"]
        check(not broken, f"sums that do not add up: {broken}")
        lost = {name for name, loss in report.losses().items() if loss["severity"] == "data loss"}
        check(lost <= {"dropped_records", "missing_records"}, f"lost in vain: {lost}")


def full_disk_without_mappings(place):
    """What a thread could not write any more is missing, and nothing is damaged: the disk is full
    between two windows, and amid the first."""
    for ballast in (0, 2_500_000, 2_650_000):
        with tempfile.TemporaryDirectory(dir=place.scratch) as scratch:
            full_disk(harness.Place(place.build, scratch), {"MMAP": errno.ENODEV}, ballast)


def disk_without_any_room(place):
    with SmallDisk(place.scratch / "disk") as disk:
        (disk.folder / "ballast").write_bytes(bytes(2_900_000))
        case = Case("nothing")
        plain = execute(case.program(place), environment={**ENVIRONMENT, **case.environment})
        done = measure(place, case, disk.folder / "experiment")
        check(done.stdout.startswith(plain.stdout), f"it printed {done.stdout}{done.stderr}")
        check(done.returncode == plain.returncode, f"status {done.returncode} with a full disk")
        told = " ".join(done.stderr.split())
        check("could not write" in told or "is full" in told or "dropped" in done.stdout,
              f"not told: {done.stdout}{done.stderr}")


def disk_full_at_the_end(place):
    """The findings cannot be kept, but the report comes all the same, with the reason."""
    with SmallDisk(place.scratch / "disk") as disk:
        experiment = str(disk.folder / "experiment")
        case = Case("exit")
        done = execute([place.culprit, "record", "-o", experiment, "--", *case.program(place)],
                       environment={**ENVIRONMENT, **case.environment})
        check(done.returncode == status_of(execute(case.program(place), environment=ENVIRONMENT)),
              f"status {done.returncode}: {done.stderr}")
        try:
            (disk.folder / "ballast").write_bytes(bytes(4_000_000))
        except OSError:
            pass
        done = execute([place.culprit, "analyze", "--report", experiment])
        check(done.returncode == 1, f"status {done.returncode} though findings are not kept")
        check("cannot write the findings" in " ".join(done.stderr.split()), f"not told: {done.stderr}")
        check("culprit view" not in done.stdout, "the report names what is not there")
        check("no verdict on its speed" in done.stdout, f"no report: {done.stdout}")


def disk_full_from_the_start(place):
    """Not even the folder can be furnished: the program runs without being measured."""
    with SmallDisk(place.scratch / "disk") as disk:
        try:
            (disk.folder / "ballast").write_bytes(bytes(4_000_000))
        except OSError:
            pass
        case = Case("exit")
        plain = execute(case.program(place), environment=ENVIRONMENT)
        done = measure(place, case, disk.folder / "experiment")
        check(done.stdout == plain.stdout, f"it printed {done.stdout}{done.stderr}")
        check(done.returncode == plain.returncode, f"status {done.returncode} with a full disk")
        check("without being measured" in done.stderr, f"not told: {done.stderr}")


def folder_removed(place):
    """There is nothing to analyse then; the program must not notice."""
    experiment = place.experiment()
    case = Case("remove_folder", arguments=(experiment,))
    plain = execute(case.program(place), environment={**ENVIRONMENT, **case.environment})
    done = measure(place, case, experiment)
    check(done.stdout == plain.stdout, f"it printed {done.stdout}{done.stderr}")
    told = without_culprits(done.stderr)
    check(done.returncode == plain.returncode and not told, f"status {done.returncode}, {done.stderr}")


def disk(place):
    for test in (full_disk, full_disk_without_mappings, disk_without_any_room, disk_full_at_the_end,
                 disk_full_from_the_start, folder_removed):
        with tempfile.TemporaryDirectory(dir=place.scratch) as scratch:
            test(harness.Place(place.build, scratch))


TESTS = {name: judge_all(cases) for name, cases in GROUPS.items()}

TESTS["disk"] = disk

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
