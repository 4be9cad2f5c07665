// A look at a dataset before anything is done with it: what it holds, and which of its images are corrupt.
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
  size_t decode = 0;  // at most so many images, spread evenly over the dataset; 0: all of them
  int threads = 1;
  std::function<void(size_t done, size_t all)> progress;  // from any thread
  Stop stop;
};

struct Examination {
  std::string format, note;
  InputShape shape;
  std::vector<std::string> classes;  // names; numbers where the format has none
  std::vector<size_t> per_class;     // images of both parts
  size_t train = 0, test = 0;
  size_t decoded = 0;
  // Heights and widths that occur among those looked at; zeros for formats of one size.
  int least_height = 0, most_height = 0, least_width = 0, most_width = 0;
  struct Problem {
    std::string name, why;  // below the dataset's folder
  };
  std::vector<Problem> corrupt;               // of those decoded, in the dataset's order
  std::map<std::string, size_t> other_files;  // that no reader takes, by the end of their name
};

// Cancelled; else what open_dataset() says.
Result<Examination> examine(const ExamineOptions& options);

}  // namespace radl::engine::data
