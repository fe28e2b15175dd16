# Options, compilers and flags. Flags reach our own targets only, through the target troupe_flags,
# which is not exported.

include(GNUInstallDirs)

option(BUILD_SHARED_LIBS "Build shared instead of static libraries" OFF)
option(TROUPE_ALGORITHMS_ONLY
       "Only troupe::algorithms and what it links: then neither CAF nor RocksDB is needed" OFF)
option(TROUPE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TROUPE_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(TROUPE_BUILD_BENCHMARKS "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
if(TROUPE_ALGORITHMS_ONLY)
  # They use all of the library.
  foreach(part IN ITEMS TESTS EXAMPLES BENCHMARKS)
    set(TROUPE_BUILD_${part} OFF)
  endforeach()
endif()
option(TROUPE_INSTALL "Generate the install rules" ${PROJECT_IS_TOP_LEVEL})
option(TROUPE_WERROR "Treat compiler warnings as errors; the presets do" OFF)
option(TROUPE_CHECK_HEADERS "Compile each header alone as part of the default build"
       ${TROUPE_BUILD_TESTS})
option(TROUPE_FUZZ "Build the fuzz targets with libFuzzer (clang only)" OFF)
set(TROUPE_SANITIZE "" CACHE STRING "Sanitizers for all targets, such as address,undefined")

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  find_program(TROUPE_CCACHE ccache)
  if(TROUPE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    # Without the folder in the key, build folders share their results.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND};-E;env;CCACHE_NOHASHDIR=1;${TROUPE_CCACHE}")
  endif()
endif()
# Users link the static libraries into plugins of their own.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(troupe_flags INTERFACE)
target_compile_features(troupe_flags INTERFACE cxx_std_20)
target_compile_options(
  troupe_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                         $<$<BOOL:${TROUPE_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees uninitialised members in moved std::variant and std::optional values that are not.
  target_compile_options(troupe_flags INTERFACE -Wno-maybe-uninitialized)
endif()

if(TROUPE_SANITIZE)
  add_compile_options(-fsanitize=${TROUPE_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TROUPE_SANITIZE})
endif()
if(TROUPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TROUPE_FUZZ needs clang for libFuzzer, but the compiler is "
                        "${CMAKE_CXX_COMPILER}: use the preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
