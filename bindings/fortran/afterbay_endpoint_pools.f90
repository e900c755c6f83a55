! SPDX-License-Identifier: Apache-2.0
! Pools that lend endpoints to tasks.
module afterbay_endpoint_pools
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_null_ptr, c_ptr, c_size_t
  use afterbay_base
  use afterbay_c
  use afterbay_endpoints, only: afterbay_endpoint
  implicit none
  private
  public :: afterbay_endpoint_pool

  ! The functions of afterbay/endpoint.h, and of bindings/c/fortran_handles.cpp.
  interface
    integer(c_int64_t) function afterbay_fortran_keep_endpoint_pool(object) bind(C)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: object
    end function
    type(c_ptr) function afterbay_fortran_endpoint_pool(number) bind(C)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: number
    end function
    subroutine afterbay_fortran_drop_endpoint_pool(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
    integer(c_int) function afterbay_endpoint_pool_open(endpoints, count, pool) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), intent(in) :: endpoints(*)
      integer(c_size_t), value :: count
      type(c_ptr), intent(inout) :: pool
    end function
    integer(c_int) function afterbay_endpoint_pool_take(pool, index) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: pool
      integer(c_size_t), intent(inout) :: index
    end function
    integer(c_int) function afterbay_endpoint_pool_try_take(pool, index) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: pool
      integer(c_size_t), intent(inout) :: index
    end function
    integer(c_int) function afterbay_endpoint_pool_give_back(pool, index) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: pool
      integer(c_size_t), value :: index
    end function
  end interface

  !> Lends endpoints to tasks, which run on any thread: a part belongs to an endpoint, not to a
  !> thread. Each endpoint is lent to one task at a time. A task gets the free endpoint that has
  !> ended the fewest steps, and none that is more than a step ahead of another one: if each task
  !> ends one step of its endpoint, every endpoint is lent once per step, also while tasks of two
  !> steps run, provided that tasks begin in the order of their steps. Any thread may call all
  !> procedures except open and close. Copies are the same pool.
  type :: afterbay_endpoint_pool
    integer(c_int64_t) :: id = 0
  contains
    procedure :: open => open_pool
    procedure :: take
    procedure :: try_take
    procedure :: give_back
    procedure :: close => close_pool
  end type

contains

  !> Makes a pool of open endpoints of one session, whose parts are registered. Does not wait.
  !> AFTERBAY_INVALID_ARGUMENT if there are none, one is listed twice or they belong to several
  !> sessions.
  subroutine open_pool(self, endpoints, ierr)
    class(afterbay_endpoint_pool), intent(inout) :: self
    type(afterbay_endpoint), intent(in) :: endpoints(:)
    integer, intent(out), optional :: ierr
    type(c_ptr) :: all(size(endpoints)), opened
    integer(c_int) :: code
    integer :: i
    do i = 1, size(endpoints)
      all(i) = afterbay_fortran_endpoint(endpoints(i)%id)
    end do
    opened = c_null_ptr
    code = afterbay_endpoint_pool_open(all, int(size(endpoints), c_size_t), opened)
    self%id = afterbay_fortran_keep_endpoint_pool(opened)
    call check(code, ierr)
  end subroutine

  !> Borrows an endpoint: `index` is its place in the array from which the pool was opened, from 1.
  !> Waits until one is free; in the thread that uses the session, it does what session%progress
  !> does meanwhile. AFTERBAY_TIMED_OUT if, for the time `deadline`, none is given back and the
  !> rank's endpoints make no progress, AFTERBAY_BAD_STATE if all have been closed: closed ones are
  !> not lent. The session stays usable.
  subroutine take(self, index, ierr)
    class(afterbay_endpoint_pool), intent(in) :: self
    integer, intent(out) :: index
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: found
    integer(c_int) :: code
    found = 0
    code = afterbay_endpoint_pool_take(afterbay_fortran_endpoint_pool(self%id), found)
    index = merge(int(found) + 1, 0, code == AFTERBAY_OK)
    call check(code, ierr)
  end subroutine

  !> The same without waiting: `index` is 0 if none is free, which is not an error.
  !> AFTERBAY_BAD_STATE if all have been closed.
  subroutine try_take(self, index, ierr)
    class(afterbay_endpoint_pool), intent(in) :: self
    integer, intent(out) :: index
    integer, intent(out), optional :: ierr
    integer(c_size_t) :: found
    integer(c_int) :: code
    found = 0
    code = afterbay_endpoint_pool_try_take(afterbay_fortran_endpoint_pool(self%id), found)
    index = merge(int(found) + 1, 0, code == AFTERBAY_OK)
    if (code == AFTERBAY_WOULD_BLOCK) code = AFTERBAY_OK
    call check(code, ierr)
  end subroutine

  !> Ends the loan of an endpoint. Does not wait. AFTERBAY_BAD_STATE if it is not lent, or if it
  !> holds a slot that is not committed or has put only sections of its part of a variable: the
  !> endpoint is free nevertheless, and cannot end its step before the rest is put.
  subroutine give_back(self, index, ierr)
    class(afterbay_endpoint_pool), intent(in) :: self
    integer, intent(in) :: index
    integer, intent(out), optional :: ierr
    call check(afterbay_endpoint_pool_give_back(afterbay_fortran_endpoint_pool(self%id), &
        int(index - 1, c_size_t)), ierr)
  end subroutine

  !> Releases the pool; its endpoints stay open. Does nothing if called again.
  subroutine close_pool(self, ierr)
    class(afterbay_endpoint_pool), intent(inout) :: self
    integer, intent(out), optional :: ierr
    call afterbay_fortran_drop_endpoint_pool(self%id)
    self%id = 0
    call check(AFTERBAY_OK, ierr)
  end subroutine
end module
