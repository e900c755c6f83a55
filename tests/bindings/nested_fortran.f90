! SPDX-License-Identifier: Apache-2.0
! Nested parallel regions of OpenMP, and tasks in them, put tiles of a rank: nested_fortran HOW
! FILE. See nested.cpp, the twin of this program.
program nested_fortran
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi
  use omp_lib
  use afterbay
  implicit none

  integer, parameter :: nl = 3, ny = 26, nx = 10, steps = 5
  integer, parameter :: outer = 2, inner = 3, tiles = outer * inner
  type(afterbay_options) :: options
  type(afterbay_session) :: session
  type(afterbay_file) :: file
  type(afterbay_endpoint) :: endpoints(tiles)
  type(afterbay_endpoint_pool) :: pool
  integer :: ended(tiles) = 0  !< steps of each tile, which one thread at a time has
  integer :: row, rows, provided, error
  character(len=200) :: how, path

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
  call get_command_argument(1, how)
  call get_command_argument(2, path)
  call omp_set_dynamic(.false.)
  call omp_set_max_active_levels(2)
  call options%set_arguments()
  call session%open(MPI_COMM_WORLD, options)
  call options%free()
  if (session%is_server()) then
    call session%serve()
  else
    call run_model()
  end if
  call MPI_Finalize(error)

contains

  subroutine holds(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    integer :: ierr
    if (condition) return
    write (error_unit, '(2a)') 'nested_fortran: does not hold: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  !> Rows are counted from 0.
  subroutine share(first, count, parts, number, part_first, part_count)
    integer, intent(in) :: first, count, parts, number
    integer, intent(out) :: part_first, part_count
    part_first = first + count * number / parts
    part_count = first + count * (number + 1) / parts - part_first
  end subroutine

  subroutine run_model()
    type(afterbay_schema) :: schema
    type(afterbay_collection) :: collection
    integer :: tile, first, count, step
    call share(0, ny, session%model_size(), session%model_rank(), row, rows)
    call session%decomposition('grid', [nx, ny], [1, row + 1], [nx, rows])
    call schema%dimension('time', AFTERBAY_UNLIMITED)
    call schema%dimension('level', nl)
    call schema%dimension('y', ny)
    call schema%dimension('x', nx)
    call schema%variable('s', AFTERBAY_INT32, 'x y time', decomposition='grid')
    call schema%variable('t', AFTERBAY_FLOAT64, 'x y level time', decomposition='grid')
    call session%collection('nested', schema, collection, file=trim(path))
    call collection%open(file)
    do tile = 1, tiles
      call share(row, rows, tiles, tile - 1, first, count)
      call session%endpoint(endpoints(tile), name='tile')
      call endpoints(tile)%part('grid', [nx, ny], [1, first + 1], [nx, count])
    end do
    call pool%open(endpoints)
    call run_regions()
    do step = 1, steps
      call session%end_step()
    end do
    call pool%close()
    do tile = 1, tiles
      call endpoints(tile)%close()
    end do
    call file%close()
    call session%finalize()
  end subroutine

  !> The next step of a tile.
  subroutine put_tile(tile)
    integer, intent(in) :: tile
    integer :: first, count, i, level
    double precision, allocatable :: field(:, :)
    call share(row, rows, tiles, tile - 1, first, count)
    allocate (field(nx, count))
    field = reshape([(10000 * ended(tile) + first * nx + i, i = 0, count * nx - 1)], [nx, count])
    ended(tile) = ended(tile) + 1
    call endpoints(tile)%put(file, 's', field, record=ended(tile))
    do level = nl, 1, -1
      call endpoints(tile)%put(file, 't', field + 1000 * (level - 1), record=ended(tile), start=[1, 1, level])
    end do
    call endpoints(tile)%end_step()
  end subroutine

  subroutine put_lent()
    integer :: tile
    call pool%take(tile)
    call put_tile(tile)
    call pool%give_back(tile)
  end subroutine

  subroutine run_regions()
    integer :: team, step
    !$omp parallel num_threads(outer) default(shared) private(team)
    team = omp_get_thread_num()
    !$omp parallel num_threads(inner) default(shared) firstprivate(team) private(step)
    call holds(omp_get_active_level() == 2 .and. omp_get_num_threads() == inner, 'regions are nested')
    select case (how)
    case ('bound')
      do step = 1, steps
        call put_tile(team * inner + omp_get_thread_num() + 1)
      end do
    case ('lent')
      do step = 1, steps
        call put_lent()
      end do
    case ('tasks')
      !$omp single
      do step = 1, steps * tiles / outer
        !$omp task
        call put_lent()
        !$omp end task
      end do
      !$omp end single
    case default
      call holds(.false., 'HOW is known')
    end select
    !$omp end parallel
    !$omp end parallel
  end subroutine
end program
