# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A pool of two forked workers, of whose eight tasks the last is ten times as long.

With "openmp" the parent has used OpenMP before, as those who import PyTorch have."""

import ctypes
import multiprocessing
import sys


def cook(number):
    return sum(k * k for k in range(200_000 * (10 if number == 7 else 1)))


def use_openmp():
    ctypes.CDLL("libgomp.so.1", ctypes.RTLD_GLOBAL)
    everything = ctypes.CDLL(None)
    everything.GOMP_parallel(everything.free, None, 2, 0)


if __name__ == "__main__":
    if "openmp" in sys.argv:
        use_openmp()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.imap(cook, range(8))))
