! SPDX-License-Identifier: Apache-2.0
! The same output without I/O servers: every field is gathered on the first rank, which writes it
! with netCDF while the others wait. For comparison.
module shallow_water_output_serial
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int, c_null_char, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use mpi
  use shallow_water_model
  use shallow_water_output, only: collections_output
  implicit none
  private
  public :: serial_output

  type, extends(collections_output) :: serial_output
    character(:), allocatable :: directory
    type(c_ptr), private :: fields = c_null_ptr, surface = c_null_ptr
    integer, private :: fields_record = 0, surface_record = 0
    integer, private :: rank = 0
    integer, allocatable, private :: parts(:, :)       !< i0, j0, ni, nj of every rank
    real(real64), allocatable, private :: work(:, :)
    real(real32), allocatable, private :: mine(:), gathered(:), whole(:, :)
  contains
    procedure :: start
    procedure :: write_fields
    procedure :: write_surface
    procedure :: end_step
    procedure :: close
    procedure :: finish
  end type

  interface  ! serial_netcdf.c
    type(c_ptr) function serial_create(path, title, nx, ny, coriolis, gravity, rest_depth, cell) bind(C)
      import :: c_ptr, c_char, c_int, c_double
      character(kind=c_char), intent(in) :: path(*), title(*)
      integer(c_int), value :: nx, ny
      real(c_double), value :: coriolis, gravity, rest_depth, cell
    end function
    subroutine serial_define(file, name, x, y, units, long_name) bind(C)
      import :: c_ptr, c_char
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*), x(*), y(*), units(*), long_name(*)
    end subroutine
    subroutine serial_put_time(file, record, time, step) bind(C)
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: file
      integer(c_int), value :: record, step
      real(c_double), value :: time
    end subroutine
    subroutine serial_put(file, name, record, values) bind(C)
      import :: c_ptr, c_char, c_int, c_float
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: record
      real(c_float), intent(in) :: values(*)
    end subroutine
    subroutine serial_close(file) bind(C)
      import :: c_ptr
      type(c_ptr), value :: file
    end subroutine
  end interface

contains

  subroutine start(self, m)
    class(serial_output), intent(inout) :: self
    type(model), intent(in) :: m
    integer :: ranks, error
    call MPI_Comm_rank(m%comm, self%rank, error)
    call MPI_Comm_size(m%comm, ranks, error)
    allocate (self%parts(4, ranks), self%work(m%ni, m%nj), self%mine(m%ni * m%nj))
    call MPI_Gather([m%i0, m%j0, m%ni, m%nj], 4, MPI_INTEGER, self%parts, 4, MPI_INTEGER, 0, m%comm, error)
    allocate (self%gathered(merge(m%nx * m%ny, 1, self%rank == 0)))
    if (self%rank /= 0) return
    allocate (self%whole(m%nx, m%ny))
    self%fields = create(self, m, 'fields', 'the state of a shallow-water model')
    call define(self%fields, 'h', 'x', 'y', 'm', 'depth of the layer')
    call define(self%fields, 'u', 'x_edge', 'y', 'm s-1', 'velocity to the east')
    call define(self%fields, 'v', 'x', 'y_edge', 'm s-1', 'velocity to the north')
    call define(self%fields, 'vorticity', 'x_edge', 'y_edge', 's-1', 'relative vorticity')
    self%surface = create(self, m, 'surface', 'the surface of a shallow-water model')
    call define(self%surface, 'elevation', 'x', 'y', 'm', 'depth of the layer less its depth at rest')
    call define(self%surface, 'speed', 'x', 'y', 'm s-1', 'speed')
  end subroutine

  type(c_ptr) function create(self, m, collection, title)
    type(serial_output), intent(in) :: self
    type(model), intent(in) :: m
    character(*), intent(in) :: collection, title
    create = serial_create(self%directory//'/'//collection//'.nc'//c_null_char, title//c_null_char, m%nx, m%ny, &
        coriolis, gravity, rest_depth, cell)
  end function

  subroutine define(file, name, x, y, units, long_name)
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name, x, y, units, long_name
    call serial_define(file, name//c_null_char, x//c_null_char, y//c_null_char, units//c_null_char, &
        long_name//c_null_char)
  end subroutine

  !> Gathers a field on the first rank and writes it there.
  subroutine write_field(self, m, file, name, record, field)
    class(serial_output), intent(inout) :: self
    type(model), intent(in) :: m
    type(c_ptr), intent(in) :: file
    character(*), intent(in) :: name
    integer, intent(in) :: record
    real(real64), intent(in) :: field(:, :)
    integer :: counts(size(self%parts, 2)), places(size(self%parts, 2)), r, error
    self%mine = reshape(real(field, real32), [size(field)])
    counts = self%parts(3, :) * self%parts(4, :)
    places = [(sum(counts(:r - 1)), r=1, size(counts))]
    call MPI_Gatherv(self%mine, size(self%mine), MPI_REAL, self%gathered, counts, places, MPI_REAL, 0, m%comm, error)
    if (self%rank /= 0) return
    do r = 1, size(counts)
      associate (i0 => self%parts(1, r), j0 => self%parts(2, r), ni => self%parts(3, r), nj => self%parts(4, r))
        self%whole(i0:i0 + ni - 1, j0:j0 + nj - 1) = reshape(self%gathered(places(r) + 1:places(r) + counts(r)), [ni, nj])
      end associate
    end do
    call serial_put(file, name//c_null_char, record, self%whole)
  end subroutine

  subroutine write_fields(self, m)
    class(serial_output), intent(inout) :: self
    type(model), intent(in) :: m
    integer :: record
    record = self%fields_record
    if (self%rank == 0) call serial_put_time(self%fields, record, m%step * time_step, m%step)
    call write_field(self, m, self%fields, 'h', record, m%h(1:m%ni, 1:m%nj))
    call write_field(self, m, self%fields, 'u', record, m%u(1:m%ni, 1:m%nj))
    call write_field(self, m, self%fields, 'v', record, m%v(1:m%ni, 1:m%nj))
    call relative_vorticity(m, 1, self%work)
    call write_field(self, m, self%fields, 'vorticity', record, self%work)
    self%fields_record = record + 1
  end subroutine

  subroutine write_surface(self, m)
    class(serial_output), intent(inout) :: self
    type(model), intent(in) :: m
    integer :: record
    record = self%surface_record
    if (self%rank == 0) call serial_put_time(self%surface, record, m%step * time_step, m%step)
    self%work = m%h(1:m%ni, 1:m%nj) - rest_depth
    call write_field(self, m, self%surface, 'elevation', record, self%work)
    call surface_speed(m, 1, self%work)
    call write_field(self, m, self%surface, 'speed', record, self%work)
    self%surface_record = record + 1
  end subroutine

  !> Nothing to do: written data are already in the file system.
  subroutine end_step(self)
    class(serial_output), intent(inout) :: self
    if (size(self%work) < 0) return
  end subroutine

  subroutine close(self)
    class(serial_output), intent(inout) :: self
    if (self%rank /= 0) return
    call serial_close(self%fields)
    call serial_close(self%surface)
  end subroutine

  subroutine finish(self)
    class(serial_output), intent(inout) :: self
    deallocate (self%parts, self%work, self%mine, self%gathered)
  end subroutine
end module
