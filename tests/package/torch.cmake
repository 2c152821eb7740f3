# cmake/MedleyTorch.cmake takes LibTorch and what it needs from PyTorch's own folders, also beside older
# ones of the system, and says what is wrong with one that it cannot use.

function(run result)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${out}${error}")
  endif()
  set(${result} "${out}" PARENT_SCOPE)
endfunction()

function(expect_refusal text)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE error)
  string(REGEX REPLACE "[ \n]+" " " error "${error}")  # CMake breaks lines
  string(FIND "${error}" "${text}" found)
  if(status EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "expected \"${text}\", got status ${status} and\n${error}")
  endif()
endfunction()

set(wheel ${BUILD}/site-packages)
# As a user's shell may have it: the linker and the program must not take the older NCCL from there.
set(ENV{LD_LIBRARY_PATH} ${wheel}/system)
set(configure_app ${CMAKE_COMMAND} -S ${SOURCE}/torch -B ${BUILD}/app -G ${GENERATOR}
    -DMEDLEY_CMAKE=${MEDLEY_CMAKE})

file(REMOVE_RECURSE ${BUILD})
run(ignored ${CMAKE_COMMAND} -S ${SOURCE}/torch -B ${BUILD}/wheel -G ${GENERATOR} -DMAKE_WHEEL=${wheel})
run(ignored ${CMAKE_COMMAND} --build ${BUILD}/wheel)

expect_refusal("Training needs LibTorch, which was not found: apt install libtorch-dev, or give PyTorch's with"
               ${configure_app} -DWITHOUT_SYSTEM=ON)
# What torch.utils.cmake_prefix_path is, and the folder of LibTorch itself.
foreach(prefix ${wheel}/torch/share/cmake ${wheel}/torch)
  run(ignored ${configure_app} -DWITHOUT_SYSTEM=OFF -DCMAKE_PREFIX_PATH=${prefix})
  run(ignored ${CMAKE_COMMAND} --build ${BUILD}/app --clean-first)
  run(printed ${BUILD}/app/app)
  file(READ ${BUILD}/app/version version)
  if(NOT "${printed}${version}" STREQUAL "wheel\n7.8.9")
    message(FATAL_ERROR "the program has another LibTorch: ${printed}${version}")
  endif()
endforeach()

# The same build folder follows another one, which is of no use.
run(ignored ${CMAKE_COMMAND} -S ${SOURCE}/torch -B ${BUILD}/wheel -DMAKE_WHEEL=${BUILD}/old
    -DABI=-D_GLIBCXX_USE_CXX11_ABI=0)
expect_refusal("LibTorch 7.8.9 in ${BUILD}/old/torch was built for the C++ library of before GCC 5"
               ${configure_app} -DCMAKE_PREFIX_PATH=${BUILD}/old/torch/share/cmake)
run(ignored ${CMAKE_COMMAND} -S ${SOURCE}/torch -B ${BUILD}/wheel -DMAKE_WHEEL=${BUILD}/hollow -DABI=)
expect_refusal("but no libtorch_cpu.so and libc10.so in ${BUILD}/hollow/torch/lib"
               ${configure_app} -DCMAKE_PREFIX_PATH=${BUILD}/hollow/torch/share/cmake)
