# The core alone is built, installed and used where none of the other parts' libraries are. Without
# optimization and for one instruction set: what is tested is the package.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${out}")
  endif()
endfunction()

file(REMOVE_RECURSE ${BUILD})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD}/build -G ${GENERATOR} -DMEDLEY_CORE_ONLY=ON ${WITHOUT_LIBRARIES}
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-DHWY_COMPILE_ONLY_STATIC=1)
run(${CMAKE_COMMAND} --build ${BUILD}/build)
run(${CMAKE_COMMAND} --install ${BUILD}/build --prefix ${BUILD}/prefix)
file(GLOB folders LIST_DIRECTORIES ON ${BUILD}/prefix/include/medley/*)
list(FILTER folders EXCLUDE REGEX "\\.h$")
if(folders)
  message(FATAL_ERROR "headers of other parts are installed: ${folders}")
endif()
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/package/consumer -B ${BUILD}/consumer -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${BUILD}/prefix -DCOMPONENTS=core ${WITHOUT_LIBRARIES}
    -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON)
run(${CMAKE_COMMAND} --build ${BUILD}/consumer)
run(${BUILD}/consumer/use_core)

# What is not there is named.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/tests/package/consumer -B ${BUILD}/consumer
  -DCOMPONENTS=data RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE error)
if(status EQUAL 0 OR NOT error MATCHES "this Medley was built without the component data")
  message(FATAL_ERROR "the part that is not there was found, or not named: ${error}")
endif()
