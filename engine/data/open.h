// Opens a dataset by name. Jobs and tools access all data through this interface.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "engine/data/dataset.h"

namespace radl::engine::data {

struct OpenOptions {
  // cifar10, cifar100, idx (mnist), folder, csv, packed; "auto" detects the format.
  std::string name = "auto";
  // A folder; for csv and packed also a file; or an archive of such a folder. http(s)://, s3:// and
  // webhdfs:// are first fetched to the cache (place.h).
  std::string directory;
  size_t train = 0, test = 0;  // use at most this many images, proportionally from each class; 0: all
  // Hold out this many training images, proportionally from each class, as `test`. From a folder or CSV
  // without a test part, one image in five is held out. The same images on every machine.
  size_t validation = 0;
  bool skip_corrupt = false;  // skip and count corrupt records (Dataset::report)
  InputShape shape{0, 0, 0};  // image files: target size; zeros: derive_shape() (image_files.h)
  bool measure = true;        // measure an unknown normalization: decodes up to 2,000 images
};

struct Parts {
  std::string
      note;  // information for the user, such as a partial known dataset or held-out images; may be empty
  DatasetPtr train, test;
  Normalization normalization;  // published (cifar10) or measured on the training part
  std::string name;             // the name it was opened by
};

// Opens both parts. Invalid names the option, NotFound the file, Corrupt file and record.
Result<Parts> open_dataset(const OpenOptions& options);

}  // namespace radl::engine::data
