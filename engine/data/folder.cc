#include <algorithm>
#include <cctype>
#include <filesystem>

#include "common/files.h"
#include "engine/data/picture.h"
#include "engine/data/readers.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestPicture = size_t{64} << 20;

class FolderDataset : public Dataset {
 public:
  FolderDataset(InputShape shape, std::vector<std::string> names, std::vector<std::string> paths,
                std::vector<int32_t> labels)
      : shape_(shape), names_(std::move(names)), paths_(std::move(paths)), labels_(std::move(labels)) {}
  size_t size() const override { return labels_.size(); }
  InputShape shape() const override { return shape_; }
  int classes() const override { return int(names_.size()); }
  const std::vector<std::string>& class_names() const override { return names_; }
  int32_t label(size_t index) const override { return labels_[index]; }
  std::string origin(size_t index) const override { return paths_[index]; }
  Status read(size_t index, std::span<uint8_t> out) const override {
    auto bytes = read_file(paths_[index], kLargestPicture);
    // A file that cannot be read is as good as a corrupt one to whoever may skip it.
    if (!bytes.ok()) return {Code::Corrupt, bytes.status().message()};
    auto picture = decode_picture(*bytes, {.channels = shape_.channels});
    if (!picture.ok()) return Status(Code::Corrupt, paths_[index] + ": " + picture.status().message());
    const Picture fitted = fit_picture(*picture, shape_.height, shape_.width);
    std::copy(fitted.pixels.begin(), fitted.pixels.end(), out.begin());
    return {};
  }

 private:
  InputShape shape_;
  std::vector<std::string> names_, paths_;
  std::vector<int32_t> labels_;
};

bool is_picture(const fs::path& path) {
  std::string end = path.extension().string();
  std::transform(end.begin(), end.end(), end.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return end == ".jpg" || end == ".jpeg" || end == ".png";
}

// Sorted names of the sub-folders (or pictures) in a folder.
Result<std::vector<std::string>> names_in(const fs::path& folder, bool folders) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) return errno_status(error.value(), folder.string());
  for (fs::directory_iterator end; entries != end; entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    std::error_code ignored;
    if (name[0] == '.') continue;
    if (folders ? entries->is_directory(ignored) : entries->is_regular_file(ignored) && is_picture(name))
      names.push_back(name);
  }
  if (error) return errno_status(error.value(), folder.string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<fs::path> part_folder(const std::string& directory, bool training) {
  std::error_code ignored;
  const std::vector<const char*> names = training ? std::vector<const char*>{"train", "training"}
                                                  : std::vector<const char*>{"test", "val", "validation"};
  for (const char* name : names) {
    if (fs::is_directory(fs::path(directory) / name, ignored)) return fs::path(directory) / name;
  }
  if (training) return fs::path(directory);
  return Status(Code::NotFound, directory + ": has no folder test, val or validation")
      .with_hint("hold a part of the training pictures out with dataset.validation");
}

}  // namespace

Result<DatasetPtr> read_folder(const std::string& directory, bool training, const ReaderOptions& options) {
  auto folder = part_folder(directory, training);
  if (!folder.ok()) return folder.status();
  auto classes = names_in(*folder, true);
  if (!classes.ok()) return classes.status();
  if (classes->size() < (training ? 2 : 1))
    return Status(Code::Invalid, folder->string() + ": needs at least two folders of pictures, one a class");
  std::vector<std::string> paths;
  std::vector<int32_t> labels;
  for (size_t c = 0; c < classes->size(); ++c) {
    auto pictures = names_in(*folder / (*classes)[c], false);
    if (!pictures.ok()) return pictures.status();
    for (const auto& name : *pictures) {
      paths.push_back((*folder / (*classes)[c] / name).string());
      labels.push_back(int32_t(c));
    }
  }
  if (paths.empty())
    return Status(Code::NotFound, folder->string() + ": its folders hold no .jpg, .jpeg or .png");
  const InputShape shape = options.shape.height > 0 ? options.shape : InputShape{};
  if (shape.channels != 1 && shape.channels != 3)
    return invalid("pictures have 1 or 3 channels, not " + std::to_string(shape.channels));
  return DatasetPtr(
      std::make_shared<FolderDataset>(shape, std::move(*classes), std::move(paths), std::move(labels)));
}

}  // namespace radl::engine::data
