# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A thread waits for what another one asks a tool: call_tool() is late, not Python's own library."""

import queue
import subprocess
import threading


def call_tool():
    subprocess.run(["sleep", "0.2"], check=True)


def work(answers):
    for _ in range(4):
        call_tool()
        answers.put(1)


answers = queue.Queue()
worker = threading.Thread(target=work, args=(answers,))
worker.start()
for _ in range(4):
    answers.get()
worker.join()
