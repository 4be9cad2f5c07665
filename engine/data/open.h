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
  // A folder; for csv and packed also a file; an archive of such a folder. http(s)://, s3:// and webhdfs://
  // are brought to the cache first (place.h).
  std::string directory;
  size_t train = 0, test = 0;  // use at most this many images, of each class its share; 0: all
  // Hold this many out of the training part, of each class its share, and give them as `test`. A folder or
  // CSV without a test part has one image of five held out. The same ones on every machine.
  size_t validation = 0;
  bool skip_corrupt = false;  // leave corrupt records out and count them (Dataset::report) instead of failing
  InputShape shape{0, 0, 0};  // image files: what they are scaled to; zeros: derive_shape() (image_files.h)
  bool measure = true;        // the normalization, where it is not known: decodes up to 2,000 images
};

struct Parts {
  std::string
      note;  // what a user should know about it: a part of a known dataset, held-out images; else empty
  DatasetPtr train, test;
  Normalization normalization;  // published (cifar10) or measured on the training part
  std::string name;             // what it was opened as
};

// Both parts. Invalid names the option, NotFound the file, Corrupt file and record.
Result<Parts> open_dataset(const OpenOptions& options);

}  // namespace radl::engine::data
