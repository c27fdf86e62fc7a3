# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Main waits for what a thread of Python's cooks and puts into a queue."""

import queue
import threading

DISHES = queue.Queue()


def cook():
    for _ in range(20):
        DISHES.put(sum(k * k for k in range(200_000)))


thread = threading.Thread(target=cook)
thread.start()
print(sum(DISHES.get() for _ in range(20)))
thread.join()
