! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! The calls of culprit.f90, in a program of 2 ranks. Recording is off in iteration 2.
program told
  use mpi
  use culprit
  implicit none
  integer :: error, rank, step
  double precision :: x
  character(len=20) :: padded

  x = 1d0
  padded = "work"
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call culprit_phase_begin("setup")
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call culprit_phase_end("setup")
  do step = 0, 3
    if (step == 2) call MPI_Pcontrol(0)
    if (step == 3) call culprit_recording_on()
    call culprit_iteration_begin("step", step)
    call culprit_region_begin(padded)
    x = 0.5d0 * x + 1d0
    call culprit_region_end("work")
    if (rank == 0) call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, 1, step, MPI_COMM_WORLD, error)
    if (rank == 1) call MPI_Recv(x, 1, MPI_DOUBLE_PRECISION, 0, step, MPI_COMM_WORLD, &
                                 MPI_STATUS_IGNORE, error)
    call culprit_iteration_end("step")
  end do
  call MPI_Finalize(error)
  if (rank == 1) print '(a,f6.3)', "told: result ", x
end program told
