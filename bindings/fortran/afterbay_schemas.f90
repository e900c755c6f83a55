! SPDX-License-Identifier: Apache-2.0
! Type-bound procedures of the schema that accept values of any type; the bodies are in *.inc.
module afterbay_schemas
  use, intrinsic :: iso_c_binding, only: c_associated, c_double, c_float, c_int, c_int8_t, c_int16_t, c_int32_t, &
      c_int64_t, c_null_char, c_null_ptr, c_ptr
  use afterbay_base
  use afterbay_c
  use afterbay_c_schemas
  implicit none
  private
  public :: afterbay_schema, afterbay_changes

  ! The targets of set_described, as in descriptors.c.
  integer(c_int), parameter :: SCHEMA_ATTRIBUTE = 0, SCHEMA_FILL = 1, SCHEMA_CONSTANT = 2, CHANGES_ATTRIBUTE = 3, &
      CHANGES_CONSTANT = 4

  !> Dimensions, variables and attributes of a kind of file. Copies are the same schema; `free`
  !> releases it (after session%collection it is no longer needed). Procedures do not wait, and any
  !> thread may call them, one at a time for the same schema. Errors: AFTERBAY_UNKNOWN_NAME, with a
  !> suggestion, for a variable or filter that does not exist, AFTERBAY_WRONG_TYPE for a type that
  !> does not exist or cannot hold the values; session%collection checks the rest.
  type :: afterbay_schema
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: dimension_int32, dimension_int64, variable_list, variable_text
    !> dimension(name, length [, ierr]): adds a dimension; length AFTERBAY_UNLIMITED: it grows with
    !> the records.
    generic :: dimension => dimension_int32, dimension_int64
    !> variable(name, type, dimensions [, decomposition, chunk, deflate, shuffle, ierr]): adds a
    !> variable. Dimensions are an array of names or one text with blanks between them ('x y time'),
    !> fastest first, the unlimited one last; '' for a scalar.
    generic :: variable => variable_list, variable_text
    !> filter(variable, name [, level, ierr]): sets a filter by its name ('zstd'), to a level, or
    !> with level 1 (the default) on for a filter without levels; 0 removes it.
    procedure :: filter => variable_filter
    !> packing(variable, type, low, high [, absolute_error, ierr]): packs real32 or real64 as
    !> integers of 'int8', 'int16', 'int32' or 'auto' (the smallest that absolute_error allows), for
    !> numbers from low to high in the units of the file.
    procedure :: packing => variable_packing
    procedure, private :: &
        attribute_int8, attribute_int16, attribute_int32, attribute_int64, &
        attribute_float32, attribute_float64, attribute_text
    !> attribute(name, values [, variable, type, ierr]): sets an attribute of a variable, or a
    !> global attribute. A character scalar is text (without trailing blanks), a character array a
    !> list of NC_STRINGs. `type`: numbers are converted to this type, e.g. AFTERBAY_UINT8, which
    !> Fortran lacks.
    generic :: attribute => &
        attribute_int8, attribute_int16, attribute_int32, attribute_int64, &
        attribute_float32, attribute_float64, attribute_text
    procedure, private :: &
        fill_int8, fill_int16, fill_int32, fill_int64, &
        fill_float32, fill_float64, fill_text
    !> fill(variable, value [, type, ierr]): sets the fill value, converted to the variable's type.
    generic :: fill => &
        fill_int8, fill_int16, fill_int32, fill_int64, &
        fill_float32, fill_float64, fill_text
    procedure, private :: &
        constant_int8, constant_int16, constant_int32, constant_int64, &
        constant_float32, constant_float64, constant_text
    !> constant(variable, values [, type, ierr]): sets values that are written once (coordinates),
    !> as many as the variable has, in Fortran's order. Characters are text; for NC_STRINGs:
    !> type=AFTERBAY_STRING.
    generic :: constant => &
        constant_int8, constant_int16, constant_int32, constant_int64, &
        constant_float32, constant_float64, constant_text
    procedure :: free => free_schema
  end type

  !> Changes to a schema for one file; `free` releases them.
  type :: afterbay_changes
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: &
        change_int8, change_int16, change_int32, change_int64, &
        change_float32, change_float64, change_text
    !> attribute(name, values [, variable, type, ierr]): sets or replaces an attribute of a
    !> variable, or a global attribute.
    generic :: attribute => &
        change_int8, change_int16, change_int32, change_int64, &
        change_float32, change_float64, change_text
    procedure, private :: &
        change_constant_int8, change_constant_int16, change_constant_int32, change_constant_int64, &
        change_constant_float32, change_constant_float64, change_constant_text
    !> constant(variable, values [, type, ierr]): replaces constant values: as many as in the
    !> schema.
    generic :: constant => &
        change_constant_int8, change_constant_int16, change_constant_int32, change_constant_int64, &
        change_constant_float32, change_constant_float64, change_constant_text
    procedure :: remove_attribute
    procedure :: free => free_changes
  end type

  interface create
    module procedure create_schema, create_changes
  end interface

contains

  integer(c_int) function create_schema(self)
    type(afterbay_schema), intent(inout) :: self
    create_schema = AFTERBAY_OK
    if (.not. c_associated(self%handle)) create_schema = afterbay_schema_create(self%handle)
  end function

  integer(c_int) function create_changes(self)
    type(afterbay_changes), intent(inout) :: self
    create_changes = AFTERBAY_OK
    if (.not. c_associated(self%handle)) create_changes = afterbay_changes_create(self%handle)
  end function

  !> Releases the schema; a collection that was defined with it has its own copy.
  subroutine free_schema(self)
    class(afterbay_schema), intent(inout) :: self
    call afterbay_schema_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  !> Releases the changes; a file that was opened with them does not need them.
  subroutine free_changes(self)
    class(afterbay_changes), intent(inout) :: self
    call afterbay_changes_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  function given(text)
    character(*), intent(in), optional :: text
    character(:), allocatable :: given
    given = ''
    if (present(text)) given = text
  end function

  integer(c_int) function type_or_own(type)
    integer, intent(in), optional :: type
    type_or_own = 0
    if (present(type)) type_or_own = int(type, c_int)
  end function

  subroutine dimension_int32(self, name, length, ierr)
    class(afterbay_schema), intent(inout) :: self
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: length
    integer, intent(out), optional :: ierr
    call self%dimension_int64(name, int(length, c_int64_t), ierr)
  end subroutine

  subroutine dimension_int64(self, name, length, ierr)
    class(afterbay_schema), intent(inout) :: self
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: length
    integer, intent(out), optional :: ierr
    call check(create(self), ierr)
    if (.not. c_associated(self%handle)) return
    if (length < 0) then
      call check(afterbay_error_set(int(AFTERBAY_INVALID_ARGUMENT, c_int), &
          c_text('the dimension '//name//' has a negative length'), c_text('')), ierr)
    else
      call check(afterbay_schema_add_dimension(self%handle, c_text(name), length), ierr)
    end if
  end subroutine

  subroutine variable_text(self, name, type, dimensions, decomposition, chunk, deflate, shuffle, ierr)
    class(afterbay_schema), intent(inout) :: self
    character(*), intent(in) :: name, dimensions
    integer, intent(in) :: type
    character(*), intent(in), optional :: decomposition
    integer, intent(in), optional :: chunk(:), deflate
    logical, intent(in), optional :: shuffle
    integer, intent(out), optional :: ierr
    call self%variable_list(name, type, words(dimensions), decomposition, chunk, deflate, shuffle, ierr)
  end subroutine

  subroutine variable_list(self, name, type, dimensions, decomposition, chunk, deflate, shuffle, ierr)
    class(afterbay_schema), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: type
    character(*), intent(in) :: dimensions(:)
    character(*), intent(in), optional :: decomposition
    integer, intent(in), optional :: chunk(:), deflate
    logical, intent(in), optional :: shuffle
    integer, intent(out), optional :: ierr
    type(c_texts), target :: reversed
    integer(c_int) :: code
    integer :: shuffled
    code = create(self)
    if (code == AFTERBAY_OK) then
      call reversed%hold(dimensions(size(dimensions):1:-1))
      code = afterbay_schema_add_variable(self%handle, c_text(name), int(type, c_int), int(size(dimensions), c_int), &
          reversed%pointers)
    end if
    if (code == AFTERBAY_OK .and. present(decomposition)) &
        code = afterbay_schema_set_decomposition(self%handle, c_text(name), c_text(decomposition))
    if (code == AFTERBAY_OK .and. present(chunk)) &
        code = afterbay_schema_set_chunk(self%handle, c_text(name), int(size(chunk), c_int), &
        int(chunk(size(chunk):1:-1), c_int64_t))
    if (code == AFTERBAY_OK .and. present(deflate)) then
      shuffled = 1
      if (present(shuffle)) shuffled = merge(1, 0, shuffle)
      code = afterbay_schema_set_deflate(self%handle, c_text(name), int(deflate, c_int), int(shuffled, c_int))
    end if
    call check(code, ierr)
  end subroutine

  subroutine variable_filter(self, variable, name, level, ierr)
    class(afterbay_schema), intent(inout) :: self
    character(*), intent(in) :: variable, name
    integer, intent(in), optional :: level
    integer, intent(out), optional :: ierr
    integer :: wanted
    wanted = 1
    if (present(level)) wanted = level
    call check(create(self), ierr)
    if (.not. c_associated(self%handle)) return
    call check(afterbay_schema_set_filter(self%handle, c_text(variable), c_text(name), int(wanted, c_int)), ierr)
  end subroutine

  subroutine variable_packing(self, variable, type, low, high, absolute_error, ierr)
    class(afterbay_schema), intent(inout) :: self
    character(*), intent(in) :: variable, type
    real(c_double), intent(in) :: low, high
    real(c_double), intent(in), optional :: absolute_error
    integer, intent(out), optional :: ierr
    real(c_double) :: error
    error = 0
    if (present(absolute_error)) error = absolute_error
    call check(create(self), ierr)
    if (.not. c_associated(self%handle)) return
    call check(afterbay_schema_set_packing(self%handle, c_text(variable), c_text(type), low, high, error), ierr)
  end subroutine

  !> The words of a text.
  pure function words(text) result(list)
    character(*), intent(in) :: text
    character(len=len(text)) :: list(count_words(text))
    integer :: i, first, last
    last = 0
    do i = 1, size(list)
      first = last + verify(text(last + 1:), ' ')
      last = scan(text(first:)//' ', ' ') + first - 2
      list(i) = text(first:last)
    end do
  end function

  pure integer function count_words(text)
    character(*), intent(in) :: text
    integer :: i
    count_words = 0
    do i = 1, len(text)
      if (text(i:i) == ' ') cycle
      if (i == 1) then
        count_words = 1
      else if (text(i - 1:i - 1) == ' ') then
        count_words = count_words + 1
      end if
    end do
  end function

  !> Removes an attribute of a variable, or a global attribute.
  subroutine remove_attribute(self, name, variable, ierr)
    class(afterbay_changes), intent(inout) :: self
    character(*), intent(in) :: name
    character(*), intent(in), optional :: variable
    integer, intent(out), optional :: ierr
    call check(create(self), ierr)
    if (.not. c_associated(self%handle)) return
    call check(afterbay_changes_remove_attribute(self%handle, c_text(given(variable)), c_text(name)), ierr)
  end subroutine

  subroutine attribute_int8(self, name, values, variable, type, ierr)
    integer(c_int8_t), intent(in) :: values(..)
    include 'schema_attribute.inc'
  end subroutine

  subroutine attribute_int16(self, name, values, variable, type, ierr)
    integer(c_int16_t), intent(in) :: values(..)
    include 'schema_attribute.inc'
  end subroutine

  subroutine attribute_int32(self, name, values, variable, type, ierr)
    integer(c_int32_t), intent(in) :: values(..)
    include 'schema_attribute.inc'
  end subroutine

  subroutine attribute_int64(self, name, values, variable, type, ierr)
    integer(c_int64_t), intent(in) :: values(..)
    include 'schema_attribute.inc'
  end subroutine

  subroutine attribute_float32(self, name, values, variable, type, ierr)
    real(c_float), intent(in) :: values(..)
    include 'schema_attribute.inc'
  end subroutine

  subroutine attribute_float64(self, name, values, variable, type, ierr)
    real(c_double), intent(in) :: values(..)
    include 'schema_attribute.inc'
  end subroutine

  subroutine attribute_text(self, name, values, variable, type, ierr)
    character(*), intent(in) :: values(..)
    include 'schema_attribute.inc'
  end subroutine

  subroutine fill_int8(self, variable, value, type, ierr)
    integer(c_int8_t), intent(in) :: value(..)
    include 'schema_fill.inc'
  end subroutine

  subroutine fill_int16(self, variable, value, type, ierr)
    integer(c_int16_t), intent(in) :: value(..)
    include 'schema_fill.inc'
  end subroutine

  subroutine fill_int32(self, variable, value, type, ierr)
    integer(c_int32_t), intent(in) :: value(..)
    include 'schema_fill.inc'
  end subroutine

  subroutine fill_int64(self, variable, value, type, ierr)
    integer(c_int64_t), intent(in) :: value(..)
    include 'schema_fill.inc'
  end subroutine

  subroutine fill_float32(self, variable, value, type, ierr)
    real(c_float), intent(in) :: value(..)
    include 'schema_fill.inc'
  end subroutine

  subroutine fill_float64(self, variable, value, type, ierr)
    real(c_double), intent(in) :: value(..)
    include 'schema_fill.inc'
  end subroutine

  subroutine fill_text(self, variable, value, type, ierr)
    character(*), intent(in) :: value(..)
    include 'schema_fill.inc'
  end subroutine

  subroutine constant_int8(self, variable, values, type, ierr)
    integer(c_int8_t), intent(in) :: values(..)
    include 'schema_constant.inc'
  end subroutine

  subroutine constant_int16(self, variable, values, type, ierr)
    integer(c_int16_t), intent(in) :: values(..)
    include 'schema_constant.inc'
  end subroutine

  subroutine constant_int32(self, variable, values, type, ierr)
    integer(c_int32_t), intent(in) :: values(..)
    include 'schema_constant.inc'
  end subroutine

  subroutine constant_int64(self, variable, values, type, ierr)
    integer(c_int64_t), intent(in) :: values(..)
    include 'schema_constant.inc'
  end subroutine

  subroutine constant_float32(self, variable, values, type, ierr)
    real(c_float), intent(in) :: values(..)
    include 'schema_constant.inc'
  end subroutine

  subroutine constant_float64(self, variable, values, type, ierr)
    real(c_double), intent(in) :: values(..)
    include 'schema_constant.inc'
  end subroutine

  subroutine constant_text(self, variable, values, type, ierr)
    character(*), intent(in) :: values(..)
    include 'schema_constant.inc'
  end subroutine

  subroutine change_int8(self, name, values, variable, type, ierr)
    integer(c_int8_t), intent(in) :: values(..)
    include 'changes_attribute.inc'
  end subroutine

  subroutine change_int16(self, name, values, variable, type, ierr)
    integer(c_int16_t), intent(in) :: values(..)
    include 'changes_attribute.inc'
  end subroutine

  subroutine change_int32(self, name, values, variable, type, ierr)
    integer(c_int32_t), intent(in) :: values(..)
    include 'changes_attribute.inc'
  end subroutine

  subroutine change_int64(self, name, values, variable, type, ierr)
    integer(c_int64_t), intent(in) :: values(..)
    include 'changes_attribute.inc'
  end subroutine

  subroutine change_float32(self, name, values, variable, type, ierr)
    real(c_float), intent(in) :: values(..)
    include 'changes_attribute.inc'
  end subroutine

  subroutine change_float64(self, name, values, variable, type, ierr)
    real(c_double), intent(in) :: values(..)
    include 'changes_attribute.inc'
  end subroutine

  subroutine change_text(self, name, values, variable, type, ierr)
    character(*), intent(in) :: values(..)
    include 'changes_attribute.inc'
  end subroutine

  subroutine change_constant_int8(self, variable, values, type, ierr)
    integer(c_int8_t), intent(in) :: values(..)
    include 'changes_constant.inc'
  end subroutine

  subroutine change_constant_int16(self, variable, values, type, ierr)
    integer(c_int16_t), intent(in) :: values(..)
    include 'changes_constant.inc'
  end subroutine

  subroutine change_constant_int32(self, variable, values, type, ierr)
    integer(c_int32_t), intent(in) :: values(..)
    include 'changes_constant.inc'
  end subroutine

  subroutine change_constant_int64(self, variable, values, type, ierr)
    integer(c_int64_t), intent(in) :: values(..)
    include 'changes_constant.inc'
  end subroutine

  subroutine change_constant_float32(self, variable, values, type, ierr)
    real(c_float), intent(in) :: values(..)
    include 'changes_constant.inc'
  end subroutine

  subroutine change_constant_float64(self, variable, values, type, ierr)
    real(c_double), intent(in) :: values(..)
    include 'changes_constant.inc'
  end subroutine

  subroutine change_constant_text(self, variable, values, type, ierr)
    character(*), intent(in) :: values(..)
    include 'changes_constant.inc'
  end subroutine
end module
