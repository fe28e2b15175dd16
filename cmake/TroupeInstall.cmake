# Installation: libraries, headers, programs, the CMake package Troupe and the pkg-config module
# troupe.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY TROUPE_LIBRARIES)
get_property(executables GLOBAL PROPERTY TROUPE_EXECUTABLES)
get_property(headers GLOBAL PROPERTY TROUPE_HEADERS)
list(TRANSFORM libraries REPLACE "^troupe_" "" OUTPUT_VARIABLE components)
set(default_component troupe)
if(NOT "troupe" IN_LIST components)
  set(default_component algorithms)
endif()
list(JOIN components ", " components)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Troupe")

# A CAF that only this user has (built by scripts/deps.sh into the cache) comes along, in a place of
# its own: an installation must serve everybody. One of the system is found again by its package.
set(installed_caf)
cmake_path(SET caf_prefix NORMALIZE "${CAF_DIR}/../../..")
cmake_path(GET caf_prefix PARENT_PATH caf_prefix)
if(NOT TROUPE_ALGORITHMS_ONLY AND NOT caf_prefix IN_LIST CMAKE_SYSTEM_PREFIX_PATH)
  set(installed_caf "${CMAKE_INSTALL_LIBDIR}/troupe/caf")
  install(DIRECTORY "${caf_prefix}/include" "${caf_prefix}/lib" DESTINATION "${installed_caf}")
endif()

install(TARGETS ${libraries} EXPORT TroupeTargets
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(executables)
  install(TARGETS ${executables})
endif()
install(CODE "set(headers [[${headers}]])
set(root [[${PROJECT_SOURCE_DIR}]])
set(destination [[${CMAKE_INSTALL_INCLUDEDIR}]])")
install(SCRIPT cmake/InstallHeaders.cmake)

install(EXPORT TroupeTargets NAMESPACE troupe:: DESTINATION "${package_dir}")
configure_package_config_file(cmake/TroupeConfig.cmake.in TroupeConfig.cmake
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(TroupeConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/TroupeConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/TroupeConfigVersion.cmake" cmake/FindCAF.cmake
        DESTINATION "${package_dir}")

# Programs that do not ask for dlib do without it, so it has a module of its own.
include(TroupePkgConfig)
list(REMOVE_ITEM libraries troupe_tune_lipo)
troupe_write_pkg_config("${CMAKE_CURRENT_BINARY_DIR}/troupe.pc" ${libraries})
if(TROUPE_DLIB)
  troupe_write_lipo_pkg_config("${CMAKE_CURRENT_BINARY_DIR}/troupe-lipo.pc")
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/troupe-lipo.pc"
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/troupe.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
