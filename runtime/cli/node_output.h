// Output of several nodes, line by line.
#pragma once

#include <string>
#include <string_view>

namespace radl::cli {

// Writes complete lines of several nodes to one stream, prefixed with the node's name. Thread-safe.
class NodeOutput {
 public:
  // If `name` is empty, lines are unchanged.
  explicit NodeOutput(std::string name) : name_(std::move(name)) {}
  ~NodeOutput();  // prints a last line without a newline
  void add(std::string_view piece, bool is_stderr);

 private:
  void print(const std::string& line, bool is_stderr);
  std::string name_, rest_[2];  // for standard output and standard error
};

}  // namespace radl::cli
