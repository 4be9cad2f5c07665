#include "compiler/source/source.h"

#include <algorithm>
#include <cstring>
#include <iostream>
#include <iterator>

#include "common/digest.h"
#include "compiler/source/read.h"

namespace radl {
namespace {

bool continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Length of the UTF-8 sequence at `at`, 0 when it is not one (RFC 3629: no surrogates, no overlong forms).
size_t sequence(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if (!continuation(text[at + i])) return 0;
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F)) return 0;
  if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

size_t find_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    // Mostly ASCII: 32 bytes at a time.
    uint64_t words[4];
    if (at + sizeof words <= text.size() &&
        (std::memcpy(words, text.data() + at, sizeof words),
         ((words[0] | words[1] | words[2] | words[3]) & 0x8080808080808080u) == 0)) {
      at += sizeof words;
      continue;
    }
    size_t length = sequence(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string::npos;
}

// CRLF and lone CR become LF; says whether most line ends were CRLF.
bool normalise_newlines(std::string& text) {
  size_t from = text.find('\r');
  if (from == std::string::npos) return false;
  size_t to = from, crlf = 0, lf = static_cast<size_t>(std::count(text.begin(), text.begin() + from, '\n'));
  for (; from < text.size(); ++from) {
    if (text[from] == '\r') {
      if (from + 1 < text.size() && text[from + 1] == '\n') ++from, ++crlf;
      text[to++] = '\n';
    } else {
      lf += text[from] == '\n';
      text[to++] = text[from];
    }
  }
  text.resize(to);
  return crlf > lf;
}

}  // namespace

Span cover(Span first, Span last) {
  if (!first.known()) return last;
  if (!last.known()) return first;
  return {first.file, std::min(first.begin, last.begin), std::max(first.end, last.end)};
}

SourceFile::SourceFile(uint32_t id, std::string path, std::string bytes)
    : id_(id), path_(std::move(path)), text_(std::move(bytes)) {
  crlf_ = text_.find('\r') != std::string::npos;
  if (crlf_) original_ = text_;
  bool mark = text_.starts_with("\xEF\xBB\xBF");
  if (mark) {
    if (original_.empty()) original_ = text_;
    text_.erase(0, 3);
  }
  crlf_ = crlf_ && normalise_newlines(text_);
  invalid_utf8_ = find_invalid_utf8(text_);
}

std::string SourceFile::sha256() const { return sha256_hex(original_.empty() ? text_ : original_); }

std::string_view SourceFile::text(Span span) const {
  if (span.file != id_ || span.begin > text_.size()) return {};
  return std::string_view(text_).substr(span.begin, span.end - span.begin);
}

void SourceFile::find_lines(size_t offset, size_t count) const {
  while (!all_lines_ && starts_.back() <= offset && starts_.size() <= count) {
    size_t newline = text_.find('\n', starts_.back());
    if (newline == text_.npos)
      all_lines_ = true;
    else
      starts_.push_back(static_cast<uint32_t>(newline + 1));
  }
}

int SourceFile::line_count() const {
  std::lock_guard lock(lines_);
  find_lines(text_.size(), text_.size() + 1);
  return static_cast<int>(starts_.size());
}

int SourceFile::line_of(uint32_t offset) const {
  std::lock_guard lock(lines_);
  find_lines(offset, text_.size() + 1);
  return static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin());
}

uint32_t SourceFile::line_begin(int line) const {
  std::lock_guard lock(lines_);
  const size_t wanted = static_cast<size_t>(std::max(line, 1));
  find_lines(text_.size(), wanted);
  return starts_[std::min(wanted, starts_.size()) - 1];
}

std::string_view SourceFile::line_text(int line) const {
  uint32_t begin = line_begin(line);
  std::string_view rest = std::string_view(text_).substr(begin);
  return rest.substr(0, rest.find('\n'));
}

Position SourceFile::position(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  int line = line_of(offset), column = 1;
  for (uint32_t at = line_begin(line); at < offset; ++at) column += !continuation(text_[at]);
  return {line, column};
}

Utf16Position SourceFile::utf16_position(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  int line = line_of(offset), units = 0;
  for (uint32_t at = line_begin(line); at < offset; ++at) {
    if (continuation(text_[at])) continue;
    units += static_cast<unsigned char>(text_[at]) >= 0xF0 ? 2 : 1;
  }
  return {line - 1, units};
}

uint32_t SourceFile::offset(Position position) const {
  uint32_t at = line_begin(position.line);
  uint32_t end = at + static_cast<uint32_t>(line_text(position.line).size());
  for (int column = 1; at < end && column < position.column; ++column) {
    ++at;
    while (at < end && continuation(text_[at])) ++at;
  }
  return at;
}

uint32_t SourceFile::offset(Utf16Position position) const {
  if (position.line >= line_count()) return static_cast<uint32_t>(text_.size());
  uint32_t at = line_begin(position.line + 1);
  uint32_t end = at + static_cast<uint32_t>(line_text(position.line + 1).size());
  for (int units = 0; at < end && units < position.character;) {
    units += static_cast<unsigned char>(text_[at]) >= 0xF0 ? 2 : 1;
    ++at;
    while (at < end && continuation(text_[at])) ++at;
  }
  return at;
}

Result<const SourceFile*> SourceMap::load(const std::string& path) {
  if (auto over = overlays_.find(path); over != overlays_.end()) return &add(path, over->second);
  std::string bytes;
  if (path == "-") {
    bytes.assign(std::istreambuf_iterator<char>(std::cin), {});
    if (bytes.size() > kMaxFileBytes) return Status(Code::Quota, "standard input is larger than 256 MiB");
  } else {
    Result<std::string> read = read_source_file(path, kMaxFileBytes);
    if (!read) return read.status();
    bytes = std::move(*read);
  }
  return &add(path == "-" ? "<stdin>" : path, std::move(bytes));
}

void SourceMap::overlay(std::string path, std::string bytes) {
  overlays_[std::move(path)] = std::move(bytes);
}

const SourceFile& SourceMap::add(std::string path, std::string bytes) {
  uint32_t id = static_cast<uint32_t>(files_.size()) + 1;
  files_.push_back(std::make_unique<SourceFile>(id, std::move(path), std::move(bytes)));
  return *files_.back();
}

const SourceFile* SourceMap::find(uint32_t id) const {
  return id == 0 || id > files_.size() ? nullptr : files_[id - 1].get();
}

const SourceFile* SourceMap::find(std::string_view path) const {
  for (const auto& file : files_)
    if (file->path() == path) return file.get();
  return nullptr;
}

Position SourceMap::position(Span span) const {
  const SourceFile* file = find(span.file);
  return file ? file->position(span.begin) : Position{};
}

std::string_view SourceMap::text(Span span) const {
  const SourceFile* file = find(span.file);
  return file ? file->text(span) : std::string_view{};
}

std::string SourceMap::where(Span span) const {
  const SourceFile* file = find(span.file);
  if (!file) return {};
  Position at = file->position(span.begin);
  return file->path() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

}  // namespace radl
