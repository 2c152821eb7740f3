# find_package(medley) for consumers: headers, libraries, export set, version file.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/medley DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/include/medley/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/medley)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD-PARTY-LICENSES.txt
              ${PROJECT_SOURCE_DIR}/src/report/FONT-LICENSE.txt
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/medley)
install(EXPORT medley-targets NAMESPACE medley:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/medley-config.cmake.in
  ${PROJECT_BINARY_DIR}/medley-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/medley-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/medley-config.cmake
              ${PROJECT_BINARY_DIR}/medley-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/MedleyTorch.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/medley)
