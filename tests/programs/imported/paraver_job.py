# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs whose answer is known, as Extrae records them: a .prv with its .pcf and .row. Times are nanoseconds."""

import gzip

MS = 10 ** 6
US = 10 ** 3

MPI_TYPE = {"MPI_Send": 50000001, "MPI_Recv": 50000001, "MPI_Irecv": 50000001, "MPI_Wait": 50000001,
            "MPI_Barrier": 50000002, "MPI_Allreduce": 50000002, "MPI_Init": 50000003, "MPI_Finalize": 50000003}
MPI_VALUE = {"MPI_Send": 1, "MPI_Recv": 2, "MPI_Irecv": 4, "MPI_Wait": 5, "MPI_Barrier": 8, "MPI_Allreduce": 10,
             "MPI_Init": 31, "MPI_Finalize": 32}
RUNNING, WAITING = 1, 3


class Thread:
    def __init__(self, job, task, thread):
        self.job, self.task, self.thread, self.now = job, task, thread, 0

    def where(self):
        return f"{self.task}:1:{self.task}:{self.thread}"

    def event(self, time, *pairs):
        self.job.lines.append((time, f"2:{self.where()}:{time}:" + ":".join(map(str, pairs))))

    def works(self, function, lasts):
        value = self.job.functions.setdefault(function, len(self.job.functions) + 1)
        self.event(self.now, 60000019, value)
        self.job.lines.append((self.now, f"1:{self.where()}:{self.now}:{self.now + lasts}:{RUNNING}"))
        self.now += lasts
        self.event(self.now, 60000019, 0)

    def computes(self, lasts):
        """In no function that is recorded."""
        self.job.lines.append((self.now, f"1:{self.where()}:{self.now}:{self.now + lasts}:{RUNNING}"))
        self.now += lasts

    def call(self, name, until, *pairs):
        begin = self.now
        self.event(begin, MPI_TYPE[name], MPI_VALUE[name], *pairs)
        self.now = max(until, begin + US)
        self.job.lines.append((begin, f"1:{self.where()}:{begin}:{self.now}:{WAITING}"))
        self.event(self.now, MPI_TYPE[name], 0)
        return begin, self.now


class Job:
    def __init__(self, tasks, threads=1):
        self.lines, self.functions = [], {}
        self.tasks, self.threads = tasks, threads
        self.all = {(t, th): Thread(self, t, th) for t in range(1, tasks + 1) for th in range(1, threads + 1)}

    def rank(self, rank, thread=1):
        return self.all[rank + 1, thread]

    def together(self, name, *pairs):
        """All ranks' first threads in a collective operation."""
        ranks = [self.rank(r) for r in range(self.tasks)]
        end = max(r.now for r in ranks) + 10 * US
        for rank in ranks:
            rank.call(name, end, *pairs)

    def message(self, sender, receiver, size=1 << 20):
        source, target = self.rank(sender), self.rank(receiver)
        begin, sent = source.call("MPI_Send", source.now + 5 * US)
        posted, received = target.call("MPI_Recv", sent + 5 * US)
        self.lines.append((begin, f"3:{source.where()}:{begin}:{sent}:{target.where()}:{posted}:{received}:{size}:7"))

    def write(self, folder, name="run", packed=False):
        folder.mkdir()
        length = max(thread.now for thread in self.all.values())
        tasks = ",".join(f"{self.threads}:1" for _ in range(self.tasks))
        head = (f"#Paraver (01/02/26 at 10:00):{length}_ns:1({self.tasks}):1:{self.tasks}({tasks}),1\n"
                f"c:1:1:{self.tasks}:" + ":".join(str(t + 1) for t in range(self.tasks)) + "\n")
        text = head + "".join(line + "\n" for _, line in sorted(self.lines, key=lambda line: line[0]))
        if packed:
            with gzip.open(folder / f"{name}.prv.gz", "wt") as file:
                file.write(text)
        else:
            (folder / f"{name}.prv").write_text(text)
        (folder / f"{name}.pcf").write_text(self.labels())
        threads = [f"THREAD 1.{t}.{th}" for t, th in self.all]
        (folder / f"{name}.row").write_text(f"LEVEL NODE SIZE 1\nnid0001\n\nLEVEL THREAD SIZE {len(threads)}\n"
                                            + "\n".join(threads) + "\n")
        return folder

    def labels(self):
        text = "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n0    Idle\n1    Running\n\n"
        for number in sorted(set(MPI_TYPE.values())):
            text += f"EVENT_TYPE\n9   {number}    MPI calls\nVALUES\n0   Outside MPI\n"
            text += "".join(f"{MPI_VALUE[name]}   {name}\n" for name in MPI_TYPE if MPI_TYPE[name] == number) + "\n"
        text += "EVENT_TYPE\n0    60000018    Executed OpenMP parallel function\nVALUES\n0   End\n1   main._omp_fn.0\n\n"
        text += "EVENT_TYPE\n0    60000019    User function\nVALUES\n0   End\n"
        return text + "".join(f"{value}   {name} [app.c]\n" for name, value in self.functions.items())


def late_sender(late=30 * MS, steps=10):
    """Rank 0 prepares for too long before each send."""
    job = Job(2)
    job.together("MPI_Init")
    for _ in range(steps):
        job.rank(0).works("prepare", 2 * MS + late)
        job.rank(1).works("prepare", 2 * MS)
        job.message(0, 1)
        job.message(1, 0)
    job.together("MPI_Finalize")
    return job


def slow_rank(ranks=4, slow=2, late=20 * MS, steps=10):
    """One rank computes longer before each barrier."""
    job = Job(ranks)
    job.together("MPI_Init")
    for _ in range(steps):
        for r in range(ranks):
            job.rank(r).works("relax", 5 * MS + (late if r == slow else 0))
        job.together("MPI_Barrier", 50100004, 1)
    job.together("MPI_Finalize")
    return job


def unnamed_code(late=30 * MS, steps=10):
    """As slow_rank, but what the ranks compute is in no recorded function."""
    job = Job(2)
    job.together("MPI_Init")
    for _ in range(steps):
        job.rank(0).computes(2 * MS)
        job.rank(1).computes(2 * MS + late)
        job.together("MPI_Allreduce", 50100001, 8, 50100002, 8, 50100004, 1)
    job.together("MPI_Finalize")
    return job


def uneven_threads(threads=4, slow=3, late=20 * MS, steps=10):
    """One thread of the team computes longer in each region."""
    job = Job(1, threads)
    job.together("MPI_Init")
    master = job.rank(0)
    for _ in range(steps):
        fork = master.now + MS
        join = 0
        for number in range(1, threads + 1):
            thread = job.rank(0, number)
            thread.now = fork + number * US
            thread.event(thread.now, 60000018, 1)
            thread.works("smooth", 5 * MS + (late if number - 1 == slow else 0))
            thread.event(thread.now, 60000018, 0)
            join = max(join, thread.now)
        master.event(fork, 60000001, 1)
        master.event(join + US, 60000001, 0)
        master.now = join + US
    job.together("MPI_Finalize")
    return job
