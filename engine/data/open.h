// A dataset by name: the one door through which jobs and tools open data.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "engine/data/dataset.h"

namespace radl::engine::data {

struct OpenOptions {
  // cifar10, cifar100, idx (mnist), folder, csv, packed; "auto" looks at what is there.
  std::string name = "auto";
  // A folder; for csv and packed also a file. http(s)://, s3:// and webhdfs:// folders are brought to the
  // cache first.
  std::string directory;
  size_t train = 0, test = 0;  // use at most this many pictures, from the front; 0: all
  size_t validation = 0;       // hold this many out from the end of the training part and give them as `test`
  bool skip_corrupt = false;  // leave corrupt records out and count them (Dataset::report) instead of failing
  InputShape shape{0, 0, 0};  // folder: pictures are scaled to this; {0,0,0}: 32x32x3
};

struct Parts {
  std::string note;  // what a user should know about it: that it is a part of a known data set; else empty
  DatasetPtr train, test;
  Normalization normalization;  // published (cifar10) or measured on the training part
  std::string name;             // what it was opened as
};

// Both parts. Invalid names the option, NotFound the file, Corrupt file and record.
Result<Parts> open_dataset(const OpenOptions& options);

}  // namespace radl::engine::data
