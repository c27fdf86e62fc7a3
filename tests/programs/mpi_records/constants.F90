! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! Fortran's special addresses, through one of its three interfaces (core.F90 says how): each must reach
! the library as it is, so each result is compared. Prints "right", or stops with a number. Wants 2
! processes; starts one more of the program that an argument names, if one does.
#ifdef BINDING_F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define DATATYPE type(MPI_Datatype)
#define STATUS(s) type(MPI_Status) :: s
#else
#define COMM integer
#define REQUEST integer
#define DATATYPE integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
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

subroutine bottom(rank)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: rank
  integer, save, target, asynchronous :: sent, received
  integer(kind=MPI_ADDRESS_KIND) :: places(1)
  integer :: lengths(1), ierr
  DATATYPE :: at_sent, at_received
  STATUS(stat)
  sent = 40 + rank
  received = -1
  lengths = 1
  call MPI_Get_address(sent, places(1), ierr)
  call MPI_Type_create_hindexed(1, lengths, places, MPI_INTEGER, at_sent, ierr)
  call MPI_Get_address(received, places(1), ierr)
  call MPI_Type_create_hindexed(1, lengths, places, MPI_INTEGER, at_received, ierr)
  call MPI_Type_commit(at_sent, ierr)
  call MPI_Type_commit(at_received, ierr)
  call MPI_Sendrecv(MPI_BOTTOM, 1, at_sent, 1 - rank, 1, MPI_BOTTOM, 1, at_received, 1 - rank, 1, &
                    MPI_COMM_WORLD, stat, ierr)
  if (received /= 41 - rank) stop 11
  received = -1
  call MPI_Sendrecv(MPI_BOTTOM, 1, at_sent, 1 - rank, 2, MPI_BOTTOM, 1, at_received, 1 - rank, 2, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  if (received /= 41 - rank) stop 12
  received = -1
  if (rank == 0) received = sent
  call MPI_Bcast(MPI_BOTTOM, 1, at_received, 0, MPI_COMM_WORLD, ierr)
  if (received /= 40) stop 13
  call MPI_Type_free(at_sent, ierr)
  call MPI_Type_free(at_received, ierr)
end subroutine

subroutine in_place(rank)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: rank
  integer :: values(2), one(1), counts(2), steps(2), ierr
  values = 10 * rank + [1, 2]
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, values, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  if (any(values /= [1, 11] + rank)) stop 21
  values = -1
  values(rank + 1) = 7 + rank
  counts = 1
  steps = [0, 1]
  call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, values, counts, steps, MPI_INTEGER, &
                      MPI_COMM_WORLD, ierr)
  if (any(values /= [7, 8])) stop 22
  one = rank + 1
  if (rank == 0) then
    values = [1, -1]
    call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, values, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    if (any(values /= [1, 2])) stop 23
    call MPI_Scatter(values, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  else
    call MPI_Gather(one, 1, MPI_INTEGER, values, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    one = -1
    call MPI_Scatter(values, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    if (one(1) /= 2) stop 24
  end if
  one = rank + 1
  call MPI_Scan(MPI_IN_PLACE, one, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (one(1) /= 1 + 2 * rank) stop 25
end subroutine

subroutine statuses(rank)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: rank
  integer, asynchronous :: in(2), out(2)
  integer :: i, ierr
  REQUEST :: requests(4)
  in = -1
  out = rank + [0, 5]
  do i = 1, 2
    call MPI_Irecv(in(i), 1, MPI_INTEGER, 1 - rank, i, MPI_COMM_WORLD, requests(i), ierr)
    call MPI_Isend(out(i), 1, MPI_INTEGER, 1 - rank, i, MPI_COMM_WORLD, requests(2 + i), ierr)
  end do
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
  call use_them(in)
  if (any(in /= 1 - rank + [0, 5])) stop 31
end subroutine

subroutine use_them(values)
  integer :: values(2)
end subroutine

subroutine graphs(rank)
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, intent(in) :: rank
  integer :: nobody(1), other(1), weights(1), values(1), ins, outs, ierr
  logical :: weighted
  COMM :: graph
  other = 1 - rank
  nobody = -1
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, other, MPI_UNWEIGHTED, 1, other, &
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierr)
  call MPI_Dist_graph_neighbors_count(graph, ins, outs, weighted, ierr)
  if (ins /= 1 .or. outs /= 1 .or. weighted) stop 41
  call MPI_Neighbor_alltoall([rank], 1, MPI_INTEGER, values, 1, MPI_INTEGER, graph, ierr)
  if (values(1) /= 1 - rank) stop 42
  call MPI_Comm_free(graph, ierr)
  weights = 3
  if (rank == 0) then
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, nobody, MPI_WEIGHTS_EMPTY, 1, other, &
                                        weights, MPI_INFO_NULL, .false., graph, ierr)
  else
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, other, weights, 0, nobody, &
                                        MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., graph, ierr)
  end if
  call MPI_Dist_graph_neighbors_count(graph, ins, outs, weighted, ierr)
  if (ins /= rank .or. outs /= 1 - rank .or. .not. weighted) stop 43
  call MPI_Comm_free(graph, ierr)
end subroutine

subroutine another(program_file)
  USE_MPI
  implicit none
  INCLUDE_MPI
  character(len=*), intent(in) :: program_file
  integer :: value(1), ierr
  COMM :: child
  call MPI_Comm_spawn(program_file, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, child, &
                      MPI_ERRCODES_IGNORE, ierr)
  value = 0
  call MPI_Bcast(value, 1, MPI_INTEGER, 0, child, ierr)
  if (value(1) /= 99) stop 51
  call MPI_Comm_disconnect(child, ierr)
end subroutine

program constants
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer :: rank, value(1), ierr
  character(len=1000) :: file
  COMM :: parent
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_get_parent(parent, ierr)
  if (parent /= MPI_COMM_NULL) then
    if (command_argument_count() /= 0) stop 61
    value = 99
    call MPI_Bcast(value, 1, MPI_INTEGER, MPI_ROOT, parent, ierr)
    call MPI_Comm_disconnect(parent, ierr)
  else
    call bottom(rank)
    call in_place(rank)
    call statuses(rank)
    call graphs(rank)
    call get_command_argument(1, file)
    if (file /= '') call another(trim(file))
    print '(a)', 'right'
  end if
  call MPI_Finalize(ierr)
end program
