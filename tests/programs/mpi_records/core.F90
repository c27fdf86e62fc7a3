! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! The calls of core.c, in its order, through one of Fortran's three interfaces: the build defines
! BINDING_MPIF (mpif.h), BINDING_MPI (use mpi) or BINDING_F08 (use mpi_f08).
#ifdef BINDING_F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define MESSAGE type(MPI_Message)
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define FIRST(s) s(1)
#else
#define COMM integer
#define REQUEST integer
#define MESSAGE integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define FIRST(s) s(:, 1)
#endif
#if defined(BINDING_MPIF)
#define USE_MPI
#define INCLUDE_MPI include 'mpif.h'
#elif defined(BINDING_MPI)
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#endif

subroutine blocking(rank, next, prev)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: rank, next, prev
  integer :: ints(8), ierr
  double precision :: doubles(2), others(2)
  STATUS(stat)
  MESSAGE :: message
  ints = 0
  doubles = 0
  if (rank == 0) call MPI_Send(ints, 3, MPI_INTEGER, 1, 11, MPI_COMM_WORLD, ierr)
  if (rank == 1) call MPI_Recv(ints, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &
                               MPI_STATUS_IGNORE, ierr)
  call MPI_Send(ints, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierr)
  call MPI_Recv(ints, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, stat, ierr)
  call MPI_Sendrecv(doubles, 2, MPI_DOUBLE_PRECISION, next, 12, others, 2, MPI_DOUBLE_PRECISION, &
                    prev, 12, MPI_COMM_WORLD, stat, ierr)
  if (rank == 2) call MPI_Ssend(ints, 2, MPI_INTEGER, 0, 13, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    call MPI_Probe(2, 13, MPI_COMM_WORLD, stat, ierr)
    call MPI_Recv(ints, 8, MPI_INTEGER, SOURCE_OF(stat), TAG_OF(stat), MPI_COMM_WORLD, stat, ierr)
    if (SOURCE_OF(stat) /= 2 .or. TAG_OF(stat) /= 13) stop 2
  end if
  if (rank == 1) call MPI_Send(ints, 4, MPI_INTEGER, 2, 14, MPI_COMM_WORLD, ierr)
  if (rank == 2) then
    call MPI_Mprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, ierr)
    call MPI_Mrecv(ints, 8, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierr)
  end if
end subroutine

subroutine post(tag, n, requests, in, out, next, prev)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: tag, n, next, prev
  REQUEST :: requests(2)
  integer, asynchronous :: in(8), out(8)
  integer :: ierr
  call MPI_Irecv(in, 8, MPI_INTEGER, prev, tag, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(out, n, MPI_INTEGER, next, tag, MPI_COMM_WORLD, requests(2), ierr)
end subroutine

subroutine nonblocking(next, prev)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: next, prev
  integer, asynchronous :: in(8), out(8)
  integer :: index, n, indices(2), ierr
  logical :: flag
  REQUEST :: requests(2)
  STATUSES(stats, 2)
  interface
    subroutine post(tag, n, requests, in, out, next, prev)
      USE_MPI
      implicit none
      INCLUDE_MPI
      integer, intent(in) :: tag, n, next, prev
      REQUEST :: requests(2)
      integer, asynchronous :: in(8), out(8)
    end subroutine
  end interface
  out = 0
  call post(21, 1, requests, in, out, next, prev)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  call post(22, 2, requests, in, out, next, prev)
  call MPI_Wait(requests(1), FIRST(stats), ierr)
  call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
  call MPI_Waitany(2, requests, index, MPI_STATUS_IGNORE, ierr)
  call post(23, 3, requests, in, out, next, prev)
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
  call MPI_Waitsome(2, requests, n, indices, MPI_STATUSES_IGNORE, ierr)
  call post(24, 4, requests, in, out, next, prev)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(2, requests, flag, stats, ierr)
  end do
  call post(25, 5, requests, in, out, next, prev)
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierr)
  end do
  flag = .false.
  do while (.not. flag)
    call MPI_Testany(2, requests, index, flag, FIRST(stats), ierr)
  end do
  call post(26, 6, requests, in, out, next, prev)
  call MPI_Wait(requests(2), FIRST(stats), ierr)
  n = 0
  do while (n == 0)
    call MPI_Testsome(2, requests, n, indices, stats, ierr)
  end do
  call MPI_Irecv(in, 8, MPI_INTEGER, MPI_PROC_NULL, 27, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(out, 1, MPI_INTEGER, MPI_PROC_NULL, 27, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, stats, ierr)
end subroutine

subroutine persistent(next, prev)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: next, prev
  integer, asynchronous :: in(8), out(8)
  integer :: i, ierr
  REQUEST :: requests(2)
  out = 0
  call MPI_Recv_init(in, 8, MPI_INTEGER, prev, 31, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send_init(out, 2, MPI_INTEGER, next, 31, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 2
    call MPI_Startall(2, requests, ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  end do
  call MPI_Start(requests(1), ierr)
  call MPI_Start(requests(2), ierr)
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)
end subroutine

subroutine rooted(rank)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: rank
  integer :: in(16), out(16), counts(3), places(3), ierr
  counts = [1, 2, 3]
  places = [0, 1, 3]
  out = 0
  in = 0
  call MPI_Bcast(out, 4, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
  call MPI_Reduce(out, in, 2, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  in = rank
  if (rank == 2) then
    call MPI_Reduce(MPI_IN_PLACE, in, 2, MPI_INTEGER, MPI_SUM, 2, MPI_COMM_WORLD, ierr)
    if (in(1) /= 2) stop 6
  else
    call MPI_Reduce(out, in, 2, MPI_INTEGER, MPI_SUM, 2, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Gather(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, 2, MPI_COMM_WORLD, ierr)
  call MPI_Gatherv(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) then
    call MPI_Scatter(out, 2, MPI_INTEGER, MPI_IN_PLACE, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  else
    call MPI_Scatter(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Scatterv(out, counts, places, MPI_INTEGER, in, rank + 1, MPI_INTEGER, 1, MPI_COMM_WORLD, ierr)
end subroutine

subroutine unrooted(rank)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: rank
  integer :: in(16), out(16), counts(3), places(3), mine(3), steps(3), ierr
  double precision :: value(1)
  counts = [1, 2, 3]
  places = [0, 1, 3]
  mine = rank + 1
  steps = [0, 4, 8]
  value = rank
  out = 0
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(out, in, 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  if (value(1) < 1.5) stop 7
  call MPI_Allgather(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_Allgatherv(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_Alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_Alltoallv(out, counts, places, MPI_INTEGER, in, mine, steps, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  call MPI_Reduce_scatter(out, in, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Reduce_scatter_block(out, in, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Scan(out, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Exscan(out, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
end subroutine

subroutine later()
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, asynchronous :: in(4), out(4)
  integer :: ierr
  REQUEST :: req
  out = 0
  call MPI_Ibarrier(MPI_COMM_WORLD, req, ierr)
  call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
  call MPI_Iallreduce(out, in, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, req, ierr)
  call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
  call MPI_Ibcast(out, 2, MPI_INTEGER, 2, MPI_COMM_WORLD, req, ierr)
  call MPI_Wait(req, MPI_STATUS_IGNORE, ierr)
end subroutine

subroutine communicators(rank)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: rank
  integer :: in(4), out(4), dims(1), colour, ierr
  logical :: periods(1), keep(1)
  COMM :: half, copy, cart, sub
  out = 0
  dims = 3
  periods = .true.
  keep = .true.
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
  call MPI_Allreduce(out, in, 1, MPI_INTEGER, MPI_SUM, half, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
  if (rank == 0) call MPI_Send(out, 1, MPI_INTEGER, 1, 41, copy, ierr)
  if (rank == 1) call MPI_Recv(in, 1, MPI_INTEGER, 0, 41, copy, MPI_STATUS_IGNORE, ierr)
  call MPI_Cart_create(copy, 1, dims, periods, .false., cart, ierr)
  call MPI_Cart_sub(cart, keep, sub, ierr)
  call MPI_Neighbor_allgather(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, cart, ierr)
  call MPI_Comm_free(sub, ierr)
  call MPI_Comm_free(cart, ierr)
  call MPI_Comm_free(copy, ierr)
  call MPI_Comm_free(half, ierr)
  colour = 0
  if (rank == 1) colour = MPI_UNDEFINED
  call MPI_Comm_split(MPI_COMM_WORLD, colour, rank, half, ierr)
  if (rank /= 1) call MPI_Barrier(half, ierr)
  if (rank /= 1) call MPI_Comm_free(half, ierr)
  call MPI_Barrier(MPI_COMM_SELF, ierr)
end subroutine

program core
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, n, next, prev, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  next = mod(rank + 1, n)
  prev = mod(rank + n - 1, n)
  call blocking(rank, next, prev)
  call nonblocking(next, prev)
  call persistent(next, prev)
  call rooted(rank)
  call unrooted(rank)
  call later()
  call communicators(rank)
#ifdef BINDING_F08
  call MPI_Finalize()
#else
  call MPI_Finalize(ierr)
#endif
end program
