! SPDX-License-Identifier: Apache-2.0
! The same as hello.cpp, in Fortran.
program hello
  use mpi
  use afterbay
  implicit none
  type(afterbay_session) :: session
  type(afterbay_options) :: options
  integer :: ierr

  call MPI_Init(ierr)
  call options%set('servers', '1')
  call session%open(MPI_COMM_WORLD, options)
  if (session%is_server()) then
    call session%serve()
  else
    call write_hello()
  end if
  call MPI_Finalize(ierr)

contains

  subroutine write_hello()
    integer, parameter :: points = 8
    type(afterbay_schema) :: schema
    type(afterbay_collection) :: collection
    type(afterbay_file) :: file
    integer :: count, start, record, i

    count = points / session%model_size()
    start = count * session%model_rank() + 1
    call session%decomposition('line', global=[points], start=[start], count=[count])
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    call schema%dimension('x', points)
    call schema%variable('signal', AFTERBAY_FLOAT64, 'x time', decomposition='line')
    call session%collection('hello', schema, collection)
    call collection%open(file)
    do record = 1, 2
      call file%put('signal', [(dble(10 * (record - 1) + start - 1 + i), i = 0, count - 1)], record=record)
      call session%end_step()
    end do
    call file%close()
    call session%finalize()
  end subroutine

end program
