# Kokkos and the CUDA Toolkit: found, fetched where that is asked for, or a sentence that says what to do.

# scripts/bootstrap puts a Kokkos of our own here when the machine has none.
list(APPEND CMAKE_PREFIX_PATH ${PROJECT_SOURCE_DIR}/.deps/kokkos)

if(ONEFOLD_LECTURES AND NOT TARGET Kokkos::kokkos)
  find_package(Kokkos CONFIG QUIET)
  if(NOT Kokkos_FOUND AND ONEFOLD_FETCH_KOKKOS)
    include(OnefoldFetchKokkos)
  elseif(NOT Kokkos_FOUND)
    message(FATAL_ERROR
      "onefold needs Kokkos 3.4 or newer and found none. Run scripts/bootstrap, which puts one into .deps/kokkos, or name yours with "
      "-DKokkos_ROOT=PREFIX, or let CMake download one with -DONEFOLD_FETCH_KOKKOS=ON. With the default variant alone (-DONEFOLD_VARIANTS=fixed_order) onefold needs none.")
  endif()
endif()
if(ONEFOLD_LECTURES AND Kokkos_FOUND)
  # Asked for here and not of find_package: Kokkos's package calls a newer major version incompatible with an older request.
  if(Kokkos_VERSION VERSION_LESS 3.4)
    message(FATAL_ERROR "onefold needs Kokkos 3.4 or newer; the one in ${Kokkos_DIR} is ${Kokkos_VERSION}. Run scripts/bootstrap, or "
                        "name another with -DKokkos_ROOT=PREFIX.")
  endif()
  message(STATUS "Kokkos ${Kokkos_VERSION}: ${Kokkos_DIR}")
  if(NOT "SERIAL" IN_LIST Kokkos_DEVICES)
    message(FATAL_ERROR "The Kokkos in ${Kokkos_DIR} was built without its Serial backend (Kokkos_ENABLE_SERIAL=ON), which onefold needs.")
  endif()
  foreach(device IN ITEMS CUDA HIP SYCL)
    if(device IN_LIST Kokkos_DEVICES)
      message(FATAL_ERROR "The Kokkos in ${Kokkos_DIR} was built with ${device}, whose compiler onefold's sources are not for: scripts/bootstrap makes one with OpenMP and Serial "
                          "(.deps/kokkos), or configure onefold with -DONEFOLD_VARIANTS=fixed_order, which needs none.")
    endif()
  endforeach()
  if(ONEFOLD_OPENMP AND NOT "OPENMP" IN_LIST Kokkos_DEVICES)
    message(FATAL_ERROR "The Kokkos in ${Kokkos_DIR} was built without OpenMP (Kokkos_ENABLE_OPENMP=ON): use another one, or "
                        "configure onefold with -DONEFOLD_OPENMP=OFF.")
  endif()
endif()
if(ONEFOLD_OPENMP)
  find_package(OpenMP QUIET COMPONENTS CXX)
  if(NOT OpenMP_CXX_FOUND)
    message(FATAL_ERROR "OpenMP was not found for ${CMAKE_CXX_COMPILER}: install its runtime (libomp-dev for clang in Debian), or "
                        "configure onefold with -DONEFOLD_OPENMP=OFF.")
  endif()
endif()

if(ONEFOLD_CUDA)
  # One architecture builds in minutes: the newest that the figures were measured on, with PTX for what comes after.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")
    set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "CUDA architectures")
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND OR CUDAToolkit_VERSION VERSION_LESS 12.4)
    message(FATAL_ERROR "onefold's CUDA backend needs the CUDA Toolkit 12.4 or newer; the one of ${CMAKE_CUDA_COMPILER} is ${CUDAToolkit_VERSION}. Name another "
                        "nvcc with CUDACXX=PROGRAM and configure a fresh build folder, or leave the backend out with -DONEFOLD_CUDA=OFF.")
  endif()
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake before 3.25.2 does not know that nvcc 12 has C++20
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "CUDA backend: off")
endif()
