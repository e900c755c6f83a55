! SPDX-License-Identifier: Apache-2.0
! A shallow-water model: one layer of fluid on a rotating, doubly periodic plane.
!
! Arakawa C grid with the potential-enstrophy conserving scheme of Sadourny (1975, J. Atmos. Sci.
! 32, 680-689) and the three-stage Runge-Kutta scheme of Wicker and Skamarock (2002, Mon. Wea. Rev.
! 130, 2088-2097). Decomposed in two dimensions, with a halo of one row, including corners.
!
! Cell (i, j) has its depth h in the centre, u on its west edge, v on its south edge and the
! vorticity on its south-west corner. Every value is computed by the same operations in the same
! order as in the examples in C and C++, so that all three write the same bits.
!
! Compiled with OpenMP, step_model is called by all threads of a team, which share its loops.
module shallow_water_model
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi
  implicit none
  private
  public :: model, create_model, share, step_model, relative_vorticity, surface_speed, conserved

  real(real64), parameter, public :: gravity = 0.05_real64     !< reduced gravity, m s-2
  real(real64), parameter, public :: coriolis = 1.0e-4_real64  !< s-1
  real(real64), parameter, public :: rest_depth = 500.0_real64 !< m
  real(real64), parameter, public :: cell = 2000.0_real64      !< width of a cell, m
  real(real64), parameter :: per_cell = 1.0_real64 / cell
  real(real64), parameter, public :: time_step = 200.0_real64  !< s

  ! The initial state: an eastward and a westward jet that meander, and so roll up into eddies.
  real(real64), parameter :: jet_speed = 2.0_real64     !< m s-1
  real(real64), parameter :: jet_widths = 32.0_real64   !< height of the domain
  integer, parameter :: waves(4) = [2, 3, 5, 7] !< number of meanders in the domain
  real(real64), parameter :: wave_height(4) = [1.2_real64, 0.8_real64, 0.9_real64, 0.4_real64]  !< jet widths
  real(real64), parameter :: pi = 3.14159265358979323846_real64

  !> This rank's part of the model. Arrays have bounds 0:ni+1, 0:nj+1.
  type :: model
    integer :: comm = MPI_COMM_NULL       !< two-dimensional Cartesian communicator
    integer :: nx = 0, ny = 0             !< the whole grid
    integer :: ni = 0, nj = 0             !< this rank's part
    integer :: i0 = 1, j0 = 1             !< its first point in the whole grid
    integer :: west, east, south, north   !< the neighbours' ranks
    integer :: step = 0
    real(real64), allocatable :: h(:, :), u(:, :), v(:, :)        !< the state
    real(real64), allocatable :: h1(:, :), u1(:, :), v1(:, :)     !< within a time step
    real(real64), allocatable :: fx(:, :), fy(:, :), q(:, :), b(:, :)  !< fluxes, potential vorticity, Bernoulli function
    real(real64), allocatable :: to(:), from(:)                   !< halo messages
  end type

contains

  !> The model on the ranks of `comm` (collective), in its initial state.
  subroutine create_model(m, comm, nx, ny)
    type(model), intent(out) :: m
    integer, intent(in) :: comm, nx, ny
    integer :: ranks, rank, dims(2), coordinates(2), error
    call MPI_Comm_size(comm, ranks, error)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, error)
    call MPI_Cart_create(comm, 2, dims, [.true., .true.], .false., m%comm, error)
    call MPI_Comm_rank(m%comm, rank, error)
    call MPI_Cart_coords(m%comm, rank, 2, coordinates, error)
    call MPI_Cart_shift(m%comm, 0, 1, m%south, m%north, error)
    call MPI_Cart_shift(m%comm, 1, 1, m%west, m%east, error)
    m%nx = nx
    m%ny = ny
    call share(ny, dims(1), coordinates(1), m%j0, m%nj)
    call share(nx, dims(2), coordinates(2), m%i0, m%ni)
    call allocate_fields(m)
    call initial_state(m)
    call exchange_halos(m, m%h, m%u, m%v)
  end subroutine

  !> Part `number` (from 0) of `parts` nearly equal parts of 1..n.
  subroutine share(n, parts, number, first, count)
    integer, intent(in) :: n, parts, number
    integer, intent(out) :: first, count
    first = n * number / parts + 1
    count = n * (number + 1) / parts + 1 - first
  end subroutine

  subroutine allocate_fields(m)
    type(model), intent(inout) :: m
    integer :: longest
    allocate (m%h(0:m%ni + 1, 0:m%nj + 1), source=0.0_real64)
    allocate (m%u, m%v, m%h1, m%u1, m%v1, m%fx, m%fy, m%q, m%b, source=m%h)
    longest = 3 * (max(m%ni, m%nj) + 2)
    allocate (m%to(longest), m%from(longest))
  end subroutine

  !> The stream function (m2 s-1) at a position given in cells from the south-west corner.
  function stream_function(m, x, y) result(psi)
    type(model), intent(in) :: m
    real(real64), intent(in) :: x, y
    real(real64) :: psi, width, north, south
    integer :: k
    width = max(3.0_real64, m%ny / jet_widths)
    south = (y - 0.28_real64 * m%ny) / width
    north = (y - 0.72_real64 * m%ny) / width
    do k = 1, size(waves)
      south = south + wave_height(k) * sin(2.0_real64 * pi * waves(k) * (x / m%nx) + k)
      north = north + wave_height(k) * sin(2.0_real64 * pi * waves(k) * (x / m%nx) + 2 * k)
    end do
    psi = jet_speed * width * cell * (tanh(north) - tanh(south))
  end function

  !> Velocities along the stream function, depth in geostrophic balance with them.
  subroutine initial_state(m)
    type(model), intent(inout) :: m
    real(real64) :: x, y
    integer :: i, j
    do j = 1, m%nj
      do i = 1, m%ni
        x = i + m%i0 - 2
        y = j + m%j0 - 2
        m%u(i, j) = (stream_function(m, x, y) - stream_function(m, x, y + 1.0_real64)) * per_cell
        m%v(i, j) = (stream_function(m, x + 1.0_real64, y) - stream_function(m, x, y)) * per_cell
        m%h(i, j) = rest_depth + coriolis * stream_function(m, x + 0.5_real64, y + 0.5_real64) / gravity
      end do
    end do
  end subroutine

  !> One time step of three stages.
  subroutine step_model(m)
    type(model), intent(inout) :: m
    call fluxes(m, m%h, m%u, m%v)
    call advance(m, time_step / 3.0_real64)
    call fluxes(m, m%h1, m%u1, m%v1)
    call advance(m, time_step / 2.0_real64)
    call fluxes(m, m%h1, m%u1, m%v1)
    call advance(m, time_step)
    !$omp single
    call swap(m%h, m%h1)
    call swap(m%u, m%u1)
    call swap(m%v, m%v1)
    m%step = m%step + 1
    !$omp end single
  end subroutine

  subroutine swap(a, b)
    real(real64), allocatable, intent(inout) :: a(:, :), b(:, :)
    real(real64), allocatable :: other(:, :)
    call move_alloc(a, other)
    call move_alloc(b, a)
    call move_alloc(other, b)
  end subroutine

  !> Mass fluxes, potential vorticity and Bernoulli function.
  subroutine fluxes(m, h, u, v)
    type(model), intent(inout) :: m
    real(real64), intent(in), contiguous :: h(0:, 0:), u(0:, 0:), v(0:, 0:)
    integer :: i, j
    !$omp do
    do j = 1, m%nj + 1
      do i = 1, m%ni + 1
        m%q(i, j) = (coriolis + (v(i, j) - v(i - 1, j) - (u(i, j) - u(i, j - 1))) * per_cell) / &
            (0.25_real64 * (h(i, j) + h(i - 1, j) + (h(i, j - 1) + h(i - 1, j - 1))))
      end do
    end do
    !$omp end do nowait
    !$omp do
    do j = 0, m%nj
      do i = 0, m%ni
        m%b(i, j) = gravity * h(i, j) + 0.25_real64 * (u(i, j) * u(i, j) + u(i + 1, j) * u(i + 1, j) + &
            (v(i, j) * v(i, j) + v(i, j + 1) * v(i, j + 1)))
      end do
    end do
    !$omp end do nowait
    !$omp do
    do j = 0, m%nj
      do i = 1, m%ni + 1
        m%fx(i, j) = 0.5_real64 * (h(i, j) + h(i - 1, j)) * u(i, j)
      end do
    end do
    !$omp end do nowait
    !$omp do
    do j = 1, m%nj + 1
      do i = 0, m%ni
        m%fy(i, j) = 0.5_real64 * (h(i, j) + h(i, j - 1)) * v(i, j)
      end do
    end do
    !$omp end do
  end subroutine

  !> h1, u1, v1 = the state + dt * the tendencies computed from the fluxes.
  subroutine advance(m, dt)
    type(model), intent(inout) :: m
    real(real64), intent(in) :: dt
    call add_tendencies(m%ni, m%nj, dt, m%h, m%u, m%v, m%fx, m%fy, m%q, m%b, m%h1, m%u1, m%v1)
    !$omp master
    call exchange_halos(m, m%h1, m%u1, m%v1)
    !$omp end master
    !$omp barrier
  end subroutine

  subroutine add_tendencies(ni, nj, dt, h, u, v, fx, fy, q, b, h1, u1, v1)
    integer, intent(in) :: ni, nj
    real(real64), intent(in) :: dt
    real(real64), intent(in), dimension(0:ni + 1, 0:nj + 1) :: h, u, v, fx, fy, q, b
    real(real64), intent(inout), dimension(0:ni + 1, 0:nj + 1) :: h1, u1, v1
    integer :: i, j
    !$omp do
    do j = 1, nj
      do i = 1, ni
        u1(i, j) = u(i, j) + dt * (0.125_real64 * (q(i, j) + q(i, j + 1)) * &
            (fy(i, j) + fy(i - 1, j) + (fy(i, j + 1) + fy(i - 1, j + 1))) - (b(i, j) - b(i - 1, j)) * per_cell)
        v1(i, j) = v(i, j) - dt * (0.125_real64 * (q(i, j) + q(i + 1, j)) * &
            (fx(i, j) + fx(i, j - 1) + (fx(i + 1, j) + fx(i + 1, j - 1))) + (b(i, j) - b(i, j - 1)) * per_cell)
        h1(i, j) = h(i, j) - dt * ((fx(i + 1, j) - fx(i, j) + (fy(i, j + 1) - fy(i, j))) * per_cell)
      end do
    end do
    !$omp end do
  end subroutine

  !> Fills the halos of three fields: west and east, then south and north with the corners.
  subroutine exchange_halos(m, h, u, v)
    type(model), intent(inout) :: m
    real(real64), intent(inout) :: h(0:, 0:), u(0:, 0:), v(0:, 0:)
    integer :: n
    n = m%nj + 2
    call shift(m, m%west, m%east, n, h(1, :), u(1, :), v(1, :), h(m%ni + 1, :), u(m%ni + 1, :), v(m%ni + 1, :))
    call shift(m, m%east, m%west, n, h(m%ni, :), u(m%ni, :), v(m%ni, :), h(0, :), u(0, :), v(0, :))
    n = m%ni + 2
    call shift(m, m%south, m%north, n, h(:, 1), u(:, 1), v(:, 1), h(:, m%nj + 1), u(:, m%nj + 1), v(:, m%nj + 1))
    call shift(m, m%north, m%south, n, h(:, m%nj), u(:, m%nj), v(:, m%nj), h(:, 0), u(:, 0), v(:, 0))
  end subroutine

  !> Sends three lines to one neighbour and receives the same three from the other.
  subroutine shift(m, target_rank, source_rank, n, h_out, u_out, v_out, h_in, u_in, v_in)
    type(model), intent(inout) :: m
    integer, intent(in) :: target_rank, source_rank, n
    real(real64), intent(in) :: h_out(:), u_out(:), v_out(:)
    real(real64), intent(inout) :: h_in(:), u_in(:), v_in(:)
    integer :: error
    m%to(1:n) = h_out
    m%to(n + 1:2 * n) = u_out
    m%to(2 * n + 1:3 * n) = v_out
    call MPI_Sendrecv(m%to, 3 * n, MPI_DOUBLE_PRECISION, target_rank, 0, m%from, 3 * n, MPI_DOUBLE_PRECISION, &
        source_rank, 0, m%comm, MPI_STATUS_IGNORE, error)
    h_in = m%from(1:n)
    u_in = m%from(n + 1:2 * n)
    v_in = m%from(2 * n + 1:3 * n)
  end subroutine

  !> Relative vorticity (s-1) on the south-west corners of this rank's cells, from row `first` on.
  subroutine relative_vorticity(m, first, vorticity)
    type(model), intent(in) :: m
    integer, intent(in) :: first
    real(real64), intent(out) :: vorticity(:, first:)
    integer :: i, j
    do j = first, ubound(vorticity, 2)
      do i = 1, m%ni
        vorticity(i, j) = (m%v(i, j) - m%v(i - 1, j) - (m%u(i, j) - m%u(i, j - 1))) * per_cell
      end do
    end do
  end subroutine

  !> Speed (m s-1) in the centres of this rank's cells, from row `first` on.
  subroutine surface_speed(m, first, speed)
    type(model), intent(in) :: m
    integer, intent(in) :: first
    real(real64), intent(out) :: speed(:, first:)
    integer :: i, j
    do j = first, ubound(speed, 2)
      do i = 1, m%ni
        speed(i, j) = sqrt(0.5_real64 * (m%u(i, j) * m%u(i, j) + m%u(i + 1, j) * m%u(i + 1, j) + &
            (m%v(i, j) * m%v(i, j) + m%v(i, j + 1) * m%v(i, j + 1))))
      end do
    end do
  end subroutine

  !> Collective. The conserved quantities, as means over the domain: mass (m), energy (kinetic and
  !> available potential, m3 s-2), potential enstrophy (m-1 s-2).
  function conserved(m) result(means)
    type(model), intent(in) :: m
    real(real64) :: means(3), sums(3), corner, q
    integer :: i, j, error
    sums = 0.0_real64
    do j = 1, m%nj
      do i = 1, m%ni
        corner = 0.25_real64 * (m%h(i, j) + m%h(i - 1, j) + (m%h(i, j - 1) + m%h(i - 1, j - 1)))
        q = (coriolis + (m%v(i, j) - m%v(i - 1, j) - (m%u(i, j) - m%u(i, j - 1))) * per_cell) / corner
        sums(1) = sums(1) + (m%h(i, j) - rest_depth)
        sums(2) = sums(2) + 0.25_real64 * ((m%h(i, j) + m%h(i - 1, j)) * m%u(i, j) * m%u(i, j) + &
            (m%h(i, j) + m%h(i, j - 1)) * m%v(i, j) * m%v(i, j)) + &
            0.5_real64 * gravity * (m%h(i, j) - rest_depth) * (m%h(i, j) - rest_depth)
        sums(3) = sums(3) + 0.5_real64 * q * q * corner
      end do
    end do
    call MPI_Allreduce(sums, means, 3, MPI_DOUBLE_PRECISION, MPI_SUM, m%comm, error)
    means = means / (real(m%nx, real64) * m%ny)
    means(1) = means(1) + rest_depth
  end function
end module
