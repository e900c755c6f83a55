! SPDX-License-Identifier: Apache-2.0
! Dates, periods and intervals, which calendars compute with.
module afterbay_dates
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_null_char, c_size_t
  use afterbay_base
  use afterbay_c_calendars
  implicit none
  private
  public :: afterbay_date, afterbay_duration, afterbay_period, afterbay_interval
  public :: c_of_date, f_date, c_of_period, f_characters

  !> A date and time of day, without a calendar: a calendar says whether it exists. The operators
  !> ==, /=, <, <=, > and >= compare dates of one calendar in the order of time.
  type :: afterbay_date
    integer(c_int64_t) :: year = 1  !< year 0 exists in some calendars only: calendar%has_year_zero
    integer :: month = 1       !< from 1
    integer :: day = 1         !< from 1
    integer :: hour = 0        !< from 0
    integer :: minute = 0      !< 0 to 59
    integer :: second = 0      !< 0 to 59; there are no leap seconds
    integer :: nanosecond = 0  !< 0 to 999 999 999
  contains
    procedure, private :: is_same, is_other, is_before, is_before_or_same, is_after, is_after_or_same
    generic :: operator(==) => is_same
    generic :: operator(/=) => is_other
    generic :: operator(<) => is_before
    generic :: operator(<=) => is_before_or_same
    generic :: operator(>) => is_after
    generic :: operator(>=) => is_after_or_same
  end type

  !> An exact length of time: seconds + nanoseconds / 10**9.
  type :: afterbay_duration
    integer(c_int64_t) :: seconds = 0  !< whole seconds, rounded down: -0.5 s is -1 s and 500 000 000 ns
    integer :: nanoseconds = 0         !< 0 to 999 999 999
  end type

  !> A step or a frequency. Years, months and days are counts, because their lengths depend on the
  !> calendar and on the date. a + b and n*a add and multiply count by count; == compares the
  !> counts. An operator whose result is out of range stops the program.
  type :: afterbay_period
    integer(c_int64_t) :: years = 0    !< calendar years
    integer(c_int64_t) :: months = 0   !< calendar months
    integer(c_int64_t) :: days = 0     !< calendar days, 86400 s in most calendars
    integer(c_int64_t) :: seconds = 0  !< whole seconds, rounded down
    integer(c_int64_t) :: steps = 0    !< time steps of the model
    integer :: nanoseconds = 0         !< 0 to 999 999 999
  contains
    procedure :: parse => parse_period
    procedure :: text => text_of_period
    procedure :: resolved
    procedure, private :: is_equal, sum_of
    procedure, private, pass(self) :: multiple_default, multiple_int64
    generic :: operator(==) => is_equal
    generic :: operator(+) => sum_of
    generic :: operator(*) => multiple_default, multiple_int64
  end type

  !> One of the intervals into which a period divides time: from `begin` up to, and without, `end`.
  type :: afterbay_interval
    type(afterbay_date) :: begin     !< the first moment
    type(afterbay_date) :: end       !< the first moment of the next interval
    integer(c_int64_t) :: index = 0  !< 0 begins at the origin, -1 ends there
  end type

contains

  ! ---- Conversions

  pure type(c_date) function c_of_date(date) result(c)
    class(afterbay_date), intent(in) :: date
    c = c_date(date%year, int(date%month, c_int), int(date%day, c_int), int(date%hour, c_int), int(date%minute, c_int), &
        int(date%second, c_int), int(date%nanosecond, c_int))
  end function

  pure type(afterbay_date) function f_date(c) result(date)
    type(c_date), intent(in) :: c
    date = afterbay_date(c%year, int(c%month), int(c%day), int(c%hour), int(c%minute), int(c%second), int(c%nanosecond))
  end function

  pure type(c_period) function c_of_period(period) result(c)
    class(afterbay_period), intent(in) :: period
    c = c_period(period%years, period%months, period%days, period%seconds, period%steps, int(period%nanoseconds, c_int))
  end function

  pure type(afterbay_period) function f_period(c) result(period)
    type(c_period), intent(in) :: c
    period = afterbay_period(c%years, c%months, c%days, c%seconds, c%steps, int(c%nanoseconds))
  end function

  !> Up to the NUL.
  pure function f_characters(characters) result(text)
    character(kind=c_char), intent(in) :: characters(:)
    character(:), allocatable :: text
    integer :: length, i
    length = 0
    do while (length < size(characters))
      if (characters(length + 1) == c_null_char) exit
      length = length + 1
    end do
    allocate (character(len=length) :: text)
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function

  ! ---- Dates

  !> -1, 0 or 1: a is before, the same as, or after b.
  pure integer function order_of(a, b)
    class(afterbay_date), intent(in) :: a, b
    integer(c_int64_t) :: first(7), second(7)
    integer :: i
    first = [a%year, int([a%month, a%day, a%hour, a%minute, a%second, a%nanosecond], c_int64_t)]
    second = [b%year, int([b%month, b%day, b%hour, b%minute, b%second, b%nanosecond], c_int64_t)]
    order_of = 0
    do i = 1, 7
      if (first(i) == second(i)) cycle
      order_of = merge(-1, 1, first(i) < second(i))
      return
    end do
  end function

  pure logical function is_same(a, b)
    class(afterbay_date), intent(in) :: a, b
    is_same = order_of(a, b) == 0
  end function

  pure logical function is_other(a, b)
    class(afterbay_date), intent(in) :: a, b
    is_other = order_of(a, b) /= 0
  end function

  pure logical function is_before(a, b)
    class(afterbay_date), intent(in) :: a, b
    is_before = order_of(a, b) < 0
  end function

  pure logical function is_before_or_same(a, b)
    class(afterbay_date), intent(in) :: a, b
    is_before_or_same = order_of(a, b) <= 0
  end function

  pure logical function is_after(a, b)
    class(afterbay_date), intent(in) :: a, b
    is_after = order_of(a, b) > 0
  end function

  pure logical function is_after_or_same(a, b)
    class(afterbay_date), intent(in) :: a, b
    is_after_or_same = order_of(a, b) >= 0
  end function

  ! ---- Periods

  !> Reads numbers with the units y, mo, d, h, min, s, ms, us, ns and ts (time steps), one after the
  !> other: '6h', '1d6h', '1.5h', '-1mo'. A sign holds until the next one. Only h, min, s, ms and us
  !> may have fractions.
  subroutine parse_period(self, text, ierr)
    class(afterbay_period), intent(inout) :: self
    character(*), intent(in) :: text
    integer, intent(out), optional :: ierr
    type(c_period) :: c
    integer(c_int) :: code
    code = afterbay_period_parse(c_text(text), c)
    if (code == AFTERBAY_OK) call assign_period(self, c)
    call check(code, ierr)
  end subroutine

  subroutine assign_period(self, c)
    class(afterbay_period), intent(inout) :: self
    type(c_period), intent(in) :: c
    self%years = c%years
    self%months = c%months
    self%days = c%days
    self%seconds = c%seconds
    self%steps = c%steps
    self%nanoseconds = int(c%nanoseconds)
  end subroutine

  !> The period as text, in the form that parse reads, largest unit first: '1y6mo', '36h', '0s'.
  function text_of_period(self) result(text)
    class(afterbay_period), intent(in) :: self
    character(:), allocatable :: text
    character(kind=c_char) :: buffer(192)
    call check(afterbay_period_print(c_of_period(self), buffer, size(buffer, kind=c_size_t)))
    text = f_characters(buffer)
  end function

  !> The period with `step`, which contains no time steps, in place of each time step.
  type(afterbay_period) function resolved(self, step, ierr)
    class(afterbay_period), intent(in) :: self, step
    integer, intent(out), optional :: ierr
    type(c_period) :: c
    call check(afterbay_period_resolve(c_of_period(self), c_of_period(step), c), ierr)
    resolved = f_period(c)
  end function

  pure logical function is_equal(self, other)
    class(afterbay_period), intent(in) :: self, other
    is_equal = self%years == other%years .and. self%months == other%months .and. self%days == other%days .and. &
        self%seconds == other%seconds .and. self%steps == other%steps .and. self%nanoseconds == other%nanoseconds
  end function

  type(afterbay_period) function sum_of(self, other)
    class(afterbay_period), intent(in) :: self, other
    type(c_period) :: c
    call check(afterbay_period_add(c_of_period(self), 1_c_int64_t, c_of_period(other), c))
    sum_of = f_period(c)
  end function

  type(afterbay_period) function multiple_int64(count, self)
    integer(c_int64_t), intent(in) :: count
    class(afterbay_period), intent(in) :: self
    type(c_period) :: c
    call check(afterbay_period_add(c_period(), count, c_of_period(self), c))
    multiple_int64 = f_period(c)
  end function

  type(afterbay_period) function multiple_default(count, self)
    integer, intent(in) :: count
    class(afterbay_period), intent(in) :: self
    multiple_default = multiple_int64(int(count, c_int64_t), self)
  end function
end module
