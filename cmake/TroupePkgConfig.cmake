# Where an installation lies, seen from its .pc files: it may be moved.
function(_troupe_pkg_config_prefix out)
  file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(${out} "\${pcfiledir}/${up}" PARENT_SCOPE)
endfunction()

# Writes troupe.pc for our static libraries: everything they link stands in it, because a program
# that uses pkg-config without --static needs it as well.
function(troupe_write_pkg_config file)
  set(libs)
  set(external)
  foreach(library IN LISTS ARGN)
    get_target_property(type ${library} TYPE)
    if(NOT type STREQUAL INTERFACE_LIBRARY)
      string(PREPEND libs " -l${library}")
    endif()
    get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
    list(APPEND external ${links})
  endforeach()

  set(requires)
  set(external_libs)
  list(REMOVE_DUPLICATES external)
  foreach(link IN LISTS external)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
    if(link MATCHES "^OpenSSL::")
      list(APPEND requires openssl)
    elseif(link MATCHES "^RocksDB::")
      list(APPEND requires rocksdb)
    elseif(link MATCHES "^spdlog::spdlog$")
      list(APPEND requires spdlog)
    elseif(link STREQUAL "Threads::Threads")
      list(APPEND external_libs -pthread)
    elseif(link STREQUAL "Boost::serialization")
      list(APPEND external_libs -lboost_serialization)
    elseif(link STREQUAL "ZLIB::ZLIB")
      list(APPEND requires zlib)
    elseif(link MATCHES "^CAF::(.*)")
      list(APPEND caf_modules ${CMAKE_MATCH_1})
    elseif(link MATCHES "^troupe::" OR link MATCHES "^Boost::(headers|boost)$")
      continue()
    elseif(link MATCHES "^[A-Za-z0-9_]+::")
      message(FATAL_ERROR "troupe.pc: say in cmake/TroupePkgConfig.cmake how to link ${link}")
    endif()
  endforeach()
  set(caf_flags)
  if(caf_modules)
    if(installed_caf)
      set(caf_prefix "\${prefix}/${installed_caf}")
    endif()
    set(caf_flags "-I${caf_prefix}/include")
    set(external_libs "-L${caf_prefix}/lib" -lcaf_io -lcaf_core ${external_libs})
  endif()
  list(REMOVE_DUPLICATES requires)
  list(REMOVE_DUPLICATES external_libs)
  list(JOIN requires " " requires)
  list(JOIN external_libs " " external_libs)

  _troupe_pkg_config_prefix(prefix)
  file(
    WRITE "${file}"
    "prefix=${prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: troupe
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Requires: ${requires}
Cflags: -std=c++20 -I\${includedir} ${caf_flags}
Libs: -L\${libdir}${libs} ${external_libs}
")
endfunction()

# Writes troupe-lipo.pc: the searcher lipo and dlib, in front of all that troupe.pc names.
function(troupe_write_lipo_pkg_config file)
  _troupe_pkg_config_prefix(prefix)
  file(
    WRITE "${file}"
    "prefix=${prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}

Name: troupe-lipo
Description: The searcher lipo of troupe, which needs dlib
Version: ${PROJECT_VERSION}
Requires: troupe = ${PROJECT_VERSION}
Cflags: -DTROUPE_HAS_LIPO
Libs: -L\${libdir} -ltroupe_tune_lipo -ldlib
")
endfunction()
