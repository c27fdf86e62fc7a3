# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""What costs time though nobody is late: the verdict names it. Mended, it does not."""


def cases(case):
    def mpi(name, says):
        return case("overheads", 2, name, None, rounds=100, modes="P", says=says)

    def alone(name, says):
        return case("regions", 0, name, None, rounds=10, modes="P", says=says)
    return [
        mpi("small_messages", "messages of 32 bytes from deal_rows"),
        mpi("small_messages_mended", "^((?!messages of).)*$"),
        mpi("threads_in_mpi", "MPI_Allreduce on several threads of a process at once"),
        mpi("threads_in_mpi_mended", "^((?!several threads).)*$"),
        alone("short_regions", "parallel regions of .* each in top_rows"),
        alone("short_regions_mended", "^((?!parallel regions of).)*$"),
        alone("page_faults", "page faults, most of them in assemble"),
        alone("page_faults_mended", "^((?!page fault).)*$"),
    ]
