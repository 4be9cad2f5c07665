#include "common/user_text.h"

#include <algorithm>

#include "common/files.h"

namespace radl {

std::string_view without_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

Result<std::string> read_user_text(const std::string& path, size_t limit) {
  Result<std::string> text = read_file(path, limit);
  if (!text.ok()) return text;
  if (text->starts_with("\xFF\xFE") || text->starts_with("\xFE\xFF"))
    return Status(Code::Invalid, path + ": is in UTF-16").with_hint("save it as UTF-8");
  text->erase(0, text->size() - without_mark(*text).size());
  return text;
}

Status check_one_line(std::string_view variable, std::string_view value) {
  const bool plain = std::none_of(value.begin(), value.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
  if (plain) return {};
  return Status(Code::Auth,
                std::string(variable) + " has a line break or another control character in its value")
      .with_hint("set it again, on one line");
}

}  // namespace radl
