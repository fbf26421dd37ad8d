# Install: headers, library, a CMake package and a pkg-config file. The build tree can be used as a package too.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(onefold_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/onefold)
set_target_properties(onefold_mpi PROPERTIES EXPORT_NAME mpi)
set_target_properties(onefold_nccl PROPERTIES EXPORT_NAME nccl)
set_target_properties(onefold_mpi_c PROPERTIES EXPORT_NAME mpi_c)
set(onefold_source_folder ${CMAKE_INSTALL_DATADIR}/onefold)
set(onefold_installed_source $<INSTALL_PREFIX>/${onefold_source_folder}/onefold_mpi.cpp)
if(IS_ABSOLUTE "${onefold_source_folder}")
  set(onefold_installed_source ${onefold_source_folder}/onefold_mpi.cpp)
endif()
target_sources(onefold_mpi_c INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src/mpi/onefold_mpi.cpp>
                                       $<INSTALL_INTERFACE:${onefold_installed_source}>)
install(FILES ${PROJECT_SOURCE_DIR}/src/mpi/onefold_mpi.cpp DESTINATION ${onefold_source_folder})
configure_file(cmake/OnefoldNccl.cmake ${PROJECT_BINARY_DIR}/OnefoldNccl.cmake COPYONLY)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/OnefoldNccl.cmake DESTINATION ${onefold_package_folder})
install(TARGETS onefold onefold_mpi onefold_mpi_c onefold_nccl EXPORT onefold-targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/onefold.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/onefold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT onefold-targets NAMESPACE onefold:: DESTINATION ${onefold_package_folder})
export(EXPORT onefold-targets NAMESPACE onefold:: FILE ${PROJECT_BINARY_DIR}/onefold-targets.cmake)

if(onefold_type STREQUAL "STATIC_LIBRARY")
  set(ONEFOLD_STATIC ON)
else()
  set(ONEFOLD_STATIC OFF)
  # A static Kokkos inside a shared onefold stays private: an application may bring a Kokkos of another version.
  target_link_options(onefold PRIVATE LINKER:--exclude-libs,ALL)
endif()
set(ONEFOLD_NEEDS_KOKKOS ${ONEFOLD_LECTURES})
set(ONEFOLD_NEEDS_OPENMP ${ONEFOLD_OPENMP})
if(ONEFOLD_NEEDS_KOKKOS AND "OPENMP" IN_LIST Kokkos_DEVICES)  # a Kokkos with OpenMP needs its runtime, whatever onefold uses of it
  set(ONEFOLD_NEEDS_OPENMP ON)
endif()
# For those who link with a C compiler: what the C++ compiler that made the library adds by itself.
set(ONEFOLD_CXX_LIBRARIES ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER ONEFOLD_CXX_LIBRARIES INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
list(REMOVE_DUPLICATES ONEFOLD_CXX_LIBRARIES)
# Releases of one minor version of Kokkos stand in for each other; unknown where a parent project brought Kokkos as a target.
string(REGEX MATCH "^[0-9]+\\.[0-9]+" ONEFOLD_KOKKOS_SERIES "${Kokkos_VERSION}")

# A Kokkos that was installed by others is found where it lies. That of scripts/bootstrap lies in the checkout, which may be gone when
# the installed library is used: what a static onefold needs of it comes along, in a folder where no other project finds it by accident.
set(onefold_kokkos_folder ${CMAKE_INSTALL_LIBDIR}/onefold/kokkos)
set(onefold_brings_kokkos OFF)
if(ONEFOLD_NEEDS_KOKKOS AND Kokkos_FOUND AND Kokkos_DIR MATCHES "/\\.deps/kokkos/")
  cmake_path(SET onefold_kokkos_prefix NORMALIZE "${Kokkos_DIR}/../../..")
  set(onefold_kokkos_licence "${onefold_kokkos_prefix}/LICENSE")
  if(NOT EXISTS "${onefold_kokkos_licence}")  # built by an older scripts/bootstrap; Kokkos 3 has its licence in every header
    file(READ "${onefold_kokkos_prefix}/include/Kokkos_Core.hpp" onefold_kokkos_header)
    string(FIND "${onefold_kokkos_header}" "*/" onefold_kokkos_header_end)
    string(SUBSTRING "${onefold_kokkos_header}" 0 ${onefold_kokkos_header_end} onefold_kokkos_header)
    set(onefold_kokkos_licence "${PROJECT_BINARY_DIR}/LICENSE.Kokkos")
    file(WRITE "${onefold_kokkos_licence}" "${onefold_kokkos_header}*/\n")
  endif()
  if(ONEFOLD_STATIC)
    set(onefold_brings_kokkos ON)
    install(DIRECTORY "${onefold_kokkos_prefix}/include" "${onefold_kokkos_prefix}/lib" DESTINATION ${onefold_kokkos_folder})
  endif()
endif()
# CMAKE_INSTALL_DOCDIR is the folder of whoever includes GNUInstallDirs first: of a project around this one, which has a LICENSE of its own.
set(onefold_docs ${CMAKE_INSTALL_DOCDIR})
if(NOT PROJECT_IS_TOP_LEVEL)
  set(onefold_docs ${CMAKE_INSTALL_DATAROOTDIR}/doc/onefold)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${onefold_docs})
if(onefold_kokkos_licence)  # it is inside a shared onefold, or beside a static one
  install(FILES "${onefold_kokkos_licence}" DESTINATION ${onefold_docs} RENAME LICENSE.Kokkos)
endif()

# The build tree's package uses the Kokkos that was found; the installed one that which came along.
set(ONEFOLD_KOKKOS_HINT "${Kokkos_DIR}")
configure_package_config_file(cmake/onefoldConfig.cmake.in ${PROJECT_BINARY_DIR}/onefoldConfig.cmake
  INSTALL_DESTINATION ${onefold_package_folder})
if(onefold_brings_kokkos)
  file(RELATIVE_PATH onefold_up "/${onefold_package_folder}" "/${onefold_kokkos_folder}")
  set(ONEFOLD_KOKKOS_HINT "\${CMAKE_CURRENT_LIST_DIR}/${onefold_up}/lib/cmake/Kokkos")
endif()
configure_package_config_file(cmake/onefoldConfig.cmake.in ${PROJECT_BINARY_DIR}/installed/onefoldConfig.cmake
  INSTALL_DESTINATION ${onefold_package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/onefoldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/installed/onefoldConfig.cmake ${PROJECT_BINARY_DIR}/onefoldConfigVersion.cmake
  DESTINATION ${onefold_package_folder})

# pkg-config knows no transitive static libraries: what a static libonefold.a needs stands in Libs itself. Paths in
# quotes, for folders with spaces; but not those that begin with ${pcfiledir}, in which pkg-config has escaped them already.
set(ONEFOLD_PC_LIBS "")
if(ONEFOLD_STATIC)
  if(onefold_brings_kokkos)
    string(APPEND ONEFOLD_PC_LIBS " -L\${libdir}/onefold/kokkos/lib")
  elseif(ONEFOLD_NEEDS_KOKKOS AND Kokkos_FOUND)
    cmake_path(SET onefold_kokkos_prefix NORMALIZE "${Kokkos_DIR}/../../..")
    file(GLOB onefold_kokkos_libraries ${onefold_kokkos_prefix}/lib*/libkokkoscore.*)
    if(onefold_kokkos_libraries)
      list(GET onefold_kokkos_libraries 0 onefold_kokkos_library)
      cmake_path(GET onefold_kokkos_library PARENT_PATH onefold_kokkos_library_folder)
      string(APPEND ONEFOLD_PC_LIBS " -L\"${onefold_kokkos_library_folder}\"")
    endif()
  endif()
  if(ONEFOLD_NEEDS_KOKKOS)
    string(APPEND ONEFOLD_PC_LIBS " -lkokkoscore")
  endif()
  if(ONEFOLD_CUDA)
    string(APPEND ONEFOLD_PC_LIBS " -L\"${CUDAToolkit_LIBRARY_DIR}\" -lcudart_static -lrt -lpthread")
  endif()
  if(ONEFOLD_NEEDS_OPENMP)
    find_package(OpenMP QUIET COMPONENTS CXX)
    string(APPEND ONEFOLD_PC_LIBS " ${OpenMP_CXX_FLAGS}")
  endif()
  list(TRANSFORM ONEFOLD_CXX_LIBRARIES PREPEND " -l" OUTPUT_VARIABLE onefold_cxx_libraries)
  list(JOIN onefold_cxx_libraries "" onefold_cxx_libraries)
  string(APPEND ONEFOLD_PC_LIBS " -ldl${onefold_cxx_libraries}")
endif()
# Relative to the file's own place, so that the tree can be moved and `cmake --install --prefix` may name any folder.
set(ONEFOLD_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  file(RELATIVE_PATH onefold_pc_up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /)
  set(ONEFOLD_PC_PREFIX "\${pcfiledir}/${onefold_pc_up}")
endif()
foreach(onefold_folder LIBDIR INCLUDEDIR DATADIR)
  cmake_path(APPEND onefold_pc_folder "\${prefix}" "${CMAKE_INSTALL_${onefold_folder}}")  # but where that is absolute
  set(ONEFOLD_PC_${onefold_folder} "${onefold_pc_folder}")
  unset(onefold_pc_folder)
endforeach()
configure_file(cmake/onefold.pc.in ${PROJECT_BINARY_DIR}/onefold.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/onefold.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
