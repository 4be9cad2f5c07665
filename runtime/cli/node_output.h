// What several nodes print, line by line.
#pragma once

#include <string>
#include <string_view>

namespace radl::cli {

// Whole lines of several nodes on one stream, each behind its node's name. Safe in several threads.
class NodeOutput {
 public:
  // `name` empty: lines stand as they are.
  explicit NodeOutput(std::string name) : name_(std::move(name)) {}
  ~NodeOutput();  // prints what has no newline at its end
  void add(std::string_view piece, bool is_stderr);

 private:
  void print(const std::string& line, bool is_stderr);
  std::string name_, rest_[2];  // standard output's, standard error's
};

}  // namespace radl::cli
