! SPDX-License-Identifier: Apache-2.0
! A model without a single ierr that makes the mistake named by its first argument.
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
    type(afterbay_file) :: file
    real :: height(nx / 2, ny), tall(nx / 2 + 1, ny)
    integer :: rank, start, count, record
    rank = session%model_rank()
    count = nx / 2
    start = rank * count + 1
    if (mistake == 'outside' .and. rank == 1) start = 10
    if (mistake == 'overlap' .and. rank == 1) start = 8
    call session%decomposition('grid', [nx, ny], [start, 1], [count, ny])
    call schema%dimension('x', nx)
    call schema%dimension('y', ny)
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    if (mistake == 'nowhere') then
      call schema%variable('height', AFTERBAY_FLOAT32, 'x y time')
    else
      call schema%variable('height', AFTERBAY_FLOAT32, 'x y time', decomposition='grid')
    end if
    call session%collection('history', schema, collection, file='out.nc')
    call collection%open(file)
    height = 1
    tall = 1
    do record = 1, 2
      if (mistake == 'shape') call file%put('height', tall, record)
      if (mistake == 'text') call file%put('height', 'tall', record)
      if (.not. (mistake == 'missing' .and. record == 2 .and. rank == 1)) call file%put('height', height, record)
      if (mistake == 'twice' .and. record == 2) call file%put('height', height, record)
      if (mistake == 'zeroth') call file%put('height', height, 0)
      call session%end_step()
    end do
    call file%close()
    call session%finalize()
  end subroutine
end program
