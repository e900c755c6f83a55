! SPDX-License-Identifier: Apache-2.0
! Runs the model with its output, measures the cost of the output and checks the conserved
! quantities.
module shallow_water_run
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit, real64
  use mpi
  use afterbay, only: afterbay_session
  use shallow_water_model
  use shallow_water_output, only: output
  use shallow_water_output_afterbay, only: server_output
  use shallow_water_output_described, only: described_output
  use shallow_water_output_serial, only: serial_output
  use shallow_water_settings, only: settings
  implicit none
  private
  public :: run

contains

  !> `out` is not allocated if there is no output.
  subroutine make_output(s, session, out)
    type(settings), intent(in) :: s
    type(afterbay_session), intent(in) :: session
    class(output), allocatable, intent(out) :: out
    type(server_output), allocatable :: with_afterbay
    type(described_output), allocatable :: described
    type(serial_output), allocatable :: serial
    select case (s%output)
    case ('afterbay')
      allocate (with_afterbay)
      with_afterbay%session = session
      with_afterbay%directory = s%directory
      with_afterbay%fields_every = s%fields_every
      with_afterbay%surface_every = s%surface_every
      call move_alloc(with_afterbay, out)
    case ('described')
      allocate (described)
      described%session = session
      call move_alloc(described, out)
    case ('synchronous')
      allocate (serial)
      serial%directory = s%directory
      serial%fields_every = s%fields_every
      serial%surface_every = s%surface_every
      call move_alloc(serial, out)
    end select
  end subroutine

  !> Collective over `comm`. `session` is open if the output goes through Afterbay, and is then
  !> finalized here. status 1: a conserved quantity drifted.
  subroutine run(s, comm, session, status)
    type(settings), intent(in) :: s
    integer, intent(in) :: comm
    type(afterbay_session), intent(in) :: session
    integer, intent(out) :: status
    type(model) :: m
    class(output), allocatable :: out
    real(real64) :: before(3), after(3), began, blocked, ended
    integer :: n, error
    call create_model(m, comm, s%nx, s%ny)
    call make_output(s, session, out)
    before = conserved(m)
    began = MPI_Wtime()
    if (allocated(out)) call out%start(m)
    began = MPI_Wtime() - began
    call MPI_Barrier(m%comm, error)
    ended = MPI_Wtime()
    blocked = 0.0_real64
    do n = 0, s%steps
      if (n > 0) call step_model(m)
      if (allocated(out)) call write_step(m, out, blocked)
    end do
    after = conserved(m)
    ended = MPI_Wtime() - ended
    call finish(s, m, out, blocked, began, ended)
    call judge(m, before, after, status)
  end subroutine

  !> Writes what belongs to this step and adds the time during which the model could not compute.
  subroutine write_step(m, out, blocked)
    type(model), intent(in) :: m
    class(output), intent(inout) :: out
    real(real64), intent(inout) :: blocked
    real(real64) :: began
    began = MPI_Wtime()
    call out%write_step(m)
    blocked = blocked + (MPI_Wtime() - began)
  end subroutine

  !> Closes the files and reports how long the model was blocked, for the slowest rank.
  subroutine finish(s, m, out, blocked, began, ended)
    type(settings), intent(in) :: s
    type(model), intent(in) :: m
    class(output), intent(inout), allocatable :: out
    real(real64), intent(in) :: blocked, began, ended
    real(real64) :: times(4), slowest(4), closing, waiting
    integer :: error
    closing = MPI_Wtime()
    if (allocated(out)) call out%close()
    closing = MPI_Wtime() - closing
    waiting = MPI_Wtime()
    if (allocated(out)) call out%finish()
    waiting = MPI_Wtime() - waiting
    times = [blocked + closing, began, waiting, ended + closing]
    call MPI_Reduce(times, slowest, 4, MPI_DOUBLE_PRECISION, MPI_MAX, 0, m%comm, error)
    if (rank_of(m) /= 0) return
    write (output_unit, '(a,i0,a,i0,a,i0,a)') 'shallow_water: ', m%nx, ' x ', m%ny, ' cells, ', s%steps, ' steps'
    write (output_unit, '(3a,f10.3,a)') 'output ', s%output, ': the model was blocked for ', slowest(1), ' s'
    write (output_unit, '(a,f10.3,a)') 'time of the steps:', slowest(4), ' s'
    write (output_unit, '(a,f10.3,a)') 'set-up of the output:', slowest(2), ' s'
    write (output_unit, '(a,f10.3,a)') 'wait for complete files at the end:', slowest(3), ' s'
  end subroutine

  integer function rank_of(m)
    type(model), intent(in) :: m
    integer :: error
    call MPI_Comm_rank(m%comm, rank_of, error)
  end function

  !> Prints how well mass, energy and potential enstrophy were conserved; status 1: not well enough.
  subroutine judge(m, before, after, status)
    type(model), intent(in) :: m
    real(real64), intent(in) :: before(3), after(3)
    integer, intent(out) :: status
    real(real64), parameter :: most(3) = [1.0e-12_real64, 1.0e-2_real64, 1.0e-3_real64]
    character(*), parameter :: names(3) = [character(9) :: 'mass', 'energy', 'enstrophy']
    real(real64) :: drift(3)
    integer :: i
    drift = (after - before) / before
    status = merge(0, 1, all(abs(drift) <= most))
    if (rank_of(m) /= 0) return
    do i = 1, 3
      write (output_unit, '(3a,es10.2,a,es8.1)') 'drift of ', names(i), ':', drift(i), '   at most', most(i)
    end do
    if (status /= 0) write (error_unit, '(a)') 'shallow_water: a conserved quantity has drifted too far'
  end subroutine
end module
