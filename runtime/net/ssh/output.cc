#include "runtime/net/ssh/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/digest.h"
#include "common/shorten.h"
#include "common/text.h"

namespace radl::ssh {
namespace {

constexpr size_t kLongestPreface = 4096, kLongestMarkLine = 128, kLongestQuote = 300;

}  // namespace

// No backslash, no line end and no `!`: fish and csh read these differently, also between single quotes.
// `read` of a POSIX shell takes no byte past the line.
const char* const kRunFirstLine = "exec /bin/sh -c 'IFS= read -r s; eval \"$(printf %b \"$s\")\"'";

std::string first_line_of(std::string_view script) {
  std::string line;
  line.reserve(script.size() + script.size() / 16 + 1);
  for (char c : script) {
    if (c == '\\')
      line += "\\\\";
    else if (c == '\n')
      line += "\\n";
    else if (c != '\0')
      line += c;
  }
  return line + "\n";
}

std::string new_mark() { return "radl-" + to_hex(random_bytes(8)); }

std::string marked_script(const std::string& mark, bool login_locale, std::string_view command) {
  std::string script = fmt::format(
      "unset s; {{ read -r l < /proc/$$/stat; }} 2>/dev/null; set -- ${{l##*) }}; echo {0}; "
      "echo \"{0} $$ ${{20}}\" >&2; set --; unset l\n",
      mark);
  if (!login_locale) script += "RADL_LOCALE=${LC_ALL+=$LC_ALL} LC_ALL=C; export RADL_LOCALE LC_ALL\n";
  return script.append(command);
}

void Framing::drop(size_t bytes) {
  preface_.append(held_, 0, std::min(bytes, kLongestPreface - preface_.size()));
  held_.erase(0, bytes);
}

bool Framing::find_begin() {
  const size_t at = held_.find(mark_);
  if (at == std::string::npos) {
    if (held_.size() >= mark_.size()) drop(held_.size() - mark_.size() + 1);
    return false;
  }
  const size_t end = held_.find('\n', at);
  if (end == std::string::npos && held_.size() - at < kLongestMarkLine) return false;
  std::istringstream words(held_.substr(at + mark_.size(), end - at - mark_.size()));
  words >> pid_ >> start_;
  if (pid_.find_first_not_of("0123456789") != std::string::npos) pid_.clear();
  drop(at);
  held_.erase(0, end == std::string::npos ? end : end - at + 1);
  return true;
}

std::string Framing::take(std::string_view piece) {
  held_.append(piece);
  if (ended_) return "";
  if (!begun_) begun_ = find_begin();
  if (!begun_) return "";
  if (end_mark_.empty()) return std::exchange(held_, "");
  size_t at = held_.find(end_mark_);
  ended_ = at != std::string::npos;
  size_t pass = ended_ ? at : held_.size() - std::min(held_.size(), end_mark_.size());
  std::string out = held_.substr(0, pass);
  held_.erase(0, ended_ ? at + end_mark_.size() : pass);
  return out;
}

std::string Framing::rest() {
  if (!begun_) drop(held_.size());
  return ended_ || !begun_ ? "" : std::exchange(held_, "");
}

std::string quoted_line(std::string_view text) {
  std::string line;
  for (std::string_view one : split(text, '\n')) {
    std::string printable;
    for (char c : one) {
      if (static_cast<unsigned char>(c) >= 32 && c != 127) printable += c;
    }
    printable = trim(printable);
    if (!printable.empty()) line += (line.empty() ? "" : " | ") + printable;
  }
  return shorten(line, kLongestQuote);
}

Status runs_no_commands(const std::string& name, const std::string& ended, const Framing& out,
                        const Framing& err) {
  const std::string printed = quoted_line(out.preface() + "\n" + err.preface());
  return Status(Code::Invalid,
                fmt::format("{}: the login succeeds, but its shell runs no commands: it ended {} and {}",
                            name, ended, printed.empty() ? "printed nothing" : "printed: " + printed))
      .with_hint(
          "give the user a login shell that runs commands (chsh -s /bin/sh USER), and no forced command in "
          "authorized_keys or sshd_config");
}

}  // namespace radl::ssh
