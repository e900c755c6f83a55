! SPDX-License-Identifier: Apache-2.0
! The output of the model, independent of how it is written: two collections, `fields` (the state
! and its vorticity) and `surface` (elevation and speed). output_afterbay and output_serial
! implement it.
module shallow_water_output
  use shallow_water_model, only: model
  implicit none
  private
  public :: output

  type, abstract :: output
  contains
    procedure(with_model), deferred :: start          !< once, before the first step
    procedure(with_model), deferred :: write_fields   !< a record of `fields`
    procedure(with_model), deferred :: write_surface  !< a record of `surface`
    procedure(alone), deferred :: end_step            !< after every step of the model
    procedure(alone), deferred :: close               !< the model has nothing more to write
    procedure(alone), deferred :: finish              !< returns when the files are complete
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
  end interface
end module
