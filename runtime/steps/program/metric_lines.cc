#include "runtime/steps/program/metric_lines.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace radl::program {
namespace {

constexpr size_t kMostNames = 10'000;
constexpr size_t kDeepest = 8;
constexpr size_t kLongestName = 60;
constexpr size_t kMostWords = 3;                   // of a name such as `Train loss`
constexpr size_t kLongestLine = size_t{64} << 10;  // of text that is not JSON

// The number that a text is as a whole.
std::optional<double> number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

// `texts`: also of texts that are numbers, as the Trainer of Hugging Face prints them.
void take_json(const nlohmann::json& json, const std::string& prefix, size_t depth, bool texts,
               Metrics& into) {
  if (depth > kDeepest) return;
  for (const auto& [name, value] : json.items()) {
    if (value.is_number()) take_number(prefix + name, value.get<double>(), into);
    if (value.is_object()) take_json(value, prefix + name + ".", depth + 1, texts, into);
    if (!texts || !value.is_string()) continue;
    if (const auto number = number_of(value.get<std::string>())) take_number(prefix + name, *number, into);
  }
}

// Python's dictionaries and numbers as JSON: quotes, and null for words and numbers that JSON does not have.
std::string as_json(std::string_view line) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"-Infinity", "null"}, {"Infinity", "null"}, {"-inf", "null"},   {"inf", "null"},  {"NaN", "null"},
      {"nan", "null"},       {"None", "null"},     {"False", "false"}, {"True", "true"},
  };
  std::string made;
  char quote = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == '\\' && at + 1 < line.size()) {
        const char escaped = line[++at];
        if (escaped != '\'') made += c;
        made += escaped;
      } else if (c == quote) {
        made += '"';
        quote = 0;
      } else {
        if (c == '"') made += '\\';
        made += c;
      }
      continue;
    }
    if (c == '"' || c == '\'') {
      quote = c;
      made += '"';
      continue;
    }
    auto word = std::find_if(std::begin(kWords), std::end(kWords),
                             [&](const auto& each) { return line.substr(at).starts_with(each.first); });
    if (word != std::end(kWords)) {
      made += word->second;
      at += word->first.size() - 1;
    } else {
      made += c;
    }
  }
  return made;
}

bool take_object(std::string_view line, Metrics& into) {
  nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  const bool python = json.is_discarded();
  if (python) json = nlohmann::json::parse(as_json(line), nullptr, false);
  if (!json.is_object()) return false;
  take_json(json, "", 0, python, into);
  return true;
}

bool space(char c) { return c == ' ' || c == '\t'; }
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '/' ||
         c == '@';
}

// The number that the text begins with, if what follows it ends a number.
std::optional<double> number_at(std::string_view text) {
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  constexpr std::string_view kEnds = " \t\r,;|)]}%'\"";
  if (!text.empty() && kEnds.find(text.front()) == kEnds.npos) return std::nullopt;
  return value;
}

// The name that ends the text: one word before `=`, up to three before `:` (`Train loss`). "" if there is
// none.
std::string name_before(std::string_view text, size_t most_words) {
  while (!text.empty() && (space(text.back()) || text.back() == '\'' || text.back() == '"'))
    text.remove_suffix(1);
  std::vector<std::string_view> words;  // the last first
  while (words.size() < most_words && !text.empty() && in_word(text.back())) {
    size_t begin = text.size();
    while (begin > 0 && in_word(text[begin - 1])) --begin;
    const std::string_view word = text.substr(begin);
    const bool letter = std::isalpha(static_cast<unsigned char>(word.front())) || word.front() == '_';
    if (!letter || word == "INFO" || word == "DEBUG" || word == "WARNING" || word == "ERROR") break;
    words.push_back(word);
    text.remove_suffix(word.size());
    if (text.empty() || text.back() != ' ') break;
    text.remove_suffix(1);
  }
  std::string name;
  for (auto word = words.rbegin(); word != words.rend(); ++word)
    name += (name.empty() ? "" : " ") + std::string(*word);
  return name.size() <= kLongestName ? name : "";
}

// Names of settings and of places, which programs print in the same way as what they have measured.
bool is_setting(std::string_view name) {
  name.remove_prefix(name.rfind(' ') + 1);  // "Serving on port: 8080"
  constexpr std::string_view kSettings[] = {"port", "pid",   "ppid", "tid",        "uid",
                                            "gid",  "fd",    "rank", "local_rank", "seed",
                                            "line", "errno", "code", "world_size", "master_port"};
  return std::find(std::begin(kSettings), std::end(kSettings), name) != std::end(kSettings);
}

// Whether a pair that follows `before` stands within a sentence: more than two words lead to it, as in
// "listening for workers at port=31884". Words of another clause do not count: "epoch 3 is done: loss=0.5".
bool in_sentence(std::string_view before) {
  constexpr size_t kMostWordsBefore = 2;
  const size_t clause = before.find_last_of(":,;|[](){}");
  if (clause != before.npos) before.remove_prefix(clause + 1);
  size_t words = 0;
  bool in = false;
  for (const char c : before) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c));
    if (letter && !in) ++words;
    in = !space(c);
  }
  return words > kMostWordsBefore;
}

void take_pairs(std::string_view line, Metrics& into) {
  size_t from = 0;  // after the last pair
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    // `host:29500` is an address: a colon is followed by a space.
    const bool colon = c == ':' && at + 1 < line.size() && space(line[at + 1]);
    if (!colon && c != '=') continue;
    const auto value = number_at(line.substr(at + 1));
    if (!value) continue;
    const std::string_view before = line.substr(from, at - from);
    const std::string name = name_before(before, colon ? kMostWords : 1);
    // Quotes and spaces may stand between the name and its value.
    const std::string_view leading = before.substr(0, before.rfind(name));
    if (!name.empty() && !is_setting(name) && !in_sentence(leading)) take_number(name, *value, into);
    from = at + 1;
  }
}

// `name   number`, also between the bars of a table: two cells, and nothing else.
void take_row(std::string_view line, Metrics& into) {
  if (line.find("  ") == line.npos && line.find_first_of("\t|\xe2") == line.npos) return;
  std::string plain;
  for (size_t at = 0; at < line.size(); ++at) {
    constexpr std::string_view kBars[] = {"│", "┃", "|"};
    auto bar = std::find_if(std::begin(kBars), std::end(kBars),
                            [&](std::string_view each) { return line.substr(at).starts_with(each); });
    plain += bar != std::end(kBars) ? ' ' : line[at];
    if (bar != std::end(kBars)) at += bar->size() - 1;
  }
  const size_t begin = plain.find_first_not_of(" \t");
  if (begin == plain.npos) return;
  const size_t end = std::min(plain.find_first_of(" \t", begin), plain.size());
  const size_t value = plain.find_first_not_of(" \t", end);
  if (value == plain.npos || value - end < 2) return;  // one space: prose
  const size_t last = std::min(plain.find_first_of(" \t\r", value), plain.size());
  if (plain.find_first_not_of(" \t\r", last) != plain.npos) return;
  const std::string name = plain.substr(begin, end - begin);
  const auto number = number_at(std::string_view(plain).substr(value));
  if (number && name_before(name, 1) == name) take_number(name, *number, into);
}

}  // namespace

void take_number(const std::string& name, double value, Metrics& into) {
  if (!std::isfinite(value)) return;  // JSON has no such number
  if (into.size() < kMostNames || into.contains(name)) into[name] = value;
}

void take_line(std::string_view line, Metrics& into) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == line.npos || line.find_first_of("0123456789") == line.npos) return;
  if (line[begin] == '{' && take_object(line, into)) return;
  if (line.size() > kLongestLine) return;
  // A progress bar replaces its line: the last state is after the last carriage return.
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (const size_t back = line.rfind('\r'); back != line.npos) line.remove_prefix(back + 1);
  take_pairs(line, into);
  take_row(line, into);
}

}  // namespace radl::program
