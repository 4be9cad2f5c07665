// Measures data rates of this machine: of a folder's disk, and of the source of a dataset.
#pragma once

#include <cstdint>
#include <string>

#include "common/http/http.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::engine::data {

struct DiskRates {
  uint64_t bytes = 0;           // written and read
  double write_per_second = 0;  // bytes/s until they are on the disk
  double read_per_second = 0;   // bytes/s from the disk, as far as the file system drops its cache
};

// Writes and reads an unnamed file in the folder for about `seconds`. Quota: hardly any space is left. Leaves
// nothing behind, however the process ends.
Result<DiskRates> measure_disk(const std::string& folder, double seconds, const Stop& stop);

struct SourceRate {
  uint64_t bytes = 0;     // received
  double per_second = 0;  // bytes/s, fetched like a dataset: large files in ranges, small ones in parallel
  uint64_t all = 0;       // size of the dataset in bytes; 0: the source has no listing
};

// Fetches files of the dataset for at most `seconds` to a temporary folder, which it removes. Timeout:
// nothing arrived in time. Other errors: as common/transfer/source.h.
Result<SourceRate> measure_source(http::Client& http, const std::string& uri, double seconds,
                                  const Stop& stop);

}  // namespace radl::engine::data
