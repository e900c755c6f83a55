! SPDX-License-Identifier: Apache-2.0
! A model with described output, on 4 model ranks: the twin of output.c, whose arguments it has.
module output_checks
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int8_t, c_int16_t, c_int32_t, c_int64_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi
  use afterbay
  implicit none

  integer, parameter :: nlat = 6, nlon = 8, nlev = 3, ni = nlon/2, nj = nlat/2
  real(c_double), parameter :: fill = -999
  integer :: lat0, lon0  ! this rank's first row and column, from 0
  logical :: leaves_out  ! a put, at step 3
  type(afterbay_calendar) :: noleap

contains

  subroutine holds(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    type(afterbay_error) :: last
    integer :: error
    if (condition) return
    last = afterbay_last_error()
    write (error_unit, '(4a)') 'output_fortran: does not hold: ', what, '; last error: ', last%text
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

  ! ---- Definitions

  subroutine open_output(session, resume, output)
    type(afterbay_session), intent(in) :: session
    character(*), intent(in) :: resume
    type(afterbay_output), intent(out) :: output
    type(afterbay_output) :: second
    type(afterbay_period) :: step
    integer :: ierr
    call output%open(session, calendar='noleap', start='2000-02-29', step='6h', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, '2000-02')
    call output%open(session, calendar='noleep', start='2000-02-26', step='6h', ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'noleap')
    call output%open(session, calendar='noleap', start='2000-02-26', step='1mo6h', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, '1mo6h')
    call output%start(ierr)
    call holds(ierr == AFTERBAY_BAD_STATE, 'an output that is not open is refused')
    call noleap%define('noleap')
    call step%parse('6h')
    if (resume == '') then
      call output%open(session, noleap, noleap%parse('2000-02-26'), step, noleap%parse('1999-12-31'), member=7)
    else
      call output%open(session, calendar='noleap', start='2000-02-26', step='6h', reference='1999-12-31', member=7, &
          resume=resume)
    end if
    call second%open(session, calendar='noleap', start='2000-02-26', step='6h', ierr=ierr)
    call holds(ierr == AFTERBAY_BAD_STATE, 'a second output is refused')
  end subroutine

  subroutine define_dimensions(output)
    type(afterbay_output), intent(in) :: output
    type(afterbay_attributes) :: down
    real(c_double) :: lat(nlat), bounds(2, nlat)
    real(c_float) :: lon(2, nlon)
    integer :: y, x, ierr
    lat = [(-75 + 30*y, y=0, nlat - 1)]
    bounds(1, :) = lat - 15
    bounds(2, :) = lat + 15
    lon = -1
    lon(2, :) = [(45*x, x=0, nlon - 1)]
    call down%set('positive', 'up')
    call down%set('positive', 'down')
    call down%set('valid_range', [500, 1000], type=AFTERBAY_FLOAT64)
    call output%dimension('lev', [1000, 850, 500], units='hPa', standard_name='air_pressure', attributes=down)
    call down%free()
    call output%dimension('lat', lat, units='degrees_north', standard_name='latitude', bounds=bounds)
    call output%dimension('lon', lon(2, :), units='degrees_east', standard_name='longitude', long_name='eastward')
    call output%dimension('band', 2)
    call output%dimension('lat', 5_c_int64_t, ierr)
    call fails(ierr, AFTERBAY_CONFLICT, 'lat')
    call output%dimension('z', -5, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'negative length')
    call output%dimension('z', [1, 3, 2], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'increase or decrease')
    call output%dimension('z', lat, bounds=bounds(:, 2:), ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'two per value')
    call output%coordinate('pole_distance', 'lat', 90 - lat, units='degrees')
    call output%coordinate('other', ['lat'], lon(2, :), ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'other')
  end subroutine

  ! Their coordinates are computed; no file has fields on them.
  subroutine define_point_grids(output)
    type(afterbay_output), intent(in) :: output
    integer :: ierr
    call output%healpix_grid('healpix', 'cell', 2, '', latitude='cell_lat', longitude='cell_lon', bounds=.true.)
    call output%healpix_grid('healpix', 'cell2', 2, '', ierr=ierr)
    call fails(ierr, AFTERBAY_CONFLICT, 'healpix')
    call output%healpix_grid('ring', 'cell3', 3, '', latitude='ring_lat', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'power of two')
    call output%healpix_grid('ring', 'cell3', 3, '', nested=.false., ierr=ierr)
    call fails(ierr, AFTERBAY_CONFLICT, 'lat')
    call output%gaussian_grid('gaussian', 'point', [4, 6, 6, 4], '', latitude='point_lat', longitude='point_lon')
    call output%gaussian_grid('gaps', 'point2', [4, 0, 4], '', ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'latitude number 2')
  end subroutine

  subroutine define_grid(output)
    type(afterbay_output), intent(in) :: output
    real(c_float) :: depth(0:ni + 1, 0:nj + 1), range(2, ni, nj)
    type(afterbay_attributes) :: bounds
    integer :: i, j, ierr
    call output%grid('atm', 'lon lat', 'blocks')
    call output%grid('atm', ['lon', 'lat'], 'blocks', ierr)
    call fails(ierr, AFTERBAY_CONFLICT, 'atm')
    call output%grid('ocean', ' lom  lat ', 'blocks', ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'lon')
    call output%grid('ocean', '', 'blocks', ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'no dimensions')
    depth = -1
    do j = 1, nj
      do i = 1, ni
        depth(i, j) = 10*(lat0 + j - 1) + lon0 + i - 1
      end do
    end do
    range(1, :, :) = depth(1:ni, 1:nj)
    range(2, :, :) = depth(1:ni, 1:nj) + 1
    call bounds%set('bounds', 'soil_range')
    call output%grid_coordinate('soil', 'atm', depth(1:ni, 1:nj), units='m', long_name='depth of the soil', &
        attributes=bounds)
    call bounds%free()
    call output%grid_coordinate('soil_range', 'atm', range, vertices='band')
    call output%grid_coordinate('soil2', 'atn', depth(1:ni, 1:nj), ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'atm')
  end subroutine

  subroutine define_fields(output)
    type(afterbay_output), intent(in) :: output
    type(afterbay_attributes) :: more
    integer :: ierr
    call output%coordinate('height', '', 2d0, units='m')
    call more%set('comment', 'at 2 m')
    call more%set('coordinates', 'height')
    call output%field('tas', 'atm', type=AFTERBAY_FLOAT64, units='K', standard_name='air_temperature', &
        long_name='near-surface temperature', fill=-999, attributes=more)
    call more%free()
    call output%field('ta', 'atm', 'lev', units='K')
    call output%field('i1', 'atm', type=AFTERBAY_INT8)
    call output%field('i2', 'atm', type=AFTERBAY_INT16)
    call output%field('i4', 'atm', type=AFTERBAY_INT32)
    call output%field('i8', 'atm', type=AFTERBAY_INT64)
    call output%field('psl', 'atm', units='Pa')
    call output%field('orog', 'atm', units='m')
    call output%field('unused', 'atm')
    call output%field('co2', type=AFTERBAY_FLOAT64, units='1e-6')
    call output%field('tas', 'atm', ierr=ierr)
    call fails(ierr, AFTERBAY_CONFLICT, 'tas')
    call output%field('x', 'amt', ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'atm')
    call output%field('x', axes=['levels'], ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'lev')
    call output%field('x', type=99, ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, '99')
    call output%field('x', 'atm', type=AFTERBAY_INT8, fill=-999, ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'without loss')
    call output%field('x', 'atm', fill='none', ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, '`fill` must be a number')
  end subroutine

  ! ---- Steps

  pure real(c_double) function tas_at(n, y, x)
    integer, intent(in) :: n, y, x
    tas_at = 280 + y + 0.5d0*x + mod(7*n, 13)
    if ((y == 0 .and. x == 0) .or. (y == 1 .and. x == 1 .and. mod(n, 2) == 1)) tas_at = fill
  end function

  !> From an array with halos: as a section, or with `offset`.
  subroutine put_tas(output, n)
    type(afterbay_output), intent(in) :: output
    integer, intent(in) :: n
    real(c_double) :: tas(0:ni + 1, 0:nj + 1)
    integer :: i, j
    tas = 1e6
    do j = 1, nj
      do i = 1, ni
        tas(i, j) = tas_at(n, lat0 + j - 1, lon0 + i - 1)
      end do
    end do
    if (mod(n, 2) == 0) then
      call output%put('tas', tas(1:ni, 1:nj))
    else
      call output%put('tas', tas, offset=[1, 1])
    end if
  end subroutine

  !> Every second element of a dimension; at once, or levels.
  subroutine put_ta(output, n)
    type(afterbay_output), intent(in) :: output
    integer, intent(in) :: n
    real(c_float) :: ta(2*ni, nj, nlev)
    integer :: i, j, l, ierr
    ta = -1
    do l = 1, nlev
      do j = 1, nj
        do i = 1, ni
          ta(2*i - 1, j, l) = 100*(l - 1) + 10*(lat0 + j - 1) + lon0 + i - 1 + mod(n, 5)
        end do
      end do
    end do
    if (mod(n, 3) /= 1) then
      call output%put('ta', ta(::2, :, :))
      return
    end if
    call output%put_section('ta', ta(::2, :, 2:), start=[1, 1, 3], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'ta')
    call output%put_section('ta', ta(::2, :, 2:), start=[1, 1, 2])
    call output%put_section('ta', ta(::2, :, 2), start=[1, 1, 3], ierr=ierr)
    call fails(ierr, AFTERBAY_CONFLICT, 'overlaps')
    call output%put_section('ta', ta(::2, :, 1), start=[1, 1, 1])
  end subroutine

  subroutine put_integers(output, n)
    type(afterbay_output), intent(in) :: output
    integer, intent(in) :: n
    integer(c_int32_t) :: v(ni, nj)
    integer :: i, j
    do j = 1, nj
      v(:, j) = [(n + 10*(lat0 + j - 1) + lon0 + i - 1, i=1, ni)]
    end do
    call output%put('i1', int(v, c_int8_t))
    call output%put('i2', int(100*v, c_int16_t))
    call output%put('i4', 1000000*v)
    call output%put('i8', 1000000000000_c_int64_t*v)
  end subroutine

  !> Only if it is wanted: `psl` at the end of each day, `orog` once.
  subroutine put_rare(output, n)
    type(afterbay_output), intent(in) :: output
    integer, intent(in) :: n
    real(c_float) :: data(ni, nj)
    integer :: i, j
    call holds(.not. output%wants('unused'), 'nothing wants a field that no file has')
    call holds(output%wants('psl') .eqv. (n > 0 .and. mod(n, 4) == 0), 'psl is wanted at the end of days')
    if (output%wants('psl')) then
      data = 100000 + n
      call output%put('psl', data)
    end if
    if (output%wants('orog')) then
      do j = 1, nj
        data(:, j) = [(100*(lat0 + j - 1) + lon0 + i - 1, i=1, ni)]
      end do
      call output%put('orog', data)
    end if
  end subroutine

  subroutine put_all(output, n)
    type(afterbay_output), intent(in) :: output
    integer, intent(in) :: n
    if (.not. (leaves_out .and. n == 3)) call put_tas(output, n)
    call put_ta(output, n)
    call put_integers(output, n)
    call put_rare(output, n)
    call output%put('co2', 400 + 0.125d0*n)
  end subroutine

  subroutine refused_between(output, n)
    type(afterbay_output), intent(in) :: output
    integer, intent(in) :: n
    real(c_double) :: data(ni, nj), wide(ni + 1, nj)
    logical :: wanted
    integer :: ierr
    data = 0
    wide = 0
    call output%put('tos', data, ierr=ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'tas')
    wanted = output%wants('tos', ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'tas')
    call holds(.not. wanted, 'a field that is not known is not wanted')
    call output%put('tas', real(data, c_float), ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'float64')
    call output%put('tas', wide, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'in dimension 1 the array in memory has 5 values, the part to write 4')
    call put_all(output, n)
    call output%put('tas', data, ierr=ierr)
    call fails(ierr, AFTERBAY_CONFLICT, 'tas')
    call output%step(n, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'step')
    call output%step(n - 1, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'step')
    call output%step(n + 2_c_int64_t, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'step')
    call output%dimension('late', 5, ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'start')
  end subroutine

  subroutine run_steps(output, first, last)
    type(afterbay_output), intent(in) :: output
    integer, intent(in) :: first, last
    type(afterbay_date) :: start
    type(afterbay_period) :: step
    real(c_double) :: data(ni, nj)
    integer :: n, ierr
    data = 0
    start = noleap%parse('2000-02-26')
    call step%parse('6h')
    call holds(output%current_step() == max(first - 1, 0), 'the current step before the first one')
    call output%put('tas', data, ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'step')
    do n = first, last
      call output%step(n)
      call holds(output%current_step() == n, 'the current step')
      call holds(output%date() == noleap%add(start, step, n), 'the date of a step')
      if (n == first + 1) then
        call refused_between(output, n)
      else
        call put_all(output, n)
      end if
    end do
  end subroutine

  subroutine run(session, first, last, resume, save, mistake)
    type(afterbay_session), intent(inout) :: session
    integer, intent(in) :: first, last
    character(*), intent(in) :: resume, save, mistake
    type(afterbay_output) :: output, copy
    integer :: ierr
    call holds(session%model_size() == 4, 'there are 4 model ranks')
    lat0 = session%model_rank()/2*nj
    lon0 = mod(session%model_rank(), 2)*ni
    leaves_out = mistake == 'left_out' .and. session%model_rank() == 1
    if (mistake == 'lengths') then
      call session%decomposition('blocks', [nlon/2, nlat], [lon0/2 + 1, lat0 + 1], [ni/2, nj])
    else
      call session%decomposition('blocks', [nlon, nlat], [lon0 + 1, lat0 + 1], [ni, nj])
    end if
    call open_output(session, resume, output)
    copy = output
    call define_dimensions(output)
    call define_grid(copy)
    call define_point_grids(copy)
    call define_fields(output)
    call output%step(first, ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'start')
    call copy%start()
    call run_steps(output, first, last)
    if (mistake == 'order') then
      call session%finalize(ierr)
      call fails(ierr, AFTERBAY_BAD_STATE, 'the output has not been finalized')
      call output%finalize()
      call session%finalize()
      call output%step(last + 1, ierr)
      call holds(ierr == AFTERBAY_BAD_STATE, 'step after the end of the session')
      call output%finalize(ierr=ierr)
      call holds(ierr == AFTERBAY_BAD_STATE, 'finalize after the end of the session')
      call output%abandon()
      return
    end if
    if (save == '') then
      call output%finalize()
    else
      call output%finalize(save)
    end if
    call copy%finalize(ierr=ierr)
    call holds(ierr == AFTERBAY_BAD_STATE, 'copies end, too')
    call output%step(last + 1, ierr)
    call holds(ierr == AFTERBAY_BAD_STATE, 'an output ends')
    call output%abandon()
    call noleap%free()
    call session%finalize()
  end subroutine

  !> Empty for '-'.
  function argument(number) result(text)
    integer, intent(in) :: number
    character(:), allocatable :: text
    character(len=1000) :: buffer
    call get_command_argument(number, buffer)
    text = trim(buffer)
    if (text == '-') text = ''
  end function
end module

program output_fortran
  use output_checks
  implicit none
  type(afterbay_options) :: options
  type(afterbay_session) :: session
  integer :: first, last, error
  character(:), allocatable :: numbers
  call MPI_Init(error)
  call options%set_arguments()
  if (argument(5) == 'text') call options%set_output_text([character(24) :: 'files:', '  fx: {once: orog}'])
  if (argument(5) == 'wrong_text') call options%set_output_text('files:'//new_line('a')//'  fx: {onec: orog}')
  call session%open(MPI_COMM_WORLD, options)
  call options%free()
  if (session%is_server()) then
    call session%serve()
  else
    numbers = argument(1)//' '//argument(2)
    read (numbers, *) first, last
    call run(session, first, last, argument(3), argument(4), argument(5))
  end if
  call MPI_Finalize(error)
end program
