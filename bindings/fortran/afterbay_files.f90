! SPDX-License-Identifier: Apache-2.0
! Collections, files and slots. Bodies that are the same for all types are in *.inc.
module afterbay_files
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int, c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_loc, &
      c_null_char, c_null_ptr, c_ptr, c_size_t
  use afterbay_base
  use afterbay_c
  use afterbay_puts, only: describe_put
  use afterbay_schemas, only: afterbay_changes
  implicit none
  private
  public :: afterbay_collection, afterbay_file, afterbay_slot, file_object, lend

  !> Memory in the server's own buffer for this rank's part of a variable, to be computed in place.
  !> It has one or more parts (large fields are cut), which together cover the rank's part.
  type :: afterbay_slot
    integer(c_int64_t), private :: id = 0
    integer(c_int), private :: type = 0
  contains
    procedure :: part_count
    procedure, private :: &
        part_int8, part_int16, part_int32, part_int64, &
        part_float32, part_float64
    !> part(number, data [, ierr]): associates the pointer `data`, of the slot's type and the
    !> variable's rank (without the record dimension), with part `number` (from 1). Its bounds are
    !> the global indices of the points, from 1. Must not be used after commit.
    generic :: part => &
        part_int8, part_int16, part_int32, part_int64, &
        part_float32, part_float64
    procedure :: is_direct
    procedure :: commit
    procedure :: abandon
  end type

  !> A file open for output on this rank. Copies are the same file: when one is closed, all are.
  type :: afterbay_file
    integer(c_int64_t), private :: id = 0
  contains
    procedure, private :: &
        put_int8, put_int16, put_int32, put_int64, &
        put_float32, put_float64, put_text
    !> put(variable, data [, record, offset, ierr]): puts this rank's part of a variable for a
    !> record (from 1; omit it for a variable without the unlimited dimension). `data`: array of any
    !> rank 0 to 7, kind and layout, including sections, used without a copy; its shape is that of
    !> the rank's part. With `offset`, the part begins after offset(i) elements along dimension i
    !> (halos) and `data` may be larger. Text of length n > 1 adds a fastest dimension n. Returns
    !> when the data have been copied; waits only while the server has no room. Errors:
    !> AFTERBAY_WRONG_TYPE (the type does not fit, or a value is out of range of the type in the
    !> file), AFTERBAY_UNKNOWN_NAME (there is no such variable), AFTERBAY_INVALID_ARGUMENT (an
    !> invalid record, or an array of another shape), AFTERBAY_CONFLICT (the record was put before),
    !> AFTERBAY_BAD_STATE (after close); in these cases no data were taken. Every model rank calls
    !> it, also those that hold nothing.
    generic :: put => &
        put_int8, put_int16, put_int32, put_int64, &
        put_float32, put_float64, put_text
    procedure, private :: &
        put_section_int8, put_section_int16, put_section_int32, put_section_int64, &
        put_section_float32, put_section_float64, put_section_text
    !> put_section(variable, data, start [, count, record, offset, ierr]): puts a section of this
    !> rank's part; further calls put the others, in any order, also between sections of other
    !> variables. `start` and `count`: a number per dimension of the part, without that of the
    !> records, counted from 1 in the part (in the list of points on a map). `count` may be omitted
    !> without `offset`: it is the shape of `data` then, and 1 in further dimensions. `data` may
    !> lack dimensions in which the section has length 1: a field of one level. Ranks may cut their
    !> parts differently. The record is complete on this rank when all of its part has been put;
    !> until then session%end_step is refused. Waits and fails as put does; AFTERBAY_CONFLICT if a
    !> value was put before, AFTERBAY_INVALID_ARGUMENT for a section that leaves the part.
    generic :: put_section => &
        put_section_int8, put_section_int16, put_section_int32, put_section_int64, &
        put_section_float32, put_section_float64, put_section_text
    procedure, private :: &
        try_put_int8, try_put_int16, try_put_int32, try_put_int64, &
        try_put_float32, try_put_float64, try_put_text
    !> try_put(variable, data, taken [, record, offset, ierr]): like put, but sets `taken` to false
    !> instead of waiting if there is no room; no data were taken then. Needs room for the rank's
    !> whole part at once: AFTERBAY_RESOURCES if the server's memory is smaller. A try_put that has
    !> been refused for half the deadline waits as put does. Fails as put does otherwise.
    generic :: try_put => &
        try_put_int8, try_put_int16, try_put_int32, try_put_int64, &
        try_put_float32, try_put_float64, try_put_text
    procedure, private :: put_string, put_string_list
    !> put_strings(variable, values [, record, ierr]): puts all values of a string variable, without
    !> their trailing blanks. Every model rank calls it; the values of the lowest model rank are
    !> written. Waits only on that rank, and only while the server's memory for strings is full.
    !> Fails as put does; AFTERBAY_INVALID_ARGUMENT for a wrong number of values.
    generic :: put_strings => put_string, put_string_list
    procedure :: acquire
    procedure :: path
    procedure :: records => records_of_file
    procedure :: close => close_file
  end type

  !> A kind of file. Copies are the same collection; `free` releases the handle.
  type :: afterbay_collection
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => open_file
    procedure :: name => collection_name
    procedure :: free => free_collection
  end type

  interface part_pointer
    integer(c_int) function part_pointer_int8(slot, number, type, data) bind(C, name='afterbay_fortran_part')
      import :: c_int, c_ptr, c_int8_t
      type(c_ptr), value :: slot
      integer(c_int), value :: number, type
      integer(c_int8_t), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function part_pointer_int16(slot, number, type, data) bind(C, name='afterbay_fortran_part')
      import :: c_int, c_ptr, c_int16_t
      type(c_ptr), value :: slot
      integer(c_int), value :: number, type
      integer(c_int16_t), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function part_pointer_int32(slot, number, type, data) bind(C, name='afterbay_fortran_part')
      import :: c_int, c_ptr, c_int32_t
      type(c_ptr), value :: slot
      integer(c_int), value :: number, type
      integer(c_int32_t), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function part_pointer_int64(slot, number, type, data) bind(C, name='afterbay_fortran_part')
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: slot
      integer(c_int), value :: number, type
      integer(c_int64_t), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function part_pointer_float32(slot, number, type, data) bind(C, name='afterbay_fortran_part')
      import :: c_int, c_ptr, c_float
      type(c_ptr), value :: slot
      integer(c_int), value :: number, type
      real(c_float), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function part_pointer_float64(slot, number, type, data) bind(C, name='afterbay_fortran_part')
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: slot
      integer(c_int), value :: number, type
      real(c_double), pointer, intent(inout) :: data(..)
    end function
  end interface

contains

  !> Opens a file: `name` as it is, or the collection's template with step, member and date (ISO
  !> 8601) filled in. `changes` apply to this file only; those of the lowest model rank are applied.
  !> Each rank checks those that it gives: give the same ones on all, so that all refuse.
  !> Every model rank calls it. The server creates the file in the background; a later call reports
  !> that the file exists already or cannot be created. Waits as session%start does if there are new
  !> definitions; with the placement or pool choice `least`, until a server is chosen; for all model
  !> ranks, if the server gets the collection's maps now (setting `memory.maps`); and, on the lowest
  !> model rank, until an older file of the same path is published, if another server wrote it.
  !> AFTERBAY_CONFLICT if this session has the path open, or if `changes` contradict how values are
  !> rounded or packed for all files of the collection; AFTERBAY_INVALID_ARGUMENT,
  !> AFTERBAY_UNKNOWN_NAME and AFTERBAY_WRONG_TYPE for the name and `changes`. What the server finds
  !> ends the session, and a later call returns it: AFTERBAY_EXISTS, AFTERBAY_CONFLICT, AFTERBAY_IO,
  !> AFTERBAY_FORMAT.
  subroutine open_file(self, file, name, step, member, date, changes, ierr)
    class(afterbay_collection), intent(in) :: self
    type(afterbay_file), intent(out) :: file
    character(*), intent(in), optional :: name, date
    integer, intent(in), optional :: step, member
    type(afterbay_changes), intent(in), optional :: changes
    integer, intent(out), optional :: ierr
    type(c_file_name) :: wanted
    type(c_texts), target :: texts
    type(c_ptr) :: changes_handle, opened
    integer(c_int) :: code
    character(:), allocatable :: both(:)
    allocate (character(len=max(length_of(name), length_of(date), 1)) :: both(2))
    both = ''
    if (present(name)) both(1) = name
    if (present(date)) both(2) = date
    call texts%hold(both)
    if (present(name)) wanted%name = texts%pointers(1)
    if (present(date)) wanted%date = texts%pointers(2)
    if (present(step)) then
      wanted%has_step = 1
      wanted%step = step
    end if
    if (present(member)) then
      wanted%has_member = 1
      wanted%member = member
    end if
    changes_handle = c_null_ptr
    if (present(changes)) changes_handle = changes%handle
    opened = c_null_ptr
    code = afterbay_collection_open(self%handle, wanted, changes_handle, opened)
    file%id = afterbay_fortran_keep_file(opened)
    call check(code, ierr)
  end subroutine

  pure integer function length_of(text)
    character(*), intent(in), optional :: text
    length_of = 0
    if (present(text)) length_of = len(text)
  end function

  !> The collection's name. Does not wait.
  function collection_name(self, ierr) result(name)
    class(afterbay_collection), intent(in) :: self
    integer, intent(out), optional :: ierr
    character(:), allocatable :: name
    type(c_ptr) :: text
    text = c_null_ptr
    call check(afterbay_collection_name(self%handle, text), ierr)
    name = f_text(text)
  end function

  !> Releases the handle only; files of the collection stay open.
  subroutine free_collection(self)
    class(afterbay_collection), intent(inout) :: self
    call afterbay_collection_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  !> The file's final path. Does not wait.
  function path(self, ierr) result(text)
    class(afterbay_file), intent(in) :: self
    integer, intent(out), optional :: ierr
    character(:), allocatable :: text
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    call check(afterbay_file_path(afterbay_fortran_file(self%id), pointer), ierr)
    text = f_text(pointer)
  end function

  !> The number of records in the file when it was opened: 0, or with existing='append' the number
  !> of the last one. Every model rank calls it. Waits until the server has opened the file.
  !> AFTERBAY_BAD_STATE after close.
  integer function records_of_file(self, ierr)
    class(afterbay_file), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: records
    records = 0
    call check(afterbay_file_records(afterbay_fortran_file(self%id), records), ierr)
    records_of_file = int(records)
  end function

  !> Ends this rank's output to the file; it is published when all ranks have closed it. The ticket
  !> is complete when the file is durable under its final name. Does not wait, except for endpoints.
  !> Refused (AFTERBAY_BAD_STATE) while a slot is not committed, or sections are missing: the file
  !> stays open.
  subroutine close_file(self, ticket, ierr)
    class(afterbay_file), intent(inout) :: self
    type(afterbay_ticket), intent(out), optional :: ticket
    integer, intent(out), optional :: ierr
    type(afterbay_ticket) :: closed
    integer(c_int) :: code
    code = afterbay_file_close(afterbay_fortran_file(self%id), closed)
    call afterbay_fortran_end_file(self%id)
    if (present(ticket)) ticket = closed
    call check(code, ierr)
  end subroutine

  subroutine put_string(self, variable, values, record, ierr)
    class(afterbay_file), intent(in) :: self
    character(*), intent(in) :: variable, values
    integer, intent(in), optional :: record
    integer, intent(out), optional :: ierr
    call self%put_string_list(variable, [values], record, ierr)
  end subroutine

  subroutine put_string_list(self, variable, values, record, ierr)
    class(afterbay_file), intent(in) :: self
    character(*), intent(in) :: variable, values(:)
    integer, intent(in), optional :: record
    integer, intent(out), optional :: ierr
    type(c_texts), target :: texts
    integer(c_int64_t) :: from_zero
    logical :: valid
    call record_from_one(variable, record, from_zero, valid, ierr)
    if (.not. valid) return
    call texts%hold(values)
    call check(afterbay_file_put_strings(afterbay_fortran_file(self%id), c_text(variable), from_zero, &
        size(values, kind=c_size_t), texts%pointers), ierr)
  end subroutine

  !> Lends memory for this rank's part of a variable, filled through slot%part with values of `type`
  !> (AFTERBAY_FLOAT64, ...) and put by slot%commit. Does not wait for room. From then on the record
  !> counts as put. Fails as put does.
  subroutine acquire(self, variable, slot, type, record, ierr)
    class(afterbay_file), intent(in) :: self
    character(*), intent(in) :: variable
    type(afterbay_slot), intent(out) :: slot
    integer, intent(in) :: type
    integer, intent(in), optional :: record
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: from_zero
    integer(c_int) :: code
    type(c_ptr) :: acquired
    logical :: valid
    call record_from_one(variable, record, from_zero, valid, ierr)
    if (.not. valid) return
    acquired = c_null_ptr
    code = afterbay_file_acquire(afterbay_fortran_file(self%id), c_text(variable), from_zero, int(type, c_int), acquired)
    call lend(slot, type, acquired)
    call check(code, ierr)
  end subroutine

  !> For the library: the C object of a file.
  type(c_ptr) function file_object(file)
    type(afterbay_file), intent(in) :: file
    file_object = afterbay_fortran_file(file%id)
  end function

  !> For the library: `slot` becomes the handle of an acquired C object, unless that is null.
  subroutine lend(slot, type, acquired)
    type(afterbay_slot), intent(inout) :: slot
    integer, intent(in) :: type
    type(c_ptr), intent(in) :: acquired
    slot%type = int(type, c_int)
    slot%id = afterbay_fortran_keep_slot(acquired)
  end subroutine

  !> The number of parts; 0 if this rank holds nothing.
  integer function part_count(self, ierr)
    class(afterbay_slot), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: count
    count = 0
    call check(afterbay_slot_part_count(afterbay_fortran_slot(self%id), count), ierr)
    part_count = int(count)
  end function

  !> True: the parts lie in the server's buffer; false: in a private array that commit copies.
  logical function is_direct(self, ierr)
    class(afterbay_slot), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: direct
    direct = 0
    call check(afterbay_slot_is_direct(afterbay_fortran_slot(self%id), direct), ierr)
    is_direct = direct /= 0
  end function

  !> Puts the data in the slot. A private array is copied, which waits as put does.
  !> AFTERBAY_WRONG_TYPE if it contains values out of range of the type in the file: the slot stays
  !> uncommitted, and can be committed again.
  subroutine commit(self, ierr)
    class(afterbay_slot), intent(inout) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = afterbay_slot_commit(afterbay_fortran_slot(self%id))
    call afterbay_fortran_end_slot(self%id)
    call check(code, ierr)
  end subroutine

  !> Releases the slot without a commit: the record stays incomplete.
  subroutine abandon(self)
    class(afterbay_slot), intent(inout) :: self
    call afterbay_fortran_drop_slot(self%id)
  end subroutine

  subroutine put_int8(self, variable, data, record, offset, ierr)
    integer(c_int8_t), intent(in) :: data(..)
    include 'file_put.inc'
  end subroutine

  subroutine put_int16(self, variable, data, record, offset, ierr)
    integer(c_int16_t), intent(in) :: data(..)
    include 'file_put.inc'
  end subroutine

  subroutine put_int32(self, variable, data, record, offset, ierr)
    integer(c_int32_t), intent(in) :: data(..)
    include 'file_put.inc'
  end subroutine

  subroutine put_int64(self, variable, data, record, offset, ierr)
    integer(c_int64_t), intent(in) :: data(..)
    include 'file_put.inc'
  end subroutine

  subroutine put_float32(self, variable, data, record, offset, ierr)
    real(c_float), intent(in) :: data(..)
    include 'file_put.inc'
  end subroutine

  subroutine put_float64(self, variable, data, record, offset, ierr)
    real(c_double), intent(in) :: data(..)
    include 'file_put.inc'
  end subroutine

  subroutine put_text(self, variable, data, record, offset, ierr)
    character(*), intent(in) :: data(..)
    include 'file_put.inc'
  end subroutine

  subroutine put_section_int8(self, variable, data, start, count, record, offset, ierr)
    integer(c_int8_t), intent(in) :: data(..)
    include 'file_put_section.inc'
  end subroutine

  subroutine put_section_int16(self, variable, data, start, count, record, offset, ierr)
    integer(c_int16_t), intent(in) :: data(..)
    include 'file_put_section.inc'
  end subroutine

  subroutine put_section_int32(self, variable, data, start, count, record, offset, ierr)
    integer(c_int32_t), intent(in) :: data(..)
    include 'file_put_section.inc'
  end subroutine

  subroutine put_section_int64(self, variable, data, start, count, record, offset, ierr)
    integer(c_int64_t), intent(in) :: data(..)
    include 'file_put_section.inc'
  end subroutine

  subroutine put_section_float32(self, variable, data, start, count, record, offset, ierr)
    real(c_float), intent(in) :: data(..)
    include 'file_put_section.inc'
  end subroutine

  subroutine put_section_float64(self, variable, data, start, count, record, offset, ierr)
    real(c_double), intent(in) :: data(..)
    include 'file_put_section.inc'
  end subroutine

  subroutine put_section_text(self, variable, data, start, count, record, offset, ierr)
    character(*), intent(in) :: data(..)
    include 'file_put_section.inc'
  end subroutine

  subroutine try_put_int8(self, variable, data, taken, record, offset, ierr)
    integer(c_int8_t), intent(in) :: data(..)
    include 'file_try_put.inc'
  end subroutine

  subroutine try_put_int16(self, variable, data, taken, record, offset, ierr)
    integer(c_int16_t), intent(in) :: data(..)
    include 'file_try_put.inc'
  end subroutine

  subroutine try_put_int32(self, variable, data, taken, record, offset, ierr)
    integer(c_int32_t), intent(in) :: data(..)
    include 'file_try_put.inc'
  end subroutine

  subroutine try_put_int64(self, variable, data, taken, record, offset, ierr)
    integer(c_int64_t), intent(in) :: data(..)
    include 'file_try_put.inc'
  end subroutine

  subroutine try_put_float32(self, variable, data, taken, record, offset, ierr)
    real(c_float), intent(in) :: data(..)
    include 'file_try_put.inc'
  end subroutine

  subroutine try_put_float64(self, variable, data, taken, record, offset, ierr)
    real(c_double), intent(in) :: data(..)
    include 'file_try_put.inc'
  end subroutine

  subroutine try_put_text(self, variable, data, taken, record, offset, ierr)
    character(*), intent(in) :: data(..)
    include 'file_try_put.inc'
  end subroutine

  subroutine part_int8(self, number, data, ierr)
    integer(c_int8_t), pointer, intent(inout) :: data(..)
    include 'slot_part.inc'
  end subroutine

  subroutine part_int16(self, number, data, ierr)
    integer(c_int16_t), pointer, intent(inout) :: data(..)
    include 'slot_part.inc'
  end subroutine

  subroutine part_int32(self, number, data, ierr)
    integer(c_int32_t), pointer, intent(inout) :: data(..)
    include 'slot_part.inc'
  end subroutine

  subroutine part_int64(self, number, data, ierr)
    integer(c_int64_t), pointer, intent(inout) :: data(..)
    include 'slot_part.inc'
  end subroutine

  subroutine part_float32(self, number, data, ierr)
    real(c_float), pointer, intent(inout) :: data(..)
    include 'slot_part.inc'
  end subroutine

  subroutine part_float64(self, number, data, ierr)
    real(c_double), pointer, intent(inout) :: data(..)
    include 'slot_part.inc'
  end subroutine
end module
