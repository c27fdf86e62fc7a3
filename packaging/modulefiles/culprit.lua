-- SPDX-FileCopyrightText: The culprit authors
-- SPDX-License-Identifier: Apache-2.0
--
-- An environment module for Lmod. It may stay where it is (module use <prefix>/share/modulefiles, then
-- module load culprit) or be copied elsewhere with the prefix filled in.
local prefix = pathJoin(myFileName():match("(.*)/[^/]*$"), "..", "..")
help([[culprit finds out which code makes an MPI, OpenMP or GPU program wait:
culprit run -- mpirun -n 4 ./program]])
whatis("Name: culprit")
whatis("Description: root causes of wait states in hybrid MPI, OpenMP and GPU programs")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share", "man"))
prepend_path("CPATH", pathJoin(prefix, "include"))
prepend_path("PKG_CONFIG_PATH", pathJoin(prefix, "lib", "pkgconfig"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PYTHONPATH", pathJoin(prefix, "share", "culprit", "python"))
