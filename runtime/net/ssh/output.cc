#include "runtime/net/ssh/output.h"

#include <sstream>

namespace radl::ssh {
namespace {

constexpr std::string_view kPidMark = "radl-pid ";
constexpr size_t kLongestPreface = 64 * 1024;

}  // namespace

std::string announced(std::string_view command) {
  return "{ read -r l < /proc/$$/stat; } 2>/dev/null; set -- ${l##*) }; echo \"" + std::string(kPidMark) +
         "$$ ${20}\" >&2; " + std::string(command);
}

// Moves what stands before the line to the front of what is passed on.
bool Framing::find_begin() {
  size_t at = held_.starts_with(kPidMark) ? 0 : held_.find("\n" + std::string(kPidMark));
  if (at == std::string::npos) return false;
  if (at > 0) ++at;
  size_t end = held_.find('\n', at);
  if (end == std::string::npos) return false;
  std::istringstream words(held_.substr(at + kPidMark.size(), end - at - kPidMark.size()));
  words >> pid_ >> start_;
  if (pid_.find_first_not_of("0123456789") != std::string::npos) pid_.clear();
  held_.erase(at, end + 1 - at);
  return true;
}

std::string Framing::take(std::string_view piece) {
  held_.append(piece);
  if (ended_) return "";
  if (!begun_) {
    begun_ = find_begin();
    if (!begun_ && held_.size() < kLongestPreface) return "";
    begun_ = true;
  }
  if (end_mark_.empty()) return std::exchange(held_, "");
  size_t at = held_.find(end_mark_);
  ended_ = at != std::string::npos;
  size_t pass = ended_ ? at : held_.size() - std::min(held_.size(), end_mark_.size());
  std::string out = held_.substr(0, pass);
  held_.erase(0, ended_ ? at + end_mark_.size() : pass);
  return out;
}

std::string Framing::rest() { return ended_ ? "" : std::exchange(held_, ""); }

}  // namespace radl::ssh
