# All packages the tree uses are looked up here, once. scripts/deps.sh has Debian's names of them.
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS serialization)
find_package(nlohmann_json 3.11 CONFIG REQUIRED)
find_package(spdlog 1.10 CONFIG REQUIRED)
find_package(Eigen3 3.4 CONFIG REQUIRED)

# dlib is optional: for the searcher lipo. Its own CMake package asks for development files of image
# and algebra libraries that Debian's libdlib-dev does not install, and that we do not need.
find_library(TROUPE_DLIB_LIBRARY dlib)
find_path(TROUPE_DLIB_INCLUDE dlib/global_optimization/global_function_search.h)
mark_as_advanced(TROUPE_DLIB_LIBRARY TROUPE_DLIB_INCLUDE)
set(TROUPE_DLIB OFF)
if(TROUPE_DLIB_LIBRARY AND TROUPE_DLIB_INCLUDE)
  set(TROUPE_DLIB ON)
else()
  message(STATUS "dlib (libdlib-dev) is not installed: without the searcher lipo")
endif()

if(TROUPE_ALGORITHMS_ONLY)
  return()
endif()
find_package(CAF 0.18.5 MODULE REQUIRED COMPONENTS core io)
find_package(OpenSSL 3.0 REQUIRED)
find_package(RocksDB 7.8 CONFIG REQUIRED)
find_package(CLI11 2.1 CONFIG REQUIRED)
if(TROUPE_BUILD_EXAMPLES)
  find_package(ZLIB REQUIRED)
endif()
if(TROUPE_BUILD_TESTS)
  find_package(doctest 2.4 CONFIG REQUIRED)
endif()

# What is run for its speed links RocksDB statically: a worker process starts 2 ms earlier (of 5),
# and on a host without the library. Builds for debugging link faster with the shared one, and
# tests/tsan.supp knows RocksDB by the name of that file.
set(TROUPE_ROCKSDB RocksDB::rocksdb-shared)
if(CMAKE_BUILD_TYPE MATCHES "Rel" AND NOT TROUPE_SANITIZE AND TARGET RocksDB::rocksdb)
  set(TROUPE_ROCKSDB RocksDB::rocksdb)
endif()
