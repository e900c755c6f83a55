! SPDX-License-Identifier: Apache-2.0
! Input files. Bodies that are the same for all types are in *.inc.
module afterbay_inputs
  use, intrinsic :: iso_c_binding, only: c_double, c_f_pointer, c_float, c_int, c_int8_t, c_int16_t, c_int32_t, &
      c_int64_t, c_loc, c_null_ptr, c_ptr, c_size_t
  use afterbay_base
  use afterbay_c
  use afterbay_c_schemas
  use afterbay_selections, only: selection
  implicit none
  private
  public :: afterbay_input

  !> A file open for input on this rank, opened by session%open_input. Copies are the same file.
  type :: afterbay_input
    integer(c_int64_t) :: id = 0
  contains
    procedure, private :: &
        get_int8, get_int16, get_int32, get_int64, &
        get_float32, get_float64, get_text
    !> get(variable, data [, record, records, decomposition, start, count, offset, ierr]): reads a
    !> record (from 1; omit it for a variable without the unlimited dimension): this rank's part of
    !> a decomposition, or any box of `count` values from `start` (from 1, fastest first, without
    !> the record dimension), or, with none of these, the whole record. `data`: array of any rank 0
    !> to 7, kind and layout, including sections, filled without a copy; its shape is that of the
    !> part read. With `records` it has one more dimension, the last, of that length. With `offset`,
    !> the part begins after offset(i) elements along dimension i (halos) and `data` may be larger.
    !> Elements of holes keep their values. Waits until the servers have read the data, and as
    !> session%start does if a decomposition is named and there are new definitions. With inline
    !> servers in synchronous mode every model rank calls it, for the same number of records.
    !> AFTERBAY_UNKNOWN_NAME (variable, decomposition), AFTERBAY_INVALID_ARGUMENT (record, box,
    !> shape of `data`), AFTERBAY_WRONG_TYPE (the type; values out of its range, after all others
    !> have been read), AFTERBAY_BAD_STATE after close, AFTERBAY_FORMAT or AFTERBAY_IO if the file
    !> cannot be read.
    generic :: get => &
        get_int8, get_int16, get_int32, get_int64, &
        get_float32, get_float64, get_text
    procedure :: get_strings
    procedure :: prefetch
    procedure :: records => records_of_input
    procedure :: path => path_of_input
    procedure :: close => close_input

    procedure :: dimension_length
    procedure :: variable_count
    procedure :: variable_name
    procedure :: has_variable
    procedure :: variable_type
    procedure :: variable_rank
    procedure :: variable_dimensions
    procedure :: variable_lengths
    procedure :: has_attribute
    procedure :: attribute_type
    procedure :: attribute_count
    procedure, private :: &
        attribute_int8, attribute_int16, attribute_int32, attribute_int64, &
        attribute_float32, attribute_float64, attribute_text, attribute_strings
    !> get_attribute(name, values [, variable, ierr]): an attribute of a variable, or a global
    !> attribute. Numbers of any type are converted to that of `values`, an array (or scalar) with
    !> the same number of elements, if they fit; otherwise the error is AFTERBAY_INVALID_ARGUMENT
    !> (number of elements) or AFTERBAY_WRONG_TYPE. Text is returned in a character(:), allocatable;
    !> a list of strings in an array of these.
    generic :: get_attribute => &
        attribute_int8, attribute_int16, attribute_int32, attribute_int64, &
        attribute_float32, attribute_float64, attribute_text, attribute_strings
  end type

contains

  !> Asks the servers to read and decode ahead; a later get of the same data, by any rank, costs one
  !> copy. The data are kept while the setting memory.input has room. Does not wait, except as
  !> session%start does if a decomposition is named and there are new definitions. Fails as get does
  !> for invalid requests; get returns errors in reading.
  subroutine prefetch(self, variable, record, records, decomposition, start, count, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: variable
    integer, intent(in), optional :: record, records, start(:), count(:)
    character(*), intent(in), optional :: decomposition
    integer, intent(out), optional :: ierr
    type(selection), target :: what
    call what%describe(variable, record, records, decomposition, start, count)
    if (what%code == AFTERBAY_OK) what%code = afterbay_input_prefetch(afterbay_fortran_input(self%id), c_text(variable), what%c)
    call check(what%code, ierr)
  end subroutine

  !> All values of a string variable, with the length of the longest, for `record` if it has the
  !> unlimited dimension. Waits and fails as get does.
  subroutine get_strings(self, variable, values, record, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: variable
    character(:), allocatable, intent(out) :: values(:)
    integer, intent(in), optional :: record
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: from_zero
    integer(c_size_t) :: count
    type(c_ptr) :: texts
    integer(c_int) :: code
    logical :: valid
    allocate (character(len=0) :: values(0))
    call record_from_one(variable, record, from_zero, valid, ierr)
    if (.not. valid) return
    code = afterbay_input_get_strings(afterbay_fortran_input(self%id), c_text(variable), from_zero, count, texts)
    if (code == AFTERBAY_OK) call copy_texts(texts, int(count), values)
    call check(code, ierr)
  end subroutine

  subroutine copy_texts(texts, count, values)
    type(c_ptr), intent(in) :: texts
    integer, intent(in) :: count
    character(:), allocatable, intent(inout) :: values(:)
    type(c_ptr), pointer :: pointers(:)
    integer :: i, longest
    deallocate (values)
    longest = 0
    if (count > 0) then
      call c_f_pointer(texts, pointers, [count])
      longest = maxval([(int(c_strlen(pointers(i))), i=1, count)])
    end if
    allocate (character(len=longest) :: values(count))
    do i = 1, count
      values(i) = f_text(pointers(i))
    end do
  end subroutine

  !> The number of records in the file.
  integer function records_of_input(self, ierr)
    class(afterbay_input), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: records
    records = 0
    call check(afterbay_input_records(afterbay_fortran_input(self%id), records), ierr)
    records_of_input = int(records)
  end function

  !> The file's path.
  function path_of_input(self, ierr) result(text)
    class(afterbay_input), intent(in) :: self
    integer, intent(out), optional :: ierr
    character(:), allocatable :: text
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    call check(afterbay_input_path(afterbay_fortran_input(self%id), pointer), ierr)
    text = f_text(pointer)
  end function

  !> Lets the servers close the file; requests made before are still served. Does not wait.
  subroutine close_input(self, ierr)
    class(afterbay_input), intent(inout) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = afterbay_input_close(afterbay_fortran_input(self%id))
    call afterbay_fortran_drop_input(self%id)
    call check(code, ierr)
  end subroutine

  ! ---- The contents of the file

  !> The file's schema, or null with the error's code.
  integer(c_int) function find_schema(self, schema)
    class(afterbay_input), intent(in) :: self
    type(c_ptr), intent(out) :: schema
    schema = c_null_ptr
    find_schema = afterbay_input_schema(afterbay_fortran_input(self%id), schema)
  end function

  !> The length of a dimension; AFTERBAY_UNLIMITED if it grows with the records.
  integer(c_int64_t) function dimension_length(self, name, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: ierr
    type(c_ptr) :: schema
    integer(c_int) :: code
    dimension_length = 0
    code = find_schema(self, schema)
    if (code == AFTERBAY_OK) code = afterbay_schema_get_dimension(schema, c_text(name), dimension_length)
    call check(code, ierr)
  end function

  !> The number of variables in the file.
  integer function variable_count(self, ierr)
    class(afterbay_input), intent(in) :: self
    integer, intent(out), optional :: ierr
    type(c_ptr) :: schema
    integer(c_size_t) :: count
    integer(c_int) :: code
    count = 0
    code = find_schema(self, schema)
    if (code == AFTERBAY_OK) code = afterbay_schema_variable_count(schema, count)
    call check(code, ierr)
    variable_count = int(count)
  end function

  !> The name of variable `number`, from 1.
  function variable_name(self, number, ierr) result(name)
    class(afterbay_input), intent(in) :: self
    integer, intent(in) :: number
    integer, intent(out), optional :: ierr
    character(:), allocatable :: name
    type(c_ptr) :: schema, text
    integer(c_int) :: code
    text = c_null_ptr
    code = find_schema(self, schema)
    if (code == AFTERBAY_OK .and. number < 1) then
      code = afterbay_error_set(int(AFTERBAY_INVALID_ARGUMENT, c_int), c_text('variables are counted from 1'), c_text(''))
    else if (code == AFTERBAY_OK) then
      code = afterbay_schema_get_variable_name(schema, int(number - 1, c_size_t), text)
    end if
    call check(code, ierr)
    name = f_text(text)
  end function

  !> Whether the file has a variable of that name.
  logical function has_variable(self, variable, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: variable
    integer, intent(out), optional :: ierr
    type(c_ptr) :: schema
    integer(c_int) :: code, there
    there = 0
    code = find_schema(self, schema)
    if (code == AFTERBAY_OK) code = afterbay_schema_has_variable(schema, c_text(variable), there)
    call check(code, ierr)
    has_variable = there /= 0
  end function

  subroutine inquire_variable(self, variable, schema, type, rank, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: variable
    type(c_ptr), intent(out) :: schema
    integer(c_int), intent(out) :: type, rank
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    type = 0
    rank = 0
    code = find_schema(self, schema)
    if (code == AFTERBAY_OK) code = afterbay_schema_get_variable(schema, c_text(variable), type, rank)
    call check(code, ierr)
  end subroutine

  !> The type of a variable: AFTERBAY_FLOAT64, ...
  integer function variable_type(self, variable, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: variable
    integer, intent(out), optional :: ierr
    type(c_ptr) :: schema
    integer(c_int) :: type, rank
    call inquire_variable(self, variable, schema, type, rank, ierr)
    variable_type = type
  end function

  !> The number of dimensions of a variable, including the unlimited one.
  integer function variable_rank(self, variable, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: variable
    integer, intent(out), optional :: ierr
    type(c_ptr) :: schema
    integer(c_int) :: type, rank
    call inquire_variable(self, variable, schema, type, rank, ierr)
    variable_rank = rank
  end function

  !> Dimension `number` of a variable with `rank` dimensions, in Fortran's order from 1.
  subroutine find_dimension(schema, variable, rank, number, name, length)
    type(c_ptr), intent(in) :: schema
    character(*), intent(in) :: variable
    integer(c_int), intent(in) :: rank
    integer, intent(in) :: number
    type(c_ptr), intent(out) :: name
    integer(c_int64_t), intent(out) :: length
    call check(afterbay_schema_get_variable_dimension(schema, c_text(variable), rank - int(number, c_int), name, length))
  end subroutine

  !> The names of a variable's dimensions, fastest first.
  function variable_dimensions(self, variable, ierr) result(names)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: variable
    integer, intent(out), optional :: ierr
    character(:), allocatable :: names(:)
    type(c_ptr) :: schema
    type(c_ptr), allocatable, target :: texts(:)
    integer(c_int) :: type, rank
    integer(c_int64_t) :: length
    integer :: i
    call inquire_variable(self, variable, schema, type, rank, ierr)
    allocate (character(len=0) :: names(0))
    allocate (texts(max(1, rank)))
    do i = 1, rank
      call find_dimension(schema, variable, rank, i, texts(i), length)
    end do
    call copy_texts(c_loc(texts), int(rank), names)
  end function

  !> The lengths of a variable's dimensions, fastest first; AFTERBAY_UNLIMITED for the one that
  !> grows with the records.
  function variable_lengths(self, variable, ierr) result(lengths)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: variable
    integer, intent(out), optional :: ierr
    integer(c_int64_t), allocatable :: lengths(:)
    type(c_ptr) :: schema, name
    integer(c_int) :: type, rank
    integer :: i
    call inquire_variable(self, variable, schema, type, rank, ierr)
    allocate (lengths(rank))
    do i = 1, rank
      call find_dimension(schema, variable, rank, i, name, lengths(i))
    end do
  end function

  ! ---- Attributes of a variable, or global attributes

  !> The variable's name in C form; null for global attributes.
  type(c_ptr) function owner(texts, variable)
    type(c_texts), intent(inout), target :: texts
    character(*), intent(in), optional :: variable
    owner = c_null_ptr
    if (.not. present(variable)) return
    call texts%hold([variable])
    owner = texts%pointers(1)
  end function

  !> Whether a variable, or the file, has an attribute of that name.
  logical function has_attribute(self, name, variable, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in), optional :: variable
    integer, intent(out), optional :: ierr
    type(c_texts), target :: texts
    type(c_ptr) :: schema
    integer(c_int) :: code, there
    there = 0
    code = find_schema(self, schema)
    if (code == AFTERBAY_OK) &
        code = afterbay_schema_has_attribute(schema, owner(texts, variable), c_text(name), there)
    call check(code, ierr)
    has_attribute = there /= 0
  end function

  subroutine inquire_attribute(self, name, variable, type, count, values, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in), optional :: variable
    integer(c_int), intent(out) :: type
    integer(c_size_t), intent(out) :: count
    type(c_ptr), intent(out) :: values
    integer, intent(out), optional :: ierr
    type(c_texts), target :: texts
    type(c_ptr) :: schema
    integer(c_int) :: code
    type = 0
    count = 0
    values = c_null_ptr
    code = find_schema(self, schema)
    if (code == AFTERBAY_OK) &
        code = afterbay_schema_get_attribute(schema, owner(texts, variable), c_text(name), type, count, values)
    call check(code, ierr)
  end subroutine

  !> The type of an attribute: AFTERBAY_TEXT, AFTERBAY_FLOAT64, ...
  integer function attribute_type(self, name, variable, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in), optional :: variable
    integer, intent(out), optional :: ierr
    integer(c_int) :: type
    integer(c_size_t) :: count
    type(c_ptr) :: values
    call inquire_attribute(self, name, variable, type, count, values, ierr)
    attribute_type = type
  end function

  !> The number of values of an attribute; for text, of characters.
  integer function attribute_count(self, name, variable, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in), optional :: variable
    integer, intent(out), optional :: ierr
    integer(c_int) :: type
    integer(c_size_t) :: count
    type(c_ptr) :: values
    call inquire_attribute(self, name, variable, type, count, values, ierr)
    attribute_count = int(count)
  end function

  subroutine attribute_text(self, name, value, variable, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: value
    character(*), intent(in), optional :: variable
    integer, intent(out), optional :: ierr
    type(c_texts), target :: texts
    type(c_ptr) :: schema, text
    integer(c_int) :: code
    text = c_null_ptr
    code = find_schema(self, schema)
    if (code == AFTERBAY_OK) code = afterbay_schema_get_text(schema, owner(texts, variable), c_text(name), text)
    call check(code, ierr)
    value = f_text(text)
  end subroutine

  !> An attribute as a list of strings; text is a list with one element.
  subroutine attribute_strings(self, name, values, variable, ierr)
    class(afterbay_input), intent(in) :: self
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: values(:)
    character(*), intent(in), optional :: variable
    integer, intent(out), optional :: ierr
    character(:), allocatable :: one
    integer(c_int) :: type
    integer(c_size_t) :: count
    type(c_ptr) :: lent
    call inquire_attribute(self, name, variable, type, count, lent, ierr)
    allocate (character(len=0) :: values(0))
    if (type == AFTERBAY_STRING) then
      call copy_texts(lent, int(count), values)
    else if (type /= 0) then
      call self%attribute_text(name, one, variable, ierr)
      deallocate (values)
      allocate (character(len=len(one)) :: values(1))
      values(1) = one
    end if
  end subroutine

  subroutine attribute_int8(self, name, values, variable, ierr)
    integer(c_int8_t), intent(inout) :: values(..)
    include 'input_attribute.inc'
  end subroutine

  subroutine attribute_int16(self, name, values, variable, ierr)
    integer(c_int16_t), intent(inout) :: values(..)
    include 'input_attribute.inc'
  end subroutine

  subroutine attribute_int32(self, name, values, variable, ierr)
    integer(c_int32_t), intent(inout) :: values(..)
    include 'input_attribute.inc'
  end subroutine

  subroutine attribute_int64(self, name, values, variable, ierr)
    integer(c_int64_t), intent(inout) :: values(..)
    include 'input_attribute.inc'
  end subroutine

  subroutine attribute_float32(self, name, values, variable, ierr)
    real(c_float), intent(inout) :: values(..)
    include 'input_attribute.inc'
  end subroutine

  subroutine attribute_float64(self, name, values, variable, ierr)
    real(c_double), intent(inout) :: values(..)
    include 'input_attribute.inc'
  end subroutine

  subroutine get_int8(self, variable, data, record, records, decomposition, start, count, offset, ierr)
    integer(c_int8_t), intent(inout) :: data(..)
    include 'input_get.inc'
  end subroutine

  subroutine get_int16(self, variable, data, record, records, decomposition, start, count, offset, ierr)
    integer(c_int16_t), intent(inout) :: data(..)
    include 'input_get.inc'
  end subroutine

  subroutine get_int32(self, variable, data, record, records, decomposition, start, count, offset, ierr)
    integer(c_int32_t), intent(inout) :: data(..)
    include 'input_get.inc'
  end subroutine

  subroutine get_int64(self, variable, data, record, records, decomposition, start, count, offset, ierr)
    integer(c_int64_t), intent(inout) :: data(..)
    include 'input_get.inc'
  end subroutine

  subroutine get_float32(self, variable, data, record, records, decomposition, start, count, offset, ierr)
    real(c_float), intent(inout) :: data(..)
    include 'input_get.inc'
  end subroutine

  subroutine get_float64(self, variable, data, record, records, decomposition, start, count, offset, ierr)
    real(c_double), intent(inout) :: data(..)
    include 'input_get.inc'
  end subroutine

  subroutine get_text(self, variable, data, record, records, decomposition, start, count, offset, ierr)
    character(*), intent(inout) :: data(..)
    include 'input_get.inc'
  end subroutine
end module
