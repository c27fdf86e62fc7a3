! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! Fortran: the ring and a barrier, with the account that truth.h keeps for C.
module injected
  use iso_c_binding
  implicit none
  integer :: rank = 0
  integer(8) :: spent = 0, waited = 0
  real(8) :: asked = 0  ! seconds, with what a quiet machine adds to a sleep
  interface
    integer(c_int) function usleep(us) bind(c)
      import c_int
      integer(c_int), value :: us
    end function
  end interface
contains
  subroutine late(ms)
    integer, intent(in) :: ms
    integer(8) :: before, after
    integer(c_int) :: ignored
    call system_clock(before)
    ignored = usleep(1000 * ms)
    call system_clock(after)
    spent = spent + after - before
    asked = asked + ms * 1d-3 + 1d-4
  end subroutine

  subroutine write_account()
    character(4096) :: prefix
    integer(8) :: rate
    integer :: unit
    call get_environment_variable("TRUTH_ACCOUNT", prefix)
    if (prefix == "") return
    call system_clock(count_rate=rate)
    write (prefix, "(a,'.',i0)") trim(prefix), rank
    open (newunit=unit, file=trim(prefix))
    write (unit, "(a,i0,3(a,f16.9),a)") '{"rank": ', rank, ', "asked_s": ', asked, &
      ', "waited_s": ', real(waited, 8) / rate, ', "spent_s": {"late": ', real(spent, 8) / rate, '}}'
    close (unit)
  end subroutine
end module

program ring
  use mpi_f08
  use injected
  implicit none
  character(64) :: which, text
  integer :: ranks, round, rounds, ms, out, box
  integer(8) :: before, after
  call get_command_argument(1, which)
  call get_command_argument(2, text)
  read (text, *) ms
  call get_command_argument(3, text)
  read (text, *) rounds
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Barrier(MPI_COMM_WORLD)
  out = 1
  do round = 1, rounds
    if (rank == 0) call late(ms)
    call system_clock(before)
    if (which == "ring") then
      call MPI_Sendrecv(out, 1, MPI_INTEGER, mod(rank + 1, ranks), 0, box, 1, MPI_INTEGER, &
                        mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    else
      call MPI_Barrier(MPI_COMM_WORLD)
    end if
    call system_clock(after)
    waited = waited + after - before
  end do
  call system_clock(before)
  call MPI_Barrier(MPI_COMM_WORLD)
  call system_clock(after)
  waited = waited + after - before
  call write_account()
  call MPI_Finalize()
end program
