// Labelled image files as a dataset: decoded when they are asked for, scaled to one size.
#pragma once

#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/image.h"

namespace radl::engine::data {

struct ImageFile {
  std::string name;  // below the root
  int32_t label = 0;
};

struct ImageFiles {
  std::string root;
  std::vector<std::string> classes;
  std::vector<ImageFile> files;
};

// inspect_image() of a file, of which no more than the beginning is read.
Result<ImageInfo> inspect_image_file(const std::string& path);

// The size and channels for these images when nobody names one, from the headers of at most 256 of them (the
// same ones wherever the list is the same): their own size when all agree and it is at most 224 x 224, else a
// square of the median short side, 8 to 224. One channel when all of them are grey.
InputShape derive_shape(const ImageFiles& images);

// A shape of zeros is derived. Decoded images in work take at most 256 MiB together, or one image more.
// Invalid: a channel count other than 1 and 3.
Result<DatasetPtr> make_image_dataset(ImageFiles images, InputShape shape);

}  // namespace radl::engine::data
