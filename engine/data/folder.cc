#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "common/dataset_files.h"
#include "engine/data/image_files.h"
#include "engine/data/readers.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTraining[] = {"train", "training"};
constexpr const char* kTest[] = {"test", "val", "valid", "validation"};

template <size_t n>
std::optional<std::string> first_of(const fs::path& directory, const char* const (&names)[n]) {
  std::error_code ignored;
  for (const char* name : names)
    if (fs::is_directory(directory / name, ignored)) return (directory / name).string();
  return std::nullopt;
}

// Archives and downloads often hold everything in one more folder.
fs::path without_wrapping(fs::path directory) {
  for (int depth = 0; depth < 4; ++depth) {
    if (first_of(directory, kTraining) || first_of(directory, kTest)) return directory;
    std::optional<fs::path> only;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      std::error_code ignored;
      if (!counts_in_dataset(name)) continue;
      if (!it->is_directory(ignored)) {
        if (is_image_name(name)) return directory;
        continue;
      }
      if (only) return directory;
      only = it->path();
    }
    if (!only) return directory;
    // A folder of nothing but images is a class, not a wrapping.
    bool inner = false;
    for (fs::directory_iterator it(*only, error), end; !error && it != end; it.increment(error)) {
      std::error_code ignored;
      inner |= it->is_directory(ignored);
    }
    if (!inner) return directory;
    directory = *only;
  }
  return directory;
}

}  // namespace

FolderParts folder_parts(const std::string& given) {
  const fs::path directory = without_wrapping(given);
  const auto training = first_of(directory, kTraining), test = first_of(directory, kTest);
  return {training.value_or(directory.string()), test.value_or(""), !training && test.has_value()};
}

Result<ImageFiles> list_folder(const std::string& directory, bool training) {
  const FolderParts parts = folder_parts(directory);
  if (!training && parts.test.empty())
    return Status(Code::NotFound, directory + ": has no folder test, val or validation")
        .with_hint("hold a part of the training images out with dataset.validation");
  if (training && parts.test_alone)
    return Status(Code::Invalid, directory + ": has a folder " + fs::path(parts.test).filename().string() +
                                     " and no folder train");
  ImageFiles images{training ? parts.training : parts.test, {}, {}};
  auto files = files_below(images.root);
  if (!files.ok()) return files.status();
  std::map<std::string, int32_t> classes;  // sorted
  for (const DatasetFile& file : *files) {
    const size_t slash = file.name.find('/');
    if (slash != std::string::npos && is_image_name(file.name)) classes[file.name.substr(0, slash)] = 0;
  }
  for (auto& [name, label] : classes) {
    label = int32_t(images.classes.size());
    images.classes.push_back(name);
  }
  for (const DatasetFile& file : *files) {
    const size_t slash = file.name.find('/');
    if (slash != std::string::npos && is_image_name(file.name))
      images.files.push_back({file.name, classes[file.name.substr(0, slash)]});
  }
  if (images.files.empty())
    return Status(Code::NotFound, images.root + ": its folders hold no .jpg, .jpeg or .png")
        .with_hint("the images of each class lie in a folder of its own, named like the class");
  if (training && images.classes.size() < 2)
    return Status(Code::Invalid, images.root + ": has images of one class, '" + images.classes[0] +
                                     "'; a training needs at least two folders, one a class");
  return images;
}

Result<DatasetPtr> read_folder(const std::string& directory, bool training, const ReaderOptions& options) {
  auto images = list_folder(directory, training);
  if (!images.ok()) return images.status();
  return make_image_dataset(std::move(*images), options.shape);
}

}  // namespace radl::engine::data
