# The CUDA variants' sources are those that backends/cuda/catalogue.def names. A line without a file, a file without a line and a
# name that stands twice stop the configuration with a sentence that names the file.

set(onefold_catalogue ${PROJECT_SOURCE_DIR}/backends/cuda/catalogue.def)
set(onefold_kernel_folder ${PROJECT_SOURCE_DIR}/backends/cuda/kernels)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${onefold_catalogue})

file(STRINGS ${onefold_catalogue} onefold_catalogue_lines REGEX "^ONEFOLD_VARIANT\\(")
set(ONEFOLD_CUDA_VARIANTS "")
set(ONEFOLD_CUDA_VARIANT_SOURCES "")
foreach(line IN LISTS onefold_catalogue_lines)
  string(REGEX REPLACE "^ONEFOLD_VARIANT\\(([a-z0-9_]+),.*" "\\1" variant "${line}")
  set(source ${onefold_kernel_folder}/${variant}.cu)
  if(variant IN_LIST ONEFOLD_CUDA_VARIANTS)
    message(FATAL_ERROR "backends/cuda/catalogue.def names ${variant} twice: remove one of the two lines.")
  endif()
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "backends/cuda/catalogue.def names ${variant}, but backends/cuda/kernels/${variant}.cu does not exist.")
  endif()
  list(APPEND ONEFOLD_CUDA_VARIANTS ${variant})
  list(APPEND ONEFOLD_CUDA_VARIANT_SOURCES ${source})
endforeach()

set(onefold_kernels_of_the_catalogue ${ONEFOLD_CUDA_VARIANT_SOURCES})
if(NOT ONEFOLD_LECTURES)  # catalogue.def leaves the other lines out under ONEFOLD_ONLY_FIXED_ORDER
  set(ONEFOLD_CUDA_VARIANT_SOURCES ${onefold_kernel_folder}/fixed_order.cu ${onefold_kernel_folder}/superaccumulator.cu)
endif()

file(GLOB onefold_kernel_files CONFIGURE_DEPENDS ${onefold_kernel_folder}/*.cu)
foreach(source IN LISTS onefold_kernel_files)
  if(NOT source IN_LIST onefold_kernels_of_the_catalogue)
    cmake_path(GET source FILENAME file)
    message(FATAL_ERROR "backends/cuda/kernels/${file} has no line in backends/cuda/catalogue.def: add one, or remove the file.")
  endif()
endforeach()
