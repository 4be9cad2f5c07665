// Inspects a dataset: its content, and which images are corrupt.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"
#include "engine/data/open.h"

namespace radl::engine::data {

struct ExamineOptions {
  OpenOptions open;
  size_t decode = 0;   // limit on decoded images, spread evenly over the dataset; 0: all
  size_t samples = 0;  // images to return, spread evenly
  int threads = 1;
  std::function<void(size_t done, size_t all)> progress;  // may be called from any thread
  Stop stop;
};

struct Examination {
  std::string format, note;
  InputShape shape;
  std::vector<std::string> classes;  // class names; numbers if the format has none
  std::vector<size_t> per_class;     // images of both parts
  size_t train = 0, test = 0;
  size_t decoded = 0;
  // Range of sizes among the inspected images; zeros for formats with one size.
  int least_height = 0, most_height = 0, least_width = 0, most_width = 0;
  struct Problem {
    std::string name, why;  // path below the dataset's folder
  };
  std::vector<Problem> corrupt;  // corrupt ones of the decoded images, in the dataset's order
  struct Sample {
    std::string class_name;
    std::vector<uint8_t> pixels;  // of `shape`, as Dataset::read() writes them
  };
  std::vector<Sample> samples;                // without corrupt images
  std::map<std::string, size_t> other_files;  // files that no reader handles, by extension
};

// Cancelled, and the errors of open_dataset().
Result<Examination> examine(const ExamineOptions& options);

}  // namespace radl::engine::data
