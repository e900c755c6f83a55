! SPDX-License-Identifier: Apache-2.0
! Options and session. AFTERBAY_HAVE_MPI_F08: the MPI library has the module mpi_f08.
module afterbay_sessions
  use, intrinsic :: iso_c_binding, only: c_associated, c_funloc, c_int, c_int32_t, c_int64_t, c_null_char, &
      c_null_ptr, c_ptr, c_size_t
  use afterbay_base
  use afterbay_c
  use afterbay_endpoints, only: afterbay_endpoint
  use afterbay_files, only: afterbay_collection
  use afterbay_inputs, only: afterbay_input
  use afterbay_parts, only: block_form, map_form
  use afterbay_schemas, only: afterbay_schema
#ifdef AFTERBAY_HAVE_MPI_F08
  use mpi_f08, only: MPI_Comm
#endif
  implicit none
  private
  public :: afterbay_options, afterbay_session, afterbay_serve_all, session_object

  !> How a session is opened; `free` releases it.
  type :: afterbay_options
    type(c_ptr), private :: handle = c_null_ptr
  contains
    procedure :: set
    procedure :: set_name
    procedure :: set_role
    procedure :: set_config_file
    procedure, private :: set_one_output_text, set_output_lines
    !> set_output_text(text [, ierr]): gives an output description in YAML, as one text or as an
    !> array of lines, which is joined with the files of the setting 'output' as if one of them
    !> included it. All ranks and servers of the session must give the same. Checked by
    !> session%open.
    generic :: set_output_text => set_one_output_text, set_output_lines
    procedure, private :: set_own_arguments, set_given_arguments
    !> set_arguments([arguments, ierr]): passes the program's command line, or the given words; only
    !> those that begin with --afterbay. are used.
    generic :: set_arguments => set_own_arguments, set_given_arguments
    procedure :: free => free_options
  end type

  !> The use of Afterbay by one run, from open to finalize. Copies are the same session: when one is
  !> finalized, all are.
  type :: afterbay_session
    integer(c_int64_t), private :: id = 0
  contains
    procedure, private :: open_integer
#ifdef AFTERBAY_HAVE_MPI_F08
    procedure, private :: open_f08
    !> open(comm [, options, ierr]): collective over comm, an integer or a type(MPI_Comm), which is
    !> duplicated; all its ranks call it, model ranks and I/O servers. Fails on every rank, with the
    !> same error, if settings are invalid, differ between ranks, or cannot work on this machine:
    !> AFTERBAY_INVALID_ARGUMENT, _UNKNOWN_NAME, _WRONG_TYPE, _CONFLICT, _NO_SPACE, _RESOURCES, _IO,
    !> _MPI; AFTERBAY_TIMED_OUT with the ranks that have not called it. AFTERBAY_BAD_STATE if MPI is
    !> not initialised or the thread must not call MPI.
    generic :: open => open_integer, open_f08
#else
    generic :: open => open_integer
#endif
    procedure :: is_server
    procedure :: serve
    procedure :: model_comm
    procedure :: model_rank
    procedure :: model_size
    procedure, private :: decomposition_int32, decomposition_int64
    !> decomposition(name, global, start, count [, gaps_allowed, ierr]): registers this rank's part
    !> of a global index space: a length per dimension, fastest first, start counted from 1. A count
    !> of 0: this rank holds nothing. Points that no rank holds are an error unless gaps_allowed;
    !> start reports them, and overlaps between ranks. Does not wait. AFTERBAY_CONFLICT if the name
    !> is taken, AFTERBAY_INVALID_ARGUMENT for an empty name or an invalid box.
    generic :: decomposition => decomposition_int32, decomposition_int64
    procedure, private :: map_int32, map_int64, map_runs_int32, map_runs_int64
    !> map(name, global, indices [, base, hole, last_fastest, gaps_allowed, repeats, ierr]):
    !> registers this rank's part as a list of points in the order of its array: element k is the
    !> point indices(k), counted over `global` with the first dimension running fastest
    !> (last_fastest: the last). `base`: index of the first point, 1 (default) or 0. `hole`: marks
    !> elements that belong to no point; default: base - 1. Points that no rank holds get the fill
    !> value unless gaps_allowed=.false.; `repeats`: AFTERBAY_REPEATS_... Does not wait.
    !> AFTERBAY_CONFLICT if the name is taken, or this rank lists a point twice and repeats are
    !> refused; AFTERBAY_INVALID_ARGUMENT for an empty name or an invalid list. start reports points
    !> that several ranks hold, and gaps.
    generic :: map => map_int32, map_int64
    !> map_runs(name, global, offsets, lengths [, ...]): the same with runs of consecutive points.
    generic :: map_runs => map_runs_int32, map_runs_int64
    procedure :: collection => define_collection
    procedure :: start
    procedure :: open_input
    procedure :: endpoint => open_endpoint
    procedure :: progress
    procedure :: end_step
    procedure :: flush => flush_session
    procedure :: epoch
    procedure :: on_complete
    procedure :: wait
    procedure :: is_complete
    procedure :: finalize
    procedure :: abandon
  end type

contains

  integer(c_int) function create(self)
    class(afterbay_options), intent(inout) :: self
    create = AFTERBAY_OK
    if (.not. c_associated(self%handle)) create = afterbay_options_create(self%handle)
  end function

  !> Releases the options; a session that was opened with them does not need them.
  subroutine free_options(self)
    class(afterbay_options), intent(inout) :: self
    call afterbay_options_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  !> Sets a setting by its dotted name: call options%set('memory.server', '1GiB'). Precedence,
  !> lowest first: defaults, settings from code, the YAML file, the environment, the command line.
  !> Checked by session%open.
  subroutine set(self, setting, value, ierr)
    class(afterbay_options), intent(inout) :: self
    character(*), intent(in) :: setting, value
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = create(self)
    if (code == AFTERBAY_OK) code = afterbay_options_set(self%handle, c_text(setting), c_text(value))
    call check(code, ierr)
  end subroutine

  !> Sets the session's name in messages and reports.
  subroutine set_name(self, name, ierr)
    class(afterbay_options), intent(inout) :: self
    character(*), intent(in) :: name
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = create(self)
    if (code == AFTERBAY_OK) code = afterbay_options_set_name(self%handle, c_text(name))
    call check(code, ierr)
  end subroutine

  !> Sets the role: AFTERBAY_ROLE_AUTOMATIC, _MODEL or _SERVER; AFTERBAY_INVALID_ARGUMENT for other
  !> numbers.
  subroutine set_role(self, role, ierr)
    class(afterbay_options), intent(inout) :: self
    integer, intent(in) :: role
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = create(self)
    if (code == AFTERBAY_OK) code = afterbay_options_set_role(self%handle, int(role, c_int))
    call check(code, ierr)
  end subroutine

  !> Sets the YAML file with settings.
  subroutine set_config_file(self, path, ierr)
    class(afterbay_options), intent(inout) :: self
    character(*), intent(in) :: path
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = create(self)
    if (code == AFTERBAY_OK) code = afterbay_options_set_config_file(self%handle, c_text(path))
    call check(code, ierr)
  end subroutine

  subroutine set_one_output_text(self, text, ierr)
    class(afterbay_options), intent(inout) :: self
    character(*), intent(in) :: text
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = create(self)
    if (code == AFTERBAY_OK) code = afterbay_options_set_output_text(self%handle, c_text(text))
    call check(code, ierr)
  end subroutine

  subroutine set_output_lines(self, text, ierr)
    class(afterbay_options), intent(inout) :: self
    character(*), intent(in) :: text(:)
    integer, intent(out), optional :: ierr
    character(len=(len(text) + 1) * size(text)) :: joined
    integer :: i, length, used
    used = 0
    do i = 1, size(text)
      length = len_trim(text(i))
      joined(used + 1:used + length + 1) = text(i)(:length)//new_line('a')
      used = used + length + 1
    end do
    call self%set_one_output_text(joined(:used), ierr)
  end subroutine

  subroutine set_own_arguments(self, ierr)
    class(afterbay_options), intent(inout) :: self
    integer, intent(out), optional :: ierr
    character(:), allocatable :: arguments(:)
    integer :: i, length, longest
    longest = 1
    do i = 1, command_argument_count()
      call get_command_argument(i, length=length)
      longest = max(longest, length)
    end do
    allocate (character(len=longest) :: arguments(command_argument_count()))
    do i = 1, size(arguments)
      call get_command_argument(i, arguments(i))
    end do
    call self%set_given_arguments(arguments, ierr)
  end subroutine

  subroutine set_given_arguments(self, arguments, ierr)
    class(afterbay_options), intent(inout) :: self
    character(*), intent(in) :: arguments(:)
    integer, intent(out), optional :: ierr
    character(len=max(len(arguments), 8)) :: with_program(size(arguments) + 1)
    type(c_texts), target :: texts
    integer(c_int) :: code
    with_program(1) = 'program'
    with_program(2:) = arguments
    call texts%hold(with_program)
    code = create(self)
    if (code == AFTERBAY_OK) &
        code = afterbay_options_set_arguments(self%handle, int(size(with_program), c_int), texts%pointers)
    call check(code, ierr)
  end subroutine

  subroutine open_integer(self, comm, options, ierr)
    class(afterbay_session), intent(inout) :: self
    integer, intent(in) :: comm
    type(afterbay_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    type(c_ptr) :: options_handle, opened
    integer(c_int) :: code
    options_handle = c_null_ptr
    if (present(options)) options_handle = options%handle
    opened = c_null_ptr
    code = afterbay_session_open_fint(int(comm, c_int), options_handle, opened)
    self%id = afterbay_fortran_keep_session(opened)
    call check(code, ierr)
  end subroutine

#ifdef AFTERBAY_HAVE_MPI_F08
  subroutine open_f08(self, comm, options, ierr)
    class(afterbay_session), intent(inout) :: self
    type(MPI_Comm), intent(in) :: comm
    type(afterbay_options), intent(in), optional :: options
    integer, intent(out), optional :: ierr
    call self%open_integer(comm%mpi_val, options, ierr)
  end subroutine
#endif

  !> True: call serve and nothing else. Does not wait.
  logical function is_server(self, ierr)
    class(afterbay_session), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: server
    server = 0
    call check(afterbay_session_is_server(afterbay_fortran_session(self%id), server), ierr)
    is_server = server /= 0
  end function

  !> Serves until every model rank has finalized, and closes the session. Returns the first error of
  !> the session, if any, or AFTERBAY_STOPPED after a signal. Sleeps while there is nothing to do.
  !> AFTERBAY_BAD_STATE on a model rank, and if the session was served already.
  subroutine serve(self, ierr)
    class(afterbay_session), intent(inout) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = afterbay_session_serve(afterbay_fortran_session(self%id))
    call check(code, ierr)
    call afterbay_fortran_end_session(self%id)
  end subroutine

  !> Serves several sessions of this process side by side until all their model ranks have
  !> finalized, and closes them. For models that use several sessions at the same time. Fails as
  !> serve does.
  subroutine afterbay_serve_all(sessions, ierr)
    type(afterbay_session), intent(inout) :: sessions(:)
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    integer :: i
    code = afterbay_sessions_serve([(afterbay_fortran_session(sessions(i)%id), i=1, size(sessions))], &
        size(sessions, kind=c_size_t))
    call check(code, ierr)
    do i = 1, size(sessions)
      call afterbay_fortran_end_session(sessions(i)%id)
    end do
  end subroutine

  !> The model ranks' own communicator (for mpi_f08: its mpi_val), owned by the session;
  !> MPI_COMM_NULL on servers. Does not wait.
  integer function model_comm(self, ierr)
    class(afterbay_session), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: comm
    comm = 0
    call check(afterbay_session_model_comm_fint(afterbay_fortran_session(self%id), comm), ierr)
    model_comm = comm
  end function

  !> The number of this rank among the model ranks, from 0 as in MPI. Does not wait.
  !> AFTERBAY_BAD_STATE on a server.
  integer function model_rank(self, ierr)
    class(afterbay_session), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: rank
    rank = -1
    call check(afterbay_session_model_rank(afterbay_fortran_session(self%id), rank), ierr)
    model_rank = rank
  end function

  !> The number of model ranks. Does not wait. AFTERBAY_BAD_STATE on a server.
  integer function model_size(self, ierr)
    class(afterbay_session), intent(in) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: size
    size = 0
    call check(afterbay_session_model_size(afterbay_fortran_session(self%id), size), ierr)
    model_size = size
  end function

  subroutine decomposition_int32(self, name, global, start, count, gaps_allowed, ierr)
    class(afterbay_session), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: global(:), start(:), count(:)
    logical, intent(in), optional :: gaps_allowed
    integer, intent(out), optional :: ierr
    call self%decomposition_int64(name, int(global, c_int64_t), int(start, c_int64_t), int(count, c_int64_t), &
        gaps_allowed, ierr)
  end subroutine

  subroutine decomposition_int64(self, name, global, start, count, gaps_allowed, ierr)
    class(afterbay_session), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: global(:), start(:), count(:)
    logical, intent(in), optional :: gaps_allowed
    integer, intent(out), optional :: ierr
    type(block_form) :: block
    integer(c_int) :: gaps
    call block%describe(name, global, start, count)
    gaps = 0
    if (present(gaps_allowed)) gaps = merge(1_c_int, 0_c_int, gaps_allowed)
    if (block%code == AFTERBAY_OK) block%code = afterbay_decomposition_define(afterbay_fortran_session(self%id), &
        c_text(name), int(size(global), c_int), block%global, block%start, block%count, gaps)
    call check(block%code, ierr)
  end subroutine

  subroutine set_coverage(map, gaps_allowed, repeats)
    type(c_map), intent(inout) :: map
    logical, intent(in), optional :: gaps_allowed
    integer, intent(in), optional :: repeats
    map%gaps = 1
    if (present(gaps_allowed)) map%gaps = merge(1_c_int, 0_c_int, gaps_allowed)
    if (present(repeats)) map%repeats = int(repeats, c_int)
  end subroutine

  subroutine map_int32(self, name, global, indices, base, hole, last_fastest, gaps_allowed, repeats, ierr)
    class(afterbay_session), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: global(:), indices(:)
    integer, intent(in), optional :: base, hole, repeats
    logical, intent(in), optional :: last_fastest, gaps_allowed
    integer, intent(out), optional :: ierr
    call self%map_int64(name, int(global, c_int64_t), int(indices, c_int64_t), base, hole, last_fastest, &
        gaps_allowed, repeats, ierr)
  end subroutine

  subroutine map_int64(self, name, global, indices, base, hole, last_fastest, gaps_allowed, repeats, ierr)
    class(afterbay_session), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: global(:), indices(:)
    integer, intent(in), optional :: base, hole, repeats
    logical, intent(in), optional :: last_fastest, gaps_allowed
    integer, intent(out), optional :: ierr
    type(map_form), target :: map
    call map%list_points(global, indices, base, hole, last_fastest)
    call set_coverage(map%c, gaps_allowed, repeats)
    call check(afterbay_decomposition_define_map(afterbay_fortran_session(self%id), c_text(name), map%c), ierr)
  end subroutine

  subroutine map_runs_int32(self, name, global, offsets, lengths, base, hole, last_fastest, gaps_allowed, &
      repeats, ierr)
    class(afterbay_session), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int32_t), intent(in) :: global(:), offsets(:), lengths(:)
    integer, intent(in), optional :: base, hole, repeats
    logical, intent(in), optional :: last_fastest, gaps_allowed
    integer, intent(out), optional :: ierr
    call self%map_runs_int64(name, int(global, c_int64_t), int(offsets, c_int64_t), int(lengths, c_int64_t), &
        base, hole, last_fastest, gaps_allowed, repeats, ierr)
  end subroutine

  subroutine map_runs_int64(self, name, global, offsets, lengths, base, hole, last_fastest, gaps_allowed, &
      repeats, ierr)
    class(afterbay_session), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: global(:), offsets(:), lengths(:)
    integer, intent(in), optional :: base, hole, repeats
    logical, intent(in), optional :: last_fastest, gaps_allowed
    integer, intent(out), optional :: ierr
    type(map_form), target :: map
    call map%list_runs(name, global, offsets, lengths, base, hole, last_fastest)
    call set_coverage(map%c, gaps_allowed, repeats)
    if (map%code == AFTERBAY_OK) &
        map%code = afterbay_decomposition_define_map(afterbay_fortran_session(self%id), c_text(name), map%c)
    call check(map%code, ierr)
  end subroutine

  !> Defines a kind of file: its schema, which is copied, with name template ({collection},
  !> {step:06}, {member:03}, {date:%Y%m%d_%H}; default: {collection} with the ending of the store),
  !> directory, store ('netcdf4', 'cdf5', 'cdf2', 'grib2', 'pp', 'fieldsfile', 'memory') and the
  !> action if a file exists ('refuse', 'replace', 'append'). Does not wait. All problems of the
  !> schema are reported at once. AFTERBAY_CONFLICT if the name is taken, AFTERBAY_INVALID_ARGUMENT
  !> for an invalid argument; for problems of the schema also AFTERBAY_UNKNOWN_NAME,
  !> AFTERBAY_WRONG_TYPE and AFTERBAY_RESOURCES.
  subroutine define_collection(self, name, schema, collection, file, directory, store, existing, ierr)
    class(afterbay_session), intent(in) :: self
    character(*), intent(in) :: name
    type(afterbay_schema), intent(in) :: schema
    type(afterbay_collection), intent(out) :: collection
    character(*), intent(in), optional :: file, directory, store, existing
    integer, intent(out), optional :: ierr
    type(c_texts), target :: file_text, directory_text, store_text, existing_text
    type(c_collection_options) :: where
    call hold_optional(file_text, file, where%file)
    call hold_optional(directory_text, directory, where%directory)
    call hold_optional(store_text, store, where%store)
    call hold_optional(existing_text, existing, where%existing)
    call check(afterbay_collection_define(afterbay_fortran_session(self%id), c_text(name), schema%handle, where, &
        collection%handle), ierr)
  end subroutine

  !> Collective. Sends new definitions to the servers and waits for their answer. Implied by the
  !> first collection%open after a definition. AFTERBAY_CONFLICT for decompositions that overlap or
  !> have gaps, and for definitions that differ between ranks, AFTERBAY_RESOURCES if they need more
  !> memory than settings allow; these end the session. Does nothing without new definitions.
  subroutine start(self, ierr)
    class(afterbay_session), intent(in) :: self
    integer, intent(out), optional :: ierr
    call check(afterbay_session_start(afterbay_fortran_session(self%id)), ierr)
  end subroutine

  !> Opens any netCDF file for input, whichever program wrote it. Every model rank calls it. Waits
  !> until the servers have opened it. `as_of` selects the state of a file that this session writes:
  !> AFTERBAY_AS_OF_CLOSED (default) waits until everything closed before under this name is
  !> published; AFTERBAY_AS_OF_PUBLISHED: as it is now; AFTERBAY_AS_OF_EPOCH: as of the last epoch,
  !> for which it waits, for a file that is still open in a collection with `readable: on`.
  !> AFTERBAY_IO if the file does not exist or cannot be read, AFTERBAY_FORMAT if it is not a netCDF
  !> file; AFTERBAY_BAD_STATE with AFTERBAY_AS_OF_CLOSED if this session has it open for output, and
  !> with AFTERBAY_AS_OF_EPOCH if it is not readable or has no epoch yet; AFTERBAY_INVALID_ARGUMENT
  !> for an empty path or another number for `as_of`. An error in reading leaves the session usable.
  subroutine open_input(self, path, input, as_of, ierr)
    class(afterbay_session), intent(in) :: self
    character(*), intent(in) :: path
    type(afterbay_input), intent(out) :: input
    integer, intent(in), optional :: as_of
    integer, intent(out), optional :: ierr
    integer(c_int) :: state, code
    type(c_ptr) :: opened
    state = AFTERBAY_AS_OF_CLOSED
    if (present(as_of)) state = int(as_of, c_int)
    opened = c_null_ptr
    code = afterbay_session_open_input(afterbay_fortran_session(self%id), c_text(path), state, opened)
    input%id = afterbay_fortran_keep_input(opened)
    call check(code, ierr)
  end subroutine

  !> Opens an endpoint: a further caller of put in this rank. Any thread may call it. `name` appears
  !> in messages. Ranks may open different numbers of endpoints, or none. Waits only for a call of
  !> the session that is in progress. AFTERBAY_BAD_STATE while a slot of the session is not
  !> committed, or it has put only sections of a variable.
  subroutine open_endpoint(self, endpoint, name, ierr)
    class(afterbay_session), intent(in) :: self
    type(afterbay_endpoint), intent(out) :: endpoint
    character(*), intent(in), optional :: name
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    type(c_ptr) :: opened
    opened = c_null_ptr
    if (present(name)) then
      code = afterbay_endpoint_open(afterbay_fortran_session(self%id), c_text(name), opened)
    else
      code = afterbay_endpoint_open(afterbay_fortran_session(self%id), [c_null_char], opened)
    end if
    endpoint%id = afterbay_fortran_keep_endpoint(opened)
    call check(code, ierr)
  end subroutine

  !> Does what endpoints leave to the thread that uses the session: if the rank shares no memory
  !> with a server, their data and requests go through it. Other procedures do the same; call this
  !> one now and then if the thread makes no other call for a long time. Does not wait for
  !> endpoints.
  subroutine progress(self, ierr)
    class(afterbay_session), intent(in) :: self
    integer, intent(out), optional :: ierr
    call check(afterbay_session_progress(afterbay_fortran_session(self%id)), ierr)
  end subroutine

  !> Marks everything put since the last end_step as a complete step. With inline servers in
  !> synchronous mode it is collective and returns when the step is written; otherwise it does not
  !> wait. AFTERBAY_BAD_STATE while a slot is not committed, or sections are missing.
  subroutine end_step(self, ierr)
    class(afterbay_session), intent(in) :: self
    integer, intent(out), optional :: ierr
    call check(afterbay_session_end_step(afterbay_fortran_session(self%id)), ierr)
  end subroutine

  !> Returns a ticket that is complete when everything put before is durable or handed to the file
  !> system. Does not wait, except for endpoints. On a rank that has opened an endpoint, it covers
  !> the steps that the session has ended. AFTERBAY_BAD_STATE while a slot is not committed, or
  !> sections are missing; AFTERBAY_TIMED_OUT, which ends the session, with the endpoints that are
  !> late.
  subroutine flush_session(self, ticket, ierr)
    class(afterbay_session), intent(in) :: self
    type(afterbay_ticket), intent(out) :: ticket
    integer, intent(out), optional :: ierr
    call check(afterbay_session_flush(afterbay_fortran_session(self%id), ticket), ierr)
  end subroutine

  !> Marks an epoch in the output. The ticket is complete when everything that all ranks put before,
  !> in all files, is durable and can be recovered after any later crash; files that are still open
  !> then are recovered by `afterbay recover FILE`. Every model rank calls it. Does not wait, except
  !> for endpoints. On a rank that has opened an endpoint, it covers the steps that the session has
  !> ended. Fails as flush does; AFTERBAY_INVALID_ARGUMENT for an empty name.
  subroutine epoch(self, name, ticket, ierr)
    class(afterbay_session), intent(in) :: self
    character(*), intent(in) :: name
    type(afterbay_ticket), intent(out) :: ticket
    integer, intent(out), optional :: ierr
    call check(afterbay_session_epoch(afterbay_fortran_session(self%id), c_text(name), ticket), ierr)
  end subroutine

  !> Calls `callback(context)` once, in this thread, when the ticket is complete, from within
  !> end_step, wait, is_complete or finalize. It may call the session. Does not wait.
  !> AFTERBAY_INVALID_ARGUMENT for a ticket that does not belong to this session.
  subroutine on_complete(self, ticket, callback, context, ierr)
    class(afterbay_session), intent(in) :: self
    type(afterbay_ticket), intent(in) :: ticket
    interface
      subroutine callback(context) bind(C)
        import :: c_ptr
        type(c_ptr), value :: context
      end subroutine
    end interface
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: ierr
    type(c_ptr) :: passed
    passed = c_null_ptr
    if (present(context)) passed = context
    call check(afterbay_session_on_complete(afterbay_fortran_session(self%id), ticket, c_funloc(callback), passed), ierr)
  end subroutine

  !> Waits until a ticket is complete; returns the error that prevented it, if any.
  !> AFTERBAY_INVALID_ARGUMENT for a ticket that does not belong to this session.
  subroutine wait(self, ticket, ierr)
    class(afterbay_session), intent(in) :: self
    type(afterbay_ticket), intent(in) :: ticket
    integer, intent(out), optional :: ierr
    call check(afterbay_session_wait(afterbay_fortran_session(self%id), ticket), ierr)
  end subroutine

  !> Whether a ticket is complete. Does not wait. Fails as wait does.
  logical function is_complete(self, ticket, ierr)
    class(afterbay_session), intent(in) :: self
    type(afterbay_ticket), intent(in) :: ticket
    integer, intent(out), optional :: ierr
    integer(c_int) :: complete
    complete = 0
    call check(afterbay_session_is_complete(afterbay_fortran_session(self%id), ticket, complete), ierr)
    is_complete = complete /= 0
  end function

  !> Collective. Closes all files, waits until everything is published, or returns what prevented
  !> it, prints the report and closes the session. AFTERBAY_BAD_STATE while a slot is not committed,
  !> sections are missing or an output is not finalized: nothing is closed then.
  subroutine finalize(self, ierr)
    class(afterbay_session), intent(inout) :: self
    integer, intent(out), optional :: ierr
    integer(c_int) :: code
    code = afterbay_session_finalize(afterbay_fortran_session(self%id))
    call check(code, ierr)
    call afterbay_fortran_end_session(self%id)
  end subroutine

  !> For the library: the C object of a session.
  type(c_ptr) function session_object(session)
    type(afterbay_session), intent(in) :: session
    session_object = afterbay_fortran_session(session%id)
  end function

  !> Abandons the session: unless it was finalized before, files stay unpublished, and the servers
  !> are told that this rank gave up. Waits as the destructor in C++ does, for at most the setting
  !> `deadline` and a few seconds.
  subroutine abandon(self)
    class(afterbay_session), intent(inout) :: self
    call afterbay_fortran_drop_session(self%id)
  end subroutine
end module
