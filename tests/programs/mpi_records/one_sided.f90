! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! one_sided.c, call by call, through mpi_f08.
module shared
  use mpi_f08
  use, intrinsic :: iso_c_binding, only : c_ptr
  implicit none
  integer :: rank, size, next, prev
  type(MPI_Group) :: to_next, to_prev
  integer(MPI_ADDRESS_KIND), parameter :: room = 64 * 4

contains

  subroutine active()
    integer, asynchronous :: out(4), in(4)
    logical :: flag
    type(c_ptr) :: base
    type(MPI_Win) :: window
    out = [1, 2, 3, 4]
    call MPI_Win_allocate(room, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window)
    call MPI_Win_fence(MPI_MODE_NOPRECEDE, window)
    call MPI_Put(out, 2, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, window)
    call MPI_Get(in, 3, MPI_INTEGER, prev, 8_MPI_ADDRESS_KIND, 3, MPI_INTEGER, window)
    call MPI_Accumulate(out, 1, MPI_INTEGER, next, 16_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, window)
    call MPI_Put(out, 2, MPI_INTEGER, MPI_PROC_NULL, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, window)
    call MPI_Win_fence(ior(MPI_MODE_NOSTORE, MPI_MODE_NOSUCCEED), window)

    call MPI_Win_post(to_prev, MPI_MODE_NOPUT, window)
    call MPI_Win_start(to_next, 0, window)
    call MPI_Put(out, 4, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 4, MPI_INTEGER, window)
    call MPI_Win_complete(window)
    call MPI_Win_wait(window)

    call MPI_Win_post(to_prev, 0, window)
    call MPI_Win_start(to_next, 0, window)
    call MPI_Win_complete(window)
    do
      call MPI_Win_test(window, flag)
      if (flag) exit
    end do
    call MPI_Win_free(window)
  end subroutine

  subroutine passive()
    integer, asynchronous :: out(4), in(4)
    type(c_ptr) :: base
    type(MPI_Win) :: window
    type(MPI_Request) :: requests(4)
    out = [1, 2, 3, 4]
    call MPI_Win_allocate(room, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window)
    call MPI_Put(out, 2, MPI_INTEGER, next, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, window)
    call MPI_Win_flush(next, window)
    call MPI_Get_accumulate(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, next, 4_MPI_ADDRESS_KIND, 2, MPI_INTEGER, &
                            MPI_SUM, window)
    call MPI_Win_flush_local(next, window)
    call MPI_Get_accumulate(out, 0, MPI_INTEGER, in, 3, MPI_INTEGER, next, 4_MPI_ADDRESS_KIND, 3, MPI_INTEGER, &
                            MPI_NO_OP, window)
    call MPI_Fetch_and_op(out(1), in(1), MPI_INTEGER, next, 12_MPI_ADDRESS_KIND, MPI_SUM, window)
    call MPI_Compare_and_swap(out(1), out(2), in(1), MPI_INTEGER, next, 13_MPI_ADDRESS_KIND, window)
    call MPI_Win_unlock(next, window)
    call MPI_Barrier(MPI_COMM_WORLD)

    call MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, window)
    call MPI_Win_unlock(next, window)
    call MPI_Barrier(MPI_COMM_WORLD)

    call MPI_Win_lock_all(0, window)
    call MPI_Rput(out, 1, MPI_INTEGER, next, 20_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_Win_flush_all(window)
    call MPI_Rget(in, 2, MPI_INTEGER, next, 24_MPI_ADDRESS_KIND, 2, MPI_INTEGER, window, requests(1))
    call MPI_Raccumulate(out, 1, MPI_INTEGER, next, 28_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, window, requests(2))
    call MPI_Rget_accumulate(out, 2, MPI_INTEGER, in(3:4), 2, MPI_INTEGER, next, 32_MPI_ADDRESS_KIND, 2, &
                             MPI_INTEGER, MPI_SUM, window, requests(3))
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE)
    call MPI_Win_flush_local_all(window)
    call MPI_Win_sync(window)
    call MPI_Win_unlock_all(window)
    call MPI_Win_free(window)
  end subroutine

  subroutine flavors()
    integer, asynchronous, target :: memory(4), out(2)
    integer(MPI_ADDRESS_KIND) :: here(1), there(1)
    type(c_ptr) :: base
    type(MPI_Comm) :: backward
    type(MPI_Win) :: window
    memory = 0
    out = [5, 6]
    call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, backward)
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, backward, window)
    call MPI_Win_fence(0, window)
    call MPI_Put(out, 1, MPI_INTEGER, 0, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
    call MPI_Win_fence(0, window)
    call MPI_Win_post(to_prev, 0, window)
    call MPI_Win_start(to_next, 0, window)
    call MPI_Win_complete(window)
    call MPI_Win_wait(window)
    call MPI_Win_free(window)
    call MPI_Comm_free(backward)

    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call MPI_Win_attach(window, memory, 16_MPI_ADDRESS_KIND)
    call MPI_Get_address(memory, here(1))
    call MPI_Sendrecv(here, 1, MPI_AINT, prev, 1, there, 1, MPI_AINT, next, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window)
    call MPI_Put(out, 2, MPI_INTEGER, next, there(1), 2, MPI_INTEGER, window)
    call MPI_Win_unlock(next, window)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Win_detach(window, memory)
    call MPI_Win_free(window)

    call MPI_Win_allocate_shared(64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window)
    call MPI_Win_lock_all(MPI_MODE_NOCHECK, window)
    call MPI_Win_sync(window)
    call MPI_Win_unlock_all(window)
    call MPI_Win_free(window)
  end subroutine

  subroutine blocking_files(file)
    type(MPI_File), intent(in) :: file
    integer :: data(8)
    integer(MPI_OFFSET_KIND) :: mine
    type(MPI_Status) :: status
    data = 0
    mine = rank * 64
    call MPI_File_write_at(file, mine, data, 4, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_write_at_all(file, mine, data, 5, MPI_INTEGER, status)
    call MPI_File_read_at(file, 4090_MPI_OFFSET_KIND, data, 4, MPI_INTEGER, status)
    call MPI_File_read_at_all(file, mine, data, 5, MPI_INTEGER, status)
    call MPI_File_seek(file, mine, MPI_SEEK_SET)
    call MPI_File_write(file, data, 3, MPI_INTEGER, status)
    call MPI_File_write_all(file, data, 2, MPI_INTEGER, status)
    call MPI_File_seek(file, mine, MPI_SEEK_SET)
    call MPI_File_read(file, data, 3, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_read_all(file, data, 2, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
    call MPI_File_write_shared(file, data, 1, MPI_INTEGER, status)
    call MPI_File_write_ordered(file, data, 2, MPI_INTEGER, status)
    call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
    call MPI_File_read_shared(file, data, 1, MPI_INTEGER, status)
    call MPI_File_read_ordered(file, data, 2, MPI_INTEGER, status)
  end subroutine

  subroutine nonblocking_files(file)
    type(MPI_File), intent(in) :: file
    integer, asynchronous :: data(8), more(8)
    integer(MPI_OFFSET_KIND) :: mine
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status
    data = 0
    mine = rank * 64
    call MPI_File_iwrite_at(file, mine, data, 4, MPI_INTEGER, requests(1))
    call MPI_Wait(requests(1), status)
    call MPI_File_seek(file, mine, MPI_SEEK_SET)
    call MPI_File_iread(file, more, 2, MPI_INTEGER, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call MPI_File_iread_at(file, mine, more, 3, MPI_INTEGER, requests(1))
    call MPI_File_iwrite(file, data, 1, MPI_INTEGER, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_File_iwrite_at_all(file, mine, data, 4, MPI_INTEGER, requests(1))
    call MPI_Wait(requests(1), status)
    call MPI_File_iread_at_all(file, mine, data, 4, MPI_INTEGER, requests(1))
    call MPI_Wait(requests(1), status)
    call MPI_File_iwrite_all(file, data, 1, MPI_INTEGER, requests(1))
    call MPI_Wait(requests(1), status)
    call MPI_File_iread_all(file, data, 1, MPI_INTEGER, requests(1))
    call MPI_Wait(requests(1), status)
  end subroutine

  subroutine split_files(file)
    type(MPI_File), intent(in) :: file
    integer, asynchronous :: data(8)
    integer(MPI_OFFSET_KIND) :: mine
    type(MPI_Status) :: status
    data = 0
    mine = rank * 64
    call MPI_File_write_at_all_begin(file, mine, data, 4, MPI_INTEGER)
    call MPI_File_write_at_all_end(file, data, status)
    call MPI_File_read_at_all_begin(file, mine, data, 3, MPI_INTEGER)
    call MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE)
    call MPI_File_seek(file, mine, MPI_SEEK_SET)
    call MPI_File_write_all_begin(file, data, 2, MPI_INTEGER)
    call MPI_File_write_all_end(file, data, status)
    call MPI_File_read_all_begin(file, data, 2, MPI_INTEGER)
    call MPI_File_read_all_end(file, data, status)
    call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
    call MPI_File_write_ordered_begin(file, data, 1, MPI_INTEGER)
    call MPI_File_write_ordered_end(file, data, status)
    call MPI_File_read_ordered_begin(file, data, 1, MPI_INTEGER)
    call MPI_File_read_ordered_end(file, data, status)
  end subroutine

  subroutine files(folder)
    character(len=*), intent(in) :: folder
    character(len=4096) :: name
    integer :: data(2)
    type(MPI_File) :: file
    data = 0
    name = trim(folder) // '/all'
    call MPI_File_open(MPI_COMM_WORLD, name, ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file)
    call MPI_File_set_size(file, 4096_MPI_OFFSET_KIND)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL)
    call blocking_files(file)
    call nonblocking_files(file)
    call split_files(file)
    call MPI_File_sync(file)
    call MPI_File_preallocate(file, 4096_MPI_OFFSET_KIND)
    call MPI_File_close(file)

    write (name, '(a, a, i0)') trim(folder), '/own', rank
    call MPI_File_open(MPI_COMM_SELF, name, ior(ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), MPI_MODE_DELETE_ON_CLOSE), &
                       MPI_INFO_NULL, file)
    call MPI_File_write(file, data, 2, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_close(file)
  end subroutine
end module

program one_sided
  use shared
  implicit none
  type(MPI_Group) :: world
  character(len=4096) :: folder
  call get_command_argument(1, folder)
  if (folder == '') folder = '.'
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  next = mod(rank + 1, size)
  prev = mod(rank + size - 1, size)
  call MPI_Comm_group(MPI_COMM_WORLD, world)
  call MPI_Group_incl(world, 1, [next], to_next)
  call MPI_Group_incl(world, 1, [prev], to_prev)
  call active()
  call passive()
  call flavors()
  call files(folder)
  call MPI_Finalize()
end program
