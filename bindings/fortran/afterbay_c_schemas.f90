! SPDX-License-Identifier: Apache-2.0
! Fortran interfaces of the C functions of schemas and of changes to them, afterbay/schema.h. Not
! for users.
module afterbay_c_schemas
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_ptr, c_size_t
  implicit none
  public

  interface
    integer(c_int) function afterbay_schema_create(schema) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: schema
    end function
    subroutine afterbay_schema_free(schema) bind(C)
      import :: c_ptr
      type(c_ptr), value :: schema
    end subroutine
    integer(c_int) function afterbay_schema_add_dimension(schema, name, length) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: length
    end function
    integer(c_int) function afterbay_schema_add_variable(schema, name, type, rank, dimensions) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type, rank
      type(c_ptr), intent(in) :: dimensions(*)
    end function
    integer(c_int) function afterbay_schema_set_chunk(schema, variable, rank, lengths) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: lengths(*)
    end function
    integer(c_int) function afterbay_schema_set_deflate(schema, variable, level, shuffle) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int), value :: level, shuffle
    end function
    integer(c_int) function afterbay_schema_set_filter(schema, variable, filter, level) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: variable(*), filter(*)
      integer(c_int), value :: level
    end function
    integer(c_int) function afterbay_schema_set_packing(schema, variable, packed, low, high, error) bind(C)
      import :: c_int, c_ptr, c_char, c_double
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: variable(*), packed(*)
      real(c_double), value :: low, high, error
    end function
    integer(c_int) function afterbay_schema_set_decomposition(schema, variable, decomposition) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: variable(*), decomposition(*)
    end function
    integer(c_int) function afterbay_changes_create(changes) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: changes
    end function
    subroutine afterbay_changes_free(changes) bind(C)
      import :: c_ptr
      type(c_ptr), value :: changes
    end subroutine
    integer(c_int) function afterbay_changes_remove_attribute(changes, variable, name) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: changes
      character(kind=c_char), intent(in) :: variable(*), name(*)
    end function
    integer(c_int) function afterbay_schema_get_dimension(schema, dimension, length) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: dimension(*)
      integer(c_int64_t), intent(out) :: length
    end function
    integer(c_int) function afterbay_schema_variable_count(schema, count) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: schema
      integer(c_size_t), intent(out) :: count
    end function
    integer(c_int) function afterbay_schema_get_variable_name(schema, index, name) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: schema
      integer(c_size_t), value :: index
      type(c_ptr), intent(out) :: name
    end function
    integer(c_int) function afterbay_schema_has_variable(schema, variable, there) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int), intent(out) :: there
    end function
    integer(c_int) function afterbay_schema_get_variable(schema, variable, type, rank) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int), intent(out) :: type, rank
    end function
    integer(c_int) function afterbay_schema_get_variable_dimension(schema, variable, index, name, length) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: schema
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int), value :: index
      type(c_ptr), intent(out) :: name
      integer(c_int64_t), intent(out) :: length
    end function
    integer(c_int) function afterbay_schema_has_attribute(schema, variable, name, there) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: schema, variable
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: there
    end function
    integer(c_int) function afterbay_schema_get_attribute(schema, variable, name, type, count, values) bind(C)
      import :: c_int, c_ptr, c_char, c_size_t
      type(c_ptr), value :: schema, variable
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: type
      integer(c_size_t), intent(out) :: count
      type(c_ptr), intent(out) :: values
    end function
    integer(c_int) function afterbay_schema_get_text(schema, variable, name, text) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: schema, variable
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: text
    end function
  end interface
end module
