# find_package(medley) for consumers: headers, libraries, export set, version file.
include(CMakePackageConfigHelpers)
set(MEDLEY_HAS_DATA OFF)
if(TARGET medley_data)
  set(MEDLEY_HAS_DATA ON)
endif()

# Headers of what was built.
set(medley_left_out "")
if(NOT MEDLEY_BUILD_CUDA)
  list(APPEND medley_left_out PATTERN cuda.h EXCLUDE)
endif()
foreach(part data theory report train nn)
  if(NOT TARGET medley_${part})
    list(APPEND medley_left_out PATTERN ${part} EXCLUDE)
  endif()
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/medley DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        ${medley_left_out})
install(FILES ${PROJECT_BINARY_DIR}/include/medley/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/medley)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD-PARTY-LICENSES.txt
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/medley)
if(TARGET medley_report)
  install(FILES ${PROJECT_SOURCE_DIR}/src/report/FONT-LICENSE.txt
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/medley)
endif()
install(EXPORT medley-targets NAMESPACE medley:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/medley-config.cmake.in
  ${PROJECT_BINARY_DIR}/medley-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/medley-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/medley-config.cmake
              ${PROJECT_BINARY_DIR}/medley-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
if(TARGET medley_nn)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/MedleyTorch.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
endif()
