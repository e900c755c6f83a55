! SPDX-License-Identifier: Apache-2.0
! The command line of the model.
module shallow_water_settings
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit
  implicit none
  private
  public :: settings, read_settings

  type :: settings
    integer :: nx = 480, ny = 320
    integer :: steps = 600
    integer :: fields_every = 20, surface_every = 10
    character(:), allocatable :: output      !< afterbay, described, synchronous or none
    character(:), allocatable :: directory
    logical :: help = .false., valid = .true.
  end type

contains

  !> Arguments that begin with --afterbay. are left to Afterbay.
  function read_settings() result(s)
    type(settings) :: s
    integer :: i
    character(:), allocatable :: word
    s%output = 'afterbay'
    s%directory = '.'
    i = 1
    do while (i <= command_argument_count() .and. s%valid)
      word = argument(i)
      if (index(word, '--afterbay.') == 1) then
        if (index(word, '=') == 0) i = i + 1
      else if (word == '--help') then
        s%help = .true.
      else
        call set(s, word, argument(i + 1))
        i = i + 1
      end if
      i = i + 1
    end do
    if (s%help) call print_help()
  end function

  function argument(number) result(word)
    integer, intent(in) :: number
    character(:), allocatable :: word
    integer :: length
    call get_command_argument(number, length=length)
    allocate (character(len=length) :: word)
    call get_command_argument(number, word)
  end function

  subroutine set(s, name, value)
    type(settings), intent(inout) :: s
    character(*), intent(in) :: name, value
    integer :: cross, status
    status = 0
    select case (name)
    case ('--grid')
      cross = index(value, 'x')
      read (value(:cross - 1), *, iostat=status) s%nx
      if (status == 0) read (value(cross + 1:), *, iostat=status) s%ny
    case ('--steps'); read (value, *, iostat=status) s%steps
    case ('--fields-every'); read (value, *, iostat=status) s%fields_every
    case ('--surface-every'); read (value, *, iostat=status) s%surface_every
    case ('--directory'); s%directory = value
    case ('--output')
      s%output = value
      if (all(value /= [character(11) :: 'afterbay', 'described', 'synchronous', 'none'])) status = 1
    case default; status = 1
    end select
    if (min(s%nx, s%ny) < 8 .or. min(s%fields_every, s%surface_every) < 1 .or. s%steps < 0) status = 1
    if (status == 0) return
    write (error_unit, '(5a)') 'shallow_water: "', name, ' ', value, '" is not valid; see --help'
    s%valid = .false.
  end subroutine

  subroutine print_help()
    write (output_unit, '(a)') 'shallow_water [options]: a shallow-water model that writes through Afterbay', &
        '  --grid 480x320         cells to the east and to the north (8 or more)', &
        '  --steps 600            time steps of 200 s', &
        '  --fields-every 20      steps between records of fields.nc: h, u, v, vorticity', &
        '  --surface-every 10     steps between records of surface.nc: elevation, speed', &
        '  --output afterbay      afterbay; described: what a YAML file asks for; none;', &
        '                         synchronous: gather and netCDF on one rank', &
        '  --directory .          where the files go', &
        '  --afterbay.output=output.yaml  the description, for --output described', &
        '  --afterbay.NAME=VALUE  a setting of Afterbay, for example --afterbay.servers=2'
  end subroutine
end module
