! A program of Fortran's over MPI: the forms by their names, and a communicator of its own.
module onefold_over_ranks
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: executor
    integer(c_int32_t) :: backend, threads, device, own_stream
    type(c_ptr) :: stream
  end type executor

  interface
    type(executor) function onefold_serial() bind(c)
      import :: executor
    end function
    integer(c_int) function onefold_sum_f64(on, x, n, total) bind(c)
      import :: executor, c_int, c_double, c_int64_t
      type(executor), value :: on
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double), intent(out) :: total
    end function
    integer(c_int) function onefold_mpi_layout_create_f(comm, n, made) bind(c)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int), value :: comm
      integer(c_int64_t), value :: n
      type(c_ptr), intent(out) :: made
    end function
    subroutine onefold_mpi_layout_destroy(layout) bind(c)
      import :: c_ptr
      type(c_ptr), value :: layout
    end subroutine
    integer(c_int) function onefold_mpi_sum_f64(layout, on, x, n, total) bind(c)
      import :: executor, c_int, c_double, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      type(executor), value :: on
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double), intent(out) :: total
    end function
    integer(c_int) function onefold_mpi_dot_f64(layout, on, x, y, n, total) bind(c)
      import :: executor, c_int, c_double, c_int64_t, c_ptr
      type(c_ptr), value :: layout
      type(executor), value :: on
      real(c_double), intent(in) :: x(*), y(*)
      integer(c_int64_t), value :: n
      real(c_double), intent(out) :: total
    end function
  end interface
end module onefold_over_ranks

program ranks
  use onefold_over_ranks
  use mpi
  implicit none
  integer(c_int64_t), parameter :: n = 3001
  real(c_double) :: x(n), alone, over_ranks, product
  type(c_ptr) :: rows
  integer :: error, i

  call MPI_Init(error)
  x = [(1.0d0 / real(i, c_double), i = 1, int(n))]
  if (onefold_sum_f64(onefold_serial(), x, n, alone) /= 0) error stop 1
  if (onefold_mpi_layout_create_f(MPI_COMM_WORLD, n, rows) /= 0) error stop 2
  if (onefold_mpi_sum_f64(rows, onefold_serial(), x, n, over_ranks) /= 0) error stop 3
  if (onefold_mpi_dot_f64(rows, onefold_serial(), x, x, n, product) /= 0) error stop 4
  call onefold_mpi_layout_destroy(rows)
  ! One rank: the sum of all ranks' elements is its own, to the bit.
  if (transfer(alone, 0_c_int64_t) /= transfer(over_ranks, 0_c_int64_t)) error stop 5
  if (abs(product - sum(x * x)) > 1.0d-12) error stop 6
  call MPI_Finalize(error)
end program ranks
