! SPDX-License-Identifier: Apache-2.0
! Calendars of models, and the numbers of time axes.
module afterbay_calendars
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
  use afterbay_base
  use afterbay_c
  use afterbay_c_calendars
  use afterbay_dates
  implicit none
  private
  public :: afterbay_calendar

  !> Where intervals begin: at multiples of the period from the first day of the calendar's year 0
  !> (in calendars without a year 0, of the year -1), from the December before it, or from a given
  !> date.
  integer, parameter, public :: AFTERBAY_ALIGN_CALENDAR = 0, AFTERBAY_ALIGN_SEASONS = 1, AFTERBAY_ALIGN_START = 2
  !> Whether a period is an integer multiple of another one: never, whatever the date, or depending
  !> on the date.
  integer, parameter, public :: AFTERBAY_MULTIPLE_NO = 0, AFTERBAY_MULTIPLE_YES = 1, AFTERBAY_MULTIPLE_DEPENDS = 2

  !> The rules by which dates are counted; made by define or define_months, released by free. Copies
  !> are the same calendar, which never changes. These procedures need no session and no MPI, do not
  !> wait, and may be called by any threads at once, also with the same calendar. They return
  !> AFTERBAY_INVALID_ARGUMENT, unless they say otherwise, if an argument is wrong or a result is
  !> out of range: nothing is wrapped around or clipped; AFTERBAY_BAD_STATE if the calendar was not
  !> made. All arithmetic is in 64-bit integers and exact; floating point occurs only in number and
  !> date.
  type :: afterbay_calendar
    integer(c_int64_t) :: id = 0
  contains
    procedure :: define
    procedure :: define_months
    procedure :: free
    procedure :: name => name_of_calendar
    procedure :: has_year_zero
    procedure :: max_year
    procedure :: months_per_year
    procedure :: day_seconds
    procedure :: check => check_date
    procedure, private :: days_in_month_default, days_in_month_int64, days_in_year_default, days_in_year_int64
    !> days_in_month(year, month [, ierr]): days of a month; October 1582 has 21 days in the
    !> standard calendar.
    generic :: days_in_month => days_in_month_default, days_in_month_int64
    !> days_in_year(year [, ierr]): days of a year; 1582 has 355 days in the standard calendar.
    generic :: days_in_year => days_in_year_default, days_in_year_int64
    procedure :: day_of_year
    procedure :: weekday
    procedure :: parse => parse_date
    procedure :: text => text_of_date
    procedure :: format => format_date
    procedure, private :: add_default, add_int64
    !> add(date, period [, count, ierr]): date + count*period, `count` 1 if it is absent. First
    !> months and years are added; a day that the month does not have becomes the last one before
    !> it. Then days, then seconds. To step through time take the start date and growing counts: 31
    !> January + 1mo is 28 or 29 February, + 2mo is 31 March.
    generic :: add => add_default, add_int64
    procedure :: difference
    procedure :: multiple
    procedure :: interval => interval_of
    procedure :: number => number_of
    procedure :: date => date_of
  end type

contains

  !> Makes a calendar of the CF conventions, whatever the case: standard or gregorian (Julian until
  !> 1582-10-04, which 1582-10-15 follows), proleptic_gregorian, noleap or 365_day, all_leap or
  !> 366_day, 360_day, julian. AFTERBAY_UNKNOWN_NAME, with the nearest name.
  subroutine define(self, name, ierr)
    class(afterbay_calendar), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: ierr
    type(c_ptr) :: calendar
    integer(c_int) :: code
    code = afterbay_calendar_create(c_text(name), calendar)
    if (code == AFTERBAY_OK) self%id = afterbay_fortran_keep_calendar(calendar)
    call check(code, ierr)
  end subroutine

  !> Makes a user-defined calendar from the lengths of its 1 to 1000 months. With `leap_year`, it
  !> and every fourth year before and after it have one more day in `leap_month` (from 1; 2 if it is
  !> absent), as with the attributes month_lengths, leap_year and leap_month of the CF conventions
  !> 1.11, section 4.4. Other numbers of months and lengths of days (86400 s if `day_seconds` is
  !> absent) are an extension, for planets.
  subroutine define_months(self, month_lengths, leap_year, leap_month, day_seconds, ierr)
    class(afterbay_calendar), intent(inout) :: self
    integer, intent(in) :: month_lengths(:)
    integer, intent(in), optional :: leap_year, leap_month, day_seconds
    integer, intent(out), optional :: ierr
    integer(c_int), target :: lengths(size(month_lengths))
    type(c_calendar_rules) :: rules
    type(c_ptr) :: calendar
    integer(c_int) :: code
    lengths = int(month_lengths, c_int)
    rules%months = size(lengths, kind=c_size_t)
    if (size(lengths) > 0) rules%month_lengths = c_loc(lengths)
    rules%has_leap_year = merge(1, 0, present(leap_year))
    if (present(leap_year)) rules%leap_year = leap_year
    ! 0 stands for "not given" in C, but it is wrong here.
    if (present(leap_month)) rules%leap_month = merge(-1, leap_month, leap_month == 0)
    if (present(day_seconds)) rules%day_seconds = merge(-1, day_seconds, day_seconds == 0)
    code = afterbay_calendar_create_from(rules, calendar)
    if (code == AFTERBAY_OK) self%id = afterbay_fortran_keep_calendar(calendar)
    call check(code, ierr)
  end subroutine

  !> Releases the calendar; copies of this variable are empty, too.
  subroutine free(self)
    class(afterbay_calendar), intent(inout) :: self
    call afterbay_fortran_drop_calendar(self%id)
    self%id = 0
  end subroutine

  !> The calendar's name: CF's in lower case ('standard' for gregorian), or 'user_defined'.
  function name_of_calendar(self, ierr) result(name)
    class(afterbay_calendar), intent(in) :: self
    integer, intent(out), optional :: ierr
    character(:), allocatable :: name
    type(c_ptr) :: text
    text = c_null_ptr
    call check(afterbay_calendar_name(afterbay_fortran_calendar(self%id), text), ierr)
    name = f_text(text)
  end function

  !> Whether year 0 exists. In standard and julian the year before 1 is -1.
  logical function has_year_zero(self, ierr)
    class(afterbay_calendar), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: there
    there = 0
    call check(afterbay_calendar_has_year_zero(afterbay_fortran_calendar(self%id), there), ierr)
    has_year_zero = there /= 0
  end function

  !> The last year of the calendar, 100 000 000 000 in those of CF; the first one is its negative.
  integer(c_int64_t) function max_year(self, ierr)
    class(afterbay_calendar), intent(in) :: self
    integer, intent(out), optional :: ierr
    max_year = 0
    call check(afterbay_calendar_max_year(afterbay_fortran_calendar(self%id), max_year), ierr)
  end function

  !> The number of months of a year, 12 in all calendars of CF.
  integer function months_per_year(self, ierr)
    class(afterbay_calendar), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: months
    integer(c_int64_t) :: seconds
    months = 0
    call check(afterbay_calendar_lengths(afterbay_fortran_calendar(self%id), months, seconds), ierr)
    months_per_year = int(months)
  end function

  !> The length of a day in seconds, 86400 in all calendars of CF.
  integer(c_int64_t) function day_seconds(self, ierr)
    class(afterbay_calendar), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: months
    day_seconds = 0
    call check(afterbay_calendar_lengths(afterbay_fortran_calendar(self%id), months, day_seconds), ierr)
  end function

  !> Returns an error, which says what is wrong and what is valid, if the date does not exist.
  subroutine check_date(self, date, ierr)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: date
    integer, intent(out), optional :: ierr
    call check(afterbay_calendar_check(afterbay_fortran_calendar(self%id), c_of_date(date)), ierr)
  end subroutine

  integer function days_in_month_int64(self, year, month, ierr) result(days)
    class(afterbay_calendar), intent(in) :: self
    integer(c_int64_t), intent(in) :: year
    integer, intent(in) :: month
    integer, intent(out), optional :: ierr
    integer(c_int) :: found
    found = 0
    call check(afterbay_calendar_days_in_month(afterbay_fortran_calendar(self%id), year, int(month, c_int), found), ierr)
    days = int(found)
  end function

  integer function days_in_month_default(self, year, month, ierr) result(days)
    class(afterbay_calendar), intent(in) :: self
    integer, intent(in) :: year, month
    integer, intent(out), optional :: ierr
    days = days_in_month_int64(self, int(year, c_int64_t), month, ierr)
  end function

  integer(c_int64_t) function days_in_year_int64(self, year, ierr) result(days)
    class(afterbay_calendar), intent(in) :: self
    integer(c_int64_t), intent(in) :: year
    integer, intent(out), optional :: ierr
    days = 0
    call check(afterbay_calendar_days_in_year(afterbay_fortran_calendar(self%id), year, days), ierr)
  end function

  integer(c_int64_t) function days_in_year_default(self, year, ierr) result(days)
    class(afterbay_calendar), intent(in) :: self
    integer, intent(in) :: year
    integer, intent(out), optional :: ierr
    days = days_in_year_int64(self, int(year, c_int64_t), ierr)
  end function

  !> The day of the year, from 1. Days that the calendar left out in October 1582 are not counted.
  integer(c_int64_t) function day_of_year(self, date, ierr)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: date
    integer, intent(out), optional :: ierr
    day_of_year = 0
    call check(afterbay_calendar_day_of_year(afterbay_fortran_calendar(self%id), c_of_date(date), day_of_year), ierr)
  end function

  !> The day of the week, from 1 (Monday) to 7 (Sunday), in the calendars standard,
  !> proleptic_gregorian and julian.
  integer function weekday(self, date, ierr)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: date
    integer, intent(out), optional :: ierr
    integer(c_int) :: day
    day = 0
    call check(afterbay_calendar_weekday(afterbay_fortran_calendar(self%id), c_of_date(date), day), ierr)
    weekday = int(day)
  end function

  !> Reads ISO 8601 and its common variants: 2000-01-01, 2000-01-01T06:30:15.25, 2000-1-1 6:30,
  !> 20000101T0630, -0044-03-15, with or without Z or UTC at the end. Other time zones are refused.
  type(afterbay_date) function parse_date(self, text, ierr)
    class(afterbay_calendar), intent(in) :: self
    character(*), intent(in) :: text
    integer, intent(out), optional :: ierr
    type(c_date) :: date
    call check(afterbay_calendar_parse(afterbay_fortran_calendar(self%id), c_text(text), date), ierr)
    parse_date = f_date(date)
  end function

  !> The date as text, '2000-01-01T06:30:15', with a fraction of a second only if there is one.
  !> Empty if there is an error.
  function text_of_date(self, date, ierr) result(text)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: date
    integer, intent(out), optional :: ierr
    character(:), allocatable :: text
    call print_date(self, date, c_null_ptr, 192, text, ierr)
  end function

  !> The date as text by a pattern with %Y %y %m %d %j %H %M %S and %%, for example '%Y%m%d'. Empty
  !> if there is an error.
  function format_date(self, date, pattern, ierr) result(text)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: date
    character(*), intent(in) :: pattern
    integer, intent(out), optional :: ierr
    character(:), allocatable :: text
    type(c_texts), target :: texts
    call texts%hold([pattern])
    call print_date(self, date, texts%pointers(1), 8*len(pattern) + 192, text, ierr)
  end function

  subroutine print_date(self, date, pattern, bytes, text, ierr)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: date
    type(c_ptr), intent(in) :: pattern
    integer, intent(in) :: bytes
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: ierr
    character(kind=c_char), allocatable :: buffer(:)
    allocate (buffer(bytes))
    buffer(1) = c_null_char
    call check(afterbay_calendar_print(afterbay_fortran_calendar(self%id), c_of_date(date), pattern, buffer, &
        size(buffer, kind=c_size_t)), ierr)
    text = f_characters(buffer)
  end subroutine

  type(afterbay_date) function add_int64(self, date, period, count, ierr) result(later)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: date
    type(afterbay_period), intent(in) :: period
    integer(c_int64_t), intent(in) :: count
    integer, intent(out), optional :: ierr
    type(c_date) :: found
    call check(afterbay_calendar_add(afterbay_fortran_calendar(self%id), c_of_date(date), c_of_period(period), count, &
        found), ierr)
    later = f_date(found)
  end function

  type(afterbay_date) function add_default(self, date, period, count, ierr) result(later)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: date
    type(afterbay_period), intent(in) :: period
    integer, intent(in), optional :: count
    integer, intent(out), optional :: ierr
    integer(c_int64_t) :: times
    times = 1
    if (present(count)) times = count
    later = add_int64(self, date, period, times, ierr)
  end function

  !> The time from `from` to `to`; negative if `to` is earlier.
  type(afterbay_duration) function difference(self, from, to, ierr)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: from, to
    integer, intent(out), optional :: ierr
    type(c_duration) :: c
    call check(afterbay_calendar_difference(afterbay_fortran_calendar(self%id), c_of_date(from), c_of_date(to), c), ierr)
    difference = afterbay_duration(c%seconds, int(c%nanoseconds))
  end function

  !> Returns AFTERBAY_MULTIPLE_YES, _NO or _DEPENDS: whether `period` is n*`unit` with an integer n.
  !> `unit` must not be zero.
  integer function multiple(self, period, unit, ierr)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_period), intent(in) :: period, unit
    integer, intent(out), optional :: ierr
    integer(c_int) :: answer
    answer = AFTERBAY_MULTIPLE_NO
    call check(afterbay_calendar_multiple(afterbay_fortran_calendar(self%id), c_of_period(period), c_of_period(unit), &
        answer), ierr)
    multiple = int(answer)
  end function

  !> The interval that contains `date`. `period` must be positive, and consist either of years and
  !> months or of days and seconds. With `start`, intervals are counted from that date; otherwise
  !> `align` is AFTERBAY_ALIGN_CALENDAR (if it is absent) or AFTERBAY_ALIGN_SEASONS.
  type(afterbay_interval) function interval_of(self, date, period, align, start, ierr) result(interval)
    class(afterbay_calendar), intent(in) :: self
    type(afterbay_date), intent(in) :: date
    type(afterbay_period), intent(in) :: period
    integer, intent(in), optional :: align
    type(afterbay_date), intent(in), optional :: start
    integer, intent(out), optional :: ierr
    type(c_interval) :: c
    type(c_date) :: origin
    integer :: alignment
    alignment = AFTERBAY_ALIGN_CALENDAR
    if (present(start)) then
      alignment = AFTERBAY_ALIGN_START
      origin = c_of_date(start)
    end if
    if (present(align)) alignment = align
    if (alignment == AFTERBAY_ALIGN_START .neqv. present(start)) then
      call check(afterbay_error_set(int(AFTERBAY_INVALID_ARGUMENT, c_int), c_text('`start` belongs to the alignment '// &
          'AFTERBAY_ALIGN_START: give both, or `start` alone'), c_text('')), ierr)
      return
    end if
    call check(afterbay_calendar_interval(afterbay_fortran_calendar(self%id), c_of_date(date), c_of_period(period), &
        int(alignment, c_int), origin, c), ierr)
    interval = afterbay_interval(f_date(c%begin), f_date(c%end), c%index)
  end function

  !> The number of a date on a time axis with the units 'UNIT since DATE': days, hours, minutes,
  !> seconds, milliseconds, microseconds or nanoseconds, also in the short forms of UDUNITS. It is
  !> the double nearest to the exact quotient.
  real(c_double) function number_of(self, units, date, ierr) result(number)
    class(afterbay_calendar), intent(in) :: self
    character(*), intent(in) :: units
    type(afterbay_date), intent(in) :: date
    integer, intent(out), optional :: ierr
    number = 0
    call check(afterbay_calendar_number(afterbay_fortran_calendar(self%id), c_text(units), c_of_date(date), number), ierr)
  end function

  !> The date of a number. If several dates have this number, the result is the one in whole
  !> seconds, or else in whole milliseconds, microseconds, or nanoseconds.
  type(afterbay_date) function date_of(self, units, number, ierr) result(date)
    class(afterbay_calendar), intent(in) :: self
    character(*), intent(in) :: units
    real(c_double), intent(in) :: number
    integer, intent(out), optional :: ierr
    type(c_date) :: c
    call check(afterbay_calendar_date(afterbay_fortran_calendar(self%id), c_text(units), number, c), ierr)
    date = f_date(c)
  end function
end module
