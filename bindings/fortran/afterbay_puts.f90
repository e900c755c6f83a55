! SPDX-License-Identifier: Apache-2.0
! Converts Fortran's optional arguments for putting to C's struct.
module afterbay_puts
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  use afterbay_base
  use afterbay_c
  implicit none
  private
  public :: describe_put

contains

  !> If the arguments are refused, `valid` is false, and the error is returned in `ierr` or stops
  !> the program.
  subroutine describe_put(how, variable, valid, record, offset, start, count, ierr)
    type(c_put), intent(inout) :: how
    character(*), intent(in) :: variable
    logical, intent(out) :: valid
    integer, intent(in), optional :: record, offset(:), start(:), count(:)
    integer, intent(out), optional :: ierr
    call record_from_one(variable, record, how%record, valid, ierr)
    if (.not. valid) return
    if (present(offset)) call copy(offset, 0, how%offset_rank, how%offset)
    if (present(start)) then
      valid = all(start >= 1)
      call copy(start, 1, how%start_rank, how%start)
    end if
    if (present(count)) then
      valid = valid .and. all(count >= 0) .and. present(start)
      call copy(count, 0, how%count_rank, how%count)
      if (how%count_rank /= how%start_rank) valid = .false.
    end if
    if (valid .and. how%start_rank <= most_dimensions) return
    valid = .false.
    call check(afterbay_error_set(int(AFTERBAY_INVALID_ARGUMENT, c_int), c_text('`start` and `count` of a section '// &
        'must have one number per dimension; start counts from 1, no count is negative'), c_text(variable)), ierr)
  end subroutine

  subroutine copy(list, base, length, numbers)
    integer, intent(in) :: list(:), base
    integer(c_int), intent(inout) :: length
    integer(c_int64_t), intent(inout) :: numbers(most_dimensions)
    integer :: n
    length = int(size(list), c_int)
    n = min(size(list), most_dimensions)
    numbers(1:n) = int(list(1:n), c_int64_t) - base
  end subroutine
end module
