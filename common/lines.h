// Splits a stream into lines as it arrives, in bounded memory. Drops the rest of a line over the limit.
#pragma once

#include <string>
#include <string_view>

namespace radl {

class Lines {
 public:
  explicit Lines(size_t longest) : longest_(longest) {}

  // Calls take(line, cut) for each complete line. `cut`: part of the line was dropped.
  template <class Take>
  void add(std::string_view piece, Take&& take) {
    for (size_t end; (end = piece.find('\n')) != std::string_view::npos; piece.remove_prefix(end + 1)) {
      hold(piece.substr(0, end));
      give(take);
    }
    hold(piece);
  }
  // Call at the end of the stream. Passes on a last line without a newline.
  template <class Take>
  void end(Take&& take) {
    if (!held_.empty()) give(take);
  }

 private:
  void hold(std::string_view piece) {
    size_t room = longest_ - held_.size();
    cut_ |= piece.size() > room;
    held_.append(piece.substr(0, room));
  }
  template <class Take>
  void give(Take&& take) {
    take(std::string_view(held_), cut_);
    held_.clear();
    cut_ = false;
  }

  size_t longest_;
  std::string held_;
  bool cut_ = false;
};

}  // namespace radl
