! SPDX-License-Identifier: Apache-2.0
! forgotten.cpp in Fortran.
program forgotten
  use mpi
  use afterbay
  implicit none
  character(len=32) :: scenario, chosen
  integer :: world, ierr, number
  logical :: forgets
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, world, ierr)
  call get_command_argument(1, scenario)
  call get_command_argument(2, chosen)
  forgets = chosen == '' .or. chosen(1:1) == '-'
  if (.not. forgets) then
    read (chosen, *) number
    forgets = number == world
  end if
  call take_part()
  if (scenario == 'exit' .and. forgets) stop 3
  call MPI_Finalize(ierr)

contains

  ! The session is a local variable here, which ends with this subroutine.
  subroutine take_part()
    type(afterbay_options) :: options
    type(afterbay_session) :: session
    integer :: code
    call options%set_name('forgetful')
    call options%set_arguments()
    call session%open(MPI_COMM_WORLD, options, code)
    call options%free()
    if (code /= AFTERBAY_OK) then
      call keep_outcome(code)
    else if (.not. session%is_server()) then
      call run(session, forgets .and. scenario /= 'serve')
    else if (scenario /= 'serve') then
      call session%serve(code)
      if (code /= AFTERBAY_OK) call keep_outcome(code)
    end if
  end subroutine

  subroutine run(session, forgets)
    type(afterbay_session), intent(inout) :: session
    logical, intent(in) :: forgets
    type(afterbay_schema) :: schema
    type(afterbay_collection) :: collection
    type(afterbay_file) :: file
    type(afterbay_ticket) :: closed
    real :: values(16)
    integer :: mine, code
    mine = 16 / session%model_size()
    call session%decomposition('grid', [16], [session%model_rank() * mine + 1], [mine])
    call schema%dimension('x', 16)
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    call schema%variable('height', AFTERBAY_FLOAT32, ['x   ', 'time'], decomposition='grid')
    call session%collection('history', schema, collection, file='out.nc')
    call collection%open(file, ierr=code)
    values = 1
    if (code == AFTERBAY_OK) call file%put('height', values(:mine), 1, ierr=code)
    if (code == AFTERBAY_OK) call session%end_step(code)
    if (code == AFTERBAY_OK .and. (.not. forgets .or. scenario == 'finalize')) then
      call file%close(closed, ierr=code)
      if (code == AFTERBAY_OK .and. scenario == 'close') call session%wait(closed, code)
    end if
    if (code == AFTERBAY_OK .and. .not. forgets) call session%finalize(code)
    if (code /= AFTERBAY_OK) call keep_outcome(code)
  end subroutine

  subroutine keep_outcome(code)
    integer, intent(in) :: code
    character(len=16) :: name
    type(afterbay_error) :: error
    integer :: unit
    error = afterbay_last_error()
    write (name, '(a,i0)') 'outcome.', world
    open (newunit=unit, file=name)
    write (unit, '(a)') afterbay_error_name(code), error%text
    close (unit)
  end subroutine
end program
