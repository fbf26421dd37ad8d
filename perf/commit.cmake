# Writes the commit of the sources into a header, at every build, and touches the header only when the commit has changed.
# A tree without git (an archive, a copy on a GPU node) takes it from the environment.
set(commit "$ENV{ONEFOLD_COMMIT}")
if(NOT commit)
  execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 OUTPUT_VARIABLE commit
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define ONEFOLD_COMMIT \"${commit}\"\n")
