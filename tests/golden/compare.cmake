# Runs PROGRAM, which prints a golden table, and compares what it prints with TABLE:
#   cmake -DPROGRAM= [-DARGUMENT=] -DTABLE= -DOUTPUT= -P compare.cmake

execute_process(COMMAND ${PROGRAM} ${ARGUMENT} OUTPUT_FILE ${OUTPUT} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} failed: ${status}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${OUTPUT} ${TABLE} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ${ARGUMENT} prints another table than ${TABLE}: diff ${OUTPUT} ${TABLE}. Tree v1 and exact results are frozen: "
                      "rows may be added, a row that is there never changes.")
endif()
