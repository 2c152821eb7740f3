# Flags shared by every target of the project.

function(medley_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  # Contraction stays off everywhere: the same bits on every instruction set rest on it. Nobody reads
  # floating-point exception flags.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -fno-trapping-math -Wall -Wextra -Wpedantic -Wshadow
                              -Wnon-virtual-dtor $<$<BOOL:${MEDLEY_WERROR}>:-Werror>>
    # CMake 3.25 does not know how to ask nvcc 13 for C++20.
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --fmad=false --expt-relaxed-constexpr
                               -Xcompiler=-ffp-contract=off,-Wall,-Wextra
                               $<$<BOOL:${MEDLEY_WERROR}>:-Werror=all-warnings>>)
  if(MEDLEY_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${MEDLEY_SANITIZE} -fno-sanitize-recover=all
                                -fno-omit-frame-pointer>)
    target_link_options(${target} PUBLIC -fsanitize=${MEDLEY_SANITIZE})
  endif()
endfunction()

# For tests: what is tested is optimized and watched by sanitizers, not what tests it.
function(medley_quick_compile target)
  if(MEDLEY_SANITIZE MATCHES address)
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=all)
    # Eigen allocates in another way where it sees the sanitizer; both sides must agree.
    target_compile_definitions(${target} PRIVATE EIGEN_MALLOC_ALREADY_ALIGNED=0)
  else()
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# medley_library(core SOURCES ...): the static library medley_core, known as medley::core.
function(medley_library name)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  add_library(medley_${name} STATIC ${arg_SOURCES})
  add_library(medley::${name} ALIAS medley_${name})
  set_target_properties(medley_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(medley_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  medley_flags(medley_${name})
  install(TARGETS medley_${name} EXPORT medley-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
