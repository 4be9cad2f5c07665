// Downloads one large object to a file in concurrent ranges, and resumes an earlier call. Shared by all
// stores.
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

// Objects of at least this size are fetched in ranges.
inline constexpr uint64_t kInRanges = uint64_t{32} << 20;

// An object as described by one response.
struct Described {
  std::string etag;
  uint64_t size = 0;
  StoredChecksum checksum;
  // If the object's checksum is over its parts: the length of each part but the last. 0: the parts differ in
  // size, so the checksum cannot be verified.
  uint64_t part_bytes = 0;
};

// Requests a range from a store.
class RangeSource {
 public:
  virtual ~RangeSource() = default;
  // `request` has a sink for the bytes and checks the headers. Reads the version that `etag` names: a status
  // other than 206 is an error; 412 means that the object has changed.
  virtual Result<http::Response> read(const Range& range, const std::string& etag, http::Request request,
                                      const Stop& stop) = 0;
  virtual Status error(const http::Response& answer) const = 0;
};

// Downloads atomically to what.path. what.identity names the object in messages and in the note PART.json,
// which lists the ranges already in what.part_path(). Conflict: the object changed during the download.
Status download_ranges(RangeSource& source, const Download& what, Described object, int attempts);
// True if an earlier call left ranges for this path.
bool has_ranges(const Download& what);

}  // namespace radl::transfer
