! SPDX-License-Identifier: Apache-2.0
! Described output. Bodies that are the same for all types are in *.inc.
module afterbay_outputs
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int, c_int8_t, c_int16_t, c_int32_t, &
      c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
  use afterbay_base
  use afterbay_c
  use afterbay_c_calendars
  use afterbay_c_outputs
  use afterbay_calendars, only: afterbay_calendar
  use afterbay_dates
  use afterbay_output_forms
  use afterbay_puts, only: describe_put
  use afterbay_sessions, only: afterbay_session, session_object
  implicit none
  private
  public :: afterbay_output

  !> The described output of a session: a model puts its fields once, and a description says which
  !> files there are, how often they are written, and with which operations
  !> (docs/reference/description.md). Copies are the same output.
  !>
  !> Time: step n covers the time after start + (n - 1)*step, up to and including start + n*step.
  !> Values that are put in step n are those of its end. Step 0 is the state at the start of the
  !> run, before the first step; it is optional and only enters instants of files with `at_start`.
  !>
  !> Rules:
  !> - Order: every model rank makes the same calls in the same order, with the same arguments
  !>   except for data. All definitions come before start.
  !> - Waits: start waits for all model ranks, for the servers as session%start does, and to read
  !>   the state from which the run resumes and the files to which it appends. put, put_section,
  !>   step, save and finalize write records: they wait for room as file%put does, as
  !>   collection%open does if a file begins, and, if the run continues that file, until the servers
  !>   have opened and read it. step, save and finalize also wait as session%end_step and file%close
  !>   do, and, if the description reduces over dimensions of a grid, for other model ranks: step
  !>   for those that are more than two steps behind; save, finalize and the end of a step with an
  !>   epoch of the description until all have ended the step. save, and finalize with a path, wait
  !>   as session%start does at first use. The other procedures do not wait.
  !> - Errors: a call that is refused because of its arguments or its order leaves output and
  !>   session usable; after an error in values (results that a type cannot hold) or files, end the
  !>   run. AFTERBAY_BAD_STATE: every procedure but abandon if the output is not open, and after the
  !>   end of the session except date and current_step; definitions after start; the procedures of
  !>   the run before it, except date, current_step and finalize, which only closes the output then.
  !> - Definitions (dimension to field) fail with AFTERBAY_CONFLICT if a name is taken,
  !>   AFTERBAY_UNKNOWN_NAME, with a suggestion, for a dimension or grid that is not defined,
  !>   AFTERBAY_INVALID_ARGUMENT for names, lengths and values that are impossible,
  !>   AFTERBAY_WRONG_TYPE for values of a wrong type. start reports all that depends on several
  !>   definitions.
  !> - Threads: one thread at a time uses an output and its session.
  !>
  !> @code
  !> call options%set('output', 'output.yaml')
  !> call session%open(MPI_COMM_WORLD, options)  ! servers: see the module afterbay
  !> call session%decomposition('atm', global=[nlon, nlat], start=[i0, j0], count=[ni, nj])
  !> call output%open(session, calendar='noleap', start='2000-01-01', step='30min')
  !> call output%dimension('lon', longitudes, units='degrees_east', standard_name='longitude')
  !> call output%dimension('lat', latitudes, units='degrees_north', standard_name='latitude')
  !> call output%grid('atm', 'lon lat', decomposition='atm')
  !> call output%field('tas', grid='atm', type=AFTERBAY_FLOAT64, units='K', &
  !>     standard_name='air_temperature')
  !> call output%start()
  !> do n = 1, steps
  !>   call output%step(n)
  !>   call compute()
  !>   call output%put('tas', tas(1:ni, 1:nj))
  !> end do
  !> call output%finalize()
  !> call session%finalize()
  !> @endcode
  type :: afterbay_output
    integer(c_int64_t), private :: id = 0
  contains
    procedure, private :: open_dates, open_texts
    !> open(session [, calendar], start, step [, reference, member, resume, ierr]): opens the
    !> described output of a session, which takes its description from the setting `output`. A
    !> session may have one. `calendar`, `start` (when the run began: the first of its jobs, if it
    !> has several), `step` (of the model, in seconds or months) and `reference` (of time axes;
    !> default: `start`) are an afterbay_calendar, dates and an afterbay_period, or all of them
    !> texts: 'noleap', '2000-01-01', '30min'. Without a calendar it is the standard one. `member`:
    !> for {member} in names of files. `resume`: the state from which the run continues, the path of
    !> a file that finalize or save has written. Does not wait. AFTERBAY_INVALID_ARGUMENT for an
    !> invalid date or step, AFTERBAY_BAD_STATE on a server, after the end of the session, or if it
    !> has an output already.
    generic :: open => open_dates, open_texts
    procedure, private :: dimension_length_default, dimension_length_int64, &
        dimension_int8, dimension_int16, dimension_int32, dimension_int64, dimension_float32, &
        dimension_float64
    !> dimension(name, length [, ierr]): defines a dimension, without a coordinate.
    !> dimension(name, values [, units, standard_name, long_name, attributes, bounds, ierr]):
    !> defines a dimension with its coordinate variable: `values(:)` are the same on all ranks,
    !> numbers that increase or decrease; `bounds(2, :)`, of the same type: two per value. Fails as
    !> all definitions do; AFTERBAY_INVALID_ARGUMENT for values or bounds that cannot be those of a
    !> coordinate.
    generic :: dimension => dimension_length_default, dimension_length_int64, &
        dimension_int8, dimension_int16, dimension_int32, dimension_int64, dimension_float32, &
        dimension_float64
    procedure :: grid
    procedure :: healpix_grid
    procedure :: gaussian_grid
    procedure, private :: &
        coordinate_int8, coordinate_int16, coordinate_int32, coordinate_int64, coordinate_float32, &
        coordinate_float64, coordinate_text
    !> coordinate(name, dimensions, values [, units, standard_name, long_name, attributes, ierr]):
    !> defines an auxiliary coordinate with the same values on all ranks, in Fortran's order: of
    !> dimensions, an array of names or one text with blanks between them, fastest first, or of a
    !> single value if they are ''. Variables with these dimensions name it in their attribute
    !> `coordinates`, unless other attributes of the field do. A single value is written for fields
    !> that name it. Fails as all definitions do.
    generic :: coordinate => &
        coordinate_int8, coordinate_int16, coordinate_int32, coordinate_int64, coordinate_float32, &
        coordinate_float64, coordinate_text
    procedure, private :: &
        grid_coordinate_int8, grid_coordinate_int16, grid_coordinate_int32, grid_coordinate_int64, &
        grid_coordinate_float32, grid_coordinate_float64
    !> grid_coordinate(name, grid, data [, units, standard_name, long_name, attributes, vertices,
    !> ierr]): defines an auxiliary coordinate of a grid, such as a two-dimensional latitude or that
    !> of unstructured points: each rank gives its part, an array of any layout, which is copied.
    !> `vertices`: a dimension of several values per point, the first one of `data`, for vertices of
    !> cells. Fields of the grid name the coordinate in `coordinates`, unless they name it in
    !> another attribute (`cell_measures`), or it has vertices. Fails as all definitions do;
    !> AFTERBAY_UNKNOWN_NAME also if the grid's decomposition is not defined,
    !> AFTERBAY_INVALID_ARGUMENT if it has other lengths.
    generic :: grid_coordinate => &
        grid_coordinate_int8, grid_coordinate_int16, grid_coordinate_int32, grid_coordinate_int64, &
        grid_coordinate_float32, grid_coordinate_float64
    procedure :: field
    procedure :: start
    procedure, private :: step_default, step_int64
    !> step(number [, ierr]): begins a step, and ends the one before. The first call has the number
    !> 1, or 0 for the state at the start; after resuming, the number after the last step of the
    !> saved state. Waits for room and files, and with reductions over grids for other ranks (see
    !> Waits). AFTERBAY_INVALID_ARGUMENT if it goes backwards or leaves out a step;
    !> AFTERBAY_CONFLICT for number 1 as the first one, if a file has `at_start`, for two files of
    !> the same name, and if ranks have made different calls; AFTERBAY_BAD_STATE if a field that the
    !> step before needed has not been put, and after finalize; AFTERBAY_WRONG_TYPE for results that
    !> the type of the file cannot hold; AFTERBAY_TIMED_OUT with the rank that is behind. Fails as
    !> collection%open, file%put and session%epoch do.
    generic :: step => step_default, step_int64
    procedure :: wants
    procedure, private :: &
        put_int8, put_int16, put_int32, put_int64, put_float32, put_float64
    !> put(field, data [, offset, ierr]): hands over this rank's part of a field for the current
    !> step. `data`: array of the field's type, any rank and layout, including sections, used
    !> without a copy; its shape is that of the rank's part of the grid, and of the field's axes
    !> after it. With `offset`, the part begins after offset(i) elements along dimension i (halos)
    !> and `data` may be larger. Returns at once if nothing wants the field; otherwise waits for
    !> room and files (see Waits). AFTERBAY_UNKNOWN_NAME; AFTERBAY_WRONG_TYPE if the type is not the
    !> field's; AFTERBAY_INVALID_ARGUMENT for an array of another shape; AFTERBAY_CONFLICT if it was
    !> put in this step before; AFTERBAY_BAD_STATE outside of a step; AFTERBAY_RESOURCES if a copy
    !> that the layout requires does not fit into `output.memory`. Fails as collection%open and
    !> file%put do.
    generic :: put => &
        put_int8, put_int16, put_int32, put_int64, put_float32, put_float64
    procedure, private :: &
        put_section_int8, put_section_int16, put_section_int32, put_section_int64, &
        put_section_float32, put_section_float64
    !> put_section(field, data, start [, count, offset, ierr]): the same for a section of this
    !> rank's part; further calls hand over the others, in any order, for example one level each.
    !> `start` and `count`: a number per dimension of the part, counted from 1 in the part (in the
    !> list of points on a map). `count` may be omitted without `offset`: it is the shape of `data`
    !> then, and 1 in further dimensions. `data` may lack dimensions of length 1 of the section.
    !> What was handed over is copied; the field has been put when the last section has been. Ranks
    !> may cut their parts differently, but must complete fields in the same order. Waits and fails
    !> as put does; AFTERBAY_CONFLICT if sections overlap, AFTERBAY_INVALID_ARGUMENT for a section
    !> that leaves the part, AFTERBAY_RESOURCES if the copy does not fit into `output.memory`.
    generic :: put_section => &
        put_section_int8, put_section_int16, put_section_int32, put_section_int64, &
        put_section_float32, put_section_float64
    procedure :: save => save_state
    procedure :: finalize
    procedure :: abandon
    procedure :: date
    procedure :: current_step
  end type

contains

  subroutine open_dates(self, session, calendar, start, step, reference, member, resume, ierr)
    class(afterbay_output), intent(inout) :: self
    type(afterbay_session), intent(in) :: session
    type(afterbay_calendar), intent(in), optional :: calendar
    type(afterbay_date), intent(in) :: start
    type(afterbay_period), intent(in) :: step
    type(afterbay_date), intent(in), optional :: reference
    integer, intent(in), optional :: member
    character(*), intent(in), optional :: resume
    integer, intent(out), optional :: ierr
    type(c_date), target :: first, origin
    type(c_period), target :: step_form
    type(c_texts), target :: path
    type(c_output_options) :: options
    type(c_ptr) :: opened
    integer(c_int) :: code
    first = c_of_date(start)
    step_form = c_of_period(step)
    options%start = c_loc(first)
    options%step = c_loc(step_form)
    if (present(calendar)) options%calendar = afterbay_fortran_calendar(calendar%id)
    if (present(reference)) then
      origin = c_of_date(reference)
      options%reference = c_loc(origin)
    end if
    if (present(member)) then
      options%has_member = 1
      options%member = member
    end if
    call hold_optional(path, resume, options%resume)
    opened = c_null_ptr
    code = afterbay_output_open(session_object(session), options, opened)
    if (code == AFTERBAY_OK) self%id = afterbay_fortran_keep_output(opened)
    call check(code, ierr)
  end subroutine

  subroutine open_texts(self, session, calendar, start, step, reference, member, resume, ierr)
    class(afterbay_output), intent(inout) :: self
    type(afterbay_session), intent(in) :: session
    character(*), intent(in), optional :: calendar
    character(*), intent(in) :: start, step
    character(*), intent(in), optional :: reference
    integer, intent(in), optional :: member
    character(*), intent(in), optional :: resume
    integer, intent(out), optional :: ierr
    type(afterbay_calendar) :: counted
    type(afterbay_date) :: first, origin
    type(afterbay_period) :: length
    integer :: code
    if (present(calendar)) then
      call counted%define(calendar, code)
    else
      call counted%define('standard', code)
    end if
    if (code == AFTERBAY_OK) first = counted%parse(start, code)
    origin = first
    if (code == AFTERBAY_OK .and. present(reference)) origin = counted%parse(reference, code)
    if (code == AFTERBAY_OK) call length%parse(step, code)
    if (code == AFTERBAY_OK) call open_dates(self, session, counted, first, length, origin, member, resume, code)
    call counted%free()
    call check(int(code, c_int), ierr)
  end subroutine

  subroutine dimension_length_default(self, name, length, ierr)
    class(afterbay_output), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: length
    integer, intent(out), optional :: ierr
    call dimension_length_int64(self, name, int(length, c_int64_t), ierr)
  end subroutine

  subroutine dimension_length_int64(self, name, length, ierr)
    class(afterbay_output), intent(in) :: self
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: length
    integer, intent(out), optional :: ierr
    if (length < 0) then
      call check(afterbay_error_set(int(AFTERBAY_INVALID_ARGUMENT, c_int), &
          c_text('the dimension '//trim(name)//' has a negative length'), c_text('')), ierr)
    else
      call check(afterbay_output_dimension(afterbay_fortran_output(self%id), c_text(name), length), ierr)
    end if
  end subroutine

  !> Defines a grid: its dimensions, an array of names or one text with blanks between them, fastest
  !> first, and the decomposition of the session by which they are distributed. A block or map has
  !> as many lengths as the grid has dimensions; the first call that needs the points of the grid
  !> checks it, at the latest start. Fails as all definitions do.
  subroutine grid(self, name, dimensions, decomposition, ierr)
    class(afterbay_output), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: dimensions(..)
    character(*), intent(in) :: decomposition
    integer, intent(out), optional :: ierr
    type(c_values) :: names
    integer(c_int) :: code
    code = names_described(dimensions, names)
    if (code == AFTERBAY_OK) code = afterbay_output_grid(afterbay_fortran_output(self%id), c_text(name), &
        int(names%count, c_int), names%data, c_text(decomposition))
    call release_values(names)
    call check(code, ierr)
  end subroutine

  !> Defines a HEALPix grid (Górski et al. 2005, doi:10.1086/427976): 12 nside**2 cells along one
  !> dimension. The dimension is defined too, and the coordinates of the cells are computed: each
  !> rank computes those of its part of the decomposition. `nested` (default .true.): points along a
  !> curve, for which `nside` is a power of two; .false.: along rings from north to south.
  !> `latitude`, `longitude`: names, default 'lat' and 'lon'. `bounds`: also the corners of the
  !> cells, four per point, with the names of the coordinates and `_bnds`. Fields of the grid get
  !> the attribute `grid_mapping`, unless they have one: a variable named `name`, with the
  !> attributes of CF-1.13 (`refinement_level`, `indexing_scheme`), and those that CDO reads
  !> (`healpix_nside`, `healpix_order`). Fails as all definitions do; AFTERBAY_INVALID_ARGUMENT for
  !> a grid that does not exist or if the decomposition has another length, AFTERBAY_UNKNOWN_NAME
  !> for a decomposition that is not defined.
  subroutine healpix_grid(self, name, dimension, nside, decomposition, nested, latitude, longitude, bounds, ierr)
    class(afterbay_output), intent(in) :: self
    character(*), intent(in) :: name, dimension, decomposition
    integer, intent(in) :: nside
    logical, intent(in), optional :: nested
    character(*), intent(in), optional :: latitude, longitude
    logical, intent(in), optional :: bounds
    integer, intent(out), optional :: ierr
    type(c_computed_coordinates) :: form
    character(:, kind=c_char), allocatable, target :: texts(:)
    integer(c_int) :: in_order
    call name_coordinates(latitude, longitude, bounds, texts, form)
    in_order = 1
    if (present(nested)) in_order = merge(1_c_int, 0_c_int, nested)
    call check(afterbay_output_healpix_grid(afterbay_fortran_output(self%id), c_text(name), c_text(dimension), &
        int(nside, c_int64_t), in_order, c_text(decomposition), form), ierr)
  end subroutine

  !> Defines a reduced Gaussian grid in the same way: latitudes from north to south, at the roots of
  !> the Legendre polynomial, each with its number of points, from 0 degrees eastwards. ECMWF's
  !> octahedral grid ON has 16 + 4 i points at latitude i of N, counted from the pole. There is no
  !> grid mapping. The edge between two cells of a latitude lies halfway between their longitudes.
  !> The edges between latitudes are placed so that the areas of the zones are proportional to the
  !> weights of Gaussian quadrature. Fails as healpix_grid does.
  subroutine gaussian_grid(self, name, dimension, points_of_latitudes, decomposition, latitude, longitude, bounds, ierr)
    class(afterbay_output), intent(in) :: self
    character(*), intent(in) :: name, dimension, decomposition
    integer, intent(in) :: points_of_latitudes(:)
    character(*), intent(in), optional :: latitude, longitude
    logical, intent(in), optional :: bounds
    integer, intent(out), optional :: ierr
    type(c_computed_coordinates) :: form
    character(:, kind=c_char), allocatable, target :: texts(:)
    call name_coordinates(latitude, longitude, bounds, texts, form)
    call check(afterbay_output_gaussian_grid(afterbay_fortran_output(self%id), c_text(name), c_text(dimension), &
        size(points_of_latitudes, kind=c_int), int(points_of_latitudes, c_int32_t), c_text(decomposition), form), ierr)
  end subroutine

  !> `form` points into `texts`.
  subroutine name_coordinates(latitude, longitude, bounds, texts, form)
    character(*), intent(in), optional :: latitude, longitude
    logical, intent(in), optional :: bounds
    character(:, kind=c_char), allocatable, target, intent(out) :: texts(:)
    type(c_computed_coordinates), intent(out) :: form
    integer :: length
    length = 1
    if (present(latitude)) length = max(length, len_trim(latitude) + 1)
    if (present(longitude)) length = max(length, len_trim(longitude) + 1)
    allocate (character(length, c_char) :: texts(2))
    if (present(latitude)) then
      texts(1) = trim(latitude)//c_null_char
      form%latitude = c_loc(texts(1)(1:1))
    end if
    if (present(longitude)) then
      texts(2) = trim(longitude)//c_null_char
      form%longitude = c_loc(texts(2)(1:1))
    end if
    if (present(bounds)) form%bounds = merge(1_c_int, 0_c_int, bounds)
  end subroutine

  !> Defines a field of the model on a grid (absent: the same values on all ranks). `axes`:
  !> dimensions after those of the grid, such as levels, an array of names or one text with blanks
  !> between them, fastest first. `type`: of the arrays that are put, and in files unless they say
  !> otherwise; default AFTERBAY_FLOAT32. `fill`: a number of any type that marks missing values;
  !> absent: there are none. Fails as all definitions do; AFTERBAY_WRONG_TYPE if `type` cannot hold
  !> `fill`, AFTERBAY_INVALID_ARGUMENT for the attribute `_FillValue`, instead of which `fill` is
  !> given.
  subroutine field(self, name, grid, axes, type, units, standard_name, long_name, fill, attributes, ierr)
    class(afterbay_output), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in), optional :: grid
    character(*), intent(in), optional :: axes(..)
    integer, intent(in), optional :: type
    character(*), intent(in), optional :: units, standard_name, long_name
    class(*), intent(in), optional :: fill
    type(afterbay_attributes), intent(in), optional :: attributes
    integer, intent(out), optional :: ierr
    type(c_texts), target :: grid_text, units_text, standard_text, long_text
    type(c_field_options) :: options
    type(c_values) :: names
    integer(c_int) :: code
    options%type = AFTERBAY_FLOAT32
    if (present(type)) options%type = int(type, c_int)
    call hold_optional(grid_text, grid, options%grid)
    call hold_optional(units_text, units, options%units)
    call hold_optional(standard_text, standard_name, options%standard_name)
    call hold_optional(long_text, long_name, options%long_name)
    options%attributes = attributes_object(attributes)
    code = collect_fill(name, options%type, fill, options%fill)
    if (code == AFTERBAY_OK .and. present(axes)) code = names_described(axes, names)
    options%axis_count = int(names%count, c_int)
    options%axes = names%data
    if (code == AFTERBAY_OK) code = afterbay_output_field(afterbay_fortran_output(self%id), c_text(name), options)
    call release_values(options%fill)
    call release_values(names)
    call check(code, ierr)
  end subroutine

  !> Ends the definitions and makes the plan. Every model rank calls it. Waits for all model ranks
  !> (see Waits). The error has, with the places in the description, all that is wrong: fields that
  !> are not defined, periods that are not a multiple of the step, units that do not convert, a
  !> state of another description: AFTERBAY_INVALID_ARGUMENT, AFTERBAY_UNKNOWN_NAME,
  !> AFTERBAY_CONFLICT, AFTERBAY_WRONG_TYPE. AFTERBAY_RESOURCES if a rank would need more than
  !> `output.memory`; AFTERBAY_EXISTS for a file that exists; AFTERBAY_IO, AFTERBAY_FORMAT and
  !> AFTERBAY_CONFLICT for the state and the files with which the run continues. Fails as
  !> session%start does.
  subroutine start(self, ierr)
    class(afterbay_output), intent(in) :: self
    integer, intent(out), optional :: ierr
    call check(afterbay_output_start(afterbay_fortran_output(self%id)), ierr)
  end subroutine

  subroutine step_default(self, number, ierr)
    class(afterbay_output), intent(in) :: self
    integer, intent(in) :: number
    integer, intent(out), optional :: ierr
    call step_int64(self, int(number, c_int64_t), ierr)
  end subroutine

  subroutine step_int64(self, number, ierr)
    class(afterbay_output), intent(in) :: self
    integer(c_int64_t), intent(in) :: number
    integer, intent(out), optional :: ierr
    call check(afterbay_output_step(afterbay_fortran_output(self%id), number), ierr)
  end subroutine

  !> Whether anything uses the current step's value of a field. If not, the model need not compute
  !> and put it. Does not wait. AFTERBAY_UNKNOWN_NAME.
  logical function wants(self, field, ierr)
    class(afterbay_output), intent(in) :: self
    character(*), intent(in) :: field
    integer, intent(out), optional :: ierr
    integer(c_int) :: wanted
    wanted = 0
    call check(afterbay_output_wants(afterbay_fortran_output(self%id), c_text(field), wanted), ierr)
    wants = wanted /= 0
  end function

  !> Writes the state of all periods that have begun to a new file, so that a later run can resume
  !> after the last step that has ended. Call it between the puts of one step and step of the next
  !> one; it ends the step. The file is complete when the ticket is. Call session%epoch after it, so
  !> that a crash cannot lose what the files contain at this moment. Waits for room and files, at
  !> first use as session%start does, and with reductions over grids for all ranks to end the step
  !> (see Waits). Fails as step does; AFTERBAY_CONFLICT if a file of the output has the path.
  subroutine save_state(self, path, ticket, ierr)
    class(afterbay_output), intent(in) :: self
    character(*), intent(in) :: path
    type(afterbay_ticket), intent(out), optional :: ticket
    integer, intent(out), optional :: ierr
    type(afterbay_ticket) :: saved
    integer(c_int) :: code
    code = afterbay_output_save(afterbay_fortran_output(self%id), c_text(path), saved)
    if (present(ticket)) ticket = saved
    call check(code, ierr)
  end subroutine

  !> Ends the last step, writes what the unfinished periods have so far (unless `partial: skip`),
  !> and closes the files and the output. With a path the periods do not end: their state is saved
  !> there instead, and a later run continues them and the files. If it is refused, the output stays
  !> open. Waits and fails as save does; AFTERBAY_CONFLICT if a file that the run continues has
  !> records of an earlier run after its last one: this file is not published, the call waits until
  !> the others are, and session%finalize fails with the same error.
  subroutine finalize(self, save_to, ierr)
    class(afterbay_output), intent(inout) :: self
    character(*), intent(in), optional :: save_to
    integer, intent(out), optional :: ierr
    type(c_texts), target :: texts
    type(c_ptr) :: path
    integer(c_int) :: code
    path = c_null_ptr
    call hold_optional(texts, save_to, path)
    code = afterbay_output_finalize(afterbay_fortran_output(self%id), path)
    if (code == AFTERBAY_OK) call afterbay_fortran_drop_output(self%id)
    call check(code, ierr)
  end subroutine

  !> Releases the output; unless it was finalized before, or had no step, session%finalize fails.
  subroutine abandon(self)
    class(afterbay_output), intent(inout) :: self
    call afterbay_fortran_drop_output(self%id)
  end subroutine

  !> The date at the end of the current step; before the first step, that at which the run starts or
  !> resumes. Does not wait.
  type(afterbay_date) function date(self, ierr)
    class(afterbay_output), intent(in) :: self
    integer, intent(out), optional :: ierr
    type(c_date) :: found
    call check(afterbay_output_date(afterbay_fortran_output(self%id), found), ierr)
    date = f_date(found)
  end function

  !> The number of the current step; after resuming and before step, the last one of the saved
  !> state. Does not wait.
  integer(c_int64_t) function current_step(self, ierr)
    class(afterbay_output), intent(in) :: self
    integer, intent(out), optional :: ierr
    current_step = 0
    call check(afterbay_output_current_step(afterbay_fortran_output(self%id), current_step), ierr)
  end function

  subroutine dimension_int8(self, name, values, units, standard_name, long_name, attributes, bounds, ierr)
    integer(c_int8_t), intent(in) :: values(:)
    integer(c_int8_t), intent(in), optional :: bounds(:, :)
    include 'output_dimension.inc'
  end subroutine

  subroutine dimension_int16(self, name, values, units, standard_name, long_name, attributes, bounds, ierr)
    integer(c_int16_t), intent(in) :: values(:)
    integer(c_int16_t), intent(in), optional :: bounds(:, :)
    include 'output_dimension.inc'
  end subroutine

  subroutine dimension_int32(self, name, values, units, standard_name, long_name, attributes, bounds, ierr)
    integer(c_int32_t), intent(in) :: values(:)
    integer(c_int32_t), intent(in), optional :: bounds(:, :)
    include 'output_dimension.inc'
  end subroutine

  subroutine dimension_int64(self, name, values, units, standard_name, long_name, attributes, bounds, ierr)
    integer(c_int64_t), intent(in) :: values(:)
    integer(c_int64_t), intent(in), optional :: bounds(:, :)
    include 'output_dimension.inc'
  end subroutine

  subroutine dimension_float32(self, name, values, units, standard_name, long_name, attributes, bounds, ierr)
    real(c_float), intent(in) :: values(:)
    real(c_float), intent(in), optional :: bounds(:, :)
    include 'output_dimension.inc'
  end subroutine

  subroutine dimension_float64(self, name, values, units, standard_name, long_name, attributes, bounds, ierr)
    real(c_double), intent(in) :: values(:)
    real(c_double), intent(in), optional :: bounds(:, :)
    include 'output_dimension.inc'
  end subroutine

  subroutine coordinate_int8(self, name, dimensions, values, units, standard_name, long_name, attributes, ierr)
    integer(c_int8_t), intent(in) :: values(..)
    include 'output_coordinate.inc'
  end subroutine

  subroutine coordinate_int16(self, name, dimensions, values, units, standard_name, long_name, attributes, ierr)
    integer(c_int16_t), intent(in) :: values(..)
    include 'output_coordinate.inc'
  end subroutine

  subroutine coordinate_int32(self, name, dimensions, values, units, standard_name, long_name, attributes, ierr)
    integer(c_int32_t), intent(in) :: values(..)
    include 'output_coordinate.inc'
  end subroutine

  subroutine coordinate_int64(self, name, dimensions, values, units, standard_name, long_name, attributes, ierr)
    integer(c_int64_t), intent(in) :: values(..)
    include 'output_coordinate.inc'
  end subroutine

  subroutine coordinate_float32(self, name, dimensions, values, units, standard_name, long_name, attributes, ierr)
    real(c_float), intent(in) :: values(..)
    include 'output_coordinate.inc'
  end subroutine

  subroutine coordinate_float64(self, name, dimensions, values, units, standard_name, long_name, attributes, ierr)
    real(c_double), intent(in) :: values(..)
    include 'output_coordinate.inc'
  end subroutine

  subroutine coordinate_text(self, name, dimensions, values, units, standard_name, long_name, attributes, ierr)
    character(*), intent(in) :: values(..)
    include 'output_coordinate.inc'
  end subroutine

  subroutine grid_coordinate_int8(self, name, grid, data, units, standard_name, long_name, attributes, vertices, ierr)
    integer(c_int8_t), intent(in) :: data(..)
    include 'output_grid_coordinate.inc'
  end subroutine

  subroutine grid_coordinate_int16(self, name, grid, data, units, standard_name, long_name, attributes, vertices, ierr)
    integer(c_int16_t), intent(in) :: data(..)
    include 'output_grid_coordinate.inc'
  end subroutine

  subroutine grid_coordinate_int32(self, name, grid, data, units, standard_name, long_name, attributes, vertices, ierr)
    integer(c_int32_t), intent(in) :: data(..)
    include 'output_grid_coordinate.inc'
  end subroutine

  subroutine grid_coordinate_int64(self, name, grid, data, units, standard_name, long_name, attributes, vertices, ierr)
    integer(c_int64_t), intent(in) :: data(..)
    include 'output_grid_coordinate.inc'
  end subroutine

  subroutine grid_coordinate_float32(self, name, grid, data, units, standard_name, long_name, attributes, vertices, ierr)
    real(c_float), intent(in) :: data(..)
    include 'output_grid_coordinate.inc'
  end subroutine

  subroutine grid_coordinate_float64(self, name, grid, data, units, standard_name, long_name, attributes, vertices, ierr)
    real(c_double), intent(in) :: data(..)
    include 'output_grid_coordinate.inc'
  end subroutine

  subroutine put_int8(self, field, data, offset, ierr)
    integer(c_int8_t), intent(in) :: data(..)
    include 'output_put.inc'
  end subroutine

  subroutine put_int16(self, field, data, offset, ierr)
    integer(c_int16_t), intent(in) :: data(..)
    include 'output_put.inc'
  end subroutine

  subroutine put_int32(self, field, data, offset, ierr)
    integer(c_int32_t), intent(in) :: data(..)
    include 'output_put.inc'
  end subroutine

  subroutine put_int64(self, field, data, offset, ierr)
    integer(c_int64_t), intent(in) :: data(..)
    include 'output_put.inc'
  end subroutine

  subroutine put_float32(self, field, data, offset, ierr)
    real(c_float), intent(in) :: data(..)
    include 'output_put.inc'
  end subroutine

  subroutine put_float64(self, field, data, offset, ierr)
    real(c_double), intent(in) :: data(..)
    include 'output_put.inc'
  end subroutine

  subroutine put_section_int8(self, field, data, start, count, offset, ierr)
    integer(c_int8_t), intent(in) :: data(..)
    include 'output_put_section.inc'
  end subroutine

  subroutine put_section_int16(self, field, data, start, count, offset, ierr)
    integer(c_int16_t), intent(in) :: data(..)
    include 'output_put_section.inc'
  end subroutine

  subroutine put_section_int32(self, field, data, start, count, offset, ierr)
    integer(c_int32_t), intent(in) :: data(..)
    include 'output_put_section.inc'
  end subroutine

  subroutine put_section_int64(self, field, data, start, count, offset, ierr)
    integer(c_int64_t), intent(in) :: data(..)
    include 'output_put_section.inc'
  end subroutine

  subroutine put_section_float32(self, field, data, start, count, offset, ierr)
    real(c_float), intent(in) :: data(..)
    include 'output_put_section.inc'
  end subroutine

  subroutine put_section_float64(self, field, data, start, count, offset, ierr)
    real(c_double), intent(in) :: data(..)
    include 'output_put_section.inc'
  end subroutine
end module
