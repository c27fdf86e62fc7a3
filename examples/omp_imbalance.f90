! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! Disease: imbalance in an OpenMP region, in Fortran. 4 threads update their cells for 20 ms in each
! of 3 sweeps. All contacts lie in the last thread's part: it resolves them for 200 ms more, and the
! three others wait at the end of the region.
!
! Expected verdict: omp.barrier on 0.0, 0.1 and 0.2, 3 times 0.2 s each, 1.8 s in all.
! To blame: resolve_contacts on 0.3, short-term 1.8 s.
module kernels
  use, intrinsic :: iso_fortran_env, only: real64, int64
  implicit none
contains
  ! Computes for a given wall-clock time, so that a busy machine does not change the answer.
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
    call work_ms(20.0_real64)
    x = 0.5_real64 * x + 1.0_real64
  end subroutine update_cells

  subroutine resolve_contacts(x)
    real(real64), intent(inout) :: x
    call work_ms(200.0_real64)
    x = x + 0.125_real64
  end subroutine resolve_contacts
end module kernels

program omp_imbalance
  use kernels
  use omp_lib
  implicit none
  integer, parameter :: threads = 4, sweeps = 3
  real(real64) :: part(0:threads - 1)
  integer :: sweep, me

  part = 0.0_real64
  call omp_set_dynamic(.false.)
  do sweep = 1, sweeps
    !$omp parallel num_threads(threads) private(me)
    me = omp_get_thread_num()
    call update_cells(part(me))
    if (me == threads - 1) call resolve_contacts(part(me))
    !$omp end parallel
  end do
  print '(a, f0.6)', 'omp_imbalance: sum ', sum(part)
end program omp_imbalance
