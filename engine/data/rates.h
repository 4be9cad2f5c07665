// How fast data moves on this machine: through the disk of a folder, and from where a dataset lies.
#pragma once

#include <cstdint>
#include <string>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::engine::data {

struct DiskRates {
  uint64_t bytes = 0;           // that were written and read
  double write_per_second = 0;  // bytes, until they are on the disk
  double read_per_second = 0;   // bytes, from the disk as far as the file system lets go of what it holds
};

// Writes and reads a file without a name in the folder, for about so many seconds. Quota: hardly any room is
// left; nothing of it stays, whatever ends the process.
Result<DiskRates> measure_disk(const std::string& folder, double seconds, const Stop& stop);

struct SourceRate {
  uint64_t bytes = 0;     // that came
  double per_second = 0;  // bytes, as a dataset is fetched: large files in ranges, small ones side by side
  uint64_t all = 0;       // bytes of the whole dataset; 0: the source has no listing
};

// Fetches files of the dataset for at most so many seconds, to a temporary folder that is removed. Timeout:
// nothing came in that time. Other errors: as common/transfer/source.h.
Result<SourceRate> measure_source(http::Client& http, const std::string& uri, double seconds,
                                  const Stop& stop);

}  // namespace radl::engine::data
