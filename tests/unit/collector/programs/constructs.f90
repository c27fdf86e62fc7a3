! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! The Fortran side of a runtime: modules' omp_*_ functions, hidden arguments, a real function.
program constructs
  use omp_lib
  implicit none
  integer(8) :: total
  integer :: i, region
  double precision :: begun
  total = 0
  begun = omp_get_wtime()
  call omp_set_num_threads(3)
  do region = 1, 5
    !$omp parallel reduction(+ : total)
    !$omp do schedule(guided)
    do i = 1, 1000
      total = total + i
    end do
    !$omp end do
    !$omp critical
    total = total + omp_get_num_threads()
    !$omp end critical
    !$omp end parallel
  end do
  if (omp_get_wtime() < begun) total = -1
  print '(i0)', total
end program constructs
