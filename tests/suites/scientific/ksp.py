# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""PETSc: Poisson's equation on a grid that two ranks share, by conjugate gradients."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

SIDE = 160

grid = PETSc.DMDA().create([SIDE, SIDE], dof=1, stencil_width=1)
matrix = grid.createMatrix()
(left, right), (below, above) = grid.getRanges()
row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for j in range(below, above):
    for i in range(left, right):
        row.index = (i, j)
        for value, (x, y) in ((4, (i, j)), (-1, (i - 1, j)), (-1, (i + 1, j)), (-1, (i, j - 1)), (-1, (i, j + 1))):
            if 0 <= x < SIDE and 0 <= y < SIDE:
                column.index = (x, y)
                matrix.setValueStencil(row, column, value)
matrix.assemble()
right_side = grid.createGlobalVector()
right_side.set(1.0)
solution = right_side.duplicate()
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-8)
for _ in range(3):
    solution.set(0.0)
    solver.solve(right_side, solution)
norm = solution.norm()
PETSc.Sys.Print(f"{solver.getConvergedReason() > 0} {solver.getIterationNumber()} {norm:.6e}")
