#include "engine/data/image_files.h"

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include "common/files.h"
#include "engine/data/image.h"

namespace radl::engine::data {
namespace {

constexpr size_t kLargestImage = size_t{64} << 20, kMemory = size_t{256} << 20;
constexpr size_t kLooked = 256, kBeginning = size_t{256} << 10;
constexpr int kSmallest = 8, kLargestSide = 224;

// Limits the memory of concurrent decoding of large images.
class MemoryShare {
 public:
  explicit MemoryShare(size_t bytes) : all_(bytes) {}
  class Held {
   public:
    Held(MemoryShare& share, size_t bytes) : share_(share), bytes_(std::min(bytes, share.all_)) {
      std::unique_lock lock(share_.mutex_);
      share_.changed_.wait(lock, [&] { return share_.used_ + bytes_ <= share_.all_; });
      share_.used_ += bytes_;
    }
    ~Held() {
      std::lock_guard lock(share_.mutex_);
      share_.used_ -= bytes_;
      share_.changed_.notify_all();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    MemoryShare& share_;
    size_t bytes_;
  };

 private:
  const size_t all_;
  size_t used_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

class ImageDataset : public Dataset {
 public:
  ImageDataset(ImageFiles images, InputShape shape)
      : images_(std::move(images)), shape_(shape), memory_(kMemory) {}
  size_t size() const override { return images_.files.size(); }
  InputShape shape() const override { return shape_; }
  int classes() const override { return int(images_.classes.size()); }
  const std::vector<std::string>& class_names() const override { return images_.classes; }
  int32_t label(size_t i) const override { return images_.files[i].label; }
  std::string origin(size_t i) const override { return images_.root + "/" + images_.files[i].name; }

  Status read(size_t i, std::span<uint8_t> out) const override {
    const std::string path = origin(i);
    auto bytes = read_file(path, kLargestImage);
    // If corrupt images may be skipped, so may unreadable files.
    if (!bytes.ok()) return {Code::Corrupt, bytes.status().message()};
    const DecodeLimits limits{
        .channels = shape_.channels, .enough_height = shape_.height, .enough_width = shape_.width};
    auto info = inspect_image(*bytes);
    if (!info.ok()) return Status(Code::Corrupt, path + ": " + info.status().message());
    MemoryShare::Held held(memory_, decoded_bytes(*info, limits));
    auto image = decode_image(*bytes, limits);
    if (!image.ok()) return Status(Code::Corrupt, path + ": " + image.status().message());
    const Image fitted = fit_image(*image, shape_.height, shape_.width);
    std::copy(fitted.pixels.begin(), fitted.pixels.end(), out.begin());
    return {};
  }

 private:
  ImageFiles images_;
  InputShape shape_;
  mutable MemoryShare memory_;
};

}  // namespace

Result<ImageInfo> inspect_image_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string beginning(kBeginning, '\0');
  in.read(beginning.data(), long(beginning.size()));
  beginning.resize(size_t(std::max<std::streamsize>(in.gcount(), 0)));
  return inspect_image(beginning);
}

InputShape derive_shape(const ImageFiles& images) {
  const size_t all = images.files.size(), looked = std::min(all, kLooked);
  std::vector<int> sides;
  ImageInfo first;
  bool same = true, grey = true;
  for (size_t k = 0; k < looked; ++k) {
    auto info = inspect_image_file(images.root + "/" + images.files[k * all / looked].name);
    if (!info.ok()) continue;
    if (sides.empty()) first = *info;
    same = same && info->height == first.height && info->width == first.width;
    grey = grey && info->grey;
    sides.push_back(std::min(info->height, info->width));
  }
  const int channels = grey && !sides.empty() ? 1 : 3;
  if (sides.empty()) return {32, 32, channels};
  if (same && std::max(first.height, first.width) <= kLargestSide &&
      std::min(first.height, first.width) >= kSmallest)
    return {first.height, first.width, channels};
  std::nth_element(sides.begin(), sides.begin() + long(sides.size() / 2), sides.end());
  const int side = std::clamp(sides[sides.size() / 2], kSmallest, kLargestSide);
  return {side, side, channels};
}

Result<DatasetPtr> make_image_dataset(ImageFiles images, InputShape shape) {
  if (shape.height == 0) shape = derive_shape(images);
  if (shape.channels != 1 && shape.channels != 3)
    return invalid("images have 1 or 3 channels, not " + std::to_string(shape.channels));
  return DatasetPtr(std::make_shared<ImageDataset>(std::move(images), shape));
}

}  // namespace radl::engine::data
