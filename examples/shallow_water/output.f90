! SPDX-License-Identifier: Apache-2.0
! The output of the model, independent of how it is written. output_described implements `output`.
! output_afterbay and output_serial implement `collections_output`: two collections at different
! intervals, `fields` (the state and its vorticity) and `surface` (elevation and speed).
module shallow_water_output
  use shallow_water_model, only: model
  implicit none
  private
  public :: output, collections_output

  type, abstract :: output
  contains
    procedure(with_model), deferred :: start       !< once, before the first step
    procedure(with_model), deferred :: write_step  !< the initial state, then after every step of the model
    procedure(alone), deferred :: close            !< the model has nothing more to write
    procedure(alone), deferred :: finish           !< returns when the files are complete
  end type

  type, abstract, extends(output) :: collections_output
    integer :: fields_every = 1, surface_every = 1  !< steps between records
  contains
    procedure :: write_step
    procedure(record), deferred :: write_fields     !< a record of `fields`
    procedure(record), deferred :: write_surface    !< a record of `surface`
    procedure(after_records), deferred :: end_step  !< after the records of a step
  end type

  abstract interface
    subroutine with_model(self, m)
      import :: output, model
      class(output), intent(inout) :: self
      type(model), intent(in) :: m
    end subroutine
    subroutine alone(self)
      import :: output
      class(output), intent(inout) :: self
    end subroutine
    subroutine record(self, m)
      import :: collections_output, model
      class(collections_output), intent(inout) :: self
      type(model), intent(in) :: m
    end subroutine
    subroutine after_records(self)
      import :: collections_output
      class(collections_output), intent(inout) :: self
    end subroutine
  end interface

contains

  subroutine write_step(self, m)
    class(collections_output), intent(inout) :: self
    type(model), intent(in) :: m
    if (mod(m%step, self%fields_every) == 0) call self%write_fields(m)
    if (mod(m%step, self%surface_every) == 0) call self%write_surface(m)
    call self%end_step()
  end subroutine
end module
