# The consumer's program is the first C++ example of the README, as it is printed there; its output
# must be what the README shows after it.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${out}")
  endif()
endfunction()

file(READ ${README} readme)
# CMake lists use semicolons and brackets; hide them while the text is searched.
string(REPLACE ";" "<semicolon>" readme "${readme}")
string(REPLACE "[" "<open>" readme "${readme}")
string(REPLACE "]" "<close>" readme "${readme}")
if(NOT readme MATCHES "```cpp\n([^`]*)```\n[^`]*```text\n([^`]*)```")
  message(FATAL_ERROR "the README has no C++ example followed by its output")
endif()
set(example "${CMAKE_MATCH_1}")
set(expected "${CMAKE_MATCH_2}")
foreach(variable example expected)
  string(REPLACE "<semicolon>" ";" ${variable} "${${variable}}")
  string(REPLACE "<open>" "[" ${variable} "${${variable}}")
  string(REPLACE "<close>" "]" ${variable} "${${variable}}")
endforeach()

file(REMOVE_RECURSE ${BUILD} ${PREFIX})
file(WRITE ${BUILD}/example.cc "${example}")
run(${CMAKE_COMMAND} --install ${MEDLEY_BUILD} --prefix ${PREFIX})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DEXAMPLE=${BUILD}/example.cc)
run(${CMAKE_COMMAND} --build ${BUILD})
execute_process(COMMAND ${BUILD}/example RESULT_VARIABLE status OUTPUT_VARIABLE actual)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the README's example failed: ${status}")
endif()
if(NOT "${actual}" STREQUAL "${expected}")
  message(FATAL_ERROR "the README's example printed\n${actual}\nbut the README shows\n${expected}")
endif()
