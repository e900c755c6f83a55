! SPDX-License-Identifier: Apache-2.0
! Answers questions about calendars, as calendar.c does in C: one per line of the input. With the
! argument "refusals" it checks the errors of the interface itself.
module questions
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  use, intrinsic :: iso_fortran_env, only: error_unit, input_unit
  use afterbay
  implicit none

  type(afterbay_calendar) :: calendar
  character(4096) :: field(0:7)

contains

  !> Splits a line at "|".
  subroutine split(line)
    character(*), intent(in) :: line
    integer :: i, from, to
    from = 1
    do i = 0, 7
      field(i) = ''
      if (from > len_trim(line)) cycle
      to = index(line(from:), '|')
      if (to == 0) to = len_trim(line) - from + 2
      field(i) = line(from:from + to - 2)
      from = from + to
    end do
  end subroutine

  integer(c_int64_t) function whole(i)
    integer, intent(in) :: i
    read (field(i), *) whole
  end function

  type(afterbay_date) function date_in(i, ierr)
    integer, intent(in) :: i
    integer, intent(out) :: ierr
    date_in = calendar%parse(field(i), ierr)
  end function

  subroutine say(text)
    character(*), intent(in) :: text
    write (*, '(a)') text
  end subroutine

  subroutine say_date(date, ierr)
    type(afterbay_date), intent(in) :: date
    integer, intent(out) :: ierr
    character(:), allocatable :: text
    text = calendar%text(date, ierr)
    if (ierr == AFTERBAY_OK) call say(text)
  end subroutine

  subroutine new_months(ierr)
    integer, intent(out) :: ierr
    integer, allocatable :: lengths(:)
    integer :: i, count
    type(afterbay_calendar) :: made
    count = 1
    do i = 2, len_trim(field(1))
      if (field(1)(i:i) == ' ') count = count + 1
    end do
    allocate (lengths(count))
    read (field(1), *) lengths
    if (field(2) == '-' .and. field(4) == '-') then
      call made%define_months(lengths, ierr=ierr)
    else if (field(2) == '-') then
      call made%define_months(lengths, day_seconds=int(whole(4)), ierr=ierr)
    else
      call made%define_months(lengths, leap_year=int(whole(2)), leap_month=int(whole(3)), ierr=ierr)
    end if
    if (ierr /= AFTERBAY_OK) return
    call calendar%free()
    calendar = made
    call say('ok')
  end subroutine

  subroutine table()
    integer :: year, month, ierr
    type(afterbay_date) :: date
    integer(c_int64_t) :: first, last
    do year = int(whole(2)), int(whole(3))
      if (year == 0 .and. .not. calendar%has_year_zero()) cycle
      do month = 1, calendar%months_per_year()
        date = afterbay_date(year, month, 1)
        first = nint(calendar%number(field(1), date), c_int64_t)
        date%day = 31
        call calendar%check(date, ierr)
        do while (ierr /= AFTERBAY_OK)
          date%day = date%day - 1
          call calendar%check(date, ierr)
        end do
        last = nint(calendar%number(field(1), date), c_int64_t)
        write (*, '(4(i0,1x),i0)') year, month, date%day, first, last
      end do
    end do
    call say('end')
  end subroutine

  subroutine day(ierr)
    integer, intent(out) :: ierr
    type(afterbay_date) :: date
    integer :: weekday
    date = date_in(1, ierr)
    if (ierr /= AFTERBAY_OK) return
    weekday = calendar%weekday(date, ierr)
    write (*, '(3(i0,1x),i0)') calendar%day_of_year(date), calendar%days_in_month(date%year, date%month), &
        calendar%days_in_year(date%year), weekday
    ierr = AFTERBAY_OK
  end subroutine

  subroutine interval(ierr)
    integer, intent(out) :: ierr
    type(afterbay_date) :: date, start
    type(afterbay_period) :: period
    type(afterbay_interval) :: found
    date = date_in(1, ierr)
    if (ierr /= AFTERBAY_OK) return
    call period%parse(field(2), ierr)
    if (ierr /= AFTERBAY_OK) return
    select case (field(3))
    case ('calendar')
      found = calendar%interval(date, period, ierr=ierr)
    case ('seasons')
      found = calendar%interval(date, period, align=AFTERBAY_ALIGN_SEASONS, ierr=ierr)
    case default
      start = date_in(3, ierr)
      if (ierr == AFTERBAY_OK) found = calendar%interval(date, period, start=start, ierr=ierr)
    end select
    if (ierr == AFTERBAY_OK) write (*, '(4a,i0)') calendar%text(found%begin), ' ', calendar%text(found%end), ' ', found%index
  end subroutine

  !> A + COUNT * B, with STEP as time step; out of range, the operators stop the program.
  subroutine sum_of_periods(ierr)
    integer, intent(out) :: ierr
    type(afterbay_period) :: a, b, step
    call a%parse(field(1), ierr)
    if (ierr == AFTERBAY_OK) call b%parse(field(3), ierr)
    if (ierr == AFTERBAY_OK) call step%parse(field(4), ierr)
    if (ierr /= AFTERBAY_OK) return
    a = a + whole(2)*b
    a = a%resolved(step, ierr)
    if (ierr == AFTERBAY_OK) call say(a%text())
  end subroutine

  subroutine number(ierr)
    integer, intent(out) :: ierr
    type(afterbay_date) :: date
    real(c_double) :: value
    date = date_in(2, ierr)
    if (ierr == AFTERBAY_OK) value = calendar%number(field(1), date, ierr)
    if (ierr == AFTERBAY_OK) write (*, '(es25.17e3)') value
  end subroutine

  subroutine date_of_number(ierr)
    integer, intent(out) :: ierr
    type(afterbay_date) :: date
    real(c_double) :: value
    read (field(2), *) value
    date = calendar%date(field(1), value, ierr)
    if (ierr == AFTERBAY_OK) call say_date(date, ierr)
  end subroutine

  subroutine add(ierr)
    integer, intent(out) :: ierr
    type(afterbay_date) :: date
    type(afterbay_period) :: period
    date = date_in(1, ierr)
    if (ierr == AFTERBAY_OK) call period%parse(field(2), ierr)
    if (ierr == AFTERBAY_OK) date = calendar%add(date, period, whole(3), ierr)
    if (ierr == AFTERBAY_OK) call say_date(date, ierr)
  end subroutine

  subroutine difference(ierr)
    integer, intent(out) :: ierr
    type(afterbay_date) :: from, to
    type(afterbay_duration) :: found
    from = date_in(1, ierr)
    if (ierr == AFTERBAY_OK) to = date_in(2, ierr)
    if (ierr == AFTERBAY_OK) found = calendar%difference(from, to, ierr)
    if (ierr == AFTERBAY_OK) write (*, '(i0,1x,i0)') found%seconds, found%nanoseconds
  end subroutine

  subroutine format(ierr)
    integer, intent(out) :: ierr
    type(afterbay_date) :: date
    character(:), allocatable :: text
    date = date_in(1, ierr)
    if (ierr == AFTERBAY_OK) text = calendar%format(date, trim(field(2)), ierr)
    if (ierr == AFTERBAY_OK) call say(text)
  end subroutine

  subroutine multiple(ierr)
    integer, intent(out) :: ierr
    type(afterbay_period) :: period, unit
    integer :: answer
    call period%parse(field(1), ierr)
    if (ierr == AFTERBAY_OK) call unit%parse(field(2), ierr)
    if (ierr == AFTERBAY_OK) answer = calendar%multiple(period, unit, ierr)
    if (ierr == AFTERBAY_OK) write (*, '(i0)') answer
  end subroutine

  subroutine answer()
    integer :: ierr
    type(afterbay_calendar) :: made
    type(afterbay_error) :: last
    ierr = AFTERBAY_OK
    select case (field(0))
    case ('calendar')
      call made%define(field(1), ierr)
      if (ierr == AFTERBAY_OK) then
        call calendar%free()
        calendar = made
        call say('ok')
      end if
    case ('months')
      call new_months(ierr)
    case ('table')
      call table()
    case ('number')
      call number(ierr)
    case ('date')
      call date_of_number(ierr)
    case ('add')
      call add(ierr)
    case ('difference')
      call difference(ierr)
    case ('day')
      call day(ierr)
    case ('interval')
      call interval(ierr)
    case ('format')
      call format(ierr)
    case ('period')
      call sum_of_periods(ierr)
    case ('multiple')
      call multiple(ierr)
    case default
      error stop 'no such question'
    end select
    if (ierr == AFTERBAY_OK) return
    last = afterbay_last_error()
    call say('error '//afterbay_error_name(ierr)//' '//last%text)
  end subroutine

  ! ---- Errors

  subroutine holds(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    type(afterbay_error) :: last
    if (condition) return
    last = afterbay_last_error()
    write (error_unit, '(4a)') 'calendar_fortran: does not hold: ', what, '; last error: ', last%text
    error stop
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

  subroutine refusals()
    type(afterbay_calendar) :: made, copy
    type(afterbay_date) :: date, later
    type(afterbay_period) :: month, steps
    type(afterbay_interval) :: found
    integer :: ierr, days
    character(:), allocatable :: text

    date = afterbay_date(2000, 1, 31)
    call month%parse('1mo')
    call made%check(date, ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'the calendar is empty')
    text = made%name(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'the calendar is empty')
    call holds(text == '', 'no name')
    call made%define('nolaep', ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'did you mean "noleap"?')
    call made%define_months([30, 0], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'month 2 of a user-defined calendar has 0 days')
    call made%define_months([integer ::], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, '0 months per year')
    call made%define_months([30, 30], leap_year=2000, leap_month=0, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'leap_month')
    call made%define_months([30, 30], day_seconds=0, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'a day of a user-defined calendar')

    call made%define('Gregorian')
    call holds(made%name() == 'standard', 'the name')
    call holds(made%max_year() == 100000000000_c_int64_t, 'the last year')
    call holds(made%day_seconds() == 86400 .and. made%months_per_year() == 12, 'lengths')
    call holds(made%days_in_month(1582, 10) == 21 .and. made%days_in_year(1582_c_int64_t) == 355, 'the reform')
    days = made%days_in_month(2000, 13, ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'months 1 to 12')
    call holds(days == 0, 'no days')
    text = made%format(date, '%Q', ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'contains %Q')
    call holds(text == '', 'no text')
    later = made%add(date, month, huge(1_c_int64_t), ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'out of range')
    later = made%parse('2000-02-30', ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'days 1 to 29')
    call steps%parse('2steps', ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'did you mean "ts"?')
    found = made%interval(date, month, align=AFTERBAY_ALIGN_START, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, '`start` belongs to')
    found = made%interval(date, month, align=AFTERBAY_ALIGN_SEASONS, start=date, ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, '`start` belongs to')

    later = made%add(date, month)
    call holds(later == afterbay_date(2000, 2, 29), 'the end of February')
    call holds(date < later .and. date <= later .and. later > date .and. later >= date .and. date /= later, 'the order')
    call holds(.not. (later < date .or. later <= date .or. date > later .or. date >= later .or. date == later), 'no other order')
    call holds(afterbay_date(2000, 1, 1, nanosecond=1) > afterbay_date(2000, 1, 1), 'nanoseconds')
    steps = 2*month + 12_c_int64_t*month
    call holds(steps%text() == '14mo' .and. .not. steps == month, 'sums')
    copy = made
    call made%free()
    call copy%check(date, ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'the calendar is empty')
  end subroutine
end module

program calendar_fortran
  use questions
  implicit none
  character(4096) :: line
  character(16) :: mode
  integer :: status
  call get_command_argument(1, mode)
  if (mode == 'refusals') then
    call refusals()
    stop
  end if
  do
    read (input_unit, '(a)', iostat=status) line
    if (status /= 0) exit
    call split(line)
    call answer()
  end do
  call calendar%free()
end program
