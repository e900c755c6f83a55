! SPDX-License-Identifier: Apache-2.0
!> @file
!> Afterbay for Fortran. The same terms as in C++, with these differences:
!> - Dimensions, indices and shapes are in Fortran's order (fastest first, as in netCDF-Fortran);
!>   starts, records and part numbers count from 1.
!> - Every procedure that can fail has an optional last argument ierr, which is set to AFTERBAY_OK
!>   or an error code; afterbay_last_error() returns the details. Without ierr an error stops the
!>   program with its message.
!> - Trailing blanks of names and texts are ignored.
!> Needs a compiler with Fortran 2018's assumed rank and C descriptors (TS 29113): all current ones.
!>
!> Rules for every procedure:
!> - Errors: a call that is refused because of its arguments or its order leaves the session usable.
!>   Procedures that define, put, read or wait return AFTERBAY_BAD_STATE after session%finalize, on
!>   a server, and if the object was not opened or is closed. An error that a server or another rank
!>   reports ends the session: every later call returns that error. Files are written in the
!>   background, so an error in a file may be returned by any later call. Descriptions name the
!>   other errors.
!> - Order: every model rank makes the same calls in the same order (definitions, open, put,
!>   end_step, close).
!> - Waits: a procedure waits only if its description says so, and returns AFTERBAY_TIMED_OUT if
!>   what it waits for makes no progress within the setting `deadline`. "Collective" means that it
!>   waits for the other ranks. With inline servers in synchronous mode start, open, end_step,
!>   records, open_input, get and get_strings also wait for all model ranks.
!> - Threads: a session and the objects obtained from it must be used by one thread at a time, which
!>   must be allowed to call MPI: with MPI_THREAD_SINGLE and MPI_THREAD_FUNNELED the thread that
!>   initialised MPI, with MPI_THREAD_SERIALIZED and MPI_THREAD_MULTIPLE any thread, one at a time.
!>   Two calls at once are refused (AFTERBAY_BAD_STATE). So are other threads in calls that may use
!>   MPI. These are open, serve, finalize and the opening of an afterbay_output, and on ranks that
!>   reach a server over MPI, or with synchronous inline servers, all others. With SERIALIZED, no
!>   other thread may call MPI while a thread is in a call of the session, or while the thread that
!>   made the session's last call is in a call of an endpoint or a pool. The last error is kept per
!>   thread. Other threads put through an afterbay_endpoint of their own.
!>
!> @code
!> type(afterbay_session) :: session
!> call session%open(MPI_COMM_WORLD, options)
!> if (session%is_server()) then
!>   call session%serve()                       ! returns when the model has finished
!> else
!>   call session%decomposition('grid', global=[nx, ny], start=[i0, j0], count=[ni, nj])
!>   call session%map('cells', global=[ncells], indices=ids)  ! unstructured: a list of points
!>   call schema%dimension('x', nx)
!>   call schema%dimension('y', ny)
!>   call schema%dimension('time', AFTERBAY_UNLIMITED)
!>   call schema%variable('h', AFTERBAY_FLOAT32, 'x y time', decomposition='grid')
!>   call schema%attribute('units', 'm', variable='h')
!>   call session%collection('fields', schema, fields, file='fields_{step:06}.nc')
!>   call fields%open(file, step=step)
!>   call file%put('h', h(1:ni, 1:nj), record=n)  ! a section of an array with halos: no copy
!>   call session%end_step()
!>   call file%close()
!>   call session%open_input('restart.nc', restart)  ! any netCDF file
!>   call restart%get('h', h(1:ni, 1:nj), record=1, decomposition='grid')
!>   call restart%close()
!>   call session%finalize()
!> end if
!> @endcode
module afterbay
  use afterbay_base, only: &
      afterbay_error, afterbay_last_error, afterbay_error_name, afterbay_stop, afterbay_version, AFTERBAY_UNLIMITED, &
      AFTERBAY_OK, AFTERBAY_INVALID_ARGUMENT, AFTERBAY_UNKNOWN_NAME, AFTERBAY_WRONG_TYPE, AFTERBAY_CONFLICT, &
      AFTERBAY_BAD_STATE, AFTERBAY_WOULD_BLOCK, AFTERBAY_TIMED_OUT, AFTERBAY_PEER_LOST, AFTERBAY_EXISTS, &
      AFTERBAY_NO_SPACE, AFTERBAY_IO, AFTERBAY_FORMAT, AFTERBAY_RESOURCES, AFTERBAY_MPI, AFTERBAY_INTERNAL, &
      AFTERBAY_STOPPED, &
      AFTERBAY_INT8, AFTERBAY_TEXT, AFTERBAY_INT16, AFTERBAY_INT32, AFTERBAY_FLOAT32, AFTERBAY_FLOAT64, &
      AFTERBAY_UINT8, AFTERBAY_UINT16, AFTERBAY_UINT32, AFTERBAY_INT64, AFTERBAY_UINT64, AFTERBAY_STRING, &
      AFTERBAY_ROLE_AUTOMATIC, AFTERBAY_ROLE_MODEL, AFTERBAY_ROLE_SERVER, AFTERBAY_REPEATS_REFUSED, &
      AFTERBAY_REPEATS_FIRST, AFTERBAY_REPEATS_LAST, AFTERBAY_AS_OF_CLOSED, AFTERBAY_AS_OF_PUBLISHED, &
      AFTERBAY_AS_OF_EPOCH
  use afterbay_c, only: afterbay_ticket
  use afterbay_schemas, only: afterbay_schema, afterbay_changes
  use afterbay_endpoint_pools, only: afterbay_endpoint_pool
  use afterbay_endpoints, only: afterbay_endpoint
  use afterbay_files, only: afterbay_collection, afterbay_file, afterbay_slot
  use afterbay_inputs, only: afterbay_input
  use afterbay_dates, only: afterbay_date, afterbay_duration, afterbay_period, afterbay_interval
  use afterbay_calendars, only: afterbay_calendar, AFTERBAY_ALIGN_CALENDAR, AFTERBAY_ALIGN_SEASONS, &
      AFTERBAY_ALIGN_START, AFTERBAY_MULTIPLE_NO, AFTERBAY_MULTIPLE_YES, AFTERBAY_MULTIPLE_DEPENDS
  use afterbay_output_forms, only: afterbay_attributes
  use afterbay_outputs, only: afterbay_output
  use afterbay_sessions, only: afterbay_options, afterbay_session, afterbay_serve_all
  implicit none
  public
end module
