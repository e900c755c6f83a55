! SPDX-License-Identifier: Apache-2.0
! forgotten.cpp in Fortran. A session is never destroyed here: `:kept` changes nothing.
program forgotten
  use mpi
  use afterbay
  implicit none
  character(len=32) :: scenario, chosen
  integer :: world, ierr, number, unit
  integer(8) :: opened = 0
  logical :: forgets
  character(len=16) :: name
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, world, ierr)
  call get_command_argument(1, scenario)
  call get_command_argument(2, chosen)
  forgets = chosen == '' .or. chosen(1:1) == '-'
  if (.not. forgets) then
    read (chosen, *) number
    forgets = number == world
  end if
  if (index(scenario, ':') > 0) scenario = scenario(:index(scenario, ':') - 1)
  call take_part()
  if (scenario == 'blocked' .and. .not. forgets) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (scenario == 'exit' .and. forgets) stop 3
  call MPI_Finalize(ierr)
  write (name, '(a,i0)') 'ended.', world
  open (newunit=unit, file=name)
  write (unit, '(f0.3)') seconds()
  close (unit)

contains

  ! The session is a local variable here, which ends with this subroutine.
  subroutine take_part()
    type(afterbay_options) :: options
    type(afterbay_session) :: session
    integer :: code
    logical :: of_servers
    of_servers = scenario == 'serve' .or. scenario == 'blocked'
    call options%set_name('forgetful')
    call options%set_arguments()
    call session%open(MPI_COMM_WORLD, options, code)
    call system_clock(opened)
    call options%free()
    if (code /= AFTERBAY_OK) then
      call keep_outcome(code)
    else if (.not. session%is_server()) then
      call run(session, forgets .and. .not. of_servers)
    else if (.not. (forgets .and. (of_servers .or. scenario == 'exit'))) then
      call session%serve(code)
      if (code /= AFTERBAY_OK) call keep_outcome(code)
    else if (scenario == 'blocked') then
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end if
  end subroutine

  real(8) function seconds()
    integer(8) :: now, rate
    call system_clock(now, rate)
    seconds = real(now - opened, 8) / real(rate, 8)
  end function

  subroutine run(session, forgets)
    type(afterbay_session), intent(inout) :: session
    logical, intent(in) :: forgets
    type(afterbay_schema) :: schema
    type(afterbay_collection) :: collection
    type(afterbay_file) :: file
    type(afterbay_ticket) :: closed
    real :: values(16)
    integer :: mine, code
    if (forgets .and. scenario == 'unused') return
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
    type(afterbay_error) :: error
    error = afterbay_last_error()
    write (name, '(a,i0)') 'outcome.', world
    open (newunit=unit, file=name)
    write (unit, '(a)') afterbay_error_name(code)
    write (unit, '(f0.3)') seconds()
    write (unit, '(a)') error%text
    close (unit)
  end subroutine
end program
