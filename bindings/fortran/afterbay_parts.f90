! SPDX-License-Identifier: Apache-2.0
! Converts blocks and lists of points, of a rank or an endpoint, to C's form.
module afterbay_parts
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_loc, c_size_t
  use afterbay_base
  use afterbay_c
  implicit none
  private
  public :: block_form, map_form

  !> A box: the slowest dimension first, starts from 0.
  type :: block_form
    integer(c_int64_t), allocatable :: global(:), start(:), count(:)
    integer(c_int) :: code = AFTERBAY_OK
  contains
    procedure :: describe => describe_block
  end type

  !> A list of points, with the data that its C form points to. Valid as long as this object (a
  !> target) is not moved.
  type :: map_form
    type(c_map) :: c
    integer(c_int) :: code = AFTERBAY_OK
    integer(c_int64_t), allocatable, private :: global(:), first(:), lengths(:)
  contains
    procedure :: list_points
    procedure :: list_runs
    procedure, private :: begin
  end type

contains

  subroutine describe_block(self, name, global, start, count)
    class(block_form), intent(inout) :: self
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: global(:), start(:), count(:)
    integer :: n
    n = size(global)
    if (size(start) /= n .or. size(count) /= n .or. any(global < 0) .or. any(start < 1) .or. any(count < 0)) then
      self%code = afterbay_error_set(int(AFTERBAY_INVALID_ARGUMENT, c_int), c_text('the decomposition "'//trim(name)// &
          '": global, start and count must have one number per dimension; start counts from 1, no count is negative'), &
          c_text(''))
      return
    end if
    self%global = global(n:1:-1)
    self%start = start(n:1:-1) - 1
    self%count = count(n:1:-1)
  end subroutine

  !> What all forms of a map have in common.
  subroutine begin(self, global, base, hole, last_fastest)
    class(map_form), intent(inout), target :: self
    integer(c_int64_t), intent(in) :: global(:)
    integer, intent(in), optional :: base, hole
    logical, intent(in), optional :: last_fastest
    self%global = global(size(global):1:-1)
    self%c%rank = int(size(global), c_int)
    self%c%global = c_loc(self%global)
    self%c%base = 1
    if (present(base)) self%c%base = base
    self%c%hole = self%c%base - 1
    if (present(hole)) self%c%hole = hole
    if (present(last_fastest)) self%c%order = merge(1_c_int, 0_c_int, last_fastest)
  end subroutine

  subroutine list_points(self, global, indices, base, hole, last_fastest)
    class(map_form), intent(inout), target :: self
    integer(c_int64_t), intent(in) :: global(:), indices(:)
    integer, intent(in), optional :: base, hole
    logical, intent(in), optional :: last_fastest
    call self%begin(global, base, hole, last_fastest)
    self%first = indices
    self%c%index_count = size(indices, kind=c_size_t)
    if (size(indices) > 0) self%c%indices = c_loc(self%first)
  end subroutine

  subroutine list_runs(self, name, global, offsets, lengths, base, hole, last_fastest)
    class(map_form), intent(inout), target :: self
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: global(:), offsets(:), lengths(:)
    integer, intent(in), optional :: base, hole
    logical, intent(in), optional :: last_fastest
    if (size(offsets) /= size(lengths) .or. any(lengths < 0)) then
      self%code = afterbay_error_set(int(AFTERBAY_INVALID_ARGUMENT, c_int), c_text('the map "'//trim(name)// &
          '": offsets and lengths must have one number per run, no length is negative'), c_text(''))
      return
    end if
    call self%begin(global, base, hole, last_fastest)
    self%first = offsets
    self%lengths = lengths
    self%c%run_count = size(offsets, kind=c_size_t)
    if (size(offsets) == 0) return
    self%c%run_offsets = c_loc(self%first)
    self%c%run_lengths = c_loc(self%lengths)
  end subroutine
end module
