// What a command writes, on its way to the caller: shared by both transports.
#pragma once

#include <string>
#include <string_view>
#include <utility>

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

// Shell text: says on standard error in one line which process this shell is, then goes on with the command.
std::string announced(std::string_view command);

// Standard error without that line, and without `end_mark` and what follows it. What stands before the line
// is the login's own (a shell's start-up files, ssh's warnings).
class Framing {
 public:
  explicit Framing(std::string end_mark = "") : end_mark_(std::move(end_mark)) {}
  // What of it can be passed on now.
  std::string take(std::string_view piece);
  std::string rest();  // at the end of the stream

  bool begun() const { return begun_; }  // the line has come, or will not come
  const std::string& end_mark() const { return end_mark_; }
  bool ended() const { return ended_; }
  const std::string& pid() const { return pid_; }
  const std::string& start() const {
    return start_;
  }  // clock ticks since boot; empty where /proc is not there
  const std::string& after_end() const { return held_; }  // once it has ended: what follows the mark

 private:
  bool find_begin();

  std::string end_mark_, held_, pid_, start_;
  bool begun_ = false, ended_ = false;
};

}  // namespace radl::ssh
