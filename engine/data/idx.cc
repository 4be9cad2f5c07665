#include <algorithm>
#include <filesystem>

#include "engine/data/readers.h"

namespace radl::engine::data {
namespace {

constexpr size_t kLargest = size_t{4} << 30;

struct IdxHeader {
  std::vector<uint64_t> dims;
  size_t bytes = 0;  // of the header
};

// Two zero bytes, the type (8: unsigned bytes), the number of dimensions, then each as 32 bits, high byte
// first.
Result<IdxHeader> parse_header(std::string_view bytes, const std::string& name) {
  auto bad = [&](const std::string& what) { return Status(Code::Corrupt, name + ": " + what); };
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) return bad("is not an IDX file");
  if (bytes[2] != 8)
    return bad("holds elements of type " + std::to_string(uint8_t(bytes[2])) +
               ", 8 (unsigned bytes) is needed");
  const size_t count = uint8_t(bytes[3]);
  if (count < 1 || count > 4) return bad("has " + std::to_string(count) + " dimensions");
  IdxHeader h;
  h.bytes = 4 + 4 * count;
  if (bytes.size() < h.bytes) return bad("its header is cut off");
  uint64_t total = 1;
  for (size_t d = 0; d < count; ++d) {
    uint64_t v = 0;
    for (size_t i = 0; i < 4; ++i) v = v << 8 | uint8_t(bytes[4 + 4 * d + i]);
    if (v != 0 && total > kLargest / v) return bad("claims to be larger than can be");
    total *= v;
    h.dims.push_back(v);
  }
  if (bytes.size() - h.bytes != total) {
    return bad("has " + std::to_string(bytes.size() - h.bytes) + " bytes of data, its header says " +
               std::to_string(total));
  }
  return h;
}

std::string find_file(const std::string& directory, const std::string& part, const char* kind) {
  namespace fs = std::filesystem;
  const std::string digit = std::string(kind) == "images" ? "3" : "1";
  for (const char* mark : {"-", "."}) {
    for (const char* end : {"", ".gz"}) {
      const std::string path = directory + "/" + part + "-" + kind + mark + "idx" + digit + "-ubyte" + end;
      std::error_code ignored;
      if (fs::exists(path, ignored)) return path;
    }
  }
  return directory + "/" + part + "-" + kind + "-idx" + digit + "-ubyte";
}

}  // namespace

Result<DatasetPtr> parse_idx(std::string_view images, std::string_view labels, const std::string& name) {
  auto parsed = parse_header(images, name + " (images)");
  if (!parsed.ok()) return parsed.status();
  auto classes = parse_header(labels, name + " (labels)");
  if (!classes.ok()) return classes.status();
  const auto& d = parsed->dims;
  if (d.size() < 3 || classes->dims.size() != 1)
    return Status(Code::Corrupt, name + ": needs images of 3 or 4 dimensions and labels of 1");
  const uint64_t channels = d.size() == 4 ? d[3] : 1;
  if (d[1] == 0 || d[2] == 0 || d[1] > 65536 || d[2] > 65536 || (channels != 1 && channels != 3)) {
    return Status(Code::Corrupt, name + ": images of " + std::to_string(d[1]) + " x " + std::to_string(d[2]) +
                                     " x " + std::to_string(channels));
  }
  if (d[0] != classes->dims[0]) {
    return Status(Code::Corrupt, name + ": " + std::to_string(d[0]) + " images but " +
                                     std::to_string(classes->dims[0]) + " labels");
  }
  if (d[0] == 0) return Status(Code::Corrupt, name + ": holds no image");
  std::vector<int32_t> list;
  int32_t largest = 0;
  for (char c : labels.substr(classes->bytes)) {
    list.push_back(uint8_t(c));
    largest = std::max(largest, list.back());
  }
  std::vector<uint8_t> pixels(images.begin() + long(parsed->bytes), images.end());
  const InputShape shape{int(d[1]), int(d[2]), int(channels)};
  // MNIST and its kin have ten classes even where a part lacks one.
  return DatasetPtr(std::make_shared<MemoryDataset>(shape, std::max(largest + 1, 10),
                                                    std::vector<std::string>{}, std::move(pixels),
                                                    std::move(list), ReadReport{}, name));
}

Result<DatasetPtr> read_idx(const std::string& directory, bool training, const ReaderOptions&) {
  const std::string part = training ? "train" : "t10k";
  const std::string images = find_file(directory, part, "images");
  auto a = read_maybe_gzip(images, kLargest);
  if (!a.ok()) return a.status();
  auto b = read_maybe_gzip(find_file(directory, part, "labels"), kLargest);
  if (!b.ok()) return b.status();
  return parse_idx(*a, *b, images);
}

}  // namespace radl::engine::data
