// An open file as the editor has it: text, version and incoming changes.
#pragma once

#include <optional>
#include <string>

#include "tools/lsp/position.h"

namespace radl::lsp {

class Document {
 public:
  Document(std::string uri, std::string path, int version, std::string text);

  const std::string& uri() const { return uri_; }
  const std::string& path() const { return path_; }  // the URI if it does not name a local file
  int version() const { return version_; }
  const std::string& text() const { return text_; }
  const LineIndex& lines() const { return lines_; }

  // Replaces the range (the whole text if none), and updates the line index.
  void change(const std::optional<Range>& range, std::string_view replacement, Encoding encoding);
  void set_version(int version) { version_ = version; }

  Position position(size_t offset, Encoding encoding) const {
    return lines_.position(text_, offset, encoding);
  }
  size_t offset(Position position, Encoding encoding) const {
    return lines_.offset(text_, position, encoding);
  }

 private:
  std::string uri_, path_;
  int version_;
  std::string text_;
  LineIndex lines_;
};

}  // namespace radl::lsp
