! SPDX-License-Identifier: Apache-2.0
! Calls every procedure of the Fortran module, except those of endpoints and sections
! (threads_fortran.f90), on 2 model ranks and 1 server, as everything.c does in C;
! fortran_interface.py checks that the resulting files are equal.
module everything_checks
  use, intrinsic :: iso_c_binding, only: c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_float, c_double
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi
  use afterbay
  implicit none

  integer, parameter :: ny = 6, nx = 8, halo = 2, records = 2
  integer :: my_rank, i0, ni  ! this rank's columns, i0 counted from 0
  integer :: epoch_calls = 0

contains

  subroutine count_epoch(context) bind(C)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
    type(c_ptr), value :: context
    epoch_calls = epoch_calls + merge(1, 100, .not. c_associated(context))
  end subroutine

  subroutine holds(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    type(afterbay_error) :: last
    integer :: error
    if (condition) return
    last = afterbay_last_error()
    write (error_unit, '(4a)') 'everything_fortran: does not hold: ', what, '; last error: ', last%text
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

  pure integer function value(record, y, x)  ! record from 1, places from 0
    integer, intent(in) :: record, y, x
    value = (record - 1) * ny * nx + y * nx + x
  end function

  subroutine field_of(record, field)
    integer, intent(in) :: record
    real(c_double), intent(out) :: field(:, :)
    integer :: x, y
    do y = 1, ny
      do x = 1, ni
        field(x, y) = value(record, y - 1, i0 + x - 1)
      end do
    end do
  end subroutine
end module

module everything_schema
  use everything_checks
  implicit none

  character(*), parameter :: names(10) = [character(7) :: 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', &
      'uint32', 'uint64', 'float32', 'float64']
  integer, parameter :: types(10) = [AFTERBAY_INT8, AFTERBAY_INT16, AFTERBAY_INT32, AFTERBAY_INT64, AFTERBAY_UINT8, &
      AFTERBAY_UINT16, AFTERBAY_UINT32, AFTERBAY_UINT64, AFTERBAY_FLOAT32, AFTERBAY_FLOAT64]

contains

  subroutine make_schema(schema)
    type(afterbay_schema), intent(inout) :: schema
    integer :: i, j
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    call schema%dimension('y', ny)
    call schema%dimension('x', int(nx, c_int64_t))
    call schema%dimension('n', 3)
    call schema%dimension('two', 2)
    call schema%dimension('length', 5)
    do i = 1, size(names)
      call schema%variable(trim(names(i)), types(i), ['x   ', 'y   ', 'time'], decomposition='grid')
    end do
    call schema%variable('halo', AFTERBAY_FLOAT64, 'x y time', decomposition='grid')
    call schema%variable('strided', AFTERBAY_FLOAT64, ' x  y time ', decomposition='grid')
    call schema%variable('slot', AFTERBAY_FLOAT64, 'x y time', decomposition='grid')
    call schema%variable('tried', AFTERBAY_FLOAT64, 'x y time', decomposition='grid')
    call schema%variable('packed', AFTERBAY_FLOAT64, 'x y time', decomposition='grid', chunk=[4, 3, 1], deflate=4, &
        shuffle=.true.)
    call schema%filter('packed', 'fletcher32')
    call schema%filter('halo', 'shuffle')
    call schema%filter('halo', 'shuffle', level=0)
    call schema%packing('tried', 'int16', 0.0_c_double, 65533.0_c_double)  ! steps of 1
    call schema%fill('packed', -1.5d0)
    call schema%variable('label', AFTERBAY_TEXT, 'length n')
    call schema%variable('names', AFTERBAY_STRING, 'n time')
    call schema%variable('answer', AFTERBAY_INT32, '')
    call schema%variable('five', AFTERBAY_INT16, 'x y two n two', decomposition='grid')
    call schema%variable('holes', AFTERBAY_INT32, 'x y', decomposition='part')
    call schema%fill('holes', -9)
    call schema%variable('listed', AFTERBAY_INT32, 'x y', decomposition='points')
    call schema%fill('listed', -9)
    call schema%variable('runs', AFTERBAY_INT32, 'x y', decomposition='runs')
    call schema%fill('runs', -9)
    call schema%variable('x', AFTERBAY_FLOAT64, 'x')
    call schema%constant('x', [(i * 0.5d0, i=0, nx - 1)])
    call schema%variable('mask', AFTERBAY_INT8, 'x y')
    call schema%constant('mask', reshape([(int(mod(j, 3), c_int8_t), j=0, nx * ny - 1)], [nx, ny]))
    call schema%variable('station', AFTERBAY_STRING, 'n')
    call schema%constant('station', ['north    ', '         ', 'far south'], type=AFTERBAY_STRING)
    call add_attributes(schema)
    call try_schema_errors(schema)
  end subroutine

  subroutine add_attributes(schema)
    type(afterbay_schema), intent(inout) :: schema
    call schema%attribute('some_int8', [-1_c_int8_t, 2_c_int8_t])
    call schema%attribute('one_int8', -1_c_int8_t, variable='halo')
    call schema%attribute('some_int16', [-300_c_int16_t, 4_c_int16_t])
    call schema%attribute('one_int16', -300_c_int16_t, variable='halo')
    call schema%attribute('some_int32', [-70000, 6])
    call schema%attribute('one_int32', -70000, variable='halo')
    call schema%attribute('some_int64', [-5000000000_c_int64_t, 8_c_int64_t])
    call schema%attribute('one_int64', -5000000000_c_int64_t, variable='halo')
    call schema%attribute('some_uint8', [200, 1], type=AFTERBAY_UINT8)
    call schema%attribute('one_uint8', 200, variable='halo', type=AFTERBAY_UINT8)
    call schema%attribute('some_uint16', [60000, 1], type=AFTERBAY_UINT16)
    call schema%attribute('one_uint16', 60000, variable='halo', type=AFTERBAY_UINT16)
    call schema%attribute('some_uint32', [70000, 1], type=AFTERBAY_UINT32)
    call schema%attribute('one_uint32', 70000, variable='halo', type=AFTERBAY_UINT32)
    call schema%attribute('some_uint64', [5000000000_c_int64_t, 1_c_int64_t], type=AFTERBAY_UINT64)
    call schema%attribute('one_uint64', 5000000000_c_int64_t, variable='halo', type=AFTERBAY_UINT64)
    call schema%attribute('some_float32', [0.5_c_float, -2.25_c_float])
    call schema%attribute('one_float32', 0.5_c_float, variable='halo')
    call schema%attribute('some_float64', [0.1_c_double, 1e300_c_double])
    call schema%attribute('one_float64', 0.1_c_double, variable='halo')
    call schema%attribute('strings', [character(10) :: 'one', 'twenty two', char(195)//char(169)//'t'//char(195)//char(169)])
    call schema%attribute('text', 'four      ')
    call schema%attribute('title', 'before')
    call schema%attribute('draft', 'to be removed')
    call schema%attribute('units', 'm', variable='halo')
    call schema%attribute('draft', 'to be removed', variable='halo')
  end subroutine

  subroutine make_changes(changes)
    type(afterbay_changes), intent(inout) :: changes
    integer :: i
    call changes%attribute('title', 'after')
    call changes%attribute('version', [3, 1, 4], variable='halo')
    call changes%remove_attribute('draft')
    call changes%remove_attribute('draft', variable='halo')
    call changes%constant('x', [(i * 0.25d0, i=0, nx - 1)])
  end subroutine

  subroutine try_schema_errors(schema)
    type(afterbay_schema), intent(inout) :: schema
    type(afterbay_error) :: last
    integer :: ierr
    call schema%attribute('units', 'm', variable='hallo', ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'did you mean "halo"')
    last = afterbay_last_error()
    call holds(last%code == AFTERBAY_UNKNOWN_NAME .and. last%variable == 'hallo' .and. last%rank == -1, 'fields of the error')
    call schema%attribute('big', 300, variable='halo', type=AFTERBAY_UINT8, ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'without loss')
    call schema%attribute('negative', -1, variable='halo', type=AFTERBAY_UINT64, ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'without loss')
    call schema%fill('holes', [1, 2], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'one value')
    call schema%variable('bad', 99, 'x', ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, '99')
    call schema%dimension('bad', -1, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'negative')
    call holds(afterbay_error_name(AFTERBAY_NO_SPACE) == 'no_space', 'names of errors')
    call holds(len(afterbay_version()) >= 5, 'version')
  end subroutine
end module

module everything_data
  use everything_checks
  implicit none

contains

  subroutine put_numbers(file, record)
    type(afterbay_file), intent(in) :: file
    integer, intent(in) :: record
    real(c_double) :: field(ni, ny)
    call field_of(record, field)
    call file%put('int8', int(field, c_int8_t), record)
    call file%put('int16', int(field, c_int16_t), record)
    call file%put('int32', int(field, c_int32_t), record)
    call file%put('int64', int(field, c_int64_t), record)
    call file%put('uint8', int(field, c_int16_t), record)
    call file%put('uint16', int(field, c_int32_t), record)
    call file%put('uint32', int(field, c_int64_t), record)
    call file%put('uint64', int(field, c_int32_t), record)
    call file%put('float32', real(field, c_float), record)
    call file%put('float64', field, record)
  end subroutine

  !> The same values in an array with halos, and in one of another layout, as sections.
  subroutine put_layouts(file, record)
    type(afterbay_file), intent(in) :: file
    integer, intent(in) :: record
    real(c_float) :: wide(1 - halo:ni + halo, 1 - halo:ny + halo)
    integer :: strided(3, 2 * ni, ny), ierr
    real(c_double) :: field(ni, ny)
    call field_of(record, field)
    wide = -1
    wide(1:ni, 1:ny) = real(field, c_float)
    strided = -1
    strided(2, 2 * ni:2:-2, ny:1:-1) = int(field)
    call file%put('halo', wide, record, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'halo')  ! the whole array is not the rank's part
    if (record == 1) then
      call file%put('halo', wide(1:ni, 1:ny), record)
    else
      call file%put('halo', wide, record, offset=[halo, halo])
    end if
    call file%put('strided', strided(2, 2 * ni:2:-2, ny:1:-1), record)
  end subroutine

  subroutine put_slot(file, record)
    type(afterbay_file), intent(in) :: file
    integer, intent(in) :: record
    type(afterbay_slot) :: slot
    real(c_double), pointer :: part(:, :)
    real(c_double), pointer :: line(:)
    real(c_float), pointer :: narrow(:, :)
    integer :: number, x, y, points, ierr
    logical :: direct
    call file%acquire('slot', slot, AFTERBAY_FLOAT64, record)
    direct = slot%is_direct(ierr)
    call holds(ierr == AFTERBAY_OK, 'is_direct')
    points = 0
    do number = 1, slot%part_count()
      call slot%part(number, part)
      points = points + size(part)
      do y = lbound(part, 2), ubound(part, 2)
        do x = lbound(part, 1), ubound(part, 1)
          part(x, y) = value(record, y - 1, x - 1)
        end do
      end do
    end do
    call holds(points == ni * ny, 'the parts cover what the rank holds')
    call slot%part(0, part, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'counted from 1')
    call slot%part(slot%part_count() + 1, part, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'there is no part')
    call slot%part(1, line, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'dimensions')
    call slot%part(1, narrow, ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'acquire')
    call slot%commit()
  end subroutine

  subroutine put_record(file, record)
    type(afterbay_file), intent(in) :: file
    integer, intent(in) :: record
    real(c_double) :: field(ni, ny)
    character(2) :: words(3)
    logical :: taken
    call field_of(record, field)
    call put_numbers(file, record)
    call put_layouts(file, record)
    call put_slot(file, record)
    taken = .false.
    do while (.not. taken)
      call file%try_put('tried', field, taken, record)
    end do
    call file%put('packed', field, record)
    words = ['a ', 'bb', '  ']
    if (record == 2) words(1) = 'd'
    call file%put_strings('names', words, record)
  end subroutine

  subroutine put_fixed(file)
    type(afterbay_file), intent(in) :: file
    integer(c_int16_t) :: five(ni, ny, 2, 3, 2)
    integer(c_int32_t) :: holes(nx, ny)
    integer :: a, b, c, k
    real(c_double) :: field(ni, ny)
    call field_of(1, field)
    do a = 1, 2
      do b = 1, 3
        do c = 1, 2
          five(:, :, c, b, a) = int(((a - 1) * 6 + (b - 1) * 2 + c - 1) * nx * ny + field, c_int16_t)
        end do
      end do
    end do
    holes = reshape([(k, k=0, nx * ny - 1)], [nx, ny])
    call file%put('answer', 42)
    call file%put('label', [character(5) :: 'aaaaa', 'bbb', ' c'])
    call file%put('five', five)
    if (my_rank == 0) then
      call file%put('holes', reshape([(k, k=0, 7)], [4, 2]))
    else
      call file%put('holes', holes(1:0, 1:0))
    end if
    call put_maps(file)
  end subroutine

  !> Every second point of the plane, counted from 1, without every fifth; each is followed by 0, a
  !> hole.
  function my_points() result(indices)
    integer, allocatable :: indices(:)
    integer :: p
    allocate (indices(0))
    do p = 0, nx * ny - 1
      if (mod(p, 2) == my_rank .and. mod(p, 5) /= 4) indices = [indices, p + 1, 0]
    end do
  end function

  subroutine put_maps(file)
    type(afterbay_file), intent(in) :: file
    integer :: i
    call file%put('listed', my_points() + 99)
    call file%put('runs', [(100 + (2 + my_rank) * nx + i, i=0, nx - 1), (100 + my_rank * nx + i, i=0, nx - 1)])
  end subroutine

  subroutine define_maps(session)
    type(afterbay_session), intent(in) :: session
    integer :: ierr
    call session%map('points', [nx, ny], my_points())
    call session%map_runs('runs', int([nx, ny], c_int64_t), int([2 + my_rank, my_rank] * nx, c_int64_t), &
        int([nx, nx], c_int64_t), base=0)
    call session%map('bad', [nx, ny], [1, nx * ny + 1], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'is index 49')
    call session%map('bad', [nx, ny], [1, 2, 1], ierr=ierr)
    call fails(ierr, AFTERBAY_CONFLICT, 'elements 1 and 3 of the list are the same point')
    call session%map('bad', [nx, ny], [1, 2, 1], repeats=7, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'for repeats')
    call session%map_runs('bad', [nx, ny], [1, 2], [1], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'one number per run')
  end subroutine

  subroutine try_put_errors(file)
    type(afterbay_file), intent(in) :: file
    real(c_double) :: field(ni, ny)
    type(afterbay_error) :: last
    integer :: ierr
    logical :: taken
    field = 0
    call file%put('flaot64', field, 1, ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'float64')
    call file%put('names', field, 1, ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'names')
    last = afterbay_last_error()
    call holds(last%variable == 'names', 'the error names the variable')
    call file%put('float64', field(:, 1:2), 1, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'float64')
    call file%put('float64', field, 0, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'counted from 1')
    call file%put('float64', field, 1, offset=[-1, 0], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'offset')
    call file%try_put('flaot64', field, taken, 1, ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'float64')
    call holds(.not. taken, 'nothing is taken after an error')
  end subroutine
end module

program everything
  use everything_checks
  use everything_schema
  use everything_data
  implicit none
  type(afterbay_session) :: session
  integer :: rank, error

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call open_session(session)
  call holds(session%is_server() .eqv. (rank == 1), 'roles')
  call holds((session%model_comm() == MPI_COMM_NULL) .eqv. session%is_server(), 'the model''s communicator')
  if (session%is_server()) then
    call session%serve()
  else
    my_rank = session%model_rank()
    call holds(session%model_size() == 2 .and. my_rank == merge(0, 1, rank == 0), 'rank and size')
    i0 = merge(0, 5, my_rank == 0)
    ni = merge(5, 3, my_rank == 0)
    call run_model(session)
  end if
  call MPI_Finalize(error)

contains

  subroutine open_session(session)
    use mpi_f08, only: f08_world => MPI_COMM_WORLD
    type(afterbay_session), intent(inout) :: session
    type(afterbay_options) :: options, bad
    integer :: ierr
    call bad%set('serverss', '1')
    call session%open(f08_world, bad, ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'servers')
    call bad%set_role(7, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, '7')
    call bad%free()
    call options%set('servers', '1')
    call options%set_name('test')
    call options%set_role(merge(AFTERBAY_ROLE_SERVER, AFTERBAY_ROLE_MODEL, rank == 1))
    call options%set_config_file('run.yaml')
    call options%set_output_text('')
    call options%set_arguments()
    call session%open(MPI_COMM_WORLD, options)
    call options%set_arguments([character(24) :: '--afterbay.servers=1'])
    call options%free()
  end subroutine

  subroutine run_model(session)
    type(afterbay_session), intent(inout) :: session
    type(afterbay_schema) :: schema
    type(afterbay_changes) :: changes
    type(afterbay_collection) :: collection
    type(afterbay_file) :: file, file_copy
    type(afterbay_session) :: session_copy
    type(afterbay_ticket) :: flushed, closed, middle
    integer :: record, ierr
    call session%decomposition('grid', [nx, ny], [i0 + 1, 1], [ni, ny])
    call session%decomposition('part', int([nx, ny], c_int64_t), int([4, 3], c_int64_t), &
        int(merge([4, 2], [0, 0], my_rank == 0), c_int64_t), gaps_allowed=.true.)
    call session%decomposition('bad', [nx, ny], [0, 1], [ni, ny], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'start counts from 1')
    call define_maps(session)
    call make_schema(schema)
    call session%collection('everything', schema, collection, file='{collection}_{step:04}_{member:02}_{date:%Y%m%d}.nc', &
        directory='out', store='netcdf4', existing='refuse')
    call schema%free()
    call holds(collection%name() == 'everything', 'the collection''s name')
    call session%start()
    call make_changes(changes)
    call collection%open(file, step=12, member=3, date='2001-02-03T04:05:06', changes=changes)
    call changes%free()
    call holds(index(file%path(), 'out/everything_0012_03_20010203.nc') > 0, 'the path')
    call try_put_errors(file)
    call put_fixed(file)
    do record = 1, records
      call put_record(file, record)
      call session%end_step()
    end do
    call session%flush(flushed)
    call session%wait(flushed)
    call holds(session%is_complete(flushed), 'what was waited for is complete')
    call session%epoch('', middle, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'needs a name')
    call session%epoch('middle', middle)
    epoch_calls = 0
    call session%on_complete(middle, count_epoch)
    call session%wait(middle)
    call holds(epoch_calls == 1, 'a function was called when the epoch was complete')
    call holds(file%records() == 0, 'a new file has no records')
    file_copy = file
    session_copy = session
    call file%close(closed)
    call session%wait(closed)
    call refuse_closed_file(file)
    call refuse_closed_file(file_copy)
    call collection%free()
    call session%finalize()
    call refuse_finalized_session(session)
    call refuse_finalized_session(session_copy)
    call refuse_closed_file(file_copy)
  end subroutine

  !> A closed file, and a copy of one, which are the same file.
  subroutine refuse_closed_file(file)
    type(afterbay_file), intent(inout) :: file
    type(afterbay_slot) :: slot
    integer :: ierr, records
    logical :: taken
    call file%put('answer', 42, ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'closed')
    call file%try_put('answer', 42, taken, ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'closed')
    call file%acquire('answer', slot, AFTERBAY_INT32, ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'closed')
    call slot%commit(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'never acquired')
    records = file%records(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'closed')
    call file%close(ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'closed')
  end subroutine

  subroutine refuse_finalized_session(session)
    type(afterbay_session), intent(inout) :: session
    integer :: ierr
    call session%end_step(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'finalized')
    call session%finalize(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'finalized')
    call session%serve(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'finalized')
  end subroutine
end program
