// The metrics that a program reports: the latest value of each.
//
// Read from lines of its output (metric_lines.h), from files *.jsonl, and from TensorBoard's event files
// (tfevents: TFRecord frames of Event messages,
// https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/steps/program/metric_lines.h"

namespace radl::program {

using TakeScalar = std::function<void(const std::string& tag, double value)>;
// Passes on all scalars of the complete records at the start of an event file, in order, and returns the size
// of these records in bytes. Corrupt: a record's checksum is wrong; earlier scalars were passed on.
Result<size_t> take_events(std::string_view bytes, const TakeScalar& take);
// Same for a whole file, which may end in an incomplete record while it is being written.
Status take_event_file(std::string_view bytes, Metrics& into);
// Reads these files below a folder in name order. Skips files of other
// kinds.
void take_files(const std::string& folder, std::vector<std::string> names, Metrics& into);

}  // namespace radl::program
