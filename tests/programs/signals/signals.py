# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A program that writes down each signal it gets, in front of and behind launchers: it gets each one
as often as it would without culprit."""

import ctypes
import fcntl
import os
import pathlib
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import harness  # noqa: E402
from harness import Skip, check  # noqa: E402

KINDS = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT,
         signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGWINCH, signal.SIGCONT, signal.SIGXCPU,
         signal.SIGXFSZ, signal.SIGIO, signal.SIGPIPE, signal.SIGRTMIN, signal.SIGRTMIN + 5, signal.SIGRTMAX]
# For a second copy to come, if there is one.
SETTLE_S = 0.5


class Run:
    """A run of `ranks` programs under culprit, in a process group of its own."""

    def __init__(self, place, before=(), behind=(), ranks=1, alone=False, environment=None, **how):
        self.folder = place.scratch / "counts"
        self.folder.mkdir()
        self.ranks = ranks
        self.experiment = place.experiment()
        culprit = [] if alone else [place.culprit, "run", "-o", self.experiment, "--"]
        command = [*before, *culprit, *behind, place.program("signals/counts"), self.folder]
        how.setdefault("start_new_session", True)
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.PIPE,
                                        env={**os.environ, **harness.ENVIRONMENT, **(environment or {})}, **how)
        self.wait_for(lambda: len(self.files()) == ranks, "the program did not begin")

    def files(self):
        return sorted(f for f in self.folder.iterdir() if f.name.isdigit())

    def wait_for(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            check(time.monotonic() < end and self.process.poll() is None, what)
            time.sleep(0.02)

    def came(self):
        """What each program has got: lists of (number, value)."""
        return [[tuple(map(int, line.split())) for line in f.read_text().splitlines()] for f in self.files()]

    def expect(self, number, count, what):
        """So often since last asked, in each program."""
        def enough():
            return all(sum(n == number for n, _ in got) >= count for got in self.came())
        self.wait_for(enough, f"{what}: signal {number} came {self.came()}, not {count} times")
        time.sleep(SETTLE_S)
        for got in self.came():
            times = sum(n == number for n, _ in got)
            check(times == count, f"{what}: signal {number} came {times} times instead of {count}: {got}")
        for file in self.files():
            os.truncate(file, 0)

    def end(self, status=0):
        (self.folder / "end").touch()
        out, err = self.process.communicate(timeout=harness.TIMEOUT_S)
        check(self.process.returncode == status, f"status {self.process.returncode}: {out}{err}")
        return out + err


def to_culprit(place):
    run = Run(place)
    for kind in KINDS:
        for _ in range(2):
            os.kill(run.process.pid, kind)
            run.expect(kind, 1, "sent to culprit")
    check(" --full" in run.end(), "no report follows")


def to_group(place):
    run = Run(place)
    for kind in KINDS:
        for _ in range(2):
            os.killpg(run.process.pid, kind)
            run.expect(kind, 1, "sent to the group")
    # A batch system may go from process to process.
    for kind in (signal.SIGUSR1, signal.SIGTERM):
        listed = [int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()]
        for process in sorted(p for p in listed if group_of(p) == run.process.pid):
            os.kill(process, kind)
        run.expect(kind, 1, "sent to each process")
    check(" --full" in run.end(), "no report follows")


def group_of(process):
    try:
        return os.getpgid(process)
    except ProcessLookupError:
        return -1


def values(place):
    """Queued signals keep their number and their values."""
    run = Run(place)
    queue = ctypes.CDLL(None).sigqueue
    for value in range(1, 6):
        queue(run.process.pid, int(signal.SIGRTMIN) + 1, ctypes.c_void_p(value))
    run.wait_for(lambda: len(run.came()[0]) >= 5, f"came {run.came()}")
    check([v for _, v in run.came()[0]] == [1, 2, 3, 4, 5], f"came {run.came()}")
    run.end()


def in_terminal(place, **how):
    main, other = pty.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(other, termios.TIOCSCTTY, 0)
        os.tcsetpgrp(other, os.getpid())
    return main, Run(place, start_new_session=False, preexec_fn=take_terminal, stdin=other, **how)


def terminal(place):
    main, run = in_terminal(place)
    for key, kind in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
        os.write(main, key)
        run.expect(kind, 1, "typed")
    fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 99, 0, 0))
    run.expect(signal.SIGWINCH, 1, "the window was resized")
    check(" --full" in run.end(), "no report follows")


def state_of(process):
    return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]


def job_control(place):
    """culprit stops with the program, and the program goes on with culprit, whoever is asked. A group whose
    leader's parent is elsewhere in the session, as a shell's jobs are: orphaned groups do not stop."""
    run = Run(place, start_new_session=False, preexec_fn=lambda: os.setpgid(0, 0))
    program = int(run.files()[0].name)
    for send in (os.killpg, os.kill):
        send(run.process.pid, signal.SIGTSTP)
        run.wait_for(lambda: state_of(program) == "T" and state_of(run.process.pid) == "T",
                     f"{state_of(program)} {state_of(run.process.pid)} instead of stopped")
        send(run.process.pid, signal.SIGCONT)
        run.expect(signal.SIGCONT, 1, "continued")
        check(state_of(program) != "T", "the program stays stopped")
    # Of a program that is stopped by itself culprit only takes note: nobody would continue it.
    os.kill(program, signal.SIGSTOP)
    run.wait_for(lambda: state_of(program) == "T", "not stopped")
    time.sleep(SETTLE_S)
    check(state_of(run.process.pid) != "T", "culprit stopped, too")
    os.kill(program, signal.SIGCONT)
    run.end()


def ignored(place):
    """nohup: a program that wants the signal in spite of that gets it."""
    run = Run(place, before=["nohup"])
    os.kill(run.process.pid, signal.SIGHUP)
    run.expect(signal.SIGHUP, 1, "sent to culprit")
    check("asked to stop" not in run.end(), "an ignored signal asks for nothing")


def timeout(place):
    """timeout sends to its child, and then to the whole group; the two may be one."""
    for options in ([], ["--foreground"]):
        run = Run(place, before=["timeout", *options, "-s", "USR1", "5"])
        run.wait_for(lambda: run.came()[0], "the signal did not come")
        time.sleep(SETTLE_S)
        got = [n for n, _ in run.came()[0] if n == signal.SIGUSR1]
        check(len(got) == 1 or (not options and len(got) == 2), f"USR1 came {len(got)} times with {options}")
        run.end(124)
        shutil.rmtree(run.folder)
        shutil.rmtree(run.experiment)


def analysis(place):
    """What comes when the program has ended does no harm to the report."""
    run = Run(place)
    (run.folder / "end").touch()
    while run.process.poll() is None:
        for kind in (signal.SIGUSR1, signal.SIGXCPU, signal.SIGALRM, signal.SIGRTMIN):
            os.killpg(run.process.pid, kind)
        time.sleep(0.005)
    check(" --full" in run.end(), "no report follows")


def mpich():
    found = shutil.which("mpirun.mpich")
    if not found:
        raise Skip("there is no MPICH, whose launcher hands signals on")
    return [found, "-n", "2"]


def launcher(place):
    """In front of a launcher, which hands signals on by itself."""
    for send in (os.kill, os.killpg):
        run = Run(place, behind=mpich(), ranks=2)
        send(run.process.pid, signal.SIGUSR1)
        run.expect(signal.SIGUSR1, 1, f"sent by {send.__name__}")
        run.end()
        shutil.rmtree(run.folder)
        shutil.rmtree(run.experiment)


def behind_launcher(place):
    run = Run(place, before=mpich(), ranks=2)
    for _ in range(2):
        os.kill(run.process.pid, signal.SIGUSR1)
        run.expect(signal.SIGUSR1, 1, "sent by the launcher")
    run.end()


TESTS = {test.__name__: test for test in (to_culprit, to_group, values, terminal, job_control, ignored, timeout,
                                          analysis, launcher, behind_launcher)}

if __name__ == "__main__":
    sys.exit(harness.main(TESTS))
