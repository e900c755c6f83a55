! SPDX-License-Identifier: Apache-2.0
! A model without any ierr, except for 'stop', that makes the mistake named by its first argument.
program mistakes
  use mpi
  use afterbay
  implicit none
  integer, parameter :: nx = 16, ny = 4
  character(len=32) :: mistake
  integer :: ierr
  type(afterbay_options) :: options
  type(afterbay_session) :: session
  call MPI_Init(ierr)
  call get_command_argument(1, mistake)
  call options%set_arguments()
  if (mistake == 'setting') call options%set('no.such.setting', '1')
  call session%open(MPI_COMM_WORLD, options)
  call options%free()
  if (session%is_server()) then
    call session%serve()
  else
    call run()
  end if
  call MPI_Finalize(ierr)

contains

  subroutine run()
    type(afterbay_schema) :: schema
    type(afterbay_collection) :: collection
    type(afterbay_file) :: file, second
    real :: height(nx / 2, ny), tall(nx / 2 + 1, ny)
    integer :: rank, start, count, record, code
    rank = session%model_rank()
    count = nx / 2
    start = rank * count + 1
    if (mistake == 'outside' .and. rank == 1) start = 10
    if (mistake == 'overlap' .and. rank == 1) start = 8
    if (mistake == 'unfit') then
      call session%decomposition('grid', [nx, ny + 1], [start, 1], [count, ny + 1])
    else
      call session%decomposition('grid', [nx, ny], [start, 1], [count, ny])
    end if
    call schema%dimension('x', nx)
    call schema%dimension('y', ny)
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    if (mistake == 'nowhere') then
      call schema%variable('height', AFTERBAY_FLOAT32, 'x y time')
    else if (mistake == 'order') then
      call schema%variable('height', AFTERBAY_FLOAT32, 'time x y', decomposition='grid')
    else
      call schema%variable('height', AFTERBAY_FLOAT32, 'x y time', decomposition='grid')
    end if
    if (mistake == 'never_put') then
      call schema%fill('height', -999)
      call schema%variable('depth', AFTERBAY_FLOAT32, 'x y', decomposition='grid')
      call schema%variable('crs', AFTERBAY_INT32, '')
      call schema%variable('y', AFTERBAY_FLOAT64, 'y')
      call schema%constant('y', [1, 2, 3, 4])
    end if
    if (mistake == 'append') then
      call session%collection('history', schema, collection, file='older.nc', existing='append')
    else
      call session%collection('history', schema, collection, file='out.nc')
    end if
    call collection%open(file)
    if (mistake == 'never_put') call collection%open(second, name='out.nc2')
    height = 1
    tall = 1
    do record = 1, 2
      if (mistake == 'shape') call file%put('height', tall, record)
      if (mistake == 'text') call file%put('height', 'tall', record)
      if (.not. (mistake == 'missing' .and. record == 2 .and. rank == 1)) call file%put('height', height, record)
      if (mistake == 'twice' .and. record == 2) call file%put('height', height, record)
      if (mistake == 'zeroth') call file%put('height', height, 0)
      if (mistake == 'stop') then
        call file%put('height', height, 0, ierr=code)
        if (code /= AFTERBAY_OK) call afterbay_stop()
      end if
      if (mistake == 'far' .and. record == 2) call file%put('height', height, 20260101)
      call session%end_step()
    end do
    call file%close()
    call session%finalize()
  end subroutine
end program
