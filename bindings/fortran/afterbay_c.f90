! SPDX-License-Identifier: Apache-2.0
! Fortran interfaces of the C functions, without those in afterbay_c_schemas, afterbay_c_calendars,
! afterbay_c_outputs and afterbay_endpoint_pools. Not for users: use the module `afterbay`.
module afterbay_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int64_t, c_ptr, c_size_t, c_null_ptr
  implicit none
  public

  type, bind(C) :: c_error_info
    integer(c_int) :: code = 0, rank = -1, native = 0
    type(c_ptr) :: message = c_null_ptr, file = c_null_ptr, variable = c_null_ptr, text = c_null_ptr
  end type

  type, bind(C) :: c_collection_options
    type(c_ptr) :: file = c_null_ptr, directory = c_null_ptr, store = c_null_ptr, existing = c_null_ptr
  end type

  type, bind(C) :: c_file_name
    type(c_ptr) :: name = c_null_ptr, date = c_null_ptr
    integer(c_int) :: has_step = 0, has_member = 0
    integer(c_int64_t) :: step = 0, member = 0
  end type

  type, bind(C) :: c_map
    integer(c_int) :: rank = 0
    type(c_ptr) :: global = c_null_ptr, indices = c_null_ptr
    integer(c_size_t) :: index_count = 0
    type(c_ptr) :: run_offsets = c_null_ptr, run_lengths = c_null_ptr
    integer(c_size_t) :: run_count = 0
    integer(c_int64_t) :: base = 0, hole = -1
    integer(c_int) :: order = 0, gaps = 0, repeats = 0
  end type

  !> The arguments of a put: struct put_call in descriptors.c. Lists have their length before them,
  !> -1: absent.
  integer, parameter :: most_dimensions = 16
  type, bind(C) :: c_put
    type(c_ptr) :: output = c_null_ptr    !< null: into a file
    type(c_ptr) :: endpoint = c_null_ptr  !< null: the file's own put
    type(c_ptr) :: file = c_null_ptr
    integer(c_int64_t) :: record = -1     !< from 0
    integer(c_int) :: may_wait = 1, offset_rank = -1, start_rank = -1, count_rank = -1
    integer(c_int64_t) :: offset(most_dimensions), start(most_dimensions), count(most_dimensions)
  end type

  type, bind(C) :: c_selection
    integer(c_int64_t) :: record = 0, records = 0
    type(c_ptr) :: decomposition = c_null_ptr
    integer(c_int) :: rank = 0
    type(c_ptr) :: start = c_null_ptr, count = c_null_ptr, global = c_null_ptr
  end type

  !> A point in the order of the data that this rank has put; see session%wait.
  type, bind(C) :: afterbay_ticket
    integer(c_int64_t) :: number = 0  !< tickets of this rank are numbered in order; 0: none
  end type

  ! Handles are numbers: see bindings/c/fortran_handles.cpp. Objects are never null.
  interface
    integer(c_int64_t) function afterbay_fortran_keep_session(object) bind(C)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: object
    end function
    type(c_ptr) function afterbay_fortran_session(number) bind(C)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: number
    end function
    subroutine afterbay_fortran_end_session(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
    subroutine afterbay_fortran_drop_session(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
    integer(c_int64_t) function afterbay_fortran_keep_file(object) bind(C)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: object
    end function
    type(c_ptr) function afterbay_fortran_file(number) bind(C)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: number
    end function
    subroutine afterbay_fortran_end_file(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
    integer(c_int64_t) function afterbay_fortran_keep_slot(object) bind(C)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: object
    end function
    type(c_ptr) function afterbay_fortran_slot(number) bind(C)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: number
    end function
    subroutine afterbay_fortran_end_slot(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
    subroutine afterbay_fortran_drop_slot(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
    integer(c_int64_t) function afterbay_fortran_keep_endpoint(object) bind(C)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: object
    end function
    type(c_ptr) function afterbay_fortran_endpoint(number) bind(C)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: number
    end function
    subroutine afterbay_fortran_end_endpoint(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
    integer(c_int64_t) function afterbay_fortran_keep_input(object) bind(C)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: object
    end function
    type(c_ptr) function afterbay_fortran_input(number) bind(C)
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: number
    end function
    subroutine afterbay_fortran_drop_input(number) bind(C)
      import :: c_int64_t
      integer(c_int64_t), value :: number
    end subroutine
  end interface

  interface
    !> Ends the process with exit status 1 because of the last error, which is printed once per job;
    !> all open sessions fail with it. Does not return. For programs that handle errors by ierr and
    !> want to give up.
    subroutine afterbay_stop() bind(C)
    end subroutine
    subroutine afterbay_last_error_info(info) bind(C)
      import :: c_error_info
      type(c_error_info), intent(out) :: info
    end subroutine
    function c_error_name(code) bind(C, name='afterbay_error_name') result(name)
      import :: c_int, c_ptr
      integer(c_int), value :: code
      type(c_ptr) :: name
    end function
    integer(c_int) function afterbay_error_set(code, message, variable) bind(C)
      import :: c_int, c_char
      integer(c_int), value :: code
      character(kind=c_char), intent(in) :: message(*), variable(*)
    end function
    function c_version() bind(C, name='afterbay_version') result(version)
      import :: c_ptr
      type(c_ptr) :: version
    end function
    integer(c_size_t) function c_strlen(text) bind(C, name='strlen')
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function

    integer(c_int) function afterbay_options_create(options) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: options
    end function
    subroutine afterbay_options_free(options) bind(C)
      import :: c_ptr
      type(c_ptr), value :: options
    end subroutine
    integer(c_int) function afterbay_options_set(options, setting, value) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: setting(*), value(*)
    end function
    integer(c_int) function afterbay_options_set_name(options, name) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function afterbay_options_set_role(options, role) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: options
      integer(c_int), value :: role
    end function
    integer(c_int) function afterbay_options_set_config_file(options, path) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function afterbay_options_set_output_text(options, text) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: text(*)
    end function
    integer(c_int) function afterbay_options_set_arguments(options, argc, argv) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: options
      integer(c_int), value :: argc
      type(c_ptr), intent(in) :: argv(*)
    end function

    integer(c_int) function afterbay_session_open_fint(comm, options, session) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: comm  ! MPI_Fint is Fortran's default integer, C's int
      type(c_ptr), value :: options
      type(c_ptr), intent(out) :: session
    end function
    integer(c_int) function afterbay_session_model_comm_fint(session, comm) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), intent(out) :: comm
    end function
    subroutine afterbay_session_free(session) bind(C)
      import :: c_ptr
      type(c_ptr), value :: session
    end subroutine
    integer(c_int) function afterbay_session_is_server(session, server) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), intent(out) :: server
    end function
    integer(c_int) function afterbay_session_model_rank(session, rank) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), intent(out) :: rank
    end function
    integer(c_int) function afterbay_session_model_size(session, size) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
      integer(c_int), intent(out) :: size
    end function
    integer(c_int) function afterbay_sessions_serve(sessions, count) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), intent(in) :: sessions(*)
      integer(c_size_t), value :: count
    end function
    integer(c_int) function afterbay_session_serve(session) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function afterbay_session_start(session) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function afterbay_session_progress(session) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function afterbay_session_end_step(session) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function afterbay_session_flush(session, ticket) bind(C)
      import :: c_int, c_ptr, afterbay_ticket
      type(c_ptr), value :: session
      type(afterbay_ticket), intent(out) :: ticket
    end function
    integer(c_int) function afterbay_session_epoch(session, name, ticket) bind(C)
      import :: c_int, c_ptr, c_char, afterbay_ticket
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      type(afterbay_ticket), intent(out) :: ticket
    end function
    integer(c_int) function afterbay_session_on_complete(session, ticket, callback, context) bind(C)
      import :: c_int, c_ptr, c_funptr, afterbay_ticket
      type(c_ptr), value :: session
      type(afterbay_ticket), value :: ticket
      type(c_funptr), value :: callback
      type(c_ptr), value :: context
    end function
    integer(c_int) function afterbay_session_wait(session, ticket) bind(C)
      import :: c_int, c_ptr, afterbay_ticket
      type(c_ptr), value :: session
      type(afterbay_ticket), value :: ticket
    end function
    integer(c_int) function afterbay_session_is_complete(session, ticket, complete) bind(C)
      import :: c_int, c_ptr, afterbay_ticket
      type(c_ptr), value :: session
      type(afterbay_ticket), value :: ticket
      integer(c_int), intent(out) :: complete
    end function
    integer(c_int) function afterbay_session_finalize(session) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: session
    end function
    integer(c_int) function afterbay_decomposition_define(session, name, rank, global, start, count, gaps) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: rank, gaps
      integer(c_int64_t), intent(in) :: global(*), start(*), count(*)
    end function
    integer(c_int) function afterbay_decomposition_define_map(session, name, map) bind(C)
      import :: c_int, c_ptr, c_char, c_map
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      type(c_map), intent(in) :: map
    end function

    integer(c_int) function afterbay_collection_define(session, name, schema, where, collection) bind(C)
      import :: c_int, c_ptr, c_char, c_collection_options
      type(c_ptr), value :: session, schema
      character(kind=c_char), intent(in) :: name(*)
      type(c_collection_options), intent(in) :: where
      type(c_ptr), intent(out) :: collection
    end function
    subroutine afterbay_collection_free(collection) bind(C)
      import :: c_ptr
      type(c_ptr), value :: collection
    end subroutine
    integer(c_int) function afterbay_collection_name(collection, name) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: collection
      type(c_ptr), intent(out) :: name
    end function
    integer(c_int) function afterbay_collection_open(collection, name, changes, file) bind(C)
      import :: c_int, c_ptr, c_file_name
      type(c_ptr), value :: collection, changes
      type(c_file_name), intent(in) :: name
      type(c_ptr), intent(out) :: file
    end function

    integer(c_int) function afterbay_file_put_strings(file, variable, record, count, values) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t, c_size_t
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: record
      integer(c_size_t), value :: count
      type(c_ptr), intent(in) :: values(*)
    end function
    integer(c_int) function afterbay_file_acquire(file, variable, record, type, slot) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: record
      integer(c_int), value :: type
      type(c_ptr), intent(out) :: slot
    end function
    integer(c_int) function afterbay_file_records(file, records) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: file
      integer(c_int64_t), intent(out) :: records
    end function
    integer(c_int) function afterbay_file_close(file, ticket) bind(C)
      import :: c_int, c_ptr, afterbay_ticket
      type(c_ptr), value :: file
      type(afterbay_ticket), intent(out) :: ticket
    end function
    integer(c_int) function afterbay_file_path(file, path) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: file
      type(c_ptr), intent(out) :: path
    end function
    subroutine afterbay_file_free(file) bind(C)
      import :: c_ptr
      type(c_ptr), value :: file
    end subroutine

    integer(c_int) function afterbay_slot_part_count(slot, count) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: slot
      integer(c_size_t), intent(out) :: count
    end function
    integer(c_int) function afterbay_slot_is_direct(slot, direct) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: slot
      integer(c_int), intent(out) :: direct
    end function
    integer(c_int) function afterbay_slot_commit(slot) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: slot
    end function
    subroutine afterbay_slot_free(slot) bind(C)
      import :: c_ptr
      type(c_ptr), value :: slot
    end subroutine

    integer(c_int) function afterbay_endpoint_open(session, name, endpoint) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: endpoint
    end function
    integer(c_int) function afterbay_endpoint_part(endpoint, decomposition, rank, global, start, count) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: endpoint
      character(kind=c_char), intent(in) :: decomposition(*)
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: global(*), start(*), count(*)
    end function
    integer(c_int) function afterbay_endpoint_part_map(endpoint, decomposition, map) bind(C)
      import :: c_int, c_ptr, c_char, c_map
      type(c_ptr), value :: endpoint
      character(kind=c_char), intent(in) :: decomposition(*)
      type(c_map), intent(in) :: map
    end function
    integer(c_int) function afterbay_endpoint_whole(endpoint, decomposition) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: endpoint
      character(kind=c_char), intent(in) :: decomposition(*)
    end function
    integer(c_int) function afterbay_endpoint_acquire(endpoint, file, variable, record, type, slot) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t
      type(c_ptr), value :: endpoint, file
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: record
      integer(c_int), value :: type
      type(c_ptr), intent(out) :: slot
    end function
    integer(c_int) function afterbay_endpoint_end_step(endpoint) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: endpoint
    end function
    integer(c_int) function afterbay_endpoint_close(endpoint) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: endpoint
    end function
    integer(c_int) function afterbay_endpoint_number(endpoint, number) bind(C)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: endpoint
      integer(c_size_t), intent(out) :: number
    end function

    integer(c_int) function afterbay_session_open_input(session, path, as_of, input) bind(C)
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: as_of
      type(c_ptr), intent(out) :: input
    end function
    integer(c_int) function afterbay_input_get_strings(input, variable, record, count, values) bind(C)
      import :: c_int, c_ptr, c_char, c_int64_t, c_size_t
      type(c_ptr), value :: input
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: record
      integer(c_size_t), intent(out) :: count
      type(c_ptr), intent(out) :: values
    end function
    integer(c_int) function afterbay_input_prefetch(input, variable, what) bind(C)
      import :: c_int, c_ptr, c_char, c_selection
      type(c_ptr), value :: input
      character(kind=c_char), intent(in) :: variable(*)
      type(c_selection), intent(in) :: what
    end function
    integer(c_int) function afterbay_input_schema(input, schema) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: input
      type(c_ptr), intent(out) :: schema
    end function
    integer(c_int) function afterbay_input_records(input, records) bind(C)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: input
      integer(c_int64_t), intent(out) :: records
    end function
    integer(c_int) function afterbay_input_path(input, path) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: input
      type(c_ptr), intent(out) :: path
    end function
    integer(c_int) function afterbay_input_close(input) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: input
    end function
    subroutine afterbay_input_free(input) bind(C)
      import :: c_ptr
      type(c_ptr), value :: input
    end subroutine

    ! Procedures for arrays of any type and rank: descriptors.c.
    integer(c_int) function get_described(endpoint, input, variable, what, offset_rank, offset, data) &
        bind(C, name='afterbay_fortran_get')
      import :: c_int, c_ptr, c_char, c_int64_t, c_selection
      type(c_ptr), value :: endpoint, input
      character(kind=c_char), intent(in) :: variable(*)
      type(c_selection), intent(in) :: what
      integer(c_int), value :: offset_rank
      integer(c_int64_t), intent(in) :: offset(*)
      type(*), intent(inout) :: data(..)
    end function
    integer(c_int) function numbers_described(input, variable, name, values) &
        bind(C, name='afterbay_fortran_get_numbers')
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: input
      character(kind=c_char), intent(in) :: variable(*), name(*)
      type(*), intent(inout) :: values(..)
    end function
    integer(c_int) function put_described(variable, how, data) bind(C, name='afterbay_fortran_put')
      import :: c_int, c_char, c_put
      character(kind=c_char), intent(in) :: variable(*)
      type(c_put), intent(in) :: how
      type(*), intent(in) :: data(..)
    end function
    integer(c_int) function set_described(handle, what, variable, name, as_type, values) &
        bind(C, name='afterbay_fortran_set')
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: handle
      integer(c_int), value :: what, as_type
      character(kind=c_char), intent(in) :: variable(*), name(*)
      type(*), intent(in) :: values(..)
    end function
  end interface
end module
