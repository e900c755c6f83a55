! SPDX-License-Identifier: Apache-2.0
! Lists of attributes, and properties of coordinates and fields in C's form.
module afterbay_output_forms
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_float, c_int, c_int8_t, c_int16_t, &
      c_int32_t, c_int64_t, c_null_ptr, c_ptr, c_size_t
  use afterbay_base
  use afterbay_c
  use afterbay_c_outputs
  implicit none
  private
  public :: afterbay_attributes, coordinate_form, collect_fill, attributes_object

  ! As in descriptors.c.
  integer(c_int), parameter :: LIST_ATTRIBUTE = 5

  !> Properties of a coordinate, with the texts that the C form points to. Valid as long as this
  !> object (a target) is not moved.
  type :: coordinate_form
    type(c_coordinate_options) :: c
    type(c_texts) :: units, standard_name, long_name, vertices
  contains
    procedure :: describe
  end type

  !> Further attributes of a field or a coordinate of described output. Copies are the same list;
  !> `free` releases it: fields and coordinates that were defined with it have copies.
  type :: afterbay_attributes
    type(c_ptr), private :: handle = c_null_ptr
  contains
    procedure, private :: set_int8, set_int16, set_int32, set_int64, set_float32, set_float64, set_text
    !> set(name, values [, type, ierr]): adds or replaces an attribute. A character scalar is text
    !> (without trailing blanks), a character array a list of NC_STRINGs. `type`: numbers are
    !> converted to this type.
    generic :: set => set_int8, set_int16, set_int32, set_int64, set_float32, set_float64, set_text
    procedure :: free => free_attributes
  end type

contains

  !> Null if the list is absent or empty.
  type(c_ptr) function attributes_object(attributes)
    type(afterbay_attributes), intent(in), optional :: attributes
    attributes_object = c_null_ptr
    if (present(attributes)) attributes_object = attributes%handle
  end function

  subroutine describe(self, units, standard_name, long_name, attributes)
    class(coordinate_form), intent(inout), target :: self
    character(*), intent(in), optional :: units, standard_name, long_name
    type(afterbay_attributes), intent(in), optional :: attributes
    call hold_optional(self%units, units, self%c%units)
    call hold_optional(self%standard_name, standard_name, self%c%standard_name)
    call hold_optional(self%long_name, long_name, self%c%long_name)
    self%c%attributes = attributes_object(attributes)
  end subroutine

  !> A number of any type as a list with one value of `type`; absent: no values.
  integer(c_int) function collect_fill(name, type, fill, values) result(code)
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: type
    class(*), intent(in), optional :: fill
    type(c_values), intent(inout) :: values
    code = AFTERBAY_OK
    if (.not. present(fill)) return
    select type (fill)
    type is (real(c_float))
      code = collect_described(type, fill, values)
    type is (real(c_double))
      code = collect_described(type, fill, values)
    type is (integer(c_int8_t))
      code = collect_described(type, fill, values)
    type is (integer(c_int16_t))
      code = collect_described(type, fill, values)
    type is (integer(c_int32_t))
      code = collect_described(type, fill, values)
    type is (integer(c_int64_t))
      code = collect_described(type, fill, values)
    class default
      code = afterbay_error_set(int(AFTERBAY_WRONG_TYPE, c_int), &
          c_text('`fill` must be a number: real(4, 8) or integer(1, 2, 4, 8)'), c_text(name))
    end select
  end function

  !> Releases the list; fields and coordinates that were defined with it have copies.
  subroutine free_attributes(self)
    class(afterbay_attributes), intent(inout) :: self
    call afterbay_attributes_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  subroutine set_int8(self, name, values, type, ierr)
    integer(c_int8_t), intent(in) :: values(..)
    include 'attributes_set.inc'
  end subroutine

  subroutine set_int16(self, name, values, type, ierr)
    integer(c_int16_t), intent(in) :: values(..)
    include 'attributes_set.inc'
  end subroutine

  subroutine set_int32(self, name, values, type, ierr)
    integer(c_int32_t), intent(in) :: values(..)
    include 'attributes_set.inc'
  end subroutine

  subroutine set_int64(self, name, values, type, ierr)
    integer(c_int64_t), intent(in) :: values(..)
    include 'attributes_set.inc'
  end subroutine

  subroutine set_float32(self, name, values, type, ierr)
    real(c_float), intent(in) :: values(..)
    include 'attributes_set.inc'
  end subroutine

  subroutine set_float64(self, name, values, type, ierr)
    real(c_double), intent(in) :: values(..)
    include 'attributes_set.inc'
  end subroutine

  subroutine set_text(self, name, values, type, ierr)
    character(*), intent(in) :: values(..)
    include 'attributes_set.inc'
  end subroutine
end module
