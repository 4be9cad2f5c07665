// Lines that somebody types: on a terminal with editing, history and completion (libedit), else as they come.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace radl::cli {

class LineReader {
 public:
  struct Options {
    std::string history;  // file that keeps what was typed, made with mode 0600; "": none
    // Where the last word of a text begins, and what it may become.
    std::function<size_t(const std::string& text)> word;
    std::function<std::vector<std::string>(const std::string& text)> complete;
  };

  // `terminal`: standard input and output are terminals.
  LineReader(bool terminal, Options options);
  ~LineReader();  // writes the history
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Without its newline; false at the end of input. The prompt is shown on a terminal only.
  bool next(const std::string& prompt, std::string& line);
  // Can lines be edited? False as well where libedit is not installed.
  bool edits() const;

 private:
  struct Editor;
  bool terminal_;
  std::unique_ptr<Editor> editor_;
};

}  // namespace radl::cli
