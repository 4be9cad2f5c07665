// Standard input for a command that is produced while the command runs (ProcessRequest::more_stdin;
// ExecOptions::more_stdin).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace radl {

class MoreInput {
 public:
  using Source = std::function<std::optional<std::string>()>;
  explicit MoreInput(const Source& source) : source_(source), ended_(!source) {}

  // The bytes to write now. Empty if there are none yet, or no more.
  std::string_view next() {
    if (taken_ < piece_.size()) return std::string_view(piece_).substr(taken_);
    if (ended_) return {};
    std::optional<std::string> piece = source_();
    ended_ = !piece;
    piece_ = std::move(piece).value_or("");
    taken_ = 0;
    return piece_;
  }
  void took(size_t bytes) { taken_ += bytes; }
  // The command stopped reading.
  void stop() { ended_ = true, piece_.clear(), taken_ = 0; }
  bool over() const { return ended_ && taken_ == piece_.size(); }

 private:
  const Source& source_;
  std::string piece_;
  size_t taken_ = 0;
  bool ended_;
};

}  // namespace radl
