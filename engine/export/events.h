// Event files that stock TensorBoard reads: scalars, histograms, text, images.
//
// Format: TFRecord framing (length, masked CRC-32C of it, bytes, masked CRC-32C of them) around protobuf
// `Event` messages (tensorflow/core/util/event.proto, framework/summary.proto), encoded by hand: eight small
// messages. File name: events.out.tfevents.SECONDS.HOST.PID.N. Not thread-safe: one writer, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::engine::exporter {

class EventWriter {
 public:
  // Makes the folder and a new file in it; a resumed run adds a file, which TensorBoard joins by step.
  static Result<std::unique_ptr<EventWriter>> create(const std::string& directory);
  ~EventWriter();  // flushes

  Status scalar(std::string_view tag, int64_t step, float value);
  // Markdown, as TensorBoard's text tab shows it.
  Status text(std::string_view tag, int64_t step, std::string_view markdown);
  // Distribution of `values`, in exponential buckets as TensorFlow makes them. NaN and infinity are left out.
  Status histogram(std::string_view tag, int64_t step, std::span<const float> values);
  // Encoded PNG or JPEG bytes.
  Status image(std::string_view tag, int64_t step, int height, int width, int channels,
               std::string_view encoded);
  Status flush();
  const std::string& path() const;

 private:
  struct Impl;
  explicit EventWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The masked CRC-32C of the TFRecord format.
uint32_t masked_crc32c(std::string_view bytes);
// One TFRecord frame around the bytes.
std::string tfrecord_frame(std::string_view bytes);

}  // namespace radl::engine::exporter
