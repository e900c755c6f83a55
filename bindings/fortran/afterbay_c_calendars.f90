! SPDX-License-Identifier: Apache-2.0
! Fortran interfaces of the C functions of calendars and periods, afterbay/calendar.h. Not for
! users.
module afterbay_c_calendars
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_null_ptr, c_ptr, c_size_t
  implicit none
  public

  type, bind(C) :: c_date
    integer(c_int64_t) :: year = 1
    integer(c_int) :: month = 1, day = 1, hour = 0, minute = 0, second = 0, nanosecond = 0
  end type
  type, bind(C) :: c_duration
    integer(c_int64_t) :: seconds = 0
    integer(c_int) :: nanoseconds = 0
  end type
  type, bind(C) :: c_period
    integer(c_int64_t) :: years = 0, months = 0, days = 0, seconds = 0, steps = 0
    integer(c_int) :: nanoseconds = 0
  end type
  type, bind(C) :: c_interval
    type(c_date) :: begin, end
    integer(c_int64_t) :: index = 0
  end type
  type, bind(C) :: c_calendar_rules
    type(c_ptr) :: month_lengths = c_null_ptr
    integer(c_size_t) :: months = 0
    integer(c_int) :: has_leap_year = 0
    integer(c_int64_t) :: leap_year = 0
    integer(c_int) :: leap_month = 0
    integer(c_int64_t) :: day_seconds = 0
  end type

  interface
    integer(c_int64_t) function afterbay_fortran_keep_calendar(object) bind(C)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: object
    end function
    type(c_ptr) function afterbay_fortran_calendar(number) bind(C)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: number
    end function
    subroutine afterbay_fortran_drop_calendar(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
    integer(c_int) function afterbay_calendar_create(name, calendar) bind(C)
      import :: c_int, c_ptr, c_char
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(inout) :: calendar
    end function
    integer(c_int) function afterbay_calendar_create_from(rules, calendar) bind(C)
      import :: c_int, c_ptr, c_calendar_rules
      type(c_calendar_rules), intent(in) :: rules
      type(c_ptr), intent(inout) :: calendar
    end function
    integer(c_int) function afterbay_calendar_name(calendar, name) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: calendar
      type(c_ptr), intent(inout) :: name
    end function
    integer(c_int) function afterbay_calendar_has_year_zero(calendar, there) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: calendar
      integer(c_int), intent(inout) :: there
    end function
    integer(c_int) function afterbay_calendar_max_year(calendar, year) bind(C)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: calendar
      integer(c_int64_t), intent(inout) :: year
    end function
    integer(c_int) function afterbay_calendar_lengths(calendar, months, day_seconds) bind(C)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: calendar
      integer(c_int), intent(inout) :: months
      integer(c_int64_t), intent(inout) :: day_seconds
    end function
    integer(c_int) function afterbay_calendar_check(calendar, date) bind(C)
      import :: c_int, c_ptr, c_date
      type(c_ptr), value :: calendar
      type(c_date), intent(in) :: date
    end function
    integer(c_int) function afterbay_calendar_days_in_month(calendar, year, month, days) bind(C)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: calendar
      integer(c_int64_t), value :: year
      integer(c_int), value :: month
      integer(c_int), intent(inout) :: days
    end function
    integer(c_int) function afterbay_calendar_days_in_year(calendar, year, days) bind(C)
      import :: c_int, c_ptr, c_int64_t
      type(c_ptr), value :: calendar
      integer(c_int64_t), value :: year
      integer(c_int64_t), intent(inout) :: days
    end function
    integer(c_int) function afterbay_calendar_day_of_year(calendar, date, day) bind(C)
      import :: c_int, c_ptr, c_int64_t, c_date
      type(c_ptr), value :: calendar
      type(c_date), intent(in) :: date
      integer(c_int64_t), intent(inout) :: day
    end function
    integer(c_int) function afterbay_calendar_weekday(calendar, date, weekday) bind(C)
      import :: c_int, c_ptr, c_date
      type(c_ptr), value :: calendar
      type(c_date), intent(in) :: date
      integer(c_int), intent(inout) :: weekday
    end function
    integer(c_int) function afterbay_calendar_parse(calendar, text, date) bind(C)
      import :: c_int, c_ptr, c_char, c_date
      type(c_ptr), value :: calendar
      character(kind=c_char), intent(in) :: text(*)
      type(c_date), intent(inout) :: date
    end function
    integer(c_int) function afterbay_calendar_print(calendar, date, pattern, text, bytes) bind(C)
      import :: c_int, c_ptr, c_char, c_size_t, c_date
      type(c_ptr), value :: calendar, pattern
      type(c_date), intent(in) :: date
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function afterbay_calendar_add(calendar, date, period, count, result) bind(C)
      import :: c_int, c_ptr, c_int64_t, c_date, c_period
      type(c_ptr), value :: calendar
      type(c_date), intent(in) :: date
      type(c_period), intent(in) :: period
      integer(c_int64_t), value :: count
      type(c_date), intent(inout) :: result
    end function
    integer(c_int) function afterbay_calendar_difference(calendar, from, to, difference) bind(C)
      import :: c_int, c_ptr, c_date, c_duration
      type(c_ptr), value :: calendar
      type(c_date), intent(in) :: from, to
      type(c_duration), intent(inout) :: difference
    end function
    integer(c_int) function afterbay_calendar_multiple(calendar, period, unit, answer) bind(C)
      import :: c_int, c_ptr, c_period
      type(c_ptr), value :: calendar
      type(c_period), intent(in) :: period, unit
      integer(c_int), intent(inout) :: answer
    end function
    integer(c_int) function afterbay_calendar_interval(calendar, date, period, align, start, interval) bind(C)
      import :: c_int, c_ptr, c_date, c_period, c_interval
      type(c_ptr), value :: calendar
      type(c_date), intent(in) :: date, start
      type(c_period), intent(in) :: period
      integer(c_int), value :: align
      type(c_interval), intent(inout) :: interval
    end function
    integer(c_int) function afterbay_calendar_number(calendar, units, date, number) bind(C)
      import :: c_int, c_ptr, c_char, c_double, c_date
      type(c_ptr), value :: calendar
      character(kind=c_char), intent(in) :: units(*)
      type(c_date), intent(in) :: date
      real(c_double), intent(inout) :: number
    end function
    integer(c_int) function afterbay_calendar_date(calendar, units, number, date) bind(C)
      import :: c_int, c_ptr, c_char, c_double, c_date
      type(c_ptr), value :: calendar
      character(kind=c_char), intent(in) :: units(*)
      real(c_double), value :: number
      type(c_date), intent(inout) :: date
    end function
    integer(c_int) function afterbay_period_parse(text, period) bind(C)
      import :: c_int, c_char, c_period
      character(kind=c_char), intent(in) :: text(*)
      type(c_period), intent(inout) :: period
    end function
    integer(c_int) function afterbay_period_print(period, text, bytes) bind(C)
      import :: c_int, c_char, c_size_t, c_period
      type(c_period), intent(in) :: period
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function afterbay_period_add(a, count, b, result) bind(C)
      import :: c_int, c_int64_t, c_period
      type(c_period), intent(in) :: a, b
      integer(c_int64_t), value :: count
      type(c_period), intent(inout) :: result
    end function
    integer(c_int) function afterbay_period_resolve(period, step, result) bind(C)
      import :: c_int, c_period
      type(c_period), intent(in) :: period, step
      type(c_period), intent(inout) :: result
    end function
  end interface
end module
