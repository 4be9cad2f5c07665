#include "engine/data/cifar.h"

#include <filesystem>

#include "common/files.h"

namespace radl::engine::data {
namespace {

constexpr size_t kSide = 32, kPlane = kSide * kSide, kPixels = 3 * kPlane;
constexpr size_t kLargestFile = size_t{1} << 30;

// Planes of red, green and blue to interleaved pixels.
void interleave(const char* planes, uint8_t* out) {
  const char *red = planes, *green = planes + kPlane, *blue = planes + 2 * kPlane;
  for (size_t i = 0; i < kPlane; ++i, out += 3) {
    out[0] = uint8_t(red[i]);
    out[1] = uint8_t(green[i]);
    out[2] = uint8_t(blue[i]);
  }
}

}  // namespace

const std::vector<std::string>& cifar10_class_names() {
  static const std::vector<std::string> names = {"airplane", "automobile", "bird",  "cat",  "deer",
                                                 "dog",      "frog",       "horse", "ship", "truck"};
  return names;
}

Status parse_cifar(std::string_view bytes, const std::string& name, const CifarOptions& options,
                   std::vector<uint8_t>& pixels, std::vector<int32_t>& labels, ReadReport& report) {
  const size_t label_bytes = options.classes == 100 ? 2 : 1, record = label_bytes + kPixels;
  const size_t records = bytes.size() / record, rest = bytes.size() % record;
  if (bytes.empty())
    return Status(Code::Corrupt,
                  name + ": is empty; records of " + std::to_string(record) + " bytes are needed");
  if (rest != 0) {
    std::string problem = name + ": record " + std::to_string(records) +
                          " is cut off: " + std::to_string(rest) + " of " + std::to_string(record) +
                          " bytes (the file has " + std::to_string(bytes.size()) + ")";
    if (!options.skip_corrupt) return Status(Code::Corrupt, problem);
    report.skip(problem);
  }
  if (pixels.empty()) pixels.reserve(records * kPixels);
  for (size_t r = 0; r < records; ++r) {
    const char* at = bytes.data() + r * record;
    const int label = uint8_t(at[label_bytes - 1]);
    if (label >= options.classes) {
      std::string problem = name + ": record " + std::to_string(r) + ": label " + std::to_string(label) +
                            " is not in 0.." + std::to_string(options.classes - 1);
      if (!options.skip_corrupt) return Status(Code::Corrupt, problem);
      report.skip(problem);
      continue;
    }
    pixels.resize(pixels.size() + kPixels);
    interleave(at + label_bytes, pixels.data() + pixels.size() - kPixels);
    labels.push_back(label);
  }
  return {};
}

Result<DatasetPtr> read_cifar(const std::string& directory, bool training, const CifarOptions& options) {
  namespace fs = std::filesystem;
  const bool hundred = options.classes == 100;
  std::vector<std::string> names;
  if (hundred) {
    names = {training ? "train.bin" : "test.bin"};
  } else if (training) {
    for (int i = 1; i <= 5; ++i) names.push_back("data_batch_" + std::to_string(i) + ".bin");
  } else {
    names = {"test_batch.bin"};
  }
  fs::path folder = directory;
  const fs::path inner = folder / (hundred ? "cifar-100-binary" : "cifar-10-batches-bin");
  std::error_code ignored;
  if (!fs::exists(folder / names[0], ignored) && fs::exists(inner / names[0], ignored)) folder = inner;

  std::vector<uint8_t> pixels;
  std::vector<int32_t> labels;
  ReadReport report;
  size_t bytes_in_all = 0;  // so that 150 MB are not moved again and again while they grow
  for (const std::string& name : names) {
    const uintmax_t size = fs::file_size(folder / name, ignored);
    if (!ignored && size <= kLargestFile) bytes_in_all += size_t(size);
  }
  pixels.reserve(bytes_in_all);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string path = (folder / names[i]).string();
    if (i > 0 && !fs::exists(path, ignored)) continue;
    auto bytes = read_file(path, kLargestFile);
    if (!bytes.ok()) {
      Status status = bytes.status();
      return i == 0 && status.code() == Code::NotFound
                 ? std::move(status).with_hint("`radl-train data cifar10 --directory " + directory +
                                               "` downloads the dataset")
                 : status;
    }
    if (Status s = parse_cifar(*bytes, path, options, pixels, labels, report); !s.ok()) return s;
  }
  if (labels.empty()) return Status(Code::Corrupt, (folder / names[0]).string() + ": has no usable record");
  return DatasetPtr(std::make_shared<MemoryDataset>(
      InputShape{int(kSide), int(kSide), 3}, options.classes,
      hundred ? std::vector<std::string>{} : cifar10_class_names(), std::move(pixels), std::move(labels),
      std::move(report), folder.string()));
}

}  // namespace radl::engine::data
