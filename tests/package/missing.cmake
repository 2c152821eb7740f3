# A build without what it needs says in one sentence what to install.
function(expect_refusal text)
  file(REMOVE_RECURSE ${BUILD})
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE error)
  string(REGEX REPLACE "[ \n]+" " " error "${error}")  # CMake breaks lines
  string(FIND "${error}" "${text}" found)
  if(status EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "expected \"${text}\", got status ${status} and\n${error}")
  endif()
endfunction()

expect_refusal(
  "Medley needs libraries that are not installed: apt install libhwy-dev libpng-dev libcli11-dev Call"
  ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR} -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON
  -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON)
expect_refusal(
  "Medley needs a C++20 compiler, and there is none: apt install g++, or name one in the environment variable CXX"
  ${CMAKE_COMMAND} -E env CXX=/nonexistent/g++ ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} -G ${GENERATOR})
