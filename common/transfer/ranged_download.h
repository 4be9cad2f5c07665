// One large object to a file in ranges, several at a time, and on with what an earlier call left: the same
// for every store.
#pragma once

#include <cstdint>
#include <string>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"
#include "common/transfer/checksum.h"
#include "common/transfer/download.h"
#include "common/transfer/object_store.h"

namespace radl::transfer {

// From here on objects come in ranges.
inline constexpr uint64_t kInRanges = uint64_t{32} << 20;

// What the object is, as one answer described it.
struct Described {
  std::string etag;
  uint64_t size = 0;
  StoredChecksum checksum;
  // Of an object whose checksum is that of its parts: how long each but the last is. 0: they are of several
  // sizes, and there is nothing to compare with.
  uint64_t part_bytes = 0;
};

// How a store is asked for a range.
class RangeSource {
 public:
  virtual ~RangeSource() = default;
  // The request has a sink for the bytes and looks at the headers; asked for the object as `etag` names it,
  // an answer of another status than 206 is an error, 412 that it has changed.
  virtual Result<http::Response> read(const Range& range, const std::string& etag, http::Request request,
                                      const Stop& stop) = 0;
  virtual Status error(const http::Response& answer) const = 0;
};

// To what.path, there whole or not at all; what.identity names the object in messages and in the note
// PART.json that says which ranges are in what.part_path() already. Conflict: it has changed on the way.
Status download_ranges(RangeSource& source, const Download& what, Described object, int attempts);
// Whether an earlier call has left ranges for this path.
bool has_ranges(const Download& what);

}  // namespace radl::transfer
