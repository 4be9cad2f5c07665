// A dataset of labeled image files, decoded on demand and scaled to one size.
#pragma once

#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/image.h"

namespace radl::engine::data {

struct ImageFile {
  std::string name;  // path below the root
  int32_t label = 0;
};

struct ImageFiles {
  std::string root;
  std::vector<std::string> classes;
  std::vector<ImageFile> files;
};

// inspect_image() for a file. Reads only its beginning.
Result<ImageInfo> inspect_image_file(const std::string& path);

// Default size and channels, from the headers of at most 256 of the images (a fixed choice for a given list).
// If all sizes agree and are at most 224 x 224: that size. Otherwise: a square of the median short side, 8 to
// 224. One channel if all are gray.
InputShape derive_shape(const ImageFiles& images);

// Derives a shape of zeros. Limits decoded images in progress to 256 MiB in total, plus one image. Invalid: a
// channel count other than 1 and 3.
Result<DatasetPtr> make_image_dataset(ImageFiles images, InputShape shape);

}  // namespace radl::engine::data
