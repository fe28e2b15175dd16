# Finds the C++ Actor Framework (0.18.5 or newer, 1.x included), targets CAF::core and CAF::io.
#
# CAF's own package is looked for in CMAKE_PREFIX_PATH and CAF_ROOT, in the environment variable
# TROUPE_CAF_PREFIX, and in the user cache that scripts/deps.sh fills. CAF's package of 0.18 uses
# OpenSSL and Threads targets without looking them up, so that is done first.

find_package(Threads QUIET)
find_package(OpenSSL QUIET)

set(_caf_cache "$ENV{XDG_CACHE_HOME}")
if(NOT _caf_cache)
  set(_caf_cache "$ENV{HOME}/.cache")
endif()
set(_caf_hints "$ENV{TROUPE_CAF_PREFIX}" "${_caf_cache}/troupe/caf")
# CAF's package accepts its exact version only, and CMake hands a version asked of us on to it
# unless it is hidden.
set(_caf_version "${CAF_FIND_VERSION_COMPLETE}")
set(CAF_FIND_VERSION_COMPLETE "")
find_package(CAF CONFIG QUIET HINTS ${_caf_hints})
set(CAF_FIND_VERSION_COMPLETE "${_caf_version}")

# CAF's package does not say which components it has; its targets do.
foreach(_caf_component IN LISTS CAF_FIND_COMPONENTS)
  if(TARGET CAF::${_caf_component})
    set(CAF_${_caf_component}_FOUND TRUE)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  CAF
  REQUIRED_VARS CAF_DIR
  VERSION_VAR CAF_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE
    "Debian 12 has no package of it. Run scripts/deps.sh, which builds it once into the user \
cache, or name an installed CAF with -DCMAKE_PREFIX_PATH=<prefix> or TROUPE_CAF_PREFIX=<prefix>.")
unset(_caf_cache)
unset(_caf_hints)
unset(_caf_version)
unset(_caf_component)
