# The first C++ example of the README and its CMakeLists.txt, as they are printed there, are built
# against what is installed; the output must be what the README shows.

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
if(NOT readme MATCHES "```cmake\n([^`]*)```")
  message(FATAL_ERROR "the README has no CMakeLists.txt for its example")
endif()
set(lists "${CMAKE_MATCH_1}")
foreach(variable example expected lists)
  string(REPLACE "<semicolon>" ";" ${variable} "${${variable}}")
  string(REPLACE "<open>" "[" ${variable} "${${variable}}")
  string(REPLACE "<close>" "]" ${variable} "${${variable}}")
endforeach()

file(REMOVE_RECURSE ${BUILD} ${PREFIX})
file(WRITE ${BUILD}/app/main.cc "${example}")
file(WRITE ${BUILD}/app/CMakeLists.txt "${lists}")
run(${CMAKE_COMMAND} --install ${MEDLEY_BUILD} --prefix ${PREFIX})
run(${CMAKE_COMMAND} -S ${BUILD}/app -B ${BUILD}/app/build -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${PREFIX})
run(${CMAKE_COMMAND} --build ${BUILD}/app/build)
execute_process(COMMAND ${BUILD}/app/build/app RESULT_VARIABLE status OUTPUT_VARIABLE actual)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the README's example failed: ${status}")
endif()
if(NOT "${actual}" STREQUAL "${expected}")
  message(FATAL_ERROR "the README's example printed\n${actual}\nbut the README shows\n${expected}")
endif()

# A consumer per component; one of these alone wants what that needs and no more.
set(components core data theory)
if(WITH_NN)
  list(APPEND components nn)
endif()
list(JOIN components "," joined)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD}/parts -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DCOMPONENTS=${joined} -DWITH_CUDA=${WITH_CUDA})
run(${CMAKE_COMMAND} --build ${BUILD}/parts)
foreach(component ${components})
  run(${BUILD}/parts/use_${component})
endforeach()
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD}/part -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${PREFIX}
    -DCOMPONENTS=core,theory ${WITHOUT_LIBRARIES} -DWITH_CUDA=${WITH_CUDA})
