! SPDX-License-Identifier: Apache-2.0
! What one thread writes: a band of the rank's rows, through an endpoint of its own. No thread waits
! for another one, and nothing is gathered.
module shallow_water_band
  use, intrinsic :: iso_fortran_env, only: real64
  use afterbay
  use shallow_water_model
  use shallow_water_output_afterbay, only: server_output
  implicit none
  private
  public :: band

  type :: band
    type(afterbay_endpoint), private :: endpoint
    type(afterbay_file), private :: fields, surface
    integer, private :: first = 1, last = 0  !< rows of the rank
    integer, private :: fields_record = 0, surface_record = 0
    real(real64), allocatable, private :: work(:, :)
  contains
    procedure :: open => open_band
    procedure :: write_fields
    procedure :: write_surface
    procedure :: end_step
    procedure :: close
  end type

contains

  !> The rows of thread `number` (from 0) of `threads`.
  subroutine open_band(self, out, m, number, threads)
    class(band), intent(inout) :: self
    type(server_output), intent(in) :: out
    type(model), intent(in) :: m
    integer, intent(in) :: number, threads
    integer :: rows
    call share(m%nj, threads, number, self%first, rows)
    self%last = self%first + rows - 1
    self%fields = out%fields_file
    self%surface = out%surface_file
    allocate (self%work(m%ni, rows))
    call out%session%endpoint(self%endpoint)
    call self%endpoint%part('cells', global=[m%nx, m%ny], start=[m%i0, m%j0 + self%first - 1], count=[m%ni, rows])
  end subroutine

  subroutine write_fields(self, m)
    class(band), intent(inout) :: self
    type(model), intent(in) :: m
    self%fields_record = self%fields_record + 1
    associate (put_to => self%endpoint, file => self%fields, record => self%fields_record, ni => m%ni, &
        first => self%first, last => self%last)
      call put_to%put(file, 'h', m%h(1:ni, first:last), record)
      call put_to%put(file, 'u', m%u(1:ni, first:last), record)
      call put_to%put(file, 'v', m%v(1:ni, first:last), record)
      call relative_vorticity(m, first, self%work)
      call put_to%put(file, 'vorticity', self%work, record)
    end associate
  end subroutine

  subroutine write_surface(self, m)
    class(band), intent(inout) :: self
    type(model), intent(in) :: m
    self%surface_record = self%surface_record + 1
    self%work = m%h(1:m%ni, self%first:self%last) - rest_depth
    call self%endpoint%put(self%surface, 'elevation', self%work, self%surface_record)
    call surface_speed(m, self%first, self%work)
    call self%endpoint%put(self%surface, 'speed', self%work, self%surface_record)
  end subroutine

  subroutine end_step(self)
    class(band), intent(in) :: self
    call self%endpoint%end_step()
  end subroutine

  subroutine close(self)
    class(band), intent(inout) :: self
    call self%endpoint%close()
  end subroutine
end module
