! SPDX-License-Identifier: Apache-2.0
! Converts Fortran's optional arguments for reading to C's struct.
module afterbay_selections
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_loc
  use afterbay_base
  use afterbay_c
  implicit none
  private
  public :: selection

  !> A selection in C form, with the data that it points to. Valid as long as this object (a target)
  !> is not moved.
  type :: selection
    type(c_selection) :: c
    integer :: code = AFTERBAY_OK
    type(c_texts) :: name
    integer(c_int64_t), allocatable :: start(:), count(:)
  contains
    procedure :: describe
  end type

contains

  subroutine describe(self, variable, record, records, decomposition, start, count)
    class(selection), intent(inout), target :: self
    character(*), intent(in) :: variable
    integer, intent(in), optional :: record, records, start(:), count(:)
    character(*), intent(in), optional :: decomposition
    integer :: ierr
    logical :: valid
    call record_from_one(variable, record, self%c%record, valid, ierr)
    if (.not. valid) self%code = ierr
    if (present(records)) then
      self%c%records = int(records, c_int64_t)
      if (records < 1) call refuse(self, variable, '`records` must be 1 or more')
    end if
    if (present(decomposition)) then
      call self%name%hold([decomposition])
      self%c%decomposition = self%name%pointers(1)
    end if
    if (present(start) .neqv. present(count)) call refuse(self, variable, '`start` and `count` are given together')
    if (.not. (present(start) .and. present(count))) return
    if (size(start) /= size(count) .or. any(start < 1) .or. any(count < 0)) then
      call refuse(self, variable, '`start` and `count` must have one number per dimension; start counts from 1, no '// &
          'count is negative')
      return
    end if
    self%start = int(start(size(start):1:-1), c_int64_t) - 1
    self%count = int(count(size(count):1:-1), c_int64_t)
    self%c%rank = int(size(start), c_int)
    if (size(start) == 0) return
    self%c%start = c_loc(self%start)
    self%c%count = c_loc(self%count)
  end subroutine

  subroutine refuse(self, variable, message)
    class(selection), intent(inout) :: self
    character(*), intent(in) :: variable, message
    self%code = afterbay_error_set(int(AFTERBAY_INVALID_ARGUMENT, c_int), c_text(message), c_text(variable))
  end subroutine
end module
