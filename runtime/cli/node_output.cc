#include "runtime/cli/node_output.h"

#include <cstdio>

#include "runtime/cli/shown.h"

namespace radl::cli {

NodeOutput::~NodeOutput() {
  for (bool is_stderr : {false, true}) {
    if (!rest_[is_stderr].empty()) print(rest_[is_stderr], is_stderr);
  }
}

void NodeOutput::add(std::string_view piece, bool is_stderr) {
  std::string& rest = rest_[is_stderr];
  for (size_t newline; (newline = piece.find('\n')) != std::string_view::npos;
       piece.remove_prefix(newline + 1)) {
    print(rest.append(piece.substr(0, newline)) + "\n", is_stderr);
    rest.clear();
  }
  rest.append(piece);
}

void NodeOutput::print(const std::string& line, bool is_stderr) {
  const std::string whole =
      name_.empty() ? line : shown(name_) + " | " + line + (line.ends_with('\n') ? "" : "\n");
  // One call: lines of several nodes never mix.
  std::FILE* stream = is_stderr ? stderr : stdout;
  std::fwrite(whole.data(), 1, whole.size(), stream);
  std::fflush(stream);
}

}  // namespace radl::cli
