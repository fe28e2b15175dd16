# Finds the C++ Actor Framework (0.18.5 or newer, 1.x included) and its targets CAF::core and CAF::io.
#
# CAF's own package is looked for in CMAKE_PREFIX_PATH and CAF_ROOT, in the environment variable
# TROUPE_CAF_PREFIX, and in the user cache that scripts/deps.sh fills. CAF's package of 0.18 uses OpenSSL
# and Threads targets without looking them up, so that is done first.

find_package(Threads QUIET)
find_package(OpenSSL QUIET)

set(_caf_cache "$ENV{XDG_CACHE_HOME}")
if(NOT _caf_cache)
  set(_caf_cache "$ENV{HOME}/.cache")
endif()
find_package(CAF CONFIG QUIET COMPONENTS ${CAF_FIND_COMPONENTS}
             HINTS "$ENV{TROUPE_CAF_PREFIX}" "${_caf_cache}/troupe/caf")
unset(_caf_cache)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  CAF
  REQUIRED_VARS CAF_DIR
  VERSION_VAR CAF_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE
    "CAF is not in a Debian 12 package. Run scripts/deps.sh, which builds it once into the user cache, \
or name an installed CAF with -DCMAKE_PREFIX_PATH=<prefix> or TROUPE_CAF_PREFIX=<prefix>.")

# CAF's headers trip our warnings; imported targets are SYSTEM by default, but not when a user turned that off.
foreach(_caf_component IN LISTS CAF_FIND_COMPONENTS)
  if(TARGET CAF::${_caf_component})
    set_target_properties(CAF::${_caf_component} PROPERTIES IMPORTED_NO_SYSTEM OFF)
  endif()
endforeach()
unset(_caf_component)
