// Images and labels in any storage format: the interface between readers and the Loader.
//
// An image is uint8, height x width x channels (NHWC order, RGB), as stored; it is not normalized. A dataset
// is immutable once opened and may be read from several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/status.h"
#include "engine/model/network.h"

namespace radl::engine::data {

inline size_t pixel_count(const InputShape& s) {
  return size_t(s.height) * size_t(s.width) * size_t(s.channels);
}

// Per channel, on the scale 0..1: x = (pixel / 255 - mean) / deviation.
struct Normalization {
  std::vector<float> mean, deviation;
};

// Problems found by a reader. `problems` lists the first 20, each with file and record.
struct ReadReport {
  size_t records = 0;  // returned
  size_t skipped = 0;  // corrupt and skipped
  std::vector<std::string> problems;

  void skip(std::string problem);
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual size_t size() const = 0;
  virtual InputShape shape() const = 0;
  virtual int classes() const = 0;
  // Class names in label order; empty if the format has none.
  virtual const std::vector<std::string>& class_names() const = 0;
  virtual int32_t label(size_t index) const = 0;
  // Writes pixel_count(shape()) bytes. Corrupt (with file and record): the image cannot be decoded.
  virtual Status read(size_t index, std::span<uint8_t> out) const = 0;
  // The same bytes without a copy, or nullptr if images are decoded on demand.
  virtual const uint8_t* pixels(size_t index) const;
  // Readable origin of the image: "photos/cat/7.jpg", "data_batch_1.bin record 17".
  virtual std::string origin(size_t index) const;
  virtual const ReadReport& report() const;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// A dataset in memory, as returned by the CIFAR, IDX and CSV readers.
class MemoryDataset : public Dataset {
 public:
  MemoryDataset(InputShape shape, int classes, std::vector<std::string> names, std::vector<uint8_t> pixels,
                std::vector<int32_t> labels, ReadReport report = {}, std::string source = "");
  size_t size() const override { return labels_.size(); }
  InputShape shape() const override { return shape_; }
  int classes() const override { return classes_; }
  const std::vector<std::string>& class_names() const override { return names_; }
  int32_t label(size_t index) const override { return labels_[index]; }
  Status read(size_t index, std::span<uint8_t> out) const override;
  const uint8_t* pixels(size_t index) const override { return pixels_.data() + index * pixel_count(shape_); }
  std::string origin(size_t index) const override;
  const ReadReport& report() const override { return report_; }

 private:
  InputShape shape_;
  int classes_;
  std::vector<std::string> names_;
  std::vector<uint8_t> pixels_;
  std::vector<int32_t> labels_;
  ReadReport report_;
  std::string source_;
};

// The same images with label l replaced by map[l]: gives a test part the classes of its training part.
DatasetPtr relabel(DatasetPtr base, int classes, std::vector<std::string> names, std::vector<int32_t> map);

// Mean and deviation per channel over at most `limit` images, spread evenly over the dataset. Uses exact
// integer sums, so the result is the same on every machine. A channel without variation gets deviation 1.
Result<Normalization> measure_normalization(const Dataset& dataset, size_t limit = 50000);

// Published constants of CIFAR-10's training part.
Normalization cifar10_normalization();

}  // namespace radl::engine::data
