! SPDX-License-Identifier: Apache-2.0
! Threads of OpenMP that put through endpoints of their own, inside a parallel region that spans all
! steps: threads_fortran THREADS FILE. With 0 threads the session puts everything, whole parts at a
! time; with -1 it puts sections where the threads do. threads.py compares the files with those of
! threads.c. THREAD_LEVEL, TEAMS_DIFFER and OVER_MPI in the environment mean what they mean there.
module threads_model
  use, intrinsic :: iso_c_binding, only: c_int8_t, c_int16_t, c_int32_t, c_int64_t, c_float, c_double
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi
  use afterbay
  implicit none

  integer, parameter :: nl = 3, ny = 26, nx = 10, records = 3
  integer :: rank, ranks, threads
  integer :: mpi_level = MPI_THREAD_FUNNELED, over_mpi = -1
  logical :: teams_differ = .false.
  type(afterbay_session) :: session
  type(afterbay_file) :: file
  type(afterbay_input) :: input

  !> What a thread has, and the endpoint through which it puts it. Without an endpoint the session
  !> puts it.
  type :: caller
    logical :: is_thread = .false.
    integer :: number = 0
    type(afterbay_endpoint) :: endpoint
    integer :: first_row = 0, rows = 0  !< the first row is counted from 0
    integer, allocatable :: points(:)   !< from 1; 0: a hole
  end type

contains

  subroutine holds(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    type(afterbay_error) :: last
    integer :: error
    if (condition) return
    last = afterbay_last_error()
    write (error_unit, '(4a)') 'threads_fortran: does not hold: ', what, '; last error: ', last%text
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

  !> Records and levels from 1, places from 0.
  pure integer function value(record, level, y, x)
    integer, intent(in) :: record, level, y, x
    value = (record - 1) * 10000 + (level - 1) * 1000 + y * nx + x
  end function

  !> Part `number` (from 0) of `parts` of `count` rows that begin with `first`.
  pure subroutine share(first, count, parts, number, part_first, part_count)
    integer, intent(in) :: first, count, parts, number
    integer, intent(out) :: part_first, part_count
    part_first = first + count * number / parts
    part_count = first + count * (number + 1) / parts - part_first
  end subroutine

  !> The points of the rank, cyclic and descending, and of those every parts-th; a hole after every
  !> fifth.
  subroutine list_points(parts, number, points)
    integer, intent(in) :: parts, number
    integer, allocatable, intent(out) :: points(:)
    integer :: found(2 * ny * nx), count, element, p
    count = 0
    element = 0
    do p = ny * nx - 1, 0, -1
      if (mod(p, ranks) /= rank) cycle
      element = element + 1
      if (mod(element - 1, parts) /= number) cycle
      count = count + 1
      found(count) = p + 1
      if (mod(count, 5) /= 0) cycle
      count = count + 1
      found(count) = 0
    end do
    points = found(1:count)
  end subroutine

  !> Part `number` of what this rank has.
  subroutine make_caller(it, parts, number)
    type(caller), intent(out) :: it
    integer, intent(in) :: parts, number
    integer :: first, count
    call share(0, ny, ranks, rank, first, count)
    call share(first, count, parts, number, it%first_row, it%rows)
    call list_points(parts, number, it%points)
    it%number = number
  end subroutine

  subroutine define(it, path)
    type(caller), intent(in) :: it
    character(*), intent(in) :: path
    type(afterbay_schema) :: schema
    type(afterbay_collection) :: collection
    call session%decomposition('grid', [nx, ny], [1, it%first_row + 1], [nx, it%rows])
    call session%map('cells', [nx, ny], it%points, gaps_allowed=.false.)
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    call schema%dimension('level', nl)
    call schema%dimension('y', ny)
    call schema%dimension('x', nx)
    call schema%variable('n', AFTERBAY_INT32, 'time')
    call schema%variable('i1', AFTERBAY_INT8, 'x y time', decomposition='grid')
    call schema%variable('i2', AFTERBAY_INT16, 'x y time', decomposition='grid')
    call schema%variable('i4', AFTERBAY_INT32, 'x y time', decomposition='grid')
    call schema%variable('i8', AFTERBAY_INT64, 'x y time', decomposition='grid')
    call schema%variable('r4', AFTERBAY_FLOAT32, 'x y time', decomposition='grid')
    call schema%variable('r8', AFTERBAY_FLOAT64, 'x y time', decomposition='grid')
    call schema%variable('c', AFTERBAY_TEXT, 'x y time', decomposition='grid')
    call schema%variable('halo', AFTERBAY_FLOAT64, 'x y time', decomposition='grid')
    call schema%variable('slot', AFTERBAY_FLOAT64, 'x y time', decomposition='grid')
    call schema%variable('t', AFTERBAY_FLOAT32, 'x y level time', decomposition='grid')
    call schema%variable('q', AFTERBAY_FLOAT64, 'x y level time', decomposition='cells')
    call session%collection('threads', schema, collection)
    call collection%open(file, path)
    call collection%free()
    call schema%free()
  end subroutine

  subroutine put_record(it, record)
    type(caller), intent(in) :: it
    integer, intent(in) :: record
    if (it%number == 0) then
      if (it%is_thread) then
        call it%endpoint%put(file, 'n', record - 1, record)
      else
        call file%put('n', record - 1, record)
      end if
    end if
    call put_planes(it, record)
    call put_halo(it, record)
    call put_slot(it, record)
    call put_levels(it, record)
    call put_list(it, record)
  end subroutine

  subroutine put_planes(it, record)
    type(caller), intent(in) :: it
    integer, intent(in) :: record
    integer :: v(nx, it%rows), x, y
    character :: c(nx, it%rows)
    logical :: taken
    do y = 1, it%rows
      do x = 1, nx
        v(x, y) = value(record, 1, it%first_row + y - 1, x - 1)
        c(x, y) = achar(iachar('a') + mod(v(x, y), 26))
      end do
    end do
    if (.not. it%is_thread) then
      call file%put('i1', int(mod(v, 100), c_int8_t), record)
      call file%put('i2', int(v, c_int16_t), record)
      call file%put('i4', int(v, c_int32_t), record)
      call file%put('i8', int(v, c_int64_t), record)
      call file%put('r4', real(v, c_float), record)
      call file%put('r8', real(v, c_double), record)
      call file%put('c', c, record)
      return
    end if
    associate (to => it%endpoint)
      if (mod(record, 2) == 1) then
        call to%put(file, 'i1', int(mod(v, 100), c_int8_t), record)
        call to%put(file, 'i2', int(v, c_int16_t), record)
        call to%put(file, 'i4', int(v, c_int32_t), record)
        call to%put(file, 'i8', int(v, c_int64_t), record)
        call to%put(file, 'r4', real(v, c_float), record)
        call to%put(file, 'r8', real(v, c_double), record)
        call to%put(file, 'c', c, record)
        return
      end if
      taken = .false.
      do while (.not. taken)
        call to%try_put(file, 'i1', int(mod(v, 100), c_int8_t), taken, record)
      end do
      taken = .false.
      do while (.not. taken)
        call to%try_put(file, 'i2', int(v, c_int16_t), taken, record)
      end do
      taken = .false.
      do while (.not. taken)
        call to%try_put(file, 'i4', int(v, c_int32_t), taken, record)
      end do
      taken = .false.
      do while (.not. taken)
        call to%try_put(file, 'i8', int(v, c_int64_t), taken, record)
      end do
      taken = .false.
      do while (.not. taken)
        call to%try_put(file, 'r4', real(v, c_float), taken, record)
      end do
      taken = .false.
      do while (.not. taken)
        call to%try_put(file, 'r8', real(v, c_double), taken, record)
      end do
      taken = .false.
      do while (.not. taken)
        call to%try_put(file, 'c', c, taken, record)
      end do
    end associate
  end subroutine

  !> In odd records a section of the array, in even ones the array and an offset.
  subroutine put_halo(it, record)
    type(caller), intent(in) :: it
    integer, intent(in) :: record
    real(c_float) :: data(0:nx + 1, 0:it%rows + 1)
    integer :: x, y
    data = -1
    do y = 1, it%rows
      do x = 1, nx
        data(x, y) = value(record, 1, it%first_row + y - 1, x - 1)
      end do
    end do
    if (.not. it%is_thread) then
      call file%put('halo', data(1:nx, 1:it%rows), record)
    else if (mod(record, 2) == 1) then
      call it%endpoint%put(file, 'halo', data(1:nx, 1:it%rows), record)
    else
      call it%endpoint%put(file, 'halo', data, record, offset=[1, 1])
    end if
  end subroutine

  subroutine put_slot(it, record)
    type(caller), intent(in) :: it
    integer, intent(in) :: record
    type(afterbay_slot) :: slot
    real(c_double), pointer :: part(:, :)
    integer :: number, x, y, ierr
    if (it%is_thread) then
      call it%endpoint%acquire(file, 'slot', slot, AFTERBAY_FLOAT64, record)
      call it%endpoint%end_step(ierr)
      call fails(ierr, AFTERBAY_BAD_STATE, 'before 1 of its slots is committed')
    else
      call file%acquire('slot', slot, AFTERBAY_FLOAT64, record)
    end if
    do number = 1, slot%part_count()
      call slot%part(number, part)
      do y = lbound(part, 2), ubound(part, 2)
        do x = lbound(part, 1), ubound(part, 1)
          part(x, y) = value(record, 1, y - 1, x - 1)
        end do
      end do
    end do
    call slot%commit()
    call slot%commit(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'committed')
  end subroutine

  !> One level at a time, the highest first: a field of two dimensions.
  subroutine put_levels(it, record)
    type(caller), intent(in) :: it
    integer, intent(in) :: record
    real(c_double) :: t(nx, it%rows, nl)
    integer :: x, y, level, ierr
    do level = 1, nl
      do y = 1, it%rows
        do x = 1, nx
          t(x, y, level) = value(record, level, it%first_row + y - 1, x - 1)
        end do
      end do
    end do
    if (threads == 0) then
      call file%put('t', t, record)
      return
    end if
    do level = nl, 1, -1
      if (.not. it%is_thread) then
        call file%put_section('t', t(:, :, level), [1, 1, level], record=record)
      else if (level == 1) then
        call it%endpoint%put(file, 't', t(:, :, 1:1), record, start=[1, 1, 1], count=[nx, it%rows, 1])
      else if (level == 2) then
        call it%endpoint%put(file, 't', t(:, :, level), record, start=[1, 1, level], count=[nx, it%rows, 1])
      else
        call it%endpoint%put(file, 't', t(:, :, level), record, start=[1, 1, level])
      end if
      if (level /= 2 .or. it%rows == 0) cycle
      if (it%is_thread) then
        call it%endpoint%end_step(ierr)
        call fails(ierr, AFTERBAY_BAD_STATE, 'put the other sections first')
        call it%endpoint%put(file, 't', t(:, 1, level), record, start=[1, 1, level], ierr=ierr)
        call fails(ierr, AFTERBAY_CONFLICT, 'the section (1:10, 1:1, 2:2) of record')
      else
        call session%end_step(ierr)
        call fails(ierr, AFTERBAY_BAD_STATE, 'put the other sections first')
        call file%put_section('t', t(:, :, level), [1, 1, level], [nx, it%rows, 1], record=record, ierr=ierr)
        call fails(ierr, AFTERBAY_CONFLICT, 'was put already')
      end if
    end do
  end subroutine

  !> The second half of the list before the first.
  subroutine put_list(it, record)
    type(caller), intent(in) :: it
    integer, intent(in) :: record
    real(c_double) :: q(size(it%points), nl)
    integer :: level, half
    do level = 1, nl
      q(:, level) = value(record, level, 0, 0) + it%points - 1
    end do
    half = size(it%points) / 2
    if (it%is_thread) then
      call it%endpoint%put(file, 'q', q(half + 1:, :), record, start=[half + 1, 1])
      call it%endpoint%put(file, 'q', q(:half, :), record, start=[1, 1])
    else if (threads == 0) then
      call file%put('q', q, record)
    else
      call file%put_section('q', q(half + 1:, :), [half + 1, 1], record=record)
      call file%put_section('q', q, [1, 1], [half, nl], record, offset=[0, 0])
    end if
  end subroutine

  !> Calls that are refused, before the endpoint has a part.
  subroutine make_mistakes(it)
    type(caller), intent(in) :: it
    type(afterbay_endpoint) :: none
    integer :: ierr
    call holds(it%endpoint%number() >= 1 .and. it%endpoint%number() <= threads, 'the number of the endpoint')
    call none%end_step(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'the endpoint handle is empty')
    call it%endpoint%put(file, 'r8', 0d0, 1, ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'has no part of decomposition ''grid''')
    call it%endpoint%part('grid', [nx, ny], [2, ny], [nx, 1], ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'grid')
    call it%endpoint%part('grid', [nx, ny], [0, 1], [nx, 1], ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'start counts from 1')
    call it%endpoint%part('grit', [nx, ny], [1, 1], [nx, 1], ierr)
    call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'grid')
    call it%endpoint%part_map('grid', [nx, ny], [1], ierr=ierr)
    call fails(ierr, AFTERBAY_WRONG_TYPE, 'is a block')
    call it%endpoint%part_map_runs('cells', [nx, ny], [1, 2], [1], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'one number per run')
    if (ranks == 1) return
    call it%endpoint%part_map_runs('cells', [nx, ny], [1], [ranks], ierr=ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'points that its rank does not have')
  end subroutine

  !> Without a higher level of MPI_Init_thread, this thread must not make calls that use MPI.
  subroutine call_in_wrong_thread()
    integer :: ierr
    if (mpi_level >= MPI_THREAD_SERIALIZED) return
    call session%finalize(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, &
        'finalize uses MPI, and was called by another thread than the main one: MPI was initialised with MPI_THREAD_FUNNELED')
    if (over_mpi /= rank) return
    call session%end_step(ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'end_step uses MPI, and was called by another')
    call file%put('r8', 0d0, 1, ierr=ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'put uses MPI, and was called by another')
  end subroutine

  !> What the level of MPI_Init_thread allows a thread to do with the session and MPI during a step.
  subroutine end_step_of_session(thread, record)
    integer, intent(in) :: thread, record
    integer :: sent, received, to, from, error
    if (mpi_level < MPI_THREAD_SERIALIZED) then
      if (thread == 0) call session%end_step()  ! by the thread that may use MPI
      return
    end if
    if (mod(record, threads) == thread) then
      !$omp critical (of_session)
      call session%end_step()
      !$omp end critical (of_session)
    end if
    if (mpi_level < MPI_THREAD_MULTIPLE) return
    to = mod(rank + 1, ranks)
    from = mod(rank + ranks - 1, ranks)
    sent = rank * 1000 + record
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, to, thread, received, 1, MPI_INTEGER, from, thread, &
        session%model_comm(), MPI_STATUS_IGNORE, error)
    call holds(received == from * 1000 + record, 'threads exchange messages')
  end subroutine

  !> After the parts are registered.
  subroutine make_more_mistakes(it)
    type(caller), intent(in) :: it
    real(c_double) :: zero(nx, it%rows + 1)
    integer :: ierr
    zero = 0
    associate (to => it%endpoint)
      call to%put(file, 't', zero, 1, start=[1, 1, 1], ierr=ierr)
      call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'leaves this caller''s array')
      call to%put(file, 't', zero, 1, start=[1, 1], ierr=ierr)
      call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'dimensions')
      call to%put(file, 't', zero, 1, start=[1], ierr=ierr)
      call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'no more dimensions than `start`')
      call to%put(file, 't', zero(:, 1), 1, start=[1, 1, 1], count=[nx, 2, 1], ierr=ierr)
      call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'only those of length 1 may be left out')
      call to%put(file, 't', zero, 1, start=[0, 1, 1], ierr=ierr)
      call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'start counts from 1')
      call to%put(file, 't', zero, 1, start=[1, 1, 1], count=[1, 1], ierr=ierr)
      call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'one number per dimension')
      call to%put(file, 't', zero, 0, ierr=ierr)
      call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'records are counted from 1')
    end associate
  end subroutine

  subroutine open_endpoint(it)
    type(caller), intent(inout) :: it
    integer :: ierr
    it%is_thread = .true.
    if (mod(it%number, 2) == 0) then
      call session%endpoint(it%endpoint, name='band')
    else
      call session%endpoint(it%endpoint)
    end if
    if (it%number == 0) call make_mistakes(it)
    if (it%number == 1) call call_in_wrong_thread()
    call it%endpoint%part('grid', [nx, ny], [1, it%first_row + 1], [nx, it%rows])
    call it%endpoint%part_map('cells', [nx, ny], it%points)
    if (it%number /= 0) return
    call it%endpoint%whole()
    call it%endpoint%whole('grid', ierr)
    call fails(ierr, AFTERBAY_CONFLICT, 'decomposition ''grid''')
    call make_more_mistakes(it)
  end subroutine

  !> All endpoints are open before the first step ends; after that no thread waits for another one.
  subroutine run_threads()
    type(caller), allocatable :: callers(:)
    type(afterbay_endpoint) :: copy
    integer :: thread, record, ierr
    allocate (callers(0:threads - 1))
    !$omp parallel num_threads(threads) default(shared) private(copy, thread, record, ierr)
    !$omp do schedule(static, 1)
    do thread = 0, threads - 1
      call make_caller(callers(thread), threads, thread)
      call open_endpoint(callers(thread))
    end do
    !$omp end do
    !$omp do schedule(static, 1)
    do thread = 0, threads - 1
      copy = callers(thread)%endpoint
      do record = 1, records
        call put_record(callers(thread), record)
        call callers(thread)%endpoint%end_step()
        call end_step_of_session(thread, record)
      end do
      call callers(thread)%endpoint%close()
      call copy%end_step(ierr)
      call fails(ierr, AFTERBAY_BAD_STATE, 'the endpoint handle is empty')
    end do
    !$omp end do
    !$omp end parallel
  end subroutine

  !> Each thread reads its part of what all have written.
  subroutine read_back(it)
    type(caller), intent(in) :: it
    real(c_double) :: t(nx, it%rows, nl, records), q(size(it%points), nl)
    integer(c_int32_t) :: corner(1, 1)
    integer :: x, y, level, record, ierr
    associate (from => it%endpoint)
      call from%get(input, 'none', q, record=1, decomposition='cells', ierr=ierr)
      call fails(ierr, AFTERBAY_UNKNOWN_NAME, 'none')
      call from%get(input, 't', t, record=1, records=records, decomposition='grid')
      call from%get(input, 'i4', corner, record=2, start=[nx, ny], count=[1, 1])
    end associate
    call holds(corner(1, 1) == value(2, 1, ny - 1, nx - 1), 'the last point was read')
    do record = 1, records
      q = -5
      call it%endpoint%get(input, 'q', q, record=record, decomposition='cells')
      do level = 1, nl
        call holds(all(nint(q(:, level)) == merge(-5, value(record, level, 0, 0) + it%points - 1, it%points == 0)), &
            'the list was read')
        do y = 1, it%rows
          do x = 1, nx
            call holds(nint(t(x, y, level, record)) == value(record, level, it%first_row + y - 1, x - 1), 'the band was read')
          end do
        end do
      end do
    end do
  end subroutine

  !> Any thread reads with any endpoint, each of which a pool lends once.
  subroutine run_readers(path)
    character(*), intent(in) :: path
    type(caller), allocatable :: callers(:)
    type(afterbay_endpoint_pool) :: pool
    integer :: thread, lent, reading, left
    allocate (callers(0:threads - 1))
    reading = threads
    call session%open_input(path, input)
    !$omp parallel do num_threads(threads) schedule(static, 1) default(shared) private(thread)
    do thread = 0, threads - 1
      associate (it => callers(thread))
        call make_caller(it, threads, thread)
        call session%endpoint(it%endpoint, name='reader')
        call it%endpoint%part('grid', [nx, ny], [1, it%first_row + 1], [nx, it%rows])
        call it%endpoint%part_map('cells', [nx, ny], it%points)
      end associate
    end do
    !$omp end parallel do
    call pool%open(callers%endpoint)
    !$omp parallel num_threads(threads) default(shared) private(thread, lent, left)
    !$omp master
    do thread = 1, threads
      !$omp task private(lent) shared(pool, callers, reading)
      call pool%take(lent)
      call read_back(callers(lent - 1))
      call pool%give_back(lent)
      !$omp atomic update
      reading = reading - 1
      !$omp end task
    end do
    left = merge(threads, 0, over_mpi >= 0 .and. threads > 1)
    do while (left > 0)  ! without shared memory the readers need this thread
      call session%progress()
      !$omp atomic read
      left = reading
    end do
    !$omp taskwait
    !$omp end master
    !$omp end parallel
    call make_mistakes_with_pools(pool, callers%endpoint)
    do thread = 0, threads - 1
      call callers(thread)%endpoint%close()
    end do
    call input%close()
  end subroutine

  subroutine make_mistakes_with_pools(pool, endpoints)
    type(afterbay_endpoint_pool), intent(inout) :: pool
    type(afterbay_endpoint), intent(in) :: endpoints(:)
    type(afterbay_endpoint_pool) :: none
    integer :: i, lent, ierr
    do i = 1, size(endpoints)
      call pool%try_take(lent)
      call holds(lent >= 1 .and. lent <= size(endpoints), 'an endpoint was lent')
    end do
    call pool%try_take(lent)
    call holds(lent == 0, 'all endpoints are lent')
    call pool%give_back(size(endpoints), ierr)
    call holds(ierr == AFTERBAY_OK, 'an endpoint was given back')
    call pool%take(lent)
    call holds(lent == size(endpoints), 'the endpoint that was given back is lent')
    call pool%give_back(0, ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'to a pool of')
    call pool%close()
    call pool%take(lent, ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'the pool handle is empty')
    call none%open(endpoints(:0), ierr)
    call fails(ierr, AFTERBAY_INVALID_ARGUMENT, 'at least one endpoint')
    call none%give_back(1, ierr)
    call fails(ierr, AFTERBAY_BAD_STATE, 'the pool handle is empty')
  end subroutine

  subroutine run_model(path)
    character(*), intent(in) :: path
    type(caller) :: all
    integer :: record
    rank = session%model_rank()
    ranks = session%model_size()
    if (teams_differ) threads = threads + rank
    call make_caller(all, 1, 0)
    call define(all, path)
    if (threads > 0) then
      call run_threads()
    else
      do record = 1, records
        call put_record(all, record)
        call session%end_step()
      end do
    end if
    call file%close()
    if (threads > 0) call run_readers(path)
    call session%finalize()
  end subroutine
end module

program threads_fortran
  use threads_model
  implicit none
  type(afterbay_options) :: options
  character(len=200) :: word
  integer :: error, provided
  call get_environment_variable('THREAD_LEVEL', word)
  if (word == 'serialized') mpi_level = MPI_THREAD_SERIALIZED
  if (word == 'multiple') mpi_level = MPI_THREAD_MULTIPLE
  call get_environment_variable('TEAMS_DIFFER', word)
  teams_differ = word /= ''
  call get_environment_variable('OVER_MPI', word)
  if (word /= '') read (word, *) over_mpi
  call MPI_Init_thread(mpi_level, provided, error)
  call holds(provided >= mpi_level, 'MPI provides the level')
  call get_command_argument(1, word)
  read (word, *) threads
  call get_command_argument(2, word)
  call options%set_arguments()
  call session%open(MPI_COMM_WORLD, options)
  call options%free()
  if (session%is_server()) then
    call session%serve()
  else
    call run_model(trim(word))
  end if
  call MPI_Finalize(error)
end program
