// Source files and places in them. Everything that the compiler says about a file says it with a Span.
//
// Bytes are kept as UTF-8 with LF line ends: CRLF and lone CR are normalised when a file is added (and the
// style is remembered, so that the formatter can write it back), a byte order mark is dropped.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl {

// Half-open byte range in one file. File 0 is "nowhere" (made by the compiler, or a whole document).
struct Span {
  uint32_t file = 0;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool known() const { return file != 0; }
  uint32_t size() const { return end - begin; }
  bool contains(uint32_t offset) const { return begin <= offset && offset < end; }
  bool operator==(const Span&) const = default;
};

// From the start of the first to the end of the second; either may be unknown.
Span cover(Span first, Span last);

// Both from 1. A column counts code points (Position) or UTF-16 units (Utf16Position, from 0, as LSP does).
struct Position {
  int line = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};
struct Utf16Position {
  int line = 0;
  int character = 0;
};

class SourceFile {
 public:
  SourceFile(uint32_t id, std::string path, std::string bytes);

  uint32_t id() const { return id_; }
  const std::string& path() const { return path_; }  // as the user named it
  std::string_view text() const { return text_; }    // LF line ends, no byte order mark
  std::string_view text(Span span) const;
  std::string sha256() const;          // of the bytes as they were given
  bool crlf() const { return crlf_; }  // most lines ended in CRLF

  int line_count() const;
  int line_of(uint32_t offset) const;  // from 1
  Position position(uint32_t offset) const;
  Utf16Position utf16_position(uint32_t offset) const;
  uint32_t offset(Position position) const;  // clamped to the line
  uint32_t offset(Utf16Position position) const;
  uint32_t line_begin(int line) const;         // offset of its first byte
  std::string_view line_text(int line) const;  // without the newline
  Span whole() const { return {id_, 0, static_cast<uint32_t>(text_.size())}; }
  // Offset of the first byte that is not UTF-8, or npos.
  size_t invalid_utf8() const { return invalid_utf8_; }

 private:
  uint32_t id_;
  std::string path_;
  std::string text_;
  std::string original_;  // the bytes as given, when they differ from text_
  bool crlf_ = false;
  size_t invalid_utf8_ = std::string::npos;

  // Looks for lines until one begins behind `offset`, or there are more than `count`, or the text ends.
  void find_lines(size_t offset, size_t count) const;
  // Offset of each line's first byte, as far as somebody asked: most files are sound, and nobody does.
  mutable std::vector<uint32_t> starts_{0};
  mutable bool all_lines_ = false;
  mutable std::mutex lines_;
};

// Owns every file of a compilation. Files never move: views into them stay good as long as the map lives.
class SourceMap {
 public:
  static constexpr size_t kMaxFileBytes = size_t{256} << 20;

  // Reads a file ("-": standard input). NotFound, Invalid, or Quota when it is larger than kMaxFileBytes.
  Result<const SourceFile*> load(const std::string& path);
  const SourceFile& add(std::string path, std::string bytes);
  // From now on load(path) gives these bytes and does not look at the disk: an editor's unsaved text.
  void overlay(std::string path, std::string bytes);

  const SourceFile* find(uint32_t id) const;  // nullptr for 0 and unknown ids
  const SourceFile* find(std::string_view path) const;
  const std::vector<std::unique_ptr<SourceFile>>& files() const { return files_; }
  Position position(Span span) const;  // of its begin; {0, 0} when unknown
  std::string_view text(Span span) const;
  // "path:line:column", "path" or "".
  std::string where(Span span) const;

 private:
  std::vector<std::unique_ptr<SourceFile>> files_;
  std::map<std::string, std::string> overlays_;
};

}  // namespace radl
