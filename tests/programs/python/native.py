# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A thread waits for native code that Python calls: with Python's lock held in held(), without in
released(). Before that, it imports a package `joblib` from FOLDER, which takes its time.

    native.py LIBRARY FOLDER"""

import ctypes
import sys
import threading

N = 150_000_000
done = threading.Semaphore(0)


def held():
    return holding.compute(ctypes.c_long(N))


def released():
    return releasing.compute(ctypes.c_long(N))


def work():
    sys.path.insert(0, sys.argv[2])
    import joblib  # noqa: F401
    held()
    released()
    done.release()


holding = ctypes.PyDLL(sys.argv[1])
releasing = ctypes.CDLL(sys.argv[1])
worker = threading.Thread(target=work)
worker.start()
done.acquire()
worker.join()
