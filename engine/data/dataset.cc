#include "engine/data/dataset.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "common/digest.h"

namespace radl::engine::data {
namespace {

constexpr size_t kProblemsKept = 20;

class Relabelled : public Dataset {
 public:
  Relabelled(DatasetPtr base, int classes, std::vector<std::string> names, std::vector<int32_t> map)
      : base_(std::move(base)), classes_(classes), names_(std::move(names)), map_(std::move(map)) {
    assert(map_.size() == size_t(base_->classes()));
  }
  size_t size() const override { return base_->size(); }
  InputShape shape() const override { return base_->shape(); }
  int classes() const override { return classes_; }
  const std::vector<std::string>& class_names() const override { return names_; }
  int32_t label(size_t index) const override { return map_[size_t(base_->label(index))]; }
  Status read(size_t index, std::span<uint8_t> out) const override { return base_->read(index, out); }
  const uint8_t* pixels(size_t index) const override { return base_->pixels(index); }
  std::string origin(size_t index) const override { return base_->origin(index); }
  const ReadReport& report() const override { return base_->report(); }

 private:
  DatasetPtr base_;
  int classes_;
  std::vector<std::string> names_;
  std::vector<int32_t> map_;
};

}  // namespace

void ReadReport::skip(std::string problem) {
  ++skipped;
  if (problems.size() < kProblemsKept) problems.push_back(std::move(problem));
}

const uint8_t* Dataset::pixels(size_t) const { return nullptr; }
std::string Dataset::origin(size_t index) const { return "image " + std::to_string(index); }
const ReadReport& Dataset::report() const {
  static const ReadReport nothing;
  return nothing;
}

MemoryDataset::MemoryDataset(InputShape shape, int classes, std::vector<std::string> names,
                             std::vector<uint8_t> pixels, std::vector<int32_t> labels, ReadReport report,
                             std::string source)
    : shape_(shape),
      classes_(classes),
      names_(std::move(names)),
      pixels_(std::move(pixels)),
      labels_(std::move(labels)),
      report_(std::move(report)),
      source_(std::move(source)) {
  assert(pixels_.size() == labels_.size() * pixel_count(shape_));
  report_.records = labels_.size();
}

Status MemoryDataset::read(size_t index, std::span<uint8_t> out) const {
  if (index >= size()) return invalid("image " + std::to_string(index) + " of " + std::to_string(size()));
  assert(out.size() == pixel_count(shape_));
  std::memcpy(out.data(), pixels(index), out.size());
  return {};
}

std::string MemoryDataset::origin(size_t index) const {
  return (source_.empty() ? std::string() : source_ + " ") + "image " + std::to_string(index);
}

DatasetPtr relabel(DatasetPtr base, int classes, std::vector<std::string> names, std::vector<int32_t> map) {
  return std::make_shared<Relabelled>(std::move(base), classes, std::move(names), std::move(map));
}

Result<Normalization> measure_normalization(const Dataset& dataset, size_t limit) {
  const InputShape shape = dataset.shape();
  const size_t channels = size_t(shape.channels), pixels = pixel_count(shape);
  const size_t used = std::min(dataset.size(), std::max<size_t>(limit, 1));
  if (used == 0) return invalid("cannot measure the mean of an empty dataset");
  std::vector<uint64_t> sum(channels), squares(channels);
  std::vector<uint8_t> buffer(pixels);
  uint64_t read = 0;
  for (size_t k = 0; k < used; ++k) {
    size_t index = k * dataset.size() / used;
    const uint8_t* p = dataset.pixels(index);
    if (!p) {
      if (!dataset.read(index, buffer).ok())
        continue;  // the loader reports it, or leaves it out and counts it
      p = buffer.data();
    }
    ++read;
    for (size_t i = 0; i < pixels; i += channels) {
      for (size_t c = 0; c < channels; ++c) {
        sum[c] += p[i + c];
        squares[c] += uint64_t(p[i + c]) * p[i + c];
      }
    }
  }
  if (read == 0) return Status(Code::Corrupt, "none of the images can be decoded");
  Normalization result;
  const double n = double(read) * double(pixels / channels);
  for (size_t c = 0; c < channels; ++c) {
    double mean = double(sum[c]) / n, variance = double(squares[c]) / n - mean * mean;
    double deviation = variance > 1e-3 ? std::sqrt(variance) / 255 : 1;
    result.mean.push_back(float(mean / 255));
    result.deviation.push_back(float(deviation));
  }
  return result;
}

Normalization cifar10_normalization() {
  return {{0.4914f, 0.48216f, 0.44653f}, {0.24703f, 0.24349f, 0.26159f}};
}

}  // namespace radl::engine::data
