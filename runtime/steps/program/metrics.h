// The numbers that a program reports: its last value of each.
//
// Read from lines of its output (metric_lines.h), from files *.jsonl, and from TensorBoard's event files
// (tfevents: TFRecord frames of Event messages,
// https://github.com/tensorflow/tensorboard/blob/master/tensorboard/compat/proto/event.proto).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/steps/program/metric_lines.h"

namespace radl::program {

// All scalars of an event file, in order; one that ends in the midst of a record (it is being written) gives
// what is before it. Corrupt: a frame's checksum of its length does not fit.
Status take_event_file(std::string_view bytes, Metrics& into);
// Of these files below a folder, in the order of their names. A file that is none of either kind is passed
// over.
void take_files(const std::string& folder, std::vector<std::string> names, Metrics& into);

}  // namespace radl::program
