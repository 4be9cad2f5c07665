// Reads lines from a user: with editing, history and completion (libedit) on a terminal, otherwise plainly.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace radl::cli {

class LineReader {
 public:
  struct Options {
    std::string history;  // history file, created with mode 0600; "": none
    // Start of the last word of a text, and its completions.
    std::function<size_t(const std::string& text)> word;
    std::function<std::vector<std::string>(const std::string& text)> complete;
  };

  // `terminal`: standard input and output are terminals.
  LineReader(bool terminal, Options options);
  ~LineReader();  // saves the history
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Reads a line without its newline. False at the end of input. Shows the prompt only on a terminal.
  bool next(const std::string& prompt, std::string& line);
  // True if lines can be edited. False if libedit is not installed.
  bool edits() const;

 private:
  struct Editor;
  bool terminal_;
  std::unique_ptr<Editor> editor_;
};

}  // namespace radl::cli
