# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A pool of two forked workers, of whose eight tasks the last is ten times as long."""

import multiprocessing


def cook(number):
    return sum(k * k for k in range(200_000 * (10 if number == 7 else 1)))


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.imap(cook, range(8))))
