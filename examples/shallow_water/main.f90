! SPDX-License-Identifier: Apache-2.0
! A shallow-water model with output: mpirun -np 6 shallow_water --afterbay.servers=2
! Described output: mpirun -np 3 shallow_water --output described --afterbay.output=output.yaml
! Exit code 1 if mass, energy or enstrophy are not conserved.
program shallow_water
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi
  use afterbay
  use shallow_water_run, only: run
  use shallow_water_settings, only: settings, read_settings
  implicit none

  interface
    subroutine exit_with(code) bind(C, name='exit')
      import :: c_int
      integer(c_int), value :: code
    end subroutine
  end interface

  type(settings) :: s
  integer :: error, status

  call MPI_Init(error)
  status = 0
  s = read_settings()
  if (.not. s%valid) status = 2
  if (s%valid .and. .not. s%help) call start(s, status)
  call MPI_Finalize(error)
  if (status /= 0) call exit_with(int(status, c_int))

contains

  !> Divides the ranks: servers serve, model ranks run the model.
  subroutine start(s, status)
    type(settings), intent(in) :: s
    integer, intent(out) :: status
    type(afterbay_session) :: session
    type(afterbay_options) :: options
    status = 0
    if (all(s%output /= [character(9) :: 'afterbay', 'described'])) then
      call run(s, MPI_COMM_WORLD, session, status)
      return
    end if
    if (s%output == 'described') call choose_description(s, options)
    call options%set_arguments()
    call session%open(MPI_COMM_WORLD, options)
    call options%free()
    if (session%is_server()) then
      call session%serve()
    else
      call run(s, session%model_comm(), session, status)
    end if
  end subroutine

  !> Defaults of the description and of the directory of its files; arguments precede them.
  subroutine choose_description(s, options)
    type(settings), intent(in) :: s
    type(afterbay_options), intent(inout) :: options
    call options%set('output', 'output.yaml')
    if (s%directory /= '.') call options%set('collections.*.directory', s%directory)
  end subroutine
end program
