// How a command gets to a node's shell and its output back: shared by both transports.
//
// A login shell may be any (sh, bash, zsh, fish, csh, tcsh) and may print in its start-up files. So every
// command line is the same fixed one, which starts /bin/sh; the script is the first line of standard input;
// and both output streams begin with a mark. What a stream holds before its mark is the login's own.
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
    if (text_.size() > 2 * limit_) trim();  // now and then, not for each piece
  }
  // The text, and whether there was more before it.
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

// The command line for the login's shell: /bin/sh runs the first line of its standard input.
extern const char* const kRunFirstLine;

// That line, for a script of any lines. What follows it is the script's standard input.
std::string first_line_of(std::string_view script);

// A mark that no start-up file prints.
std::string new_mark();

// The script that marks the beginning of both streams, says on standard error which process its shell is, and
// runs the command. In the C locale, so that what programs print can be read by a program; the environment
// variable RADL_LOCALE keeps what LC_ALL was (see kLoginLocale). `login_locale`: the login's, as it is.
std::string marked_script(const std::string& mark, bool login_locale, std::string_view command);

// One stream without its mark and what precedes it, and without `end_mark` and what follows it. On standard
// error the mark's line names the process.
class Framing {
 public:
  explicit Framing(std::string mark, std::string end_mark = "")
      : mark_(std::move(mark)), end_mark_(std::move(end_mark)) {}
  // What of it can be passed on now.
  std::string take(std::string_view piece);
  std::string rest();  // at the end of the stream

  bool begun() const { return begun_; }
  // What precedes the mark, or all of it where no mark came: the first 4 KiB.
  const std::string& preface() const { return preface_; }
  const std::string& end_mark() const { return end_mark_; }
  bool ended() const { return ended_; }
  const std::string& pid() const { return pid_; }
  const std::string& start() const {
    return start_;
  }  // clock ticks since boot; empty where /proc is not there
  const std::string& after_end() const { return held_; }  // once it has ended: what follows the mark

 private:
  bool find_begin();
  void drop(size_t bytes);

  std::string mark_, end_mark_, held_, preface_, pid_, start_;
  bool begun_ = false, ended_ = false;
};

// Invalid: the login of `name` succeeded, but its shell ran nothing. Quotes what it printed instead.
// `ended`: how its shell ended, "with status 1".
Status runs_no_commands(const std::string& name, const std::string& ended, const Framing& out,
                        const Framing& err);

// One line of what a node printed, without control characters, at most 300 bytes.
std::string quoted_line(std::string_view text);

}  // namespace radl::ssh
