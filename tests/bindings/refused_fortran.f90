! SPDX-License-Identifier: Apache-2.0
! On 2 model ranks and 1 server: finalize and close with an uncommitted slot, and a commit of values
! out of range, are refused; the program then commits and calls them again.
module refused_checks
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_double
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi
  use afterbay
  implicit none

  integer, parameter :: points = 4  ! points of each rank
  integer :: my_rank

contains

  subroutine holds(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    type(afterbay_error) :: last
    integer :: error
    if (condition) return
    last = afterbay_last_error()
    write (error_unit, '(4a)') 'refused_fortran: does not hold: ', what, '; last error: ', last%text
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine

  subroutine fails(code, expected, part)
    integer, intent(in) :: code, expected
    character(*), intent(in) :: part
    type(afterbay_error) :: last
    last = afterbay_last_error()
    call holds(code == expected, 'code '//afterbay_error_name(expected)//' for '//part)
    call holds(index(last%text, part) > 0, 'the message has '//part)
  end subroutine

  !> Values from `first` on, counted over all ranks.
  subroutine compute(slot, first)
    type(afterbay_slot), intent(in) :: slot
    integer, intent(in) :: first
    real(c_double), pointer :: part(:)
    integer :: number, i
    do number = 1, slot%part_count()
      call slot%part(number, part)
      do i = lbound(part, 1), ubound(part, 1)
        part(i) = first + i - 1
      end do
    end do
  end subroutine

  subroutine put_narrow(file)
    type(afterbay_file), intent(in) :: file
    type(afterbay_slot) :: slot
    integer(c_int32_t), pointer :: part(:)
    integer :: ierr
    call file%acquire('narrow', slot, AFTERBAY_INT32, 1)
    call slot%part(1, part)
    part = 40000
    call slot%commit(ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'out of range')
    part = 5
    call slot%commit()
    call slot%commit(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'committed')
  end subroutine

  subroutine run_model(session)
    type(afterbay_session), intent(inout) :: session
    type(afterbay_schema) :: schema
    type(afterbay_collection) :: collection
    type(afterbay_file) :: file
    type(afterbay_slot) :: slot
    type(afterbay_ticket) :: closed
    integer :: ierr
    call session%decomposition('line', [2 * points], [my_rank * points + 1], [points])
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    call schema%dimension('x', 2 * points)
    call schema%variable('v', AFTERBAY_FLOAT64, 'x time', decomposition='line')
    call schema%variable('narrow', AFTERBAY_INT16, 'x time', decomposition='line')
    call session%collection('c', schema, collection, store='netcdf4')

    call collection%open(file, 'closed.nc')
    call file%acquire('v', slot, AFTERBAY_FLOAT64, 1)
    call holds(slot%is_direct(), 'the slot lies in the server''s memory')
    call file%close(closed, ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'close while a slot is not committed')
    call compute(slot, 1)
    call slot%commit()
    call put_narrow(file)
    call file%close(closed)
    call session%wait(closed)

    call session%serve(ierr)
    call holds(ierr /= AFTERBAY_OK, 'a model rank does not serve')
    call collection%open(file, 'finalized.nc')
    call put_narrow(file)
    call file%acquire('v', slot, AFTERBAY_FLOAT64, 1)
    call session%finalize(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'finalize while a slot is not committed')
    call compute(slot, 101)
    call slot%commit()
    call session%finalize()
    call session%finalize(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'finalized')
    call file%close(ierr=ierr)
    call holds(ierr == AFTERBAY_OK .or. ierr == AFTERBAY_BAD_STATE, 'close after finalize')
  end subroutine
end module

program refused
  use refused_checks
  implicit none
  type(afterbay_session) :: session
  type(afterbay_options) :: options
  integer :: error
  call MPI_Init(error)
  call options%set('servers', '1')
  call options%set('deadline', '30s')
  call options%set('report.table', 'off')
  call session%open(MPI_COMM_WORLD, options)
  if (session%is_server()) then
    call session%serve()
  else
    my_rank = session%model_rank()
    call run_model(session)
  end if
  call MPI_Finalize(error)
end program
