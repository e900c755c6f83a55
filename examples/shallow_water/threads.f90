! SPDX-License-Identifier: Apache-2.0
! The shallow-water model with threads of OpenMP: the steps are inside one parallel region, and so
! is the output. Each thread computes and writes a band of the rank's rows:
!   OMP_NUM_THREADS=4 mpirun -np 3 shallow_water_threads --afterbay.servers=1
program shallow_water_threads
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi
  use omp_lib, only: omp_get_num_threads, omp_get_thread_num
  use afterbay
  use shallow_water_band, only: band
  use shallow_water_model
  use shallow_water_output_afterbay, only: server_output
  use shallow_water_settings, only: settings, read_settings
  implicit none
  type(settings) :: s
  type(server_output) :: out
  type(afterbay_options) :: options
  integer :: error, provided

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
  s = read_settings()
  if (s%valid .and. s%output /= 'afterbay') write (error_unit, '(a)') 'shallow_water_threads writes through Afterbay only'
  if (.not. s%valid .or. s%output /= 'afterbay') call MPI_Abort(MPI_COMM_WORLD, 2, error)
  if (.not. s%help) then
    call options%set_arguments()
    call out%session%open(MPI_COMM_WORLD, options)
    call options%free()
    if (out%session%is_server()) then
      call out%session%serve()
    else
      call run()
    end if
  end if
  call MPI_Finalize(error)

contains

  subroutine run()
    type(model) :: m
    call create_model(m, out%session%model_comm(), s%nx, s%ny)
    out%directory = s%directory
    call out%start(m)
    !$omp parallel default(shared)
    call run_thread(m)
    !$omp end parallel
    call out%close()
    call out%finish()
  end subroutine

  !> What each thread does. The thread that initialised MPI also uses the session.
  subroutine run_thread(m)
    type(model), intent(inout) :: m
    type(band) :: mine
    integer :: n
    call mine%open(out, m, omp_get_thread_num(), omp_get_num_threads())
    !$omp barrier
    ! All endpoints are open before the first step ends.
    do n = 0, s%steps
      if (n > 0) call step_model(m)
      !$omp master
      call write_times(m)
      !$omp end master
      if (mod(m%step, s%fields_every) == 0) call mine%write_fields(m)
      if (mod(m%step, s%surface_every) == 0) call mine%write_surface(m)
      call mine%end_step()
      !$omp master
      call out%end_step()
      !$omp end master
    end do
    call mine%close()
  end subroutine

  !> Variables without a decomposition are put by the session.
  subroutine write_times(m)
    type(model), intent(in) :: m
    if (mod(m%step, s%fields_every) == 0) call put_time(out%fields_file, m, m%step / s%fields_every + 1)
    if (mod(m%step, s%surface_every) == 0) call put_time(out%surface_file, m, m%step / s%surface_every + 1)
  end subroutine

  subroutine put_time(file, m, record)
    type(afterbay_file), intent(in) :: file
    type(model), intent(in) :: m
    integer, intent(in) :: record
    call file%put('time', m%step * time_step, record)
    call file%put('step', m%step, record)
  end subroutine
end program
