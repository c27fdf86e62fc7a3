# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A Slurm in a folder of its own: munged, slurmctld and slurmd as children of this process, on free
ports of the loopback interface, as the user who runs it. They die with this process however it
ends, and stop() looks for job steps that might outlive them.

With two nodes, each slurmd lives in namespaces of its own (that takes root), so that its processes
see another host name and another CLOCK_MONOTONIC than those of the other node."""

import ctypes
import getpass
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

SBIN = "/usr/sbin:/sbin:/usr/local/sbin"
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "squeue", "sinfo")
PATIENCE_S = 30
CPUS = 16  # said, not owned: jobs here mostly sleep
PR_SET_PDEATHSIG = 1
# Of a Slurm or a launcher that the tests themselves may be running under.
FOREIGN = ("SLURM", "PMI", "OMPI_COMM", "CULPRIT_", "LD_PRELOAD")

CONFIGURATION = """\
ClusterName=culprit
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/%n
TmpFS={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n/pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
JobAcctGatherType=jobacct_gather/none
{nodes}
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


def search_path():
    return os.environ.get("PATH", "") + ":" + SBIN


def missing():
    return [name for name in PROGRAMS if not shutil.which(name, path=search_path())]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def processes_with(setting):
    """Processes with this "NAME=value" in their environment, other than this one."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                if setting.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
        except OSError:
            pass
    return found


class Cluster:
    def __init__(self, folder, nodes=1):
        self.folder = pathlib.Path(folder)
        self.hosts = [socket.gethostname().split(".")[0]] if nodes == 1 else [
            f"culprit-node{i + 1}" for i in range(nodes)]
        self.children = []
        plain = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        self.environment = {**plain, "PATH": search_path(),
                            "SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        for name in ("munge", "controller", *self.hosts):
            (self.folder / name).mkdir(parents=True)
        self.configure()
        self.start_munge()
        self.launch("slurmctld", "-D", "-i")
        for number, host in enumerate(self.hosts):
            self.launch(*self.place_of(number), "slurmd", "-D", "-N", host)
        ready = f"idle {len(self.hosts)}"
        self.wait_for("the nodes", lambda: ready in self.ask("sinfo", "-h", "-o", "%t %D"))

    def configure(self):
        controller_port, node_port = free_ports(2)
        nodes = [f"NodeName={host} NodeAddr=127.0.0.{i + 1} CPUs={CPUS} RealMemory=1000"
                 for i, host in enumerate(self.hosts)]
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            host=socket.gethostname().split(".")[0], user=getpass.getuser(), folder=self.folder,
            controller_port=controller_port, node_port=node_port, nodes="\n".join(nodes)))
        names = [f"127.0.0.{i + 1} {host}\n" for i, host in enumerate(self.hosts)]
        (self.folder / "hosts").write_text(
            f"127.0.0.1 localhost {socket.gethostname()}\n" + "".join(names))

    def start_munge(self):
        munge = self.folder / "munge"
        key = munge / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self.launch("munged", "--foreground", "--force", f"--key-file={key}",
                    f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                    f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.wait_for("munged", (munge / "socket").exists)

    def place_of(self, number):
        """What to start a node's slurmd with, so that it is a node of its own."""
        if len(self.hosts) == 1:
            return []
        script = 'mount --bind "$1" /etc/hosts; hostname "$2"; shift 2; exec "$@"'
        return ["unshare", "--uts", "--mount", "--time", f"--monotonic={1000 * number}", "--fork",
                "--kill-child", "sh", "-c", script, "sh", str(self.folder / "hosts"),
                self.hosts[number]]

    def launch(self, *command):
        with open(self.folder / f"{len(self.children)}.out", "wb") as out:
            self.children.append(subprocess.Popen(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, preexec_fn=die_with_parent))

    def wait_for(self, what, ready):
        end = time.monotonic() + PATIENCE_S
        while not ready():
            dead = [" ".join(c.args) for c in self.children if c.poll() is not None]
            if dead or time.monotonic() > end:
                raise RuntimeError(f"waiting for {what}; ended: {dead}\n" + self.logs())
            time.sleep(0.05)

    def logs(self):
        files = sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out"))
        return "\n".join(f"--- {file.name}\n" + "\n".join(
            file.read_text(errors="replace").splitlines()[-15:]) for file in files)

    def ask(self, *command):
        """The output of one of Slurm's tools; "" if it fails."""
        done = subprocess.run(command, env=self.environment, text=True, timeout=PATIENCE_S,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return done.stdout if done.returncode == 0 else ""

    def stop(self):
        started = 2 + len(self.hosts)
        if len(self.children) == started and all(c.poll() is None for c in self.children):
            self.ask("scancel", "--user", getpass.getuser())
        for file in self.folder.glob("*/pid"):  # unshare does not hand signals on
            kill(int(file.read_text()), signal.SIGTERM)
        for child in reversed(self.children):
            child.terminate()
        for child in reversed(self.children):
            try:
                child.wait(timeout=5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self.children = []
        for pid in processes_with("SLURM_CONF=" + self.environment["SLURM_CONF"]):
            kill(pid, signal.SIGKILL)


def kill(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass
