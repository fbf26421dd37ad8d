# One IEEE operation is one operation in onefold's own sources, whatever the flags of the project around them: -Ofast, -ffast-math or a part of
# it, -mfpmath=387, nvcc's --use_fast_math. What cannot be undone here is refused by backends/float_semantics.hpp.

set(onefold_float_options -ffp-contract=off)  # a compiler that fused a product into a sum would change bits
if(CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang|IntelLLVM)$")
  # One by one, because -fno-fast-math leaves alone what was asked for by its own name.
  list(APPEND onefold_float_options -fno-fast-math -fno-unsafe-math-optimizations -fno-associative-math -fno-reciprocal-math
       -fno-finite-math-only -fsigned-zeros)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    list(APPEND onefold_float_options -mfpmath=sse)
  endif()
endif()
# nvcc has its own from --use_fast_math, which these overrule wherever it stands. On its host's side those above, which g++ and clang know.
list(JOIN onefold_float_options "," onefold_float_options_of_host)
set(onefold_float_options_cuda -ftz=false -prec-div=true -prec-sqrt=true -fmad=false -Xcompiler=${onefold_float_options_of_host})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND onefold_float_options -fno-single-precision-constant -fno-allow-store-data-races)  # the last is a part of -Ofast too
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang|IntelLLVM")
  list(APPEND onefold_float_options -fhonor-nans -fhonor-infinities -fno-approx-func -fdenormal-fp-math=ieee)
endif()

# Call it last, in the target's own folder. The options are those of the source files: only these come behind the options of the
# libraries that a project links everything with (link_libraries).
function(onefold_strict_floats target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_property(done SOURCE ${source} PROPERTY ONEFOLD_STRICT_FLOATS)
    if(done)
      continue()
    elseif(source MATCHES "\\.cpp$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${onefold_float_options})
    elseif(source MATCHES "\\.cu$")
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${onefold_float_options_cuda})
    endif()
    set_property(SOURCE ${source} PROPERTY ONEFOLD_STRICT_FLOATS ON)
  endforeach()
  # Linked with -Ofast or -ffast-math, a shared library gets start-up code that flushes subnormals to zero in the thread that loads it.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY" AND CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang|IntelLLVM)$")
    target_link_options(${target} PRIVATE -O2 -fno-fast-math -fno-unsafe-math-optimizations)
  endif()
endfunction()
