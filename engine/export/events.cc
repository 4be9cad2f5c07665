#include "engine/export/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "common/crc32c.h"
#include "common/files.h"
#include "engine/export/protobuf.h"

namespace radl::engine::exporter {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;

void put_fixed(std::string& out, uint64_t v, int n) {
  for (int i = 0; i < n; ++i) out.push_back(char(v >> (8 * i)));
}

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The bucket limits of TensorFlow's histograms: 1e-12 * 1.1^k and their negatives.
const std::vector<double>& bucket_limits() {
  static const std::vector<double> limits = [] {
    std::vector<double> positive;
    for (double v = 1e-12; v < 1e20; v *= 1.1) positive.push_back(v);
    positive.push_back(std::numeric_limits<double>::max());
    std::vector<double> all;
    for (auto it = positive.rbegin(); it != positive.rend(); ++it) all.push_back(-*it);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return limits;
}

Message histogram_message(std::span<const float> values) {
  const auto& limits = bucket_limits();
  std::vector<double> counts(limits.size());
  double low = std::numeric_limits<double>::max(), high = -low, sum = 0, squares = 0, n = 0;
  for (float f : values) {
    if (!std::isfinite(f)) continue;
    const double v = f;
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
    squares += v * v;
    ++n;
    ++counts[size_t(std::upper_bound(limits.begin(), limits.end(), v) - limits.begin())];
  }
  if (n == 0) low = high = 0;
  std::vector<double> used_limits, used_counts;
  for (size_t i = 0; i < limits.size(); ++i) {
    // An empty bucket before a full one gives the full one its lower edge; runs of empty ones are one bucket.
    const bool next_full = i + 1 < limits.size() && counts[i + 1] > 0;
    if (counts[i] == 0 && !next_full) continue;
    used_limits.push_back(limits[i]);
    used_counts.push_back(counts[i]);
  }
  if (used_limits.empty()) {
    used_limits.push_back(0);
    used_counts.push_back(0);
  }
  Message m;
  m.real(1, low).real(2, high).real(3, n).real(4, sum).real(5, squares);
  m.packed(6, std::span<const double>(used_limits)).packed(7, std::span<const double>(used_counts));
  return m;
}

}  // namespace

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

std::string tfrecord_frame(std::string_view bytes) {
  std::string out;
  put_fixed(out, bytes.size(), 8);
  put_fixed(out, masked_crc32c(out), 4);
  out.append(bytes);
  put_fixed(out, masked_crc32c(bytes), 4);
  return out;
}

struct EventWriter::Impl {
  std::string path, buffer;
  int fd = -1;

  Status add(int64_t step, int field, const Message& body) {
    Message event;
    event.real(1, wall_time()).integer(2, step).message(field, body);
    return frame(event);
  }
  Status frame(const Message& event) {
    buffer += tfrecord_frame(event.str());
    return buffer.size() >= kBufferBytes ? flush() : Status();
  }
  Status value(int64_t step, const Message& value) {
    Message summary;
    summary.message(1, value);
    return add(step, 5, summary);
  }
  Status flush() {
    size_t done = 0;
    Status status;
    while (done < buffer.size()) {
      const ssize_t n = ::write(fd, buffer.data() + done, buffer.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        status = errno_status(errno, path);
        break;
      }
      done += size_t(n);
    }
    buffer.erase(0, done);  // a full disk that gets room again loses nothing
    return status;
  }
};

EventWriter::EventWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<EventWriter>> EventWriter::create(const std::string& directory) {
  static std::atomic<int> number{0};
  if (Status made = make_directories(directory); !made.ok()) return made;
  char host[256] = "localhost";
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  auto impl = std::make_unique<Impl>();
  impl->path = directory + "/events.out.tfevents." + std::to_string(int64_t(wall_time())) + "." + host + "." +
               std::to_string(::getpid()) + "." + std::to_string(number++);
  impl->fd = ::open(impl->path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (impl->fd < 0) return errno_status(errno, impl->path);
  Message first;
  first.real(1, wall_time()).bytes(3, "brain.Event:2");
  std::unique_ptr<EventWriter> writer(new EventWriter(std::move(impl)));
  if (Status s = writer->impl_->frame(first); !s.ok()) return s;
  if (Status s = writer->flush(); !s.ok()) return s;
  return writer;
}

EventWriter::~EventWriter() {
  (void)impl_->flush();
  if (impl_->fd >= 0) ::close(impl_->fd);
}

Status EventWriter::scalar(std::string_view tag, int64_t step, float value) {
  Message v;
  v.bytes(1, tag).real32(2, value);
  return impl_->value(step, v);
}

Status EventWriter::text(std::string_view tag, int64_t step, std::string_view markdown) {
  // A string tensor with the text plug-in's name, as tf.summary.text writes it.
  Message plugin, metadata, tensor, v;
  plugin.bytes(1, "text");
  metadata.message(1, plugin);
  tensor.integer(1, 7).message(2, Message()).bytes(8, markdown);
  v.bytes(1, tag).message(8, tensor).message(9, metadata);
  return impl_->value(step, v);
}

Status EventWriter::histogram(std::string_view tag, int64_t step, std::span<const float> values) {
  Message v;
  v.bytes(1, tag).message(5, histogram_message(values));
  return impl_->value(step, v);
}

Status EventWriter::image(std::string_view tag, int64_t step, int height, int width, int channels,
                          std::string_view encoded) {
  Message image, v;
  image.integer(1, height).integer(2, width).integer(3, channels).bytes(4, encoded);
  v.bytes(1, tag).message(4, image);
  return impl_->value(step, v);
}

Status EventWriter::flush() { return impl_->flush(); }
const std::string& EventWriter::path() const { return impl_->path; }

}  // namespace radl::engine::exporter
