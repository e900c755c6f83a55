! SPDX-License-Identifier: Apache-2.0
! Output through Afterbay: the model ranks put their parts and continue.
module shallow_water_output_afterbay
  use, intrinsic :: iso_fortran_env, only: real64
  use afterbay
  use shallow_water_model
  use shallow_water_output, only: collections_output
  implicit none
  private
  public :: server_output

  type, extends(collections_output) :: server_output
    type(afterbay_session) :: session      !< open, on a model rank
    character(:), allocatable :: directory
    type(afterbay_collection), private :: fields, surface
    type(afterbay_file) :: fields_file, surface_file
    integer, private :: fields_record = 0, surface_record = 0
    real(real64), allocatable, private :: work(:, :)
  contains
    procedure :: start
    procedure :: write_fields
    procedure :: write_surface
    procedure :: end_step
    procedure :: close
    procedure :: finish
  end type

contains

  subroutine start(self, m)
    class(server_output), intent(inout) :: self
    type(model), intent(in) :: m
    allocate (self%work(m%ni, m%nj))
    call self%session%decomposition('cells', global=[m%nx, m%ny], start=[m%i0, m%j0], count=[m%ni, m%nj])
    call define_fields(self, m)
    call define_surface(self, m)
    call self%fields%open(self%fields_file)
    call self%surface%open(self%surface_file)
  end subroutine

  subroutine define_fields(self, m)
    type(server_output), intent(inout) :: self
    type(model), intent(in) :: m
    type(afterbay_schema) :: schema
    call describe_grid(schema, m, 'the state of a shallow-water model')
    call describe(schema, 'h', 'x y time', 'm', 'depth of the layer')
    call describe(schema, 'u', 'x_edge y time', 'm s-1', 'velocity to the east')
    call describe(schema, 'v', 'x y_edge time', 'm s-1', 'velocity to the north')
    call describe(schema, 'vorticity', 'x_edge y_edge time', 's-1', 'relative vorticity')
    call self%session%collection('fields', schema, self%fields, directory=self%directory, existing='replace')
    call schema%free()
  end subroutine

  subroutine define_surface(self, m)
    type(server_output), intent(inout) :: self
    type(model), intent(in) :: m
    type(afterbay_schema) :: schema
    call describe_grid(schema, m, 'the surface of a shallow-water model')
    call describe(schema, 'elevation', 'x y time', 'm', 'depth of the layer less its depth at rest')
    call describe(schema, 'speed', 'x y time', 'm s-1', 'speed')
    call self%session%collection('surface', schema, self%surface, directory=self%directory, existing='replace')
    call schema%free()
  end subroutine

  subroutine describe(schema, name, dimensions, units, long_name)
    type(afterbay_schema), intent(inout) :: schema
    character(*), intent(in) :: name, dimensions, units, long_name
    call schema%variable(name, AFTERBAY_FLOAT32, dimensions, decomposition='cells')
    call schema%attribute('units', units, variable=name)
    call schema%attribute('long_name', long_name, variable=name)
  end subroutine

  !> Dimensions, coordinates, time and the global attributes.
  subroutine describe_grid(schema, m, title)
    type(afterbay_schema), intent(inout) :: schema
    type(model), intent(in) :: m
    character(*), intent(in) :: title
    call schema%attribute('Conventions', 'CF-1.10')
    call schema%attribute('title', title)
    call schema%attribute('history', 'written by a shallow-water model')
    call schema%attribute('grid', [m%nx, m%ny])
    call schema%attribute('coriolis', coriolis)
    call schema%attribute('gravity', gravity)
    call schema%attribute('rest_depth', rest_depth)
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    call coordinate(schema, 'x', 'eastward distance of cell centres', m%nx, 0.5_real64)
    call coordinate(schema, 'y', 'northward distance of cell centres', m%ny, 0.5_real64)
    call coordinate(schema, 'x_edge', 'eastward distance of west edges', m%nx, 0.0_real64)
    call coordinate(schema, 'y_edge', 'northward distance of south edges', m%ny, 0.0_real64)
    call schema%variable('time', AFTERBAY_FLOAT64, 'time')
    call schema%attribute('units', 'seconds since 2000-01-01', variable='time')
    call schema%attribute('calendar', 'standard', variable='time')
    call schema%attribute('standard_name', 'time', variable='time')
    call schema%variable('step', AFTERBAY_INT32, 'time')
    call schema%attribute('units', '1', variable='step')
    call schema%attribute('long_name', 'steps done by the model', variable='step')
  end subroutine

  subroutine coordinate(schema, name, long_name, n, first)
    type(afterbay_schema), intent(inout) :: schema
    character(*), intent(in) :: name, long_name
    integer, intent(in) :: n
    real(real64), intent(in) :: first  !< position of the first point, in cells
    integer :: i
    call schema%dimension(name, n)
    call schema%variable(name, AFTERBAY_FLOAT64, name)
    call schema%attribute('units', 'm', variable=name)
    call schema%attribute('long_name', long_name, variable=name)
    call schema%constant(name, [((i - 1 + first) * cell, i=1, n)])
  end subroutine

  subroutine write_fields(self, m)
    class(server_output), intent(inout) :: self
    type(model), intent(in) :: m
    self%fields_record = self%fields_record + 1
    associate (file => self%fields_file, record => self%fields_record, ni => m%ni, nj => m%nj)
      call put_time(file, m, record)
      call file%put('h', m%h(1:ni, 1:nj), record)  ! sections without the halo, used without a copy
      call file%put('u', m%u(1:ni, 1:nj), record)
      call file%put('v', m%v(1:ni, 1:nj), record)
      call relative_vorticity(m, 1, self%work)
      call file%put('vorticity', self%work, record)
    end associate
  end subroutine

  subroutine write_surface(self, m)
    class(server_output), intent(inout) :: self
    type(model), intent(in) :: m
    self%surface_record = self%surface_record + 1
    associate (file => self%surface_file, record => self%surface_record, ni => m%ni, nj => m%nj)
      call put_time(file, m, record)
      self%work = m%h(1:ni, 1:nj) - rest_depth
      call file%put('elevation', self%work, record)
      call surface_speed(m, 1, self%work)
      call file%put('speed', self%work, record)
    end associate
  end subroutine

  subroutine put_time(file, m, record)
    type(afterbay_file), intent(in) :: file
    type(model), intent(in) :: m
    integer, intent(in) :: record
    call file%put('time', m%step * time_step, record)
    call file%put('step', m%step, record)
  end subroutine

  subroutine end_step(self)
    class(server_output), intent(inout) :: self
    call self%session%end_step()
  end subroutine

  subroutine close(self)
    class(server_output), intent(inout) :: self
    call self%fields_file%close()
    call self%surface_file%close()
  end subroutine

  subroutine finish(self)
    class(server_output), intent(inout) :: self
    call self%session%finalize()
    call self%fields%free()
    call self%surface%free()
  end subroutine
end module
