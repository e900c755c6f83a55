! SPDX-License-Identifier: Apache-2.0
! Fortran interfaces of the C functions of described output, afterbay/output.h, and what is passed
! to them. Not for users.
module afterbay_c_outputs
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int32_t, c_int64_t, c_null_ptr, c_ptr, c_size_t
  use afterbay_c, only: afterbay_ticket
  use afterbay_c_calendars, only: c_date
  implicit none
  public

  type, bind(C) :: c_values
    integer(c_int) :: type = 0
    integer(c_size_t) :: count = 0
    type(c_ptr) :: data = c_null_ptr
  end type

  type, bind(C) :: c_output_options
    type(c_ptr) :: calendar = c_null_ptr, start = c_null_ptr, reference = c_null_ptr, step = c_null_ptr
    integer(c_int) :: has_member = 0
    integer(c_int64_t) :: member = 0
    type(c_ptr) :: resume = c_null_ptr
  end type

  type, bind(C) :: c_computed_coordinates
    type(c_ptr) :: latitude = c_null_ptr, longitude = c_null_ptr
    integer(c_int) :: bounds = 0
  end type

  type, bind(C) :: c_coordinate_options
    type(c_ptr) :: units = c_null_ptr, standard_name = c_null_ptr, long_name = c_null_ptr, attributes = c_null_ptr
    type(c_values) :: bounds
    type(c_ptr) :: vertices = c_null_ptr
  end type

  type, bind(C) :: c_field_options
    type(c_ptr) :: grid = c_null_ptr
    integer(c_int) :: axis_count = 0
    type(c_ptr) :: axes = c_null_ptr
    integer(c_int) :: type = 0
    type(c_ptr) :: units = c_null_ptr, standard_name = c_null_ptr, long_name = c_null_ptr
    type(c_values) :: fill
    type(c_ptr) :: attributes = c_null_ptr
  end type

  interface
    integer(c_int) function afterbay_attributes_create(attributes) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: attributes
    end function
    subroutine afterbay_attributes_free(attributes) bind(C)
      import :: c_ptr
      type(c_ptr), value :: attributes
    end subroutine

    ! descriptors.c. Lists are released with release_values, whatever is returned.
    integer(c_int) function collect_described(as_type, array, values) bind(C, name='afterbay_fortran_collect')
      import :: c_int, c_values
      integer(c_int), value :: as_type
      type(*), intent(in) :: array(..)
      type(c_values), intent(inout) :: values
    end function
    integer(c_int) function names_described(names, values) bind(C, name='afterbay_fortran_names')
      import :: c_int, c_values
      type(*), intent(in) :: names(..)
      type(c_values), intent(inout) :: values
    end function
    subroutine release_values(values) bind(C, name='afterbay_fortran_release')
      import :: c_values
      type(c_values), intent(inout) :: values
    end subroutine
  end interface

  ! The functions of afterbay/output.h, and of bindings/c/fortran_handles.cpp.
  interface
    integer(c_int64_t) function afterbay_fortran_keep_output(object) bind(C)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: object
    end function
    type(c_ptr) function afterbay_fortran_output(number) bind(C)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: number
    end function
    subroutine afterbay_fortran_drop_output(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
    integer(c_int) function afterbay_output_open(session, options, output) bind(C)
      import :: c_int, c_ptr, c_output_options
      type(c_ptr), value :: session
      type(c_output_options), intent(in) :: options
      type(c_ptr), intent(inout) :: output
    end function
    integer(c_int) function afterbay_output_dimension(output, name, length) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: length
    end function
    integer(c_int) function afterbay_output_dimension_values(output, name, values, options) bind(C)
      import :: c_int, c_ptr, c_char, c_values, c_coordinate_options
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: name(*)
      type(c_values), intent(in) :: values
      type(c_coordinate_options), intent(in) :: options
    end function
    integer(c_int) function afterbay_output_grid(output, name, rank, dimensions, decomposition) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: output, dimensions
      character(kind=c_char), intent(in) :: name(*), decomposition(*)
      integer(c_int), value :: rank
    end function
    integer(c_int) function afterbay_output_healpix_grid(output, name, dimension, nside, nested, &
        decomposition, coordinates) bind(C)
      import :: c_int, c_int64_t, c_ptr, c_char, c_computed_coordinates
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: name(*), dimension(*), decomposition(*)
      integer(c_int64_t), value :: nside
      integer(c_int), value :: nested
      type(c_computed_coordinates), intent(in) :: coordinates
    end function
    integer(c_int) function afterbay_output_gaussian_grid(output, name, dimension, latitudes, &
        points_of_latitudes, decomposition, coordinates) bind(C)
      import :: c_int, c_int32_t, c_ptr, c_char, c_computed_coordinates
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: name(*), dimension(*), decomposition(*)
      integer(c_int), value :: latitudes
      integer(c_int32_t), intent(in) :: points_of_latitudes(*)
      type(c_computed_coordinates), intent(in) :: coordinates
    end function
    integer(c_int) function afterbay_output_coordinate(output, name, rank, dimensions, values, options) bind(C)
      import :: c_int, c_ptr, c_char, c_values, c_coordinate_options
      type(c_ptr), value :: output, dimensions
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: rank
      type(c_values), intent(in) :: values
      type(c_coordinate_options), intent(in) :: options
    end function
    integer(c_int) function afterbay_output_grid_coordinate(output, name, grid, type, data, options) bind(C)
      import :: c_int, c_ptr, c_char, c_coordinate_options
      type(c_ptr), value :: output, data
      character(kind=c_char), intent(in) :: name(*), grid(*)
      integer(c_int), value :: type
      type(c_coordinate_options), intent(in) :: options
    end function
    integer(c_int) function afterbay_output_field(output, name, options) bind(C)
      import :: c_int, c_ptr, c_char, c_field_options
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: name(*)
      type(c_field_options), intent(in) :: options
    end function
    integer(c_int) function afterbay_output_start(output) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: output
    end function
    integer(c_int) function afterbay_output_step(output, number) bind(C)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: output
      integer(c_int64_t), value :: number
    end function
    integer(c_int) function afterbay_output_wants(output, field, wanted) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: field(*)
      integer(c_int), intent(inout) :: wanted
    end function
    integer(c_int) function afterbay_output_save(output, path, ticket) bind(C)
      import :: c_int, c_ptr, c_char, afterbay_ticket
      type(c_ptr), value :: output
      character(kind=c_char), intent(in) :: path(*)
      type(afterbay_ticket), intent(inout) :: ticket
    end function
    integer(c_int) function afterbay_output_finalize(output, save_to) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: output, save_to
    end function
    integer(c_int) function afterbay_output_date(output, date) bind(C)
      import :: c_int, c_ptr, c_date
      type(c_ptr), value :: output
      type(c_date), intent(inout) :: date
    end function
    integer(c_int) function afterbay_output_current_step(output, number) bind(C)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: output
      integer(c_int64_t), intent(inout) :: number
    end function
  end interface
end module
