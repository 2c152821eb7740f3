# The library's own methods, a file each, in the order of help and documents.
set(medley_methods
  none
  mixup
  cutmix
  stochastic
  hmix
  gmix
  bernoulli
  nmixup
  fmix
  resizemix
  gaussian_field
  custom)

set(medley_method_sources "")
set(MEDLEY_METHOD_DECLARATIONS "")
set(MEDLEY_METHOD_CALLS "")
foreach(method IN LISTS medley_methods)
  list(APPEND medley_method_sources methods/${method}.cc)
  string(APPEND MEDLEY_METHOD_DECLARATIONS "std::shared_ptr<const MethodBase> ${method}_method();\n")
  string(APPEND MEDLEY_METHOD_CALLS "          ${method}_method(),\n")
endforeach()
configure_file(methods/all.cc.in ${CMAKE_CURRENT_BINARY_DIR}/methods/all.cc @ONLY)
list(APPEND medley_method_sources ${CMAKE_CURRENT_BINARY_DIR}/methods/all.cc)
