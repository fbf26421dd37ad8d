# Downloads a pinned release of Kokkos and builds it as a part of onefold: -DONEFOLD_FETCH_KOKKOS=ON, where none is installed.
# It is installed together with onefold, into the same prefix, since a static onefold needs it at the final link.

include(FetchContent)

set(onefold_kokkos_url https://github.com/kokkos/kokkos/releases/download/4.6.01/kokkos-4.6.01.tar.gz)
set(onefold_kokkos_sha256 b9d70e4653b87a06dbb48d63291bf248058c7c7db4bd91979676ad5609bb1a3a)
if(ONEFOLD_KOKKOS_URL)
  set(onefold_kokkos_url ${ONEFOLD_KOKKOS_URL})
  set(onefold_kokkos_sha256 ${ONEFOLD_KOKKOS_SHA256})
endif()
set(onefold_kokkos_hash "")
if(onefold_kokkos_sha256)
  set(onefold_kokkos_hash URL_HASH SHA256=${onefold_kokkos_sha256})
endif()

# Kokkos looks at the cache alone. Forced, so that they follow onefold's own options when those change.
set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "onefold needs it" FORCE)
set(Kokkos_ENABLE_OPENMP ${ONEFOLD_OPENMP} CACHE BOOL "As ONEFOLD_OPENMP" FORCE)
set(Kokkos_ENABLE_LIBDL OFF CACHE BOOL "For Kokkos' profiling tools only")

# A function, so that what is set for Kokkos is not set for onefold.
function(onefold_add_kokkos)
  set(BUILD_SHARED_LIBS OFF)  # inside a shared onefold, or beside a static one
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_CXX_STANDARD 20)
  message(STATUS "Kokkos: fetching ${onefold_kokkos_url}")
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.24)  # asked for by a policy, and unknown before
    set(timestamp DOWNLOAD_EXTRACT_TIMESTAMP OFF)
  endif()
  FetchContent_Declare(kokkos URL ${onefold_kokkos_url} ${onefold_kokkos_hash} ${timestamp})
  FetchContent_MakeAvailable(kokkos)
endfunction()
onefold_add_kokkos()

# Its headers are not ours: no warnings from them.
foreach(library IN ITEMS kokkoscore kokkoscontainers kokkosalgorithms kokkossimd)
  if(TARGET ${library})
    get_target_property(onefold_kokkos_folders ${library} INTERFACE_INCLUDE_DIRECTORIES)
    set_target_properties(${library} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${onefold_kokkos_folders}")
  endif()
endforeach()

# As find_package would: what onefold's own package says of its Kokkos.
FetchContent_GetProperties(kokkos SOURCE_DIR onefold_kokkos_source BINARY_DIR Kokkos_DIR)
set(onefold_kokkos_licence ${onefold_kokkos_source}/LICENSE)
get_directory_property(Kokkos_VERSION DIRECTORY ${onefold_kokkos_source} DEFINITION Kokkos_VERSION)
