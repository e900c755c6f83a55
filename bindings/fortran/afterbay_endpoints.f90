! SPDX-License-Identifier: Apache-2.0
! Endpoints: further callers of put in a model rank, such as its threads. Bodies that are the same
! for all types are in *.inc.
module afterbay_endpoints
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int, c_int8_t, c_int16_t, c_int32_t, c_int64_t, &
      c_null_char, c_null_ptr, c_ptr, c_size_t
  use afterbay_base
  use afterbay_c
  use afterbay_files, only: afterbay_file, afterbay_slot, file_object, lend
  use afterbay_inputs, only: afterbay_input
  use afterbay_parts, only: block_form, map_form
  use afterbay_puts, only: describe_put
  use afterbay_selections, only: selection
  implicit none
  private
  public :: afterbay_endpoint

  !> A caller of put within a model rank, for example one of its threads, opened by
  !> session%endpoint. Endpoints of a rank hand over their parts at the same time and at their own
  !> pace, without a barrier and without gathering anything. See docs/how-to/threads.md. Copies are
  !> the same endpoint.
  !>
  !> Rules:
  !> - An endpoint is used by one thread at a time; different endpoints by different threads at
  !>   once. Any thread may call its procedures, whatever the level of MPI_Init_thread: they use MPI
  !>   only in the thread that made the last call of the session, while it waits.
  !> - Every point of the rank's part of a decomposition belongs to one endpoint, or to the session
  !>   if no endpoint has a part of it.
  !> - All endpoints put the same records and variables in the same order. Endpoints that hold no
  !>   point of a variable need not put it.
  !> - Each endpoint ends its steps with end_step. A record of the rank is complete when the session
  !>   and all of its endpoints have ended the step.
  !> - Files are opened and closed by the session. file%close, session%flush, epoch and finalize
  !>   wait until every endpoint has ended the steps that the session has ended. From the first
  !>   endpoint that a rank opens, its calls of flush and epoch cover these steps and no others,
  !>   whether it has open endpoints or none.
  !> Errors name rank and endpoint. A refused call leaves endpoint and session usable. All
  !> procedures except number return AFTERBAY_BAD_STATE while another thread is in a call of the
  !> endpoint, and after close.
  type :: afterbay_endpoint
    integer(c_int64_t) :: id = 0
  contains
    procedure, private :: part_int32, part_int64
    !> part(decomposition, global, start, count [, ierr]): registers this endpoint's part of a
    !> decomposition of the rank: a box inside that of the rank, as in session%decomposition
    !> (`start` in the global index space, from 1). Once per decomposition, before the first put of
    !> a variable on it. Does not wait. Errors: AFTERBAY_CONFLICT if it overlaps with that of
    !> another open endpoint, AFTERBAY_INVALID_ARGUMENT if it leaves the rank's part,
    !> AFTERBAY_UNKNOWN_NAME if there is no such decomposition, AFTERBAY_WRONG_TYPE if it is a map.
    generic :: part => part_int32, part_int64
    procedure, private :: part_map_int32, part_map_int64, part_map_runs_int32, part_map_runs_int64
    !> part_map(decomposition, global, indices [, base, hole, last_fastest, ierr]): the same for a
    !> list of points that the rank has, as in session%map. The endpoint's array of a variable has
    !> the list's length. AFTERBAY_WRONG_TYPE if the decomposition is a block.
    generic :: part_map => part_map_int32, part_map_int64
    !> part_map_runs(decomposition, global, offsets, lengths [, base, hole, last_fastest, ierr]):
    !> the same with runs of consecutive points.
    generic :: part_map_runs => part_map_runs_int32, part_map_runs_int64
    procedure :: whole
    procedure, private :: &
        put_int8, put_int16, put_int32, put_int64, &
        put_float32, put_float64, put_text
    !> put(file, variable, data [, record, offset, start, count, ierr]): as file%put, for this
    !> endpoint's part; with `start` for a section of it, as file%put_section. Waits while the
    !> server has no room; if the rank shares no memory with the server, while `memory.endpoints` is
    !> full and the thread that uses the session makes no call. Fails as file%put does;
    !> AFTERBAY_CONFLICT if a value was put before, AFTERBAY_BAD_STATE if this endpoint has no part
    !> of the variable's decomposition.
    generic :: put => &
        put_int8, put_int16, put_int32, put_int64, &
        put_float32, put_float64, put_text
    procedure, private :: &
        try_put_int8, try_put_int16, try_put_int32, try_put_int64, &
        try_put_float32, try_put_float64, try_put_text
    !> try_put(file, variable, data, taken [, record, offset, start, count, ierr]): like put, but
    !> sets `taken` to false instead of waiting if there is no room, as file%try_put does.
    generic :: try_put => &
        try_put_int8, try_put_int16, try_put_int32, try_put_int64, &
        try_put_float32, try_put_float64, try_put_text
    procedure :: acquire
    procedure, private :: &
        get_int8, get_int16, get_int32, get_int64, &
        get_float32, get_float64, get_text
    !> get(input, variable, data [, record, records, decomposition, start, count, offset, ierr]): as
    !> input%get, by an endpoint, whose thread may read at the same time as others. `decomposition`
    !> stands for this endpoint's part of it. Waits until the data have been read; if the rank
    !> shares no memory with the servers, also until the thread that uses the session calls it.
    !> Fails as input%get does; AFTERBAY_BAD_STATE if the endpoint has no part of the decomposition,
    !> and with inline servers in synchronous mode.
    generic :: get => &
        get_int8, get_int16, get_int32, get_int64, &
        get_float32, get_float64, get_text
    procedure :: end_step
    procedure :: close => close_endpoint
    procedure :: number
  end type

contains

  subroutine part_int32(self, decomposition, global, start, count, ierr)
    class(afterbay_endpoint), intent(in) :: self
    character(*), intent(in) :: decomposition
    integer(c_int32_t), intent(in) :: global(:), start(:), count(:)
    integer, intent(out), optional :: ierr
    call self%part_int64(decomposition, int(global, c_int64_t), int(start, c_int64_t), int(count, c_int64_t), ierr)
  end subroutine

  subroutine part_int64(self, decomposition, global, start, count, ierr)
    class(afterbay_endpoint), intent(in) :: self
    character(*), intent(in) :: decomposition
    integer(c_int64_t), intent(in) :: global(:), start(:), count(:)
    integer, intent(out), optional :: ierr
    type(block_form) :: block
    call block%describe(decomposition, global, start, count)
    if (block%code == AFTERBAY_OK) block%code = afterbay_endpoint_part(afterbay_fortran_endpoint(self%id), &
        c_text(decomposition), int(size(global), c_int), block%global, block%start, block%count)
    call check(block%code, ierr)
  end subroutine

  subroutine part_map_int32(self, decomposition, global, indices, base, hole, last_fastest, ierr)
    class(afterbay_endpoint), intent(in) :: self
    character(*), intent(in) :: decomposition
    integer(c_int32_t), intent(in) :: global(:), indices(:)
    integer, intent(in), optional :: base, hole
    logical, intent(in), optional :: last_fastest
    integer, intent(out), optional :: ierr
    call self%part_map_int64(decomposition, int(global, c_int64_t), int(indices, c_int64_t), base, hole, last_fastest, ierr)
  end subroutine

  subroutine part_map_int64(self, decomposition, global, indices, base, hole, last_fastest, ierr)
    class(afterbay_endpoint), intent(in) :: self
    character(*), intent(in) :: decomposition
    integer(c_int64_t), intent(in) :: global(:), indices(:)
    integer, intent(in), optional :: base, hole
    logical, intent(in), optional :: last_fastest
    integer, intent(out), optional :: ierr
    type(map_form), target :: map
    call map%list_points(global, indices, base, hole, last_fastest)
    call check(afterbay_endpoint_part_map(afterbay_fortran_endpoint(self%id), c_text(decomposition), map%c), ierr)
  end subroutine

  subroutine part_map_runs_int32(self, decomposition, global, offsets, lengths, base, hole, last_fastest, ierr)
    class(afterbay_endpoint), intent(in) :: self
    character(*), intent(in) :: decomposition
    integer(c_int32_t), intent(in) :: global(:), offsets(:), lengths(:)
    integer, intent(in), optional :: base, hole
    logical, intent(in), optional :: last_fastest
    integer, intent(out), optional :: ierr
    call self%part_map_runs_int64(decomposition, int(global, c_int64_t), int(offsets, c_int64_t), &
        int(lengths, c_int64_t), base, hole, last_fastest, ierr)
  end subroutine

  subroutine part_map_runs_int64(self, decomposition, global, offsets, lengths, base, hole, last_fastest, ierr)
    class(afterbay_endpoint), intent(in) :: self
    character(*), intent(in) :: decomposition
    integer(c_int64_t), intent(in) :: global(:), offsets(:), lengths(:)
    integer, intent(in), optional :: base, hole
    logical, intent(in), optional :: last_fastest
    integer, intent(out), optional :: ierr
    type(map_form), target :: map
    call map%list_runs(decomposition, global, offsets, lengths, base, hole, last_fastest)
    if (map%code == AFTERBAY_OK) &
        map%code = afterbay_endpoint_part_map(afterbay_fortran_endpoint(self%id), c_text(decomposition), map%c)
    call check(map%code, ierr)
  end subroutine

  !> Registers all of the rank's part of a decomposition; without a name all variables without a
  !> decomposition. Fails as part does.
  subroutine whole(self, decomposition, ierr)
    class(afterbay_endpoint), intent(in) :: self
    character(*), intent(in), optional :: decomposition
    integer, intent(out), optional :: ierr
    if (present(decomposition)) then
      call check(afterbay_endpoint_whole(afterbay_fortran_endpoint(self%id), c_text(decomposition)), ierr)
    else
      call check(afterbay_endpoint_whole(afterbay_fortran_endpoint(self%id), [c_null_char]), ierr)
    end if
  end subroutine

  !> As file%acquire, for this endpoint's part. Waits only if this endpoint is 32 records ahead of
  !> others of its rank. Fails as put does. The slot is used by this endpoint's thread.
  subroutine acquire(self, file, variable, slot, type, record, ierr)
    class(afterbay_endpoint), intent(in) :: self
    type(afterbay_file), intent(in) :: file
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
    code = afterbay_endpoint_acquire(afterbay_fortran_endpoint(self%id), file_object(file), c_text(variable), &
        from_zero, int(type, c_int), acquired)
    call lend(slot, type, acquired)
    call check(code, ierr)
  end subroutine

  !> Ends the step for this endpoint, which may go on to the next one at once. Does not wait.
  !> AFTERBAY_BAD_STATE while a slot is not committed, or if it has put only sections of its part of
  !> a variable. If this was the last endpoint to end the step, and a part of the rank was not put
  !> by any, that error ends the session.
  subroutine end_step(self, ierr)
    class(afterbay_endpoint), intent(in) :: self
    integer, intent(out), optional :: ierr
    call check(afterbay_endpoint_end_step(afterbay_fortran_endpoint(self%id)), ierr)
  end subroutine

  !> Ends the use of the endpoint. Its parts can be taken over by others, from the next put on. Does
  !> not wait. AFTERBAY_BAD_STATE as for end_step: the endpoint stays open.
  subroutine close_endpoint(self, ierr)
    class(afterbay_endpoint), intent(inout) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = afterbay_endpoint_close(afterbay_fortran_endpoint(self%id))
    call afterbay_fortran_end_endpoint(self%id)
    call check(code, ierr)
  end subroutine

  !> The endpoint's number within its rank, from 1, as in messages. Does not wait.
  integer function number(self, ierr)
    class(afterbay_endpoint), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: found
    found = 0
    call check(afterbay_endpoint_number(afterbay_fortran_endpoint(self%id), found), ierr)
    number = int(found)
  end function

  subroutine put_int8(self, file, variable, data, record, offset, start, count, ierr)
    integer(c_int8_t), intent(in) :: data(..)
    include 'endpoint_put.inc'
  end subroutine

  subroutine put_int16(self, file, variable, data, record, offset, start, count, ierr)
    integer(c_int16_t), intent(in) :: data(..)
    include 'endpoint_put.inc'
  end subroutine

  subroutine put_int32(self, file, variable, data, record, offset, start, count, ierr)
    integer(c_int32_t), intent(in) :: data(..)
    include 'endpoint_put.inc'
  end subroutine

  subroutine put_int64(self, file, variable, data, record, offset, start, count, ierr)
    integer(c_int64_t), intent(in) :: data(..)
    include 'endpoint_put.inc'
  end subroutine

  subroutine put_float32(self, file, variable, data, record, offset, start, count, ierr)
    real(c_float), intent(in) :: data(..)
    include 'endpoint_put.inc'
  end subroutine

  subroutine put_float64(self, file, variable, data, record, offset, start, count, ierr)
    real(c_double), intent(in) :: data(..)
    include 'endpoint_put.inc'
  end subroutine

  subroutine put_text(self, file, variable, data, record, offset, start, count, ierr)
    character(*), intent(in) :: data(..)
    include 'endpoint_put.inc'
  end subroutine

  subroutine try_put_int8(self, file, variable, data, taken, record, offset, start, count, ierr)
    integer(c_int8_t), intent(in) :: data(..)
    include 'endpoint_try_put.inc'
  end subroutine

  subroutine try_put_int16(self, file, variable, data, taken, record, offset, start, count, ierr)
    integer(c_int16_t), intent(in) :: data(..)
    include 'endpoint_try_put.inc'
  end subroutine

  subroutine try_put_int32(self, file, variable, data, taken, record, offset, start, count, ierr)
    integer(c_int32_t), intent(in) :: data(..)
    include 'endpoint_try_put.inc'
  end subroutine

  subroutine try_put_int64(self, file, variable, data, taken, record, offset, start, count, ierr)
    integer(c_int64_t), intent(in) :: data(..)
    include 'endpoint_try_put.inc'
  end subroutine

  subroutine try_put_float32(self, file, variable, data, taken, record, offset, start, count, ierr)
    real(c_float), intent(in) :: data(..)
    include 'endpoint_try_put.inc'
  end subroutine

  subroutine try_put_float64(self, file, variable, data, taken, record, offset, start, count, ierr)
    real(c_double), intent(in) :: data(..)
    include 'endpoint_try_put.inc'
  end subroutine

  subroutine try_put_text(self, file, variable, data, taken, record, offset, start, count, ierr)
    character(*), intent(in) :: data(..)
    include 'endpoint_try_put.inc'
  end subroutine

  subroutine get_int8(self, input, variable, data, record, records, decomposition, start, count, offset, ierr)
    integer(c_int8_t), intent(inout) :: data(..)
    include 'endpoint_get.inc'
  end subroutine

  subroutine get_int16(self, input, variable, data, record, records, decomposition, start, count, offset, ierr)
    integer(c_int16_t), intent(inout) :: data(..)
    include 'endpoint_get.inc'
  end subroutine

  subroutine get_int32(self, input, variable, data, record, records, decomposition, start, count, offset, ierr)
    integer(c_int32_t), intent(inout) :: data(..)
    include 'endpoint_get.inc'
  end subroutine

  subroutine get_int64(self, input, variable, data, record, records, decomposition, start, count, offset, ierr)
    integer(c_int64_t), intent(inout) :: data(..)
    include 'endpoint_get.inc'
  end subroutine

  subroutine get_float32(self, input, variable, data, record, records, decomposition, start, count, offset, ierr)
    real(c_float), intent(inout) :: data(..)
    include 'endpoint_get.inc'
  end subroutine

  subroutine get_float64(self, input, variable, data, record, records, decomposition, start, count, offset, ierr)
    real(c_double), intent(inout) :: data(..)
    include 'endpoint_get.inc'
  end subroutine

  subroutine get_text(self, input, variable, data, record, records, decomposition, start, count, offset, ierr)
    character(*), intent(inout) :: data(..)
    include 'endpoint_get.inc'
  end subroutine
end module
