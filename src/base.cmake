# medley_base: core, plan, kernels of the CPU, labels and theory without exceptions, threads and files,
# for where there are none (a browser). Whoever links it defines medley_fail; see core/fail_absent.cc.
# One instruction set, that of the compiler's flags.
list(TRANSFORM medley_theory_sources PREPEND theory/ OUTPUT_VARIABLE medley_base_theory)
add_library(medley_base STATIC ${medley_core_sources} ${medley_base_theory} core/fail_absent.cc
                               core/parallel_absent.cc)
target_include_directories(medley_base
  PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
medley_flags(medley_base)
target_compile_definitions(medley_base PRIVATE MEDLEY_NO_THREADS=1 HWY_COMPILE_ONLY_STATIC=1)
target_compile_options(medley_base PRIVATE -fno-exceptions)
target_link_libraries(medley_base PRIVATE hwy::hwy fmt::fmt-header-only nlohmann_json::nlohmann_json
                                          Eigen3::Eigen)
