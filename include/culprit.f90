! SPDX-FileCopyrightText: The culprit authors
! SPDX-License-Identifier: Apache-2.0
!
! Lets a Fortran program tell culprit what it is doing: culprit.h says what the calls mean. Compile
! this file with the program, with the same compiler (module files are specific to it), and `use
! culprit`. Fortran 2003. There is nothing to link; on systems with a glibc older than 2.34 add -ldl.
module culprit
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: culprit_region_begin, culprit_region_end
  public :: culprit_phase_begin, culprit_phase_end
  public :: culprit_iteration_begin, culprit_iteration_end
  public :: culprit_recording_off, culprit_recording_on

  interface culprit_iteration_begin
    module procedure iteration_begin_default, iteration_begin_long
  end interface

  ! struct culprit_calls of culprit.h
  type, bind(c) :: calls_table
    integer(c_int) :: version
    type(c_funptr) :: region_begin, region_end, phase_begin, phase_end
    type(c_funptr) :: iteration_begin, iteration_end, recording
  end type calls_table

  abstract interface
    subroutine named(name, length) bind(c)
      import :: c_char, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
    end subroutine named
    subroutine numbered(name, length, number) bind(c)
      import :: c_char, c_size_t, c_long_long
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: length
      integer(c_long_long), value :: number
    end subroutine numbered
    subroutine switched(on) bind(c)
      import :: c_int
      integer(c_int), value :: on
    end subroutine switched
  end interface

  interface
    function lookup(handle, symbol) bind(c, name="dlsym") result(address)
      import :: c_ptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: symbol(*)
      type(c_ptr) :: address
    end function lookup
  end interface

  type(calls_table), pointer :: calls => null()
  logical :: looked = .false.

contains

  ! True if the collector is in the process. Threads that ask at the same time find the same.
  logical function present_here()
    type(c_ptr) :: address
    if (.not. looked) then
      address = lookup(c_null_ptr, "culprit_calls_1" // c_null_char)
      if (c_associated(address)) call c_f_pointer(address, calls)
      looked = .true.
    end if
    present_here = associated(calls)
  end function present_here

  subroutine call_named(function_address, name)
    type(c_funptr), intent(in) :: function_address
    character(len=*), intent(in) :: name
    procedure(named), pointer :: procedure_there
    call c_f_procpointer(function_address, procedure_there)
    call procedure_there(name, int(len_trim(name), c_size_t))
  end subroutine call_named

  subroutine culprit_region_begin(name)
    character(len=*), intent(in) :: name
    if (present_here()) call call_named(calls%region_begin, name)
  end subroutine culprit_region_begin

  subroutine culprit_region_end(name)
    character(len=*), intent(in) :: name
    if (present_here()) call call_named(calls%region_end, name)
  end subroutine culprit_region_end

  subroutine culprit_phase_begin(name)
    character(len=*), intent(in) :: name
    if (present_here()) call call_named(calls%phase_begin, name)
  end subroutine culprit_phase_begin

  subroutine culprit_phase_end(name)
    character(len=*), intent(in) :: name
    if (present_here()) call call_named(calls%phase_end, name)
  end subroutine culprit_phase_end

  subroutine iteration_begin_default(loop, number)
    character(len=*), intent(in) :: loop
    integer(c_int), intent(in) :: number
    call iteration_begin_long(loop, int(number, c_long_long))
  end subroutine iteration_begin_default

  subroutine iteration_begin_long(loop, number)
    character(len=*), intent(in) :: loop
    integer(c_long_long), intent(in) :: number
    procedure(numbered), pointer :: procedure_there
    if (.not. present_here()) return
    call c_f_procpointer(calls%iteration_begin, procedure_there)
    call procedure_there(loop, int(len_trim(loop), c_size_t), number)
  end subroutine iteration_begin_long

  subroutine culprit_iteration_end(loop)
    character(len=*), intent(in) :: loop
    if (present_here()) call call_named(calls%iteration_end, loop)
  end subroutine culprit_iteration_end

  subroutine culprit_recording_off()
    call switch(0_c_int)
  end subroutine culprit_recording_off

  subroutine culprit_recording_on()
    call switch(1_c_int)
  end subroutine culprit_recording_on

  subroutine switch(on)
    integer(c_int), intent(in) :: on
    procedure(switched), pointer :: procedure_there
    if (.not. present_here()) return
    call c_f_procpointer(calls%recording, procedure_there)
    call procedure_there(on)
  end subroutine switch

end module culprit
