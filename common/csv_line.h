// Parses one line of comma-separated text (RFC 4180, without line breaks inside fields).
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace radl {

class CsvLine {
 public:
  // The fields stay valid until the next split and while `line` is alive. Spaces around a field are dropped.
  // A field in double quotes may contain commas, and "" for a quote.
  void split(std::string_view line) {
    fields_.clear();
    unescaped_.clear();
    if (line.ends_with('\r')) line.remove_suffix(1);
    for (;;) {
      while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
      fields_.push_back(line.starts_with('"') ? quoted(line) : plain(line));
      if (line.empty()) return;
      line.remove_prefix(1);  // the comma
    }
  }
  const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  static std::string_view plain(std::string_view& line) {
    const size_t comma = std::min(line.find(','), line.size());
    std::string_view field = line.substr(0, comma);
    line.remove_prefix(comma);
    while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
    return field;
  }
  std::string_view quoted(std::string_view& line) {
    line.remove_prefix(1);
    std::string_view rest = line;
    size_t end = 0;
    bool doubled = false;
    while ((end = rest.find('"', end)) != std::string_view::npos && end + 1 < rest.size() &&
           rest[end + 1] == '"')
      end += 2, doubled = true;
    std::string_view field = rest.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    line.remove_prefix(std::min(line.find(','), line.size()));
    if (!doubled) return field;
    std::string text;
    for (size_t i = 0; i < field.size(); ++i) {
      text += field[i];
      if (field[i] == '"') ++i;
    }
    return unescaped_.emplace_back(std::move(text));
  }

  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;
};

}  // namespace radl
