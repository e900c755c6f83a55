! SPDX-License-Identifier: Apache-2.0
! The same as restart.c, in Fortran: the same file, the same checks, the same errors.
module restart_checks
  use, intrinsic :: iso_c_binding, only: c_int8_t, c_int16_t, c_int64_t, c_float, c_double
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi
  use afterbay
  implicit none

  integer, parameter :: nx_all = 7, ny_all = 5, nlev = 3, ncell = 20, records = 3, halo = 2, untouched = -77
  integer :: my_rank, ranks
  integer :: x0, nx, y0, ny            ! this rank's part of the plane; x0 and y0 count from 0
  integer, allocatable :: cells(:)     ! this rank's list, from 1; 0: a hole

contains

  subroutine holds(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    type(afterbay_error) :: last
    integer :: error
    if (condition) return
    last = afterbay_last_error()
    write (error_unit, '(4a)') 'restart_fortran: does not hold: ', what, '; last error: ', last%text
    call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine

  !> Expects that `code` is `expected` and that the last error's text contains `part`.
  subroutine fails(code, expected, part)
    integer, intent(in) :: code, expected
    character(*), intent(in) :: part
    type(afterbay_error) :: last
    last = afterbay_last_error()
    call holds(code == expected, 'code '//afterbay_error_name(expected)//' for '//part)
    call holds(index(last%text, part) > 0, 'the message has '//part)
  end subroutine

  !> All numbers from 0, as in C.
  elemental real(c_double) function value(kind, record, point)
    integer, intent(in) :: kind, record, point
    value = sqrt(1.0d0 + kind * 1000 + record * 200 + point)
  end function

  !> This rank's part of h in a record from 1, and of t.
  function h_of(record) result(h)
    integer, intent(in) :: record
    real(c_double) :: h(nx, ny)
    integer :: x, y
    do y = 1, ny
      do x = 1, nx
        h(x, y) = value(1, record - 1, (y0 + y - 1) * nx_all + x0 + x - 1)
      end do
    end do
  end function

  function t_of() result(t)
    real(c_float) :: t(nx, ny, nlev)
    integer :: x, y, l
    do l = 1, nlev
      do y = 1, ny
        do x = 1, nx
          t(x, y, l) = real(value(2, 0, ((l - 1) * ny_all + y0 + y - 1) * nx_all + x0 + x - 1), c_float)
        end do
      end do
    end do
  end function

  function v_of(record, hole) result(v)
    integer, intent(in) :: record
    real(c_double), intent(in) :: hole
    real(c_double) :: v(size(cells), nlev)
    integer :: l
    do l = 1, nlev
      v(:, l) = merge(value(3, record - 1, (l - 1) * ncell + max(cells, 1) - 1), hole, cells > 0)
    end do
  end function
end module

module restart_output
  use restart_checks
  implicit none

  !> What a rank holds of everything, as it was computed or read.
  type :: state
    real(c_double), allocatable :: h(:, :, :), v(:, :, :)
    real(c_float), allocatable :: t(:, :, :)
    real(c_double) :: clock(records)
    integer(c_int8_t) :: mask(nx_all, ny_all)
    integer(c_int64_t) :: count
    character(:), allocatable :: names(:)
    character(9) :: remark(records)
    character(5) :: label(3)
  end type

contains

  subroutine make_schema(schema)
    type(afterbay_schema), intent(inout) :: schema
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    call schema%dimension('lev', nlev)
    call schema%dimension('y', ny_all)
    call schema%dimension('x', nx_all)
    call schema%dimension('cell', ncell)
    call schema%dimension('n', 3)
    call schema%dimension('length', 5)
    call schema%variable('h', AFTERBAY_FLOAT64, 'x y time', decomposition='grid')
    call schema%variable('t', AFTERBAY_FLOAT32, 'x y lev', decomposition='grid')
    call schema%variable('v', AFTERBAY_FLOAT64, 'cell lev time', decomposition='cells')
    call schema%variable('clock', AFTERBAY_FLOAT64, 'time')
    call schema%variable('mask', AFTERBAY_INT8, 'x y')
    call schema%variable('count', AFTERBAY_INT64, '')
    call schema%variable('names', AFTERBAY_STRING, 'n')
    call schema%variable('remark', AFTERBAY_STRING, 'time')
    call schema%variable('label', AFTERBAY_TEXT, 'length n')
    call schema%attribute('title', 'a restart')
    call schema%attribute('dt', 0.1d0)
    call schema%attribute('version', [3, 1, 4])
    call schema%attribute('sources', [character(10) :: 'one', '', 'twenty two'])
    call schema%attribute('units', 'K', variable='t')
    call schema%attribute('flags', [200, 1], variable='t', type=AFTERBAY_UINT8)
    call schema%fill('t', -999.0)
  end subroutine

  !> Bands of rows and cells distributed in turn, or bands of columns and cells in pieces; no rank
  !> holds the last cell.
  subroutine decompose(session, by_rows)
    type(afterbay_session), intent(in) :: session
    logical, intent(in) :: by_rows
    integer :: c
    x0 = merge(0, my_rank * nx_all / ranks, by_rows)
    nx = merge(nx_all, (my_rank + 1) * nx_all / ranks - x0, by_rows)
    y0 = merge(my_rank * ny_all / ranks, 0, by_rows)
    ny = merge((my_rank + 1) * ny_all / ranks - y0, ny_all, by_rows)
    call session%decomposition('grid', [nx_all, ny_all], [x0 + 1, y0 + 1], [nx, ny])
    cells = [integer ::]
    do c = ncell - 1, 1, -1
      if (merge(mod(c - 1, ranks), (c - 1) * ranks / ncell, by_rows) /= my_rank) cycle
      cells = [cells, c]
      if (by_rows .or. mod(c, 3) == 0) cells = [cells, 0]
    end do
    call session%map('cells', [ncell], cells)
  end subroutine

  subroutine open_output(session, path, file)
    type(afterbay_session), intent(in) :: session
    character(*), intent(in) :: path
    type(afterbay_file), intent(out) :: file
    type(afterbay_schema) :: schema
    type(afterbay_collection) :: collection
    call make_schema(schema)
    call session%collection(path, schema, collection, file=path, existing='replace')
    call schema%free()
    call collection%open(file)
    call collection%free()
  end subroutine

  subroutine compute(held)
    type(state), intent(out) :: held
    integer :: r, i
    allocate (held%h(1 - halo:nx + halo, 1 - halo:ny + halo, records), held%v(size(cells), nlev, records))
    held%h = untouched
    do r = 1, records
      held%h(1:nx, 1:ny, r) = h_of(r)
      held%v(:, :, r) = v_of(r, 0d0)
      held%clock(r) = value(4, r - 1, 0)
    end do
    held%t = t_of()
    held%mask = reshape([(int(mod(i, 3) - 1, c_int8_t), i=0, nx_all * ny_all - 1)], [nx_all, ny_all])
    held%count = 5000000000_c_int64_t
    held%names = [character(9) :: 'north', '', 'far south']
    held%remark = [character(9) :: 'as it was', '', 'as it was']
    held%label = ['aaaaa', 'bbb  ', ' c   ']
  end subroutine

  subroutine put_all(session, file, held)
    type(afterbay_session), intent(in) :: session
    type(afterbay_file), intent(in) :: file
    type(state), intent(in) :: held
    integer :: r
    call file%put('t', held%t)
    call file%put('mask', held%mask)
    call file%put('count', held%count)
    call file%put('label', held%label)
    call file%put_strings('names', held%names)
    do r = 1, records
      call file%put('h', held%h(1:nx, 1:ny, r), r)
      call file%put('v', held%v(:, :, r), r)
      call file%put('clock', held%clock(r), r)
      call file%put_strings('remark', held%remark(r), r)
      call session%end_step()
    end do
  end subroutine

  subroutine write_file(session, path)
    type(afterbay_session), intent(in) :: session
    character(*), intent(in) :: path
    type(afterbay_file) :: file
    type(state) :: held
    call decompose(session, .true.)
    call open_output(session, path, file)
    call compute(held)
    call put_all(session, file, held)
    call file%close()
  end subroutine
end module

module restart_input
  use restart_output
  implicit none

contains

  subroutine check_attributes(input)
    type(afterbay_input), intent(in) :: input
    character(:), allocatable :: text, texts(:)
    real(c_double) :: dt
    real(c_float) :: fill(1)
    integer(c_int16_t) :: wide(2, 3), flags(2)
    call input%get_attribute('title', text)
    call holds(text == 'a restart' .and. len(text) == 9, 'title')
    call input%get_attribute('units', text, variable='t')
    call holds(text == 'K', 'units')
    call input%get_attribute('dt', dt)
    call holds(dt == 0.1d0, 'dt')
    wide = 0
    call input%get_attribute('version', wide(2, 3:1:-1))
    call holds(all(wide(2, :) == [4_c_int16_t, 1_c_int16_t, 3_c_int16_t]) .and. all(wide(1, :) == 0), 'version')
    call input%get_attribute('flags', flags, variable='t')
    call holds(all(flags == [200_c_int16_t, 1_c_int16_t]), 'flags')
    call input%get_attribute('_FillValue', fill, variable='t')
    call holds(fill(1) == -999, 'fill value')
    call input%get_attribute('sources', texts)
    call holds(size(texts) == 3 .and. len(texts) == 10, 'as long as the longest source')
    call holds(texts(1) == 'one' .and. texts(2) == '' .and. texts(3) == 'twenty two', 'sources')
    call input%get_attribute('title', texts)
    call holds(size(texts) == 1 .and. texts(1) == 'a restart', 'text is a list of one')
    call holds(input%attribute_type('flags', 't') == AFTERBAY_UINT8 .and. input%attribute_count('flags', 't') == 2 .and. &
        input%attribute_type('title') == AFTERBAY_TEXT .and. input%attribute_count('sources') == 3, 'types of attributes')
    call holds(input%has_attribute('title') .and. .not. input%has_attribute('title', 't'), 'has_attribute')
  end subroutine

  subroutine check_schema(input)
    type(afterbay_input), intent(in) :: input
    character(:), allocatable :: names(:)
    call holds(input%variable_count() == 9 .and. input%variable_name(4) == 'clock', 'the list of variables')
    call holds(input%has_variable('mask') .and. .not. input%has_variable('mas'), 'has_variable')
    call holds(input%variable_type('v') == AFTERBAY_FLOAT64 .and. input%variable_rank('v') == 3, 'v')
    call holds(input%variable_type('count') == AFTERBAY_INT64 .and. input%variable_rank('count') == 0, 'count')
    names = input%variable_dimensions('v')
    call holds(size(names) == 3, 'dimensions of v')
    call holds(names(1) == 'cell' .and. names(2) == 'lev' .and. names(3) == 'time', 'their names')
    call holds(all(input%variable_lengths('v') == [ncell, nlev, AFTERBAY_UNLIMITED]), 'their lengths')
    call holds(size(input%variable_lengths('count')) == 0, 'a scalar has no dimensions')
    call holds(input%dimension_length('cell') == ncell, 'the length of a dimension')
    call check_attributes(input)
  end subroutine

  !> Record by record, as a section within halos and with an offset; the results are equal.
  subroutine get_h(input, held)
    type(afterbay_input), intent(in) :: input
    type(state), intent(inout) :: held
    real(c_double) :: strided(2, nx, 0:2 * ny, records)
    integer :: r, turn
    allocate (held%h(1 - halo:nx + halo, 1 - halo:ny + halo, records))
    do turn = 1, 3
      held%h = untouched
      if (turn == 1) call input%get('h', held%h(1:nx, 1:ny, :), record=1, records=records, decomposition='grid')
      if (turn == 2) call input%get('h', held%h, record=1, records=records, decomposition='grid', offset=[halo, halo])
      do r = records, 1, -1
        if (turn == 3) call input%get('h', held%h(1:nx, 1:ny, r), record=r, decomposition='grid')
      end do
      call holds(count(held%h == untouched) == size(held%h) - nx * ny * records, 'halos keep their values')
      do r = 1, records
        call holds(all(held%h(1:nx, 1:ny, r) == h_of(r)), 'h')
      end do
    end do
    strided = untouched
    call input%get('h', strided(2, nx:1:-1, 1:2 * ny:2, 2:3), record=1, records=2, decomposition='grid')
    call holds(all(strided(2, nx:1:-1, 1:2 * ny:2, 3) == h_of(2)), 'h in another layout')
    call holds(count(strided == untouched) == size(strided) - 2 * nx * ny, 'what is between keeps its values')
  end subroutine

  !> A whole record on every rank, and a box of two records, as another type.
  subroutine get_whole_and_box(input)
    type(afterbay_input), intent(in) :: input
    real(c_double) :: whole(nx_all, ny_all)
    real(c_float) :: box(3, 2, 2)
    integer :: x, y, r
    call input%get('h', whole, record=2)
    call holds(all(whole == reshape([(value(1, 1, x), x=0, nx_all * ny_all - 1)], [nx_all, ny_all])), 'a whole record')
    call input%get('h', box, record=2, records=2, start=[3, 2], count=[3, 2])
    do r = 1, 2
      do y = 1, 2
        do x = 1, 3
          call holds(box(x, y, r) == real(value(1, r, y * nx_all + x + 1), c_float), 'a box')
        end do
      end do
    end do
  end subroutine

  subroutine get_rest(input, held)
    type(afterbay_input), intent(in) :: input
    type(state), intent(inout) :: held
    character(:), allocatable :: remark(:)
    integer :: r
    allocate (held%v(size(cells), nlev, records), held%t(nx, ny, nlev))
    held%v = untouched
    call input%get('v', held%v, record=1, records=records, decomposition='cells')
    do r = 1, records
      call holds(all(held%v(:, :, r) == v_of(r, real(untouched, c_double))), 'v, holes keep their values')
      call input%get_strings('remark', remark, record=r)
      call holds(size(remark) == 1, 'a string a record')
      held%remark(r) = remark(1)
    end do
    call input%get('t', held%t, decomposition='grid')
    call holds(all(held%t == t_of()), 't')
    call input%get('clock', held%clock, record=1, records=records)
    call input%get('mask', held%mask)
    call input%get('count', held%count)
    call input%get('label', held%label)
    call input%get_strings('names', held%names)
    call holds(size(held%names) == 3 .and. len(held%names) == 9, 'as long as the longest name')
  end subroutine

  subroutine copy_file(session, from, to)
    type(afterbay_session), intent(in) :: session
    character(*), intent(in) :: from, to
    type(afterbay_input) :: input
    type(afterbay_file) :: file
    type(state) :: held
    call session%open_input(from, input)
    call decompose(session, .false.)  ! after the file was opened
    call input%prefetch('h', record=2, records=2, decomposition='grid')
    call holds(input%records() == records, 'records')
    call holds(input%path() == from, 'path')
    call check_schema(input)
    call get_h(input, held)
    call get_whole_and_box(input)
    call get_rest(input, held)
    call input%close()
    call open_output(session, to, file)
    call put_all(session, file, held)
    call file%close()
  end subroutine
end module

module restart_errors
  use restart_input
  implicit none

contains

  subroutine try_gets(input)
    type(afterbay_input), intent(in) :: input
    real(c_double) :: field(nx, ny), two(nx, ny, 2)
    character(:), allocatable :: texts(:)
    integer :: ierr
    field = 0
    call input%get('mas', field, ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'did you mean "mask"')
    call input%get('h', field, record=4, decomposition='grid', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'the file has 3')
    call input%get('h', two, record=3, records=2, decomposition='grid', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'the file has 3')
    call input%get('h', two, record=1, records=3, decomposition='grid', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'one more dimension')
    call input%get('h', field, record=0, decomposition='grid', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'counted from 1')
    call input%get('h', two, record=1, records=0, decomposition='grid', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, '`records`')
    call input%get('h', field, decomposition='grid', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'h')
    call input%get('h', field, record=1, decomposition='gird', ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'did you mean "grid"')
    call input%get('h', field, record=1, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'h')  ! all of it, into an array of this rank's part
    call input%get('h', field, record=1, start=[1, 1], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'together')
    call input%get('h', field, record=1, start=[0, 1], count=[1, 1], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'start counts from 1')
    call input%get('h', field, record=1, start=[nx_all, 1], count=[nx, ny], decomposition='grid', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'give one of them')
    call input%get('h', field, record=1, decomposition='grid', offset=[-1, 0], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'offset')
    call input%get('names', field, ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'get_strings')
    call input%get_strings('mask', texts, ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'use get')
    call input%get_strings('remark', texts, record=4, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'remark')
    call input%prefetch('h', record=4, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'the file has 3')
  end subroutine

  subroutine try_schema(input)
    type(afterbay_input), intent(in) :: input
    character(:), allocatable :: text, texts(:)
    integer(c_int64_t), allocatable :: lengths(:)
    integer(c_int8_t) :: narrow
    integer :: ierr, two(2), number
    number = input%variable_type('mas', ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, '"mask"')
    texts = input%variable_dimensions('mas', ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, '"mask"')
    lengths = input%variable_lengths('mas', ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, '"mask"')
    number = int(input%dimension_length('cel', ierr))
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, '"cell"')
    text = input%variable_name(0, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'counted from 1')
    text = input%variable_name(10, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'the schema has 9')
    call input%get_attribute('titel', text, ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, '"title"')
    call input%get_attribute('unit', text, variable='t', ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, '"units"')
    call input%get_attribute('dt', text, ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'float64')
    call input%get_attribute('dt', texts, ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'float64')
    call input%get_attribute('version', two, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'has 3 values')
    call input%get_attribute('_FillValue', narrow, variable='t', ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'out of range')
    number = input%attribute_type('unit', 't', ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, '"units"')
  end subroutine

  !> The session replaces the file that it is reading.
  subroutine try_rewriting(session, path)
    type(afterbay_session), intent(in) :: session
    character(*), intent(in) :: path
    type(afterbay_input) :: before, after
    type(afterbay_file) :: file
    type(state) :: held
    real(c_double) :: clock
    integer :: ierr
    call open_output(session, path, file)
    call session%open_input(path, after, ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'open for output')
    call compute(held)
    held%clock(1) = 12345
    call put_all(session, file, held)
    call session%open_input(path, before, as_of=AFTERBAY_AS_OF_PUBLISHED)
    call before%get('clock', clock, record=1)
    call holds(clock == value(4, 0, 0), 'as it was published')
    call file%close()
    call session%open_input(path, after, as_of=AFTERBAY_AS_OF_CLOSED)
    call after%get('clock', clock, record=1)
    call holds(clock == 12345, 'as it was closed')
    call before%close()
    call after%close()
  end subroutine

  subroutine try_errors(session, path)
    type(afterbay_session), intent(in) :: session
    character(*), intent(in) :: path
    type(afterbay_input) :: input
    integer(c_int8_t) :: mask(nx_all, ny_all)
    integer :: ierr
    call decompose(session, .false.)
    call session%open_input('not_there.nc', input, ierr=ierr)
    call fails(ierr, AFTERBAY_IO, 'not_there.nc')
    call session%open_input('plain.txt', input, ierr=ierr)
    call fails(ierr, AFTERBAY_FORMAT, 'plain.txt')
    call session%open_input(path, input, as_of=7, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'afterbay_as_of')
    call input%get('mask', mask, ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'closed')
    call session%open_input(path, input)
    call try_gets(input)
    call try_schema(input)
    call input%get('mask', mask)  ! everything continues
    call holds(mask(5, 1) == 0 .and. mask(6, 1) == 1, 'mask')
    call input%close()
    call input%get('mask', mask, ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'closed')
    call try_rewriting(session, path)
  end subroutine
end module

program restart
  use restart_errors
  implicit none
  type(afterbay_options) :: options
  type(afterbay_session) :: session
  integer :: error

  call MPI_Init(error)
  call options%set_arguments()
  call session%open(MPI_COMM_WORLD, options)
  call options%free()
  if (session%is_server()) then
    call session%serve()
  else
    my_rank = session%model_rank()
    ranks = session%model_size()
    select case (argument(1))
    case ('write')
      call write_file(session, argument(2))
    case ('copy')
      call copy_file(session, argument(2), argument(3))
    case ('errors')
      call try_errors(session, argument(2))
    end select
    call session%finalize()
  end if
  call MPI_Finalize(error)

contains

  function argument(number) result(text)
    integer, intent(in) :: number
    character(:), allocatable :: text
    integer :: length
    call get_command_argument(number, length=length)
    allocate (character(len=length) :: text)
    call get_command_argument(number, text)
  end function
end program
