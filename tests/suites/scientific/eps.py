# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""SLEPc: the largest eigenvalues of the one-dimensional Laplacian."""

import sys

import slepc4py

slepc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

SIZE = 500

matrix = PETSc.Mat().createAIJ([SIZE, SIZE], nnz=3)
for i in range(*matrix.getOwnershipRange()):
    for j, value in ((i - 1, -1.0), (i, 2.0), (i + 1, -1.0)):
        if 0 <= j < SIZE:
            matrix[i, j] = value
matrix.assemble()
solver = SLEPc.EPS().create()
solver.setOperators(matrix)
solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
solver.setDimensions(4)
solver.setTolerances(1e-4, 2000)
solver.solve()
PETSc.Sys.Print(f"{solver.getConverged() > 0} {solver.getIterationNumber()} {solver.getEigenvalue(0).real:.5f}")
