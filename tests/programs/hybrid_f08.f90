! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! examples/hybrid_chain.c in modern Fortran (mpi_f08 and OpenMP): 2 ranks x 2 threads, 3 steps; on
! rank 0 the worker thread resolves contacts for 200 ms longer than its master works, and rank 1
! waits for it.
module hybrid_kernels
  use, intrinsic :: iso_fortran_env, only: real64, int64
  implicit none
contains
  subroutine work_ms(ms)
    real(real64), intent(in) :: ms
    integer(int64) :: now, end_count, rate
    real(real64), volatile :: kept
    real(real64) :: x
    integer :: i
    call system_clock(now, rate)
    end_count = now + int(ms * 1.0e-3_real64 * real(rate, real64), int64)
    kept = 1.0_real64
    do while (now < end_count)
      x = kept
      do i = 1, 4000
        x = x * 0.999999_real64 + 1.0e-6_real64
      end do
      kept = x
      call system_clock(now)
    end do
  end subroutine work_ms

  subroutine update_cells(x)
    real(real64), intent(inout) :: x
    call work_ms(50.0_real64)
    x = 0.5_real64 * x + 1.0_real64
  end subroutine update_cells

  subroutine resolve_contacts(x)
    real(real64), intent(inout) :: x
    call work_ms(200.0_real64)
    x = x + 0.125_real64
  end subroutine resolve_contacts
end module hybrid_kernels

program hybrid_f08
  use hybrid_kernels
  use mpi_f08
  use omp_lib
  implicit none
  integer, parameter :: threads = 2, steps = 3, tag = 7
  real(real64) :: part(0:threads - 1), halo
  integer :: rank, provided, step, me

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  part = 0.0_real64
  halo = 0.0_real64
  call omp_set_dynamic(.false.)
  call MPI_Barrier(MPI_COMM_WORLD)
  do step = 1, steps
    !$omp parallel num_threads(threads) private(me)
    me = omp_get_thread_num()
    call update_cells(part(me))
    if (rank == 0 .and. me == 1) call resolve_contacts(part(me))
    !$omp end parallel
    if (rank == 0) then
      call MPI_Send(part(1), 1, MPI_DOUBLE_PRECISION, 1, tag, MPI_COMM_WORLD)
    else if (rank == 1) then
      call MPI_Recv(halo, 1, MPI_DOUBLE_PRECISION, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      part(0) = part(0) + halo
    end if
  end do
  if (rank == 1) print '(a, f0.6)', 'hybrid_f08: result ', part(0) + part(1)
  call MPI_Finalize()
end program hybrid_f08
