# The Python module: by default in test builds where pybind11 is. Not under sanitizers: such an
# extension does not load into a plain interpreter.
if(SKBUILD)  # a build by pip: for the Python that runs it
  set(MEDLEY_PYTHON ${Python_EXECUTABLE})
endif()
set(MEDLEY_PYTHON /usr/bin/python3 CACHE FILEPATH
    "Python to build for and to test with: the system's, not the first on the PATH")
find_path(MEDLEY_PYBIND11_HEADERS pybind11/pybind11.h)
mark_as_advanced(MEDLEY_PYBIND11_HEADERS)
set(MEDLEY_BUILD_PYTHON AUTO CACHE STRING "Build the Python module (needs pybind11): ON, OFF or AUTO")
if(MEDLEY_BUILD_PYTHON STREQUAL "AUTO")
  # Anew each time: a build folder may get its tests later.
  set(MEDLEY_BUILD_PYTHON OFF)
  if(MEDLEY_PYBIND11_HEADERS AND EXISTS ${MEDLEY_PYTHON} AND MEDLEY_BUILD_TESTS AND NOT MEDLEY_SANITIZE)
    set(MEDLEY_BUILD_PYTHON ON)
  endif()
endif()
