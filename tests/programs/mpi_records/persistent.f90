! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! The same as persistent.c in Fortran, where a handle is a number that stands for C's.
program persistent
  use mpi_f08
  implicit none
  integer, parameter :: starts = 100, length = 4096
  integer :: rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  if (rank == 0) then
    call send()
  else
    call receive()
  end if
  call MPI_Finalize()
contains
  subroutine send()
    integer :: i, bytes
    integer, asynchronous :: values(length)
    integer, allocatable, asynchronous, save :: buffer(:)
    type(MPI_Request) :: request, requests(1)
    allocate(buffer(2 * starts * (length + MPI_BSEND_OVERHEAD)))
    bytes = 4 * size(buffer)
    call MPI_Buffer_attach(buffer, bytes)
    call MPI_Bsend_init(values, length, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, request)
    do i = 1, starts
      values = i
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    end do
    requests(1) = request
    do i = starts + 1, 2 * starts
      values = i
      call MPI_Startall(1, requests)
      call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE)
    end do
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Request_free(requests(1))
    ! The buffer stays attached: what detaching returns differs between the MPIs.
  end subroutine send

  subroutine receive()
    integer :: i
    integer, asynchronous :: values(length)
    type(MPI_Request) :: request
    call MPI_Recv_init(values, length, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, request)
    call MPI_Barrier(MPI_COMM_WORLD)
    do i = 1, 2 * starts
      call MPI_Start(request)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      if (values(1) /= i .or. values(length) /= i) call MPI_Abort(MPI_COMM_WORLD, 1)
    end do
    call MPI_Request_free(request)
  end subroutine receive
end program persistent
