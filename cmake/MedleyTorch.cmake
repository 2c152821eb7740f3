# LibTorch as the target medley::torch, everything from the one folder that CMAKE_PREFIX_PATH names
# (PyTorch's: torch.utils.cmake_prefix_path) or that the system has. Anew each time, so that a build
# folder follows another CMAKE_PREFIX_PATH. LibTorch's own package is not asked: it takes libraries of
# the system before its own, and wants nvcc wherever LibTorch has CUDA.
#   MEDLEY_TORCH_ERROR         why there is none, "" if there is
#   MEDLEY_TORCH_VERSION       "2.15.0"
#   MEDLEY_TORCH_INCLUDE_DIR   of its headers
#   MEDLEY_TORCH_HAS_CUDA      its libraries for GPUs are there
set(MEDLEY_TORCH_ERROR "")
set(MEDLEY_TORCH_HAS_CUDA OFF)

string(REPLACE ":" ";" medley_torch_hints "$ENV{CMAKE_PREFIX_PATH}")
list(PREPEND medley_torch_hints ${CMAKE_PREFIX_PATH})
list(TRANSFORM medley_torch_hints APPEND "/../../include")  # from share/cmake
if(Torch_DIR)
  list(PREPEND medley_torch_hints "${Torch_DIR}/../../../include")
endif()
find_path(medley_torch_headers torch/csrc/api/include/torch/torch.h HINTS ${medley_torch_hints} NO_CACHE)
if(NOT medley_torch_headers)
  set(MEDLEY_TORCH_ERROR "Training needs LibTorch, which was not found: apt install libtorch-dev, or \
give PyTorch's with -DCMAKE_PREFIX_PATH=\"$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')\"")
  return()
endif()
get_filename_component(MEDLEY_TORCH_INCLUDE_DIR ${medley_torch_headers} ABSOLUTE)
get_filename_component(medley_torch_prefix ${MEDLEY_TORCH_INCLUDE_DIR} DIRECTORY)

set(MEDLEY_TORCH_VERSION "")
foreach(file torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS ${MEDLEY_TORCH_INCLUDE_DIR}/${file} AND MEDLEY_TORCH_VERSION STREQUAL "")
    file(STRINGS ${MEDLEY_TORCH_INCLUDE_DIR}/${file} lines REGEX "TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
    string(REGEX MATCHALL "[0-9]+" MEDLEY_TORCH_VERSION "${lines}")
    list(JOIN MEDLEY_TORCH_VERSION "." MEDLEY_TORCH_VERSION)
  endif()
endforeach()
set(medley_torch_config ${medley_torch_prefix}/share/cmake/Torch/TorchConfig.cmake)
if(EXISTS ${medley_torch_config})
  file(STRINGS ${medley_torch_config} old_abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
  if(old_abi)
    set(MEDLEY_TORCH_ERROR "LibTorch ${MEDLEY_TORCH_VERSION} in ${medley_torch_prefix} was built for \
the C++ library of before GCC 5; PyTorch 2.7 or newer is not")
    return()
  endif()
endif()

# Libraries that are there, of those that are named, by path.
function(medley_torch_libraries result)
  set(found "")
  foreach(name ${ARGN})
    find_library(library ${name} NO_CACHE NO_DEFAULT_PATH
      PATHS ${medley_torch_prefix}/lib ${medley_torch_prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
    if(library)
      list(APPEND found ${library})
    endif()
    unset(library)
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

medley_torch_libraries(medley_torch_cpu torch_cpu c10)
list(LENGTH medley_torch_cpu count)
if(NOT count EQUAL 2)
  set(MEDLEY_TORCH_ERROR "LibTorch ${MEDLEY_TORCH_VERSION} has its headers in \
${MEDLEY_TORCH_INCLUDE_DIR} but no libtorch_cpu.so and libc10.so in ${medley_torch_prefix}/lib")
  return()
endif()
medley_torch_libraries(medley_torch_cuda torch_cuda c10_cuda)
if(medley_torch_cuda)
  set(MEDLEY_TORCH_HAS_CUDA ON)
endif()
if(NOT MEDLEY_BUILD_CUDA)  # a program for the CPU does not load them
  set(medley_torch_cuda "")
endif()

if(NOT TARGET medley::torch)
  add_library(medley::torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(medley::torch INTERFACE
    ${MEDLEY_TORCH_INCLUDE_DIR} ${MEDLEY_TORCH_INCLUDE_DIR}/torch/csrc/api/include)
  target_link_libraries(medley::torch INTERFACE ${medley_torch_cuda} ${medley_torch_cpu})
  # What LibTorch's libraries need, the linker looks for where wheels have it before it takes the
  # system's. When the program runs, the libraries' own paths find it there.
  file(GLOB medley_torch_folders ${medley_torch_prefix}/../nvidia/*/lib ${medley_torch_prefix}/../torch.libs)
  foreach(folder ${medley_torch_prefix}/lib ${medley_torch_folders})
    target_link_options(medley::torch INTERFACE "LINKER:-rpath-link,${folder}")
  endforeach()
endif()
