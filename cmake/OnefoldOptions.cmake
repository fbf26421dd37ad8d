# What to build. A user's add_subdirectory(onefold) builds the library and nothing else.

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  set(onefold_cuda_default ON)
else()
  set(onefold_cuda_default OFF)
endif()

option(ONEFOLD_CUDA "Build the CUDA backend (default: where nvcc is found)" ${onefold_cuda_default})
option(ONEFOLD_OPENMP "Build the OpenMP backend" ON)
option(ONEFOLD_X86_KERNELS "On x86-64, also CPU kernels with AVX2 and AVX-512; without, those of machines that have neither, with the same bits" ON)
option(ONEFOLD_CUDA_LINE_INFO "Line numbers in the CUDA kernels, for profilers and compute-sanitizer; half of the library's size" OFF)
option(ONEFOLD_DEVELOPER_MODE "Build tests, tool, performance suite and examples" ${PROJECT_IS_TOP_LEVEL})
option(ONEFOLD_CHECK_AFTER_BUILD "Run 'onefold check' at the end of each build that changed it; a difference fails the build" OFF)
if(ONEFOLD_DEVELOPER_MODE OR ONEFOLD_CHECK_AFTER_BUILD)
  set(onefold_tool_default ON)
else()
  set(onefold_tool_default OFF)
endif()
set(ONEFOLD_VARIANTS all CACHE STRING "Which variants are in the library: all, or fixed_order, the default, alone; then it needs no Kokkos")
set_property(CACHE ONEFOLD_VARIANTS PROPERTY STRINGS all fixed_order)
if(ONEFOLD_VARIANTS STREQUAL "all")
  set(ONEFOLD_LECTURES ON)
elseif(ONEFOLD_VARIANTS STREQUAL "fixed_order")
  set(ONEFOLD_LECTURES OFF)
else()
  message(FATAL_ERROR "ONEFOLD_VARIANTS is all or fixed_order, not \"${ONEFOLD_VARIANTS}\".")
endif()
set(onefold_tests_default OFF)  # the tests and the performance suite call the lectures' variants
if(ONEFOLD_DEVELOPER_MODE AND ONEFOLD_LECTURES)
  set(onefold_tests_default ON)
endif()
option(ONEFOLD_CUDA_RUNS "Tests, performance suite and examples may meet a GPU; OFF compiles their own kernels without optimisation and machine code, and without optimisation what .ci/perf-guard does not time of the suite" ON)
option(ONEFOLD_CUDA_COMPRESS "Store the kernels compressed: a fourth of the size" ON)
option(ONEFOLD_BUILD_TESTS "Build the tests" ${onefold_tests_default})
option(ONEFOLD_BUILD_TOOL "Build the command line tool" ${onefold_tool_default})
option(ONEFOLD_BUILD_PERF "Build the performance suite" ${onefold_tests_default})
option(ONEFOLD_BUILD_EXAMPLES "Build the examples" ${ONEFOLD_DEVELOPER_MODE})
if(ONEFOLD_CHECK_AFTER_BUILD AND NOT ONEFOLD_BUILD_TOOL)
  message(FATAL_ERROR "ONEFOLD_CHECK_AFTER_BUILD runs the command line tool: configure with -DONEFOLD_BUILD_TOOL=ON too.")
endif()
if(NOT ONEFOLD_LECTURES AND (ONEFOLD_BUILD_TESTS OR ONEFOLD_BUILD_PERF))
  message(FATAL_ERROR "The tests and the performance suite call every variant: configure with -DONEFOLD_BUILD_TESTS=OFF "
                      "-DONEFOLD_BUILD_PERF=OFF, or with -DONEFOLD_VARIANTS=all.")
endif()
option(ONEFOLD_WERROR "Warnings are errors" OFF)
option(ONEFOLD_FETCH_KOKKOS "Download and build a pinned Kokkos when none is found" OFF)
set(ONEFOLD_KOKKOS_URL "" CACHE STRING "Archive of Kokkos for ONEFOLD_FETCH_KOKKOS instead of the pinned release; may be a local file")
set(ONEFOLD_KOKKOS_SHA256 "" CACHE STRING "SHA-256 of that archive")
set(ONEFOLD_SANITIZE "" CACHE STRING "Sanitizers for everything built here, as -fsanitize takes them: address,undefined")

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(ONEFOLD_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ONEFOLD_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer> $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
  add_link_options(-fsanitize=${ONEFOLD_SANITIZE})
endif()

# A project without a build type would have the library compiled with -O0, some twenty times slower, without a word. Only our own target
# is optimised, and only where nobody has named a level; the parent's cache and its other targets stay as they are.
function(onefold_optimise target)
  get_directory_property(inherited COMPILE_OPTIONS)
  if(CMAKE_BUILD_TYPE OR CMAKE_CONFIGURATION_TYPES OR "${CMAKE_CXX_FLAGS} ${CMAKE_CUDA_FLAGS} ${inherited}" MATCHES "(^|[ ;:>])-O")
    return()
  endif()
  message(STATUS "onefold: CMAKE_BUILD_TYPE is not set, so the library is compiled with -O3; set a build type to choose yourself")
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX,CUDA>:-O3>)
endfunction()

# Warnings for our own targets, never for those who include us.
function(onefold_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wshadow>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
  if(ONEFOLD_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Behind a sanitizer's checks g++ takes what the standard library's templates have set for unset.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
  endif()
  if(ONEFOLD_WERROR)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  endif()
endfunction()
