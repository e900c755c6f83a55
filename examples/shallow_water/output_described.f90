! SPDX-License-Identifier: Apache-2.0
! Described output: the model offers its fields and puts each of them once per step. The description
! that the setting `output` names, such as output.yaml, says what is written.
module shallow_water_output_described
  use, intrinsic :: iso_fortran_env, only: real64
  use afterbay
  use shallow_water_model
  use shallow_water_output, only: output
  implicit none
  private
  public :: described_output

  type, extends(output) :: described_output
    type(afterbay_session) :: session      !< open, on a model rank
    type(afterbay_output), private :: fields
    real(real64), allocatable, private :: work(:, :)
  contains
    procedure :: start
    procedure :: write_step
    procedure :: close
    procedure :: finish
  end type

contains

  subroutine start(self, m)
    class(described_output), intent(inout) :: self
    type(model), intent(in) :: m
    character(16) :: step
    allocate (self%work(m%ni, m%nj))
    write (step, '(i0,a)') nint(time_step), 's'
    call self%session%decomposition('cells', global=[m%nx, m%ny], start=[m%i0, m%j0], count=[m%ni, m%nj])
    call self%fields%open(self%session, start='2000-01-01', step=trim(step))
    call define_grids(self%fields, m)
    call define(self%fields, 'h', 'centres', 'm', 'depth of the layer')
    call define(self%fields, 'u', 'west_edges', 'm s-1', 'velocity to the east')
    call define(self%fields, 'v', 'south_edges', 'm s-1', 'velocity to the north')
    call define(self%fields, 'vorticity', 'corners', 's-1', 'relative vorticity')
    call define(self%fields, 'elevation', 'centres', 'm', 'depth of the layer less its depth at rest')
    call define(self%fields, 'speed', 'centres', 'm s-1', 'speed')
    call self%fields%start()
  end subroutine

  !> The points of the cells at which the model has values.
  subroutine define_grids(fields, m)
    type(afterbay_output), intent(inout) :: fields
    type(model), intent(in) :: m
    integer :: i
    call fields%dimension('x', [((i - 0.5_real64) * cell, i=1, m%nx)], units='m', &
        long_name='eastward distance of cell centres')
    call fields%dimension('y', [((i - 0.5_real64) * cell, i=1, m%ny)], units='m', &
        long_name='northward distance of cell centres')
    call fields%dimension('x_edge', [((i - 1) * cell, i=1, m%nx)], units='m', &
        long_name='eastward distance of west edges')
    call fields%dimension('y_edge', [((i - 1) * cell, i=1, m%ny)], units='m', &
        long_name='northward distance of south edges')
    call fields%grid('centres', 'x y', decomposition='cells')
    call fields%grid('west_edges', 'x_edge y', decomposition='cells')
    call fields%grid('south_edges', 'x y_edge', decomposition='cells')
    call fields%grid('corners', 'x_edge y_edge', decomposition='cells')
  end subroutine

  subroutine define(fields, name, grid, units, long_name)
    type(afterbay_output), intent(inout) :: fields
    character(*), intent(in) :: name, grid, units, long_name
    call fields%field(name, grid=grid, type=AFTERBAY_FLOAT64, units=units, long_name=long_name)
  end subroutine

  !> Puts all fields. Those that nothing uses in this step are neither copied nor computed.
  subroutine write_step(self, m)
    class(described_output), intent(inout) :: self
    type(model), intent(in) :: m
    associate (fields => self%fields, ni => m%ni, nj => m%nj)
      call fields%step(m%step)
      call fields%put('h', m%h(1:ni, 1:nj))  ! sections without the halo, used without a copy
      call fields%put('u', m%u(1:ni, 1:nj))
      call fields%put('v', m%v(1:ni, 1:nj))
      if (fields%wants('vorticity')) then
        call relative_vorticity(m, 1, self%work)
        call fields%put('vorticity', self%work)
      end if
      if (fields%wants('elevation')) then
        self%work = m%h(1:ni, 1:nj) - rest_depth
        call fields%put('elevation', self%work)
      end if
      if (fields%wants('speed')) then
        call surface_speed(m, 1, self%work)
        call fields%put('speed', self%work)
      end if
    end associate
  end subroutine

  subroutine close(self)
    class(described_output), intent(inout) :: self
    call self%fields%finalize()
  end subroutine

  subroutine finish(self)
    class(described_output), intent(inout) :: self
    call self%session%finalize()
  end subroutine
end module
