! SPDX-License-Identifier: Apache-2.0
! Constants, errors and text, for the other modules of the binding.
module afterbay_base
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char, c_ptr, c_associated, c_f_pointer, &
      c_loc, c_null_ptr, c_size_t
  use afterbay_c, only: c_error_info, afterbay_last_error_info, c_error_name, &
      afterbay_error_set, afterbay_stop, c_version, c_strlen
  implicit none
  private
  public :: afterbay_error, afterbay_last_error, afterbay_error_name, afterbay_version
  public :: afterbay_stop, check, c_text, f_text, c_texts, hold_optional, record_from_one

  !> An error code, returned in `ierr`.
  integer, parameter, public :: AFTERBAY_OK = 0, AFTERBAY_INVALID_ARGUMENT = 1, AFTERBAY_UNKNOWN_NAME = 2, &
      AFTERBAY_WRONG_TYPE = 3, AFTERBAY_CONFLICT = 4, AFTERBAY_BAD_STATE = 5, AFTERBAY_WOULD_BLOCK = 6, &
      AFTERBAY_TIMED_OUT = 7, AFTERBAY_PEER_LOST = 8, AFTERBAY_EXISTS = 9, AFTERBAY_NO_SPACE = 10, &
      AFTERBAY_IO = 11, AFTERBAY_FORMAT = 12, AFTERBAY_RESOURCES = 13, AFTERBAY_MPI = 14, AFTERBAY_INTERNAL = 15, &
      AFTERBAY_STOPPED = 16
  !> An atomic type of netCDF-4.
  integer, parameter, public :: AFTERBAY_INT8 = 1, AFTERBAY_TEXT = 2, AFTERBAY_INT16 = 3, AFTERBAY_INT32 = 4, &
      AFTERBAY_FLOAT32 = 5, AFTERBAY_FLOAT64 = 6, AFTERBAY_UINT8 = 7, AFTERBAY_UINT16 = 8, AFTERBAY_UINT32 = 9, &
      AFTERBAY_INT64 = 10, AFTERBAY_UINT64 = 11, AFTERBAY_STRING = 12
  !> The role of this process: options%set_role.
  integer, parameter, public :: AFTERBAY_ROLE_AUTOMATIC = 0, AFTERBAY_ROLE_MODEL = 1, AFTERBAY_ROLE_SERVER = 2
  !> What happens to a point of a map that is listed more than once.
  integer, parameter, public :: AFTERBAY_REPEATS_REFUSED = 0, AFTERBAY_REPEATS_FIRST = 1, AFTERBAY_REPEATS_LAST = 2
  !> Which state of a file that this session itself writes is read: after everything closed before
  !> under this name, the file under its final name as it is now, or as of the last epoch.
  integer, parameter, public :: AFTERBAY_AS_OF_CLOSED = 0, AFTERBAY_AS_OF_PUBLISHED = 1, AFTERBAY_AS_OF_EPOCH = 2
  !> The length of a dimension that grows with the records.
  integer, parameter, public :: AFTERBAY_UNLIMITED = 0

  !> An error: what failed and where. Text is empty if it is unknown.
  type :: afterbay_error
    integer :: code = AFTERBAY_OK  !< AFTERBAY_NO_SPACE, ...
    integer :: rank = -1   !< rank in the session's communicator; -1: unknown
    integer :: native = 0  !< errno, or the code of MPI, netCDF or HDF5; 0: none
    character(:), allocatable :: message   !< what happened and what to do
    character(:), allocatable :: file      !< empty: unknown
    character(:), allocatable :: variable  !< empty: unknown
    character(:), allocatable :: text      !< complete text
  end type

  !> Texts in C form: pointers(i) points to the i-th, without trailing blanks. Valid as long as this
  !> object (a target) is not moved.
  type :: c_texts
    character(kind=c_char), allocatable :: characters(:)
    type(c_ptr), allocatable :: pointers(:)
  contains
    procedure :: hold
  end type

contains

  !> The last error of this thread, whose code `ierr` contains.
  function afterbay_last_error() result(error)
    type(afterbay_error) :: error
    type(c_error_info) :: info
    call afterbay_last_error_info(info)
    error%code = info%code
    error%rank = info%rank
    error%native = info%native
    error%message = f_text(info%message)
    error%file = f_text(info%file)
    error%variable = f_text(info%variable)
    error%text = f_text(info%text)
  end function

  !> The name of an error code: 'no_space', 'peer_lost', ...
  function afterbay_error_name(code) result(name)
    integer, intent(in) :: code
    character(:), allocatable :: name
    name = f_text(c_error_name(int(code, c_int)))
  end function

  !> 'major.minor.patch' of the library that the program runs with.
  function afterbay_version() result(version)
    character(:), allocatable :: version
    version = f_text(c_version())
  end function

  !> Assigns `code` to `ierr`; without ierr an error stops the program. One rank, or a server,
  !> prints the message.
  subroutine check(code, ierr)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: ierr
    if (present(ierr)) then
      ierr = code
    else if (code /= AFTERBAY_OK) then
      call afterbay_stop()
    end if
  end subroutine

  !> Without trailing blanks, NUL-terminated.
  pure function c_text(text) result(ended)
    character(*), intent(in) :: text
    character(len=len_trim(text) + 1, kind=c_char) :: ended
    ended = trim(text)//c_null_char
  end function

  function f_text(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    if (.not. c_associated(text)) then
      copy = ''
      return
    end if
    call c_f_pointer(text, characters, [c_strlen(text)])
    allocate (character(len=size(characters)) :: copy)
    do i = 1, size(characters)
      copy(i:i) = characters(i)
    end do
  end function

  subroutine hold(self, texts)
    class(c_texts), intent(inout), target :: self
    character(*), intent(in) :: texts(:)
    integer :: i, j, place
    allocate (self%characters(max(1, sum(len_trim(texts) + 1))), self%pointers(max(1, size(texts))))
    self%pointers = c_null_ptr
    place = 0
    do i = 1, size(texts)
      self%pointers(i) = c_loc(self%characters(place + 1))
      do j = 1, len_trim(texts(i))
        self%characters(place + j) = texts(i)(j:j)
      end do
      place = place + len_trim(texts(i)) + 1
      self%characters(place) = c_null_char
    end do
  end subroutine

  !> `pointer` becomes that of a text, which `texts` holds; absent: it is unchanged.
  subroutine hold_optional(texts, text, pointer)
    type(c_texts), intent(inout), target :: texts
    character(*), intent(in), optional :: text
    type(c_ptr), intent(inout) :: pointer
    if (.not. present(text)) return
    call texts%hold([text])
    pointer = texts%pointers(1)
  end subroutine

  !> An optional record number, counted from 1, converted to C's, counted from 0; absent: none. If
  !> it is below 1, `valid` is false, and the error is returned in `ierr` or stops the program.
  subroutine record_from_one(variable, record, from_zero, valid, ierr)
    character(*), intent(in) :: variable
    integer, intent(in), optional :: record
    integer(c_int64_t), intent(out) :: from_zero
    logical, intent(out) :: valid
    integer, intent(out), optional :: ierr
    character(len=80) :: message
    from_zero = -1  ! AFTERBAY_NO_RECORD
    valid = .true.
    if (.not. present(record)) return
    from_zero = int(record, c_int64_t) - 1
    valid = record >= 1
    if (valid) return
    write (message, '(a,i0,a)') 'the record number is ', record, '; records are counted from 1'
    call check(afterbay_error_set(int(AFTERBAY_INVALID_ARGUMENT, c_int), c_text(message), c_text(variable)), ierr)
  end subroutine
end module
