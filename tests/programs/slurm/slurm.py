# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""culprit under a real Slurm (cluster.py), in front of srun and behind it, in batch scripts.

The program is late.c: in each round rank 0 sends 200 ms late, and all other ranks wait for it."""

import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "ranks"))

import harness  # noqa: E402  (the folder above is not a package)
import ranks  # noqa: E402
from cluster import Cluster, missing  # noqa: E402
from harness import Report, Skip, check, check_time  # noqa: E402

LATE_MS = 200
PATIENCE_S = 60


class Batch:
    """Batch jobs of one test, in a Slurm that lives as long as this does."""

    def __init__(self, place, nodes=1):
        if missing():
            raise Skip(f"there is no Slurm: {', '.join(missing())} not found")
        if nodes > 1 and os.geteuid() != 0:
            raise Skip("only root can make two nodes of one machine")
        self.place = place
        self.cluster = Cluster(place.scratch / "slurm", nodes)
        self.cluster.environment.update(harness.ENVIRONMENT)
        self.count = 0

    def __enter__(self):
        self.cluster.__enter__()
        return self

    def __exit__(self, *_):
        self.cluster.__exit__()

    def submit(self, script, *options):
        """Returns the job's number and the file that takes what it prints."""
        self.count += 1
        file = self.place.scratch / f"job{self.count}.sh"
        output = self.place.scratch / f"job{self.count}.txt"
        file.write_text("#!/bin/bash\n" + script)
        job = self.cluster.ask("sbatch", "--parsable", "-n4", "-D", str(self.place.scratch),
                               "-o", str(output), *options, str(file)).strip()
        check(job, f"sbatch refuses {file.name}\n{self.cluster.logs()}")
        return job, output

    def wait(self, job):
        end = time.monotonic() + PATIENCE_S
        while job in self.cluster.ask("squeue", "-h", "-o", "%A").split():
            check(time.monotonic() < end, f"job {job} does not end\n{self.cluster.logs()}")
            time.sleep(0.1)

    def run(self, script, *options):
        """What the script printed, after it has ended."""
        job, output = self.submit(script, *options)
        self.wait(job)
        return output.read_text()


def words(place):
    """culprit, and the program for each MPI, for use in scripts."""
    return {"culprit": place.culprit, "late": f"{place.program('late.openmpi')} {LATE_MS} 2",
            "late_mpich": f"{place.program('late.mpich')} {LATE_MS} 2",
            "srun": "srun -n2 --exact --mpi=pmix", "srun_mpich": "srun -n2 --exact --mpi=pmi2"}


def judge(place, experiment, said, waiting_ranks=1):
    """All ranks in one experiment, and rank 0 to blame for what the others waited."""
    check((place.scratch / experiment).is_dir(), f"no experiment {experiment}:\n{said}")
    report = Report(place, place.scratch / experiment)
    report.check_identities()
    report.check_nothing_lost()
    waited = sum(wait["time_s"] for wait in report.waits("mpi.late_sender"))
    check_time(f"late sender in {experiment}", waited, waiting_ranks * 2 * LATE_MS / 1000)
    return report


def ways(*lines, options=()):
    """A test: each line is (experiment, command); all run one after the other in one batch script."""
    def test(place):
        script = "".join(f"echo '== {name}'; {command}\n" for name, command in lines)
        with Batch(place) as batch:
            said = batch.run(script.format(**words(place)), *options)
        for name, _ in lines:
            judge(place, name, said)
    return test


def two_steps(place):
    """Steps at the same time: one experiment each behind srun; told apart in one in front."""
    with Batch(place) as batch:
        said = batch.run("""
            {srun} {culprit} record -- {late} a & {srun} {culprit} record -- {late} b & wait
            {culprit} run -o both -- bash -c '{srun} {late} & {srun} {late} & wait'
            """.format(**words(place)))
    made = sorted(entry.name for entry in place.scratch.glob("culprit.late.*"))
    check(len(made) == 2, f"two steps made {made}\n{said}")
    for name in made:
        harness.succeed([place.culprit, "analyze", place.scratch / name])
        report = judge(place, name, said)
        check(report.data["run"]["locations"] == 2, f"{name} has ranks of both steps")
    report = judge(place, "both", said, waiting_ranks=2)
    check(report.data["run"]["locations"] == 4, "not all ranks of the two steps are there")


def ended(how):
    """A job that is ended from outside: told so, and what it recorded is there to analyse."""
    def test(place):
        batch = Batch(place)
        scripts = {"front": "{culprit} run -o front -- {srun} {late} " + f"{place.scratch}/f.up\n",
                   "mpirun": "{culprit} run -o mpirun -- mpirun -n 2 {late} "
                             + f"{place.scratch}/m.up\n",
                   "behind": "{srun} {culprit} run -o behind -- {late} " + f"{place.scratch}/b.up\n"}
        with batch:
            # Without the trap the script's shell ends at once, and Slurm kills what it had started:
            # whether culprit gets to say a word is then a matter of luck.
            jobs = {name: batch.submit("trap : TERM\n" + script.format(**words(place)))
                    for name, script in scripts.items()}
            end = time.monotonic() + PATIENCE_S
            while len(list(place.scratch.glob("*.up"))) < len(jobs):
                check(time.monotonic() < end, f"the programs do not start\n{batch.cluster.logs()}")
                time.sleep(0.05)
            for job, _ in jobs.values():
                how(batch, job)
            for job, _ in jobs.values():
                batch.wait(job)
        for name, (_, output) in jobs.items():
            said = output.read_text()
            if how is cancel:
                check(f"culprit analyze {name}" in said, f"{name}: no word of what to do\n{said}")
            # All ranks waited for anybody's message: that is what it was killed in.
            status = harness.execute([place.culprit, "analyze", place.scratch / name]).returncode
            check(status == 5, f"{name}: status {status} of the analysis of a run that hung")
            report = judge(place, name, said)
            check("early_ends" in report.losses(), f"{name}: early end not told")
            check([group["kind"] for group in report.data["stuck"]] == ["deadlock"],
                  f"{name}: {report.data['stuck']}")
    return test


def cancel(batch, job):
    batch.cluster.ask("scancel", job)


def cancel_all_at_once(batch, job):
    """As a batch system does it whose patience is over: SIGKILL for everybody, culprit too, so that
    nobody is left to say anything."""
    batch.cluster.ask("scancel", "--full", "--signal=KILL", job)


def two_nodes(place):
    """Ranks on two hosts: one experiment, whichever side of srun culprit stands on."""
    lines = [("front", "{culprit} run -o front -- {srun} -N2 {late}"),
             ("behind", "{srun} -N2 {culprit} run -o behind -- {late}"),
             ("mpich", "{culprit} run -o mpich -- {srun_mpich} -N2 {late_mpich}")]
    with Batch(place, nodes=2) as batch:
        batch.cluster.environment["CULPRIT_CLOCK"] = "monotonic"  # of different time namespaces
        said = batch.run("".join(command + "\n" for _, command in lines).format(**words(place)),
                         "-N2", "--ntasks-per-node=2")
    for name, _ in lines:
        report = judge(place, name, said)
        check(any("clocks of 2 nodes" in note for note in report.data["run"]["notes"]),
              f"{name}: the nodes' clocks were not compared")


def analysis_ranks(place):
    """Several ranks of one step analyse one trace, by either way that srun has to tell them of each
    other, on one node and on two; without one they say so."""
    trace = ranks.generate(place, "stencil")
    lines = [("pmix", "{srun} {culprit} analyze {trace} -o pmix"),
             ("pmi2", "{srun_mpich} {culprit} analyze {trace} -o pmi2"),
             ("nodes", "{srun} -N2 {culprit} analyze {trace} -o nodes"),
             ("single", "srun -n1 --exact --mpi=none {culprit} analyze {trace} -o single"),
             ("none", "srun -n2 --exact --mpi=none {culprit} analyze {trace} -o none")]
    with Batch(place, nodes=2) as batch:
        said = batch.run("".join(f"echo '== {name}'; {command}\n" for name, command in lines)
                         .format(trace=trace, **words(place)), "-N2", "--ntasks-per-node=2")
    *good, (none, _) = [(name, place.scratch / name) for name, _ in lines]
    harness.succeed([place.culprit, "analyze", trace, "-o", place.experiment("alone")])
    alone = ranks.report(place, place.experiment("alone"))
    for name, experiment in good:
        check(experiment.is_dir(), f"{name}: nothing was found\n{said}")
        ranks.same(alone, ranks.report(place, experiment), name)
    check(not (place.scratch / none).exists(), "copies that do not know each other made something")
    check("cannot communicate: add --mpi=pmix" in " ".join(said.split()), said)
    check(said.count("culprit: analyzed") == len(good), said)


MULTI_PROG = """
printf '0 {late} zero\\n1 {late} one\\n' > front.conf
printf '0 {culprit} run -o g2 -- {late} zero\\n1 {culprit} run -o g2 -- {late} one\\n' > behind.conf
"""

TESTS = {
    "in_front": ways(("srun", "{culprit} run -o srun -- {srun} {late}"),
                     ("mpirun", "{culprit} run -o mpirun -- mpirun -n 2 {late}"),
                     ("mpich", "{culprit} run -o mpich -- {srun_mpich} {late_mpich}"),
                     ("hydra", "{culprit} run -o hydra -- mpirun.mpich -n 2 {late_mpich}")),
    "behind": ways(("srun", "{srun} {culprit} run -o srun -- {late}"),
                   ("mpich", "{srun_mpich} {culprit} run -o mpich -- {late_mpich}"),
                   ("none", "{srun} --export=NONE {culprit} run -o none -- {late}")),
    "export_none": ways(("inherited", "{culprit} run -o inherited -- {srun} {late}"),
                        ("option", "unset SLURM_EXPORT_ENV; "
                                   "{culprit} run -o option -- {srun} --export=NONE {late}"),
                        options=("--export=NONE",)),
    "several_programs": ways(
        ("g1", MULTI_PROG + "{culprit} run -o g1 -- {srun} --multi-prog front.conf"),
        ("g2", "{srun} --multi-prog behind.conf"),
        ("g3", "{culprit} run -o g3 -- mpirun -n 1 {late} zero : -n 1 {late} one"),
        ("g4", "mpirun -n 1 {culprit} run -o g4 -- {late} a : -n 1 {culprit} run -o g4 -- {late} b"),
    ),
    "two_steps": two_steps,
    "two_nodes": two_nodes,
    "analysis_ranks": analysis_ranks,
    "cancelled": ended(cancel),
    "killed": ended(cancel_all_at_once),
}

def become_first_of_a_process_namespace():
    """Whatever ends this test then ends all that it started, however deep Slurm has hidden it."""
    if os.geteuid() != 0 or os.getpid() == 1 or os.environ.get("CULPRIT_TEST_NAMESPACE"):
        return
    wrapper = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*wrapper, "true"], capture_output=True, check=False).returncode == 0:
        os.environ["CULPRIT_TEST_NAMESPACE"] = "1"
        os.execvp(wrapper[0], [*wrapper, sys.executable, *sys.argv])


if __name__ == "__main__":
    become_first_of_a_process_namespace()
    sys.exit(harness.main(TESTS))
