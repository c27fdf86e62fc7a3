# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""dolfinx: Poisson's equation by finite elements, which are compiled while the program runs."""

import dolfinx
import numpy
import ufl
from mpi4py import MPI
from petsc4py import PETSc

mesh = dolfinx.mesh.create_unit_square(MPI.COMM_WORLD, 64, 64)
space = dolfinx.fem.FunctionSpace(mesh, ("CG", 1))
facets = dolfinx.mesh.locate_entities_boundary(mesh, 1, lambda x: numpy.isclose(x[0], 0.0) | numpy.isclose(x[0], 1.0))
boundary = dolfinx.fem.dirichletbc(PETSc.ScalarType(0), dolfinx.fem.locate_dofs_topological(space, 1, facets), space)
u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
source = dolfinx.fem.Constant(mesh, PETSc.ScalarType(1))
problem = dolfinx.fem.petsc.LinearProblem(
    ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, ufl.inner(source, v) * ufl.dx, bcs=[boundary],
    petsc_options={"ksp_type": "cg", "pc_type": "jacobi", "ksp_rtol": 1e-10})
for _ in range(5):
    solution = problem.solve()
local = dolfinx.fem.assemble_scalar(dolfinx.fem.form(solution * ufl.dx))
total = mesh.comm.allreduce(local, op=MPI.SUM)
if mesh.comm.rank == 0:
    print(f"{total:.6f}")
