// Writes event files for TensorBoard: scalars, histograms, text, images.
//
// Format: TFRecord framing (length, masked CRC-32C of it, bytes, masked CRC-32C of them) around protobuf
// `Event` messages (tensorflow/core/util/event.proto, framework/summary.proto), encoded directly: eight small
// messages. File name: events.out.tfevents.SECONDS.HOST.PID.N. Not thread-safe: one writer per thread.
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
  // Creates the folder and a new file in it. A resumed run adds a file; TensorBoard joins files by step.
  static Result<std::unique_ptr<EventWriter>> create(const std::string& directory);
  ~EventWriter();  // flushes

  Status scalar(std::string_view tag, int64_t step, float value);
  // Markdown, shown in TensorBoard's text tab.
  Status text(std::string_view tag, int64_t step, std::string_view markdown);
  // Distribution of `values`, in TensorFlow's exponential buckets. Ignores NaN and infinity.
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
// Wraps the bytes in a TFRecord frame.
std::string tfrecord_frame(std::string_view bytes);

}  // namespace radl::engine::exporter
