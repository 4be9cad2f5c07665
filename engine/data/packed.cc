#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/crc32c.h"
#include "common/digest.h"
#include "common/files.h"
#include "engine/data/readers.h"

namespace radl::engine::data {
namespace {

constexpr std::string_view kMagic = "RADLPACK1\n";
constexpr uint64_t kAlignment = 4096, kLargestHeader = 1 << 20;

uint64_t align(uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool read(uint64_t offset, void* to, size_t n) const {
    char* at = static_cast<char*>(to);
    while (n > 0) {
      const ssize_t got = ::pread(fd_, at, n, off_t(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got, offset += uint64_t(got), n -= size_t(got);
    }
    return true;
  }
  bool write(uint64_t offset, const void* from, size_t n) const {
    const char* at = static_cast<const char*>(from);
    while (n > 0) {
      const ssize_t put = ::pwrite(fd_, at, n, off_t(offset));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      at += put, offset += uint64_t(put), n -= size_t(put);
    }
    return true;
  }

 private:
  int fd_;
};

struct Header {
  InputShape shape;
  int classes = 0;
  std::vector<std::string> names;
  uint64_t records = 0, index_offset = 0, pixels_offset = 0;
  uint32_t index_crc = 0;
};

// Each index entry: label and checksum of the pixels, 32 bits each, low byte first.
struct Entry {
  int32_t label;
  uint32_t crc;
};
static_assert(sizeof(Entry) == 8);

class PackedDataset : public Dataset {
 public:
  PackedDataset(std::string path, std::unique_ptr<File> file, Header header, std::vector<Entry> index)
      : path_(std::move(path)),
        file_(std::move(file)),
        header_(std::move(header)),
        index_(std::move(index)) {}
  size_t size() const override { return index_.size(); }
  InputShape shape() const override { return header_.shape; }
  int classes() const override { return header_.classes; }
  const std::vector<std::string>& class_names() const override { return header_.names; }
  int32_t label(size_t i) const override { return index_[i].label; }
  std::string origin(size_t i) const override { return path_ + ": record " + std::to_string(i); }
  Status read(size_t i, std::span<uint8_t> out) const override {
    if (!file_->read(header_.pixels_offset + i * out.size(), out.data(), out.size()))
      return {Code::Corrupt, origin(i) + ": is cut off"};
    if (crc32c({reinterpret_cast<const char*>(out.data()), out.size()}) != index_[i].crc) {
      return {Code::Corrupt, origin(i) + ": its checksum is wrong"};
    }
    return {};
  }

 private:
  std::string path_;
  std::unique_ptr<File> file_;
  Header header_;
  std::vector<Entry> index_;
};

Result<Header> parse_header(std::string_view text, uint64_t file_bytes, const std::string& path) {
  auto bad = [&](const std::string& what) { return Status(Code::Corrupt, path + ": " + what); };
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return bad("its header is not JSON");
  Header h;
  try {
    if (json.at("version").get<int>() != 1)
      return Status(Code::Unsupported,
                    path + ": is of version " + json.at("version").dump() + ", this program reads 1");
    const auto& shape = json.at("shape");
    h.shape = {shape.at(0).get<int>(), shape.at(1).get<int>(), shape.at(2).get<int>()};
    h.classes = json.at("classes").get<int>();
    h.names = json.at("class_names").get<std::vector<std::string>>();
    h.records = json.at("records").get<uint64_t>();
    h.index_offset = json.at("index_offset").get<uint64_t>();
    h.pixels_offset = json.at("pixels_offset").get<uint64_t>();
    h.index_crc = json.at("index_crc").get<uint32_t>();
  } catch (const nlohmann::json::exception& e) {
    return bad(std::string("its header is not as needed: ") + e.what());
  }
  const InputShape& s = h.shape;
  const bool sane = s.height > 0 && s.width > 0 && s.channels > 0 && s.height <= 65536 && s.width <= 65536 &&
                    s.channels <= 64 && h.classes > 0 &&
                    (h.names.empty() || h.names.size() == size_t(h.classes));
  if (!sane) return bad("its header describes no images");
  const uint64_t each = pixel_count(s);
  if (h.records == 0 || h.records > file_bytes / (8 + each) || h.index_offset > file_bytes ||
      h.pixels_offset > file_bytes ||
      h.records * 8 > h.pixels_offset - std::min(h.index_offset, h.pixels_offset) ||
      h.pixels_offset + h.records * each != file_bytes) {
    return bad("has " + std::to_string(file_bytes) + " bytes, which is not what its header needs");
  }
  return h;
}

}  // namespace

Result<DatasetPtr> read_packed(const std::string& place, bool training, const ReaderOptions&) {
  std::error_code ignored;
  std::string path = place;
  if (std::filesystem::is_directory(place, ignored)) path += training ? "/train.radlpack" : "/test.radlpack";
  auto file = std::make_unique<File>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file->fd() < 0) return errno_status(errno, path);
  struct stat info {};
  ::fstat(file->fd(), &info);
  const uint64_t size = uint64_t(info.st_size);
  char head[22];  // magic, length of the header, its checksum
  uint64_t length = 0;
  if (size < sizeof head || !file->read(0, head, sizeof head) ||
      std::string_view(head, kMagic.size()) != kMagic) {
    return Status(Code::Corrupt, path + ": is not a packed dataset");
  }
  std::memcpy(&length, head + kMagic.size(), 8);
  if (length > kLargestHeader || length > size - sizeof head)
    return Status(Code::Corrupt, path + ": its header is cut off");
  std::string text(length, '\0');
  uint32_t crc = 0;
  std::memcpy(&crc, head + kMagic.size() + 8, 4);
  if (!file->read(sizeof head, text.data(), length) || crc32c(text) != crc) {
    return Status(Code::Corrupt, path + ": its header is damaged");
  }
  auto header = parse_header(text, size, path);
  if (!header.ok()) return header.status();
  std::vector<Entry> index(header->records);
  if (!file->read(header->index_offset, index.data(), index.size() * sizeof(Entry)) ||
      crc32c({reinterpret_cast<const char*>(index.data()), index.size() * sizeof(Entry)}) !=
          header->index_crc) {
    return Status(Code::Corrupt, path + ": its index is damaged");
  }
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i].label < 0 || index[i].label >= header->classes) {
      return Status(Code::Corrupt, path + ": record " + std::to_string(i) + ": label " +
                                       std::to_string(index[i].label) + " is not in 0.." +
                                       std::to_string(header->classes - 1));
    }
  }
  return DatasetPtr(
      std::make_shared<PackedDataset>(path, std::move(file), std::move(*header), std::move(index)));
}

Result<size_t> write_packed(const std::string& path, const Dataset& dataset, bool skip_corrupt) {
  const InputShape shape = dataset.shape();
  const std::string temporary = path + ".tmp-" + to_hex(random_bytes(4));
  File file(::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.fd() < 0) return errno_status(errno, temporary);
  auto give_up = [&](Status s) {
    ::unlink(temporary.c_str());
    return s;
  };
  // Room for the header, which is written last.
  uint64_t names = 0;
  for (const auto& name : dataset.class_names()) names += 6 * name.size() + 3;  // at most, as JSON
  const uint64_t header_room = align(512 + names);
  const uint64_t pixels_offset = align(header_room + dataset.size() * sizeof(Entry));
  std::vector<uint8_t> pixels(pixel_count(shape));
  std::vector<Entry> index;
  for (size_t i = 0; i < dataset.size(); ++i) {
    if (Status s = dataset.read(i, pixels); !s.ok()) {
      if (skip_corrupt && s.code() == Code::Corrupt) continue;
      return give_up(s);
    }
    if (!file.write(pixels_offset + index.size() * pixels.size(), pixels.data(), pixels.size()))
      return give_up(errno_status(errno, path));
    index.push_back(
        {dataset.label(i), crc32c({reinterpret_cast<const char*>(pixels.data()), pixels.size()})});
  }
  if (index.empty()) return give_up(Status(Code::Corrupt, path + ": there are no images to write"));
  const nlohmann::ordered_json json = {
      {"format", "radl-pack"},
      {"version", 1},
      {"shape", {shape.height, shape.width, shape.channels}},
      {"classes", dataset.classes()},
      {"class_names", dataset.class_names()},
      {"records", index.size()},
      {"index_offset", header_room},
      {"pixels_offset", pixels_offset},
      {"index_crc", crc32c({reinterpret_cast<const char*>(index.data()), index.size() * sizeof(Entry)})}};
  const std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  const uint64_t length = text.size();
  std::string head(kMagic);
  head.append(reinterpret_cast<const char*>(&length), 8);
  const uint32_t header_crc = crc32c(text);
  head.append(reinterpret_cast<const char*>(&header_crc), 4);
  head += text;
  if (head.size() > header_room) return give_up(internal_error("packed header outgrew its room"));
  if (!file.write(header_room, index.data(), index.size() * sizeof(Entry)) ||
      !file.write(0, head.data(), head.size()) || ::fsync(file.fd()) != 0) {
    return give_up(errno_status(errno, path));
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return give_up(errno_status(errno, path));
  return index.size();
}

}  // namespace radl::engine::data
