#include <troupe/serialization/detail/archive_types.hpp>
#include <troupe/serialization/detail/byte_io.hpp>

#include <new>
#include <stdexcept>

#include <boost/archive/archive_exception.hpp>

namespace troupe::detail {

std::uint64_t ByteReader::get_leb128() {
  std::uint64_t n = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = get<std::uint8_t>();
    if (shift == 63 && byte > 1)
      break;
    n |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) != 0)
      continue;
    if (byte == 0 && shift > 0)
      fail("a length has more bytes than it needs");
    return n;
  }
  fail("a length has more than 64 bits");
}

void ByteReader::expect_end() const {
  if (remaining() != 0)
    fail(std::to_string(remaining()) + " bytes are left over");
}

void ByteReader::fail(std::string_view what) const {
  throw DecodeFailure(ErrorCode::corrupt,
                      std::string(what) + ", at byte " + std::to_string(position()));
}

void ByteReader::cut_off(std::size_t wanted) const {
  fail("cut off: " + std::to_string(wanted) + " bytes are needed, " + std::to_string(remaining()) +
       " are there");
}

void ByteReader::size_too_large(std::uint64_t n) const {
  fail("a length of " + std::to_string(n) + " is more than the " + std::to_string(remaining()) +
       " bytes that follow can hold");
}

void DepthGuard::too_deep() {
  throw Exception(
      ErrorCode::resource_exhausted,
      "objects are nested deeper than " + std::to_string(limits::max_archive_depth) + " levels");
}

void boost_bookkeeping_reached() {
  throw Exception(ErrorCode::internal, "an archive was asked to write object tracking");
}

Error current_decode_error() {
  try {
    throw;
  } catch (const DecodeFailure& failure) {
    return failure.error();
  } catch (const Exception& exception) {
    return exception.error();
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::resource_exhausted, "not enough memory to read a record");
  } catch (const boost::archive::archive_exception& exception) {
    return Error(ErrorCode::corrupt, exception.what());
  } catch (const std::exception& exception) {
    return Error(ErrorCode::corrupt, exception.what());
  } catch (...) {
    return Error(ErrorCode::internal, "reading a record threw something that is no exception");
  }
}

}  // namespace troupe::detail
