// Passes a command to a node's shell and reads its output; shared by both transports.
//
// Any login shell is possible (sh, bash, zsh, fish, csh, tcsh), and its start-up files may print text. So
// every command line is the same fixed one, which starts /bin/sh; the script is the first line of standard
// input; and both output streams begin with a mark. Text before the mark comes from the login.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/status.h"

namespace radl::ssh {

// The last `limit` bytes of a stream.
class Tail {
 public:
  explicit Tail(size_t limit) : limit_(limit) {}
  void add(std::string_view piece) {
    if (piece.size() > limit_) cut_ = true, piece.remove_prefix(piece.size() - limit_);
    text_.append(piece);
    if (text_.size() > 2 * limit_) trim();  // occasionally, not for each piece
  }
  // The text, and whether earlier text was dropped.
  std::pair<std::string, bool> take() {
    if (text_.size() > limit_) trim();
    return {std::move(text_), cut_};
  }

 private:
  void trim() {
    text_.erase(0, text_.size() - limit_);
    cut_ = true;
  }

  size_t limit_;
  std::string text_;
  bool cut_ = false;
};

// The command line for the login shell: /bin/sh executes the first line of its standard input.
extern const char* const kRunFirstLine;

// Encodes a script of any number of lines as that line. The rest of the input is the script's standard input.
std::string first_line_of(std::string_view script);

// A mark that no start-up file prints.
std::string new_mark();

// The script that marks the beginning of both streams, reports its shell's process ID on standard error, and
// runs the command. Uses the C locale, so that output can be parsed; the variable RADL_LOCALE keeps the
// previous LC_ALL (see kLoginLocale). `login_locale`: keeps the login's locale.
std::string marked_script(const std::string& mark, bool login_locale, std::string_view command);

// Extracts the part of a stream between its mark and `end_mark`. On standard error, the mark's line has the
// process ID.
class Framing {
 public:
  explicit Framing(std::string mark, std::string end_mark = "")
      : mark_(std::move(mark)), end_mark_(std::move(end_mark)) {}
  // The part that can be passed on now.
  std::string take(std::string_view piece);
  std::string rest();  // at the end of the stream

  bool begun() const { return begun_; }
  // The text before the mark, or all text if there was none; at most 4 KiB.
  const std::string& preface() const { return preface_; }
  const std::string& end_mark() const { return end_mark_; }
  bool ended() const { return ended_; }
  const std::string& pid() const { return pid_; }
  const std::string& start() const {
    return start_;
  }  // clock ticks since boot; empty if /proc is unavailable
  const std::string& after_end() const { return held_; }  // after the end: the text after the mark

 private:
  bool find_begin();
  void drop(size_t bytes);

  std::string mark_, end_mark_, held_, preface_, pid_, start_;
  bool begun_ = false, ended_ = false;
};

// Invalid: the login to `name` succeeded, but its shell executed nothing. Quotes its output. `ended`: how the
// shell ended, "with status 1".
Status runs_no_commands(const std::string& name, const std::string& ended, const Framing& out,
                        const Framing& err);

// One line of a node's output, without control characters, at most 300 bytes.
std::string quoted_line(std::string_view text);

}  // namespace radl::ssh
