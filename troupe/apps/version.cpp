#include <troupe/apps/commands.hpp>
#include <troupe/base/version.hpp>
#include <troupe/serialization/record.hpp>

#include <iostream>
#include <string>

#include <CLI/CLI.hpp>
#include <boost/version.hpp>
#include <openssl/crypto.h>
#include <rocksdb/version.h>

namespace troupe::apps {

namespace {

std::string boost_version() {
  return std::to_string(BOOST_VERSION / 100000) + '.' + std::to_string(BOOST_VERSION / 100 % 1000) +
         '.' + std::to_string(BOOST_VERSION % 100);
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

void print_versions(std::ostream& out) {
  out << "troupe    " << version_string << '\n'
      << "CAF       " << TROUPE_CAF_VERSION << '\n'
      << "RocksDB   " << rocksdb::GetRocksVersionAsString() << '\n'
      << "Boost     " << boost_version() << '\n'
      << "OpenSSL   " << OpenSSL_version(OPENSSL_VERSION) << '\n'
      << "compiler  " << compiler() << '\n'
      << "records  ";
  // What this binary writes; it reads each of them from the oldest version on.
  for (const RecordInfo& info : record_types())
    out << ' ' << info.name << '=' << info.type << '.' << info.version;
  out << '\n';
}

}  // namespace

void add_version(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("version", "Versions of Troupe, its libraries and its records");
  command->callback([&status] {
    print_versions(std::cout);
    status = exit_ok;
  });
}

}  // namespace troupe::apps
