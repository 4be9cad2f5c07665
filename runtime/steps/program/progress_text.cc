#include "runtime/steps/program/progress_text.h"

#include <algorithm>
#include <charconv>

namespace radl::program {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The number that ends before `at`; `at` becomes where it begins.
std::optional<double> number_before(std::string_view text, size_t& at) {
  while (at > 0 && is_blank(text[at - 1])) --at;
  const size_t end = at;
  while (at > 0 && is_digit(text[at - 1])) --at;
  if (at == end || end - at > 12) return std::nullopt;
  if (at > 0 &&
      (is_letter(text[at - 1]) || std::string_view("./-_").find(text[at - 1]) != std::string_view::npos))
    return std::nullopt;
  double value = 0;
  std::from_chars(text.data() + at, text.data() + end, value);
  return value;
}

std::optional<double> number_after(std::string_view text, size_t& at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  const size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (at == begin || at - begin > 12) return std::nullopt;
  const char next = at < text.size() ? text[at] : ' ', beyond = at + 1 < text.size() ? text[at + 1] : ' ';
  if (is_letter(next) || next == '/' || next == '_' || (next == '.' && is_digit(beyond))) return std::nullopt;
  double value = 0;
  std::from_chars(text.data() + begin, text.data() + at, value);
  return value;
}

// "01:02:03", "00:10", of a bar: seconds.
std::optional<double> clock_at(std::string_view text, size_t& at) {
  double seconds = 0, part = 0;
  size_t colons = 0, digits = 0;
  for (; at < text.size() && (is_digit(text[at]) || text[at] == ':'); ++at) {
    if (text[at] == ':') {
      seconds = (seconds + part) * 60, part = 0, ++colons;
    } else {
      part = 10 * part + (text[at] - '0'), ++digits;
    }
  }
  if (colons == 0 || digits < 3) return std::nullopt;
  return seconds + part;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return made;
}

std::string without_controls(std::string_view text) {
  std::string made;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b' && at + 1 < text.size() && text[at + 1] == '[') {
      at += 2;
      while (at < text.size() && !is_letter(text[at])) ++at;
    } else if (text[at] != '\b') {
      made += text[at];
    }
  }
  return made;
}

std::string word_before(std::string_view text, size_t at) {
  while (at > 0 && std::string_view(" \t[(:#=\"'").find(text[at - 1]) != std::string_view::npos) --at;
  const size_t end = at;
  while (at > 0 && is_letter(text[at - 1])) --at;
  return lower_case(text.substr(at, end - at));
}

std::vector<Fraction> fractions_in(std::string_view text) {
  std::vector<Fraction> all;
  for (size_t at = 1; at + 1 < text.size(); ++at) {
    const bool of = text[at] == 'o' && text.substr(at - 1).starts_with(" of ");
    if (text[at] != '/' && !of) continue;
    Fraction one;
    one.begin = of ? at - 1 : at;
    one.end = at + (of ? 2 : 1);
    const auto done = number_before(text, one.begin);
    const auto total = done ? number_after(text, one.end) : std::nullopt;
    if (!total || !(*total >= 1) || *done > *total) continue;
    one.done = *done;
    one.total = *total;
    one.word = word_before(text, one.begin);
    all.push_back(one);
  }
  return all;
}

std::optional<double> bar_elapsed(std::string_view text, const Fraction& fraction) {
  size_t at = fraction.end;
  while (at < text.size() && is_blank(text[at])) ++at;
  const bool bracket = at < text.size() && text[at] == '[';
  if (bracket) ++at;
  const auto elapsed = clock_at(text, at);
  if (!elapsed || (bracket && (at >= text.size() || text[at] != '<'))) return std::nullopt;
  if (!bracket && !text.substr(at).starts_with(" •")) return std::nullopt;
  return elapsed;
}

bool keras_bar(std::string_view text, const Fraction& fraction) {
  const size_t first = text.find_first_not_of(" \t");
  if (first != fraction.begin) return false;
  const std::string_view rest = text.substr(fraction.end);
  return rest.find("/step") != rest.npos || rest.find("━") != rest.npos || rest.find("[=") != rest.npos ||
         rest.find("[>") != rest.npos || rest.find("[.") != rest.npos;
}

bool rich_bar(std::string_view text, const Fraction& fraction) {
  return bar_elapsed(text, fraction) && text.substr(fraction.end).find('[') == text.npos;
}

bool has_bar(std::string_view text) {
  const std::vector<Fraction> all = fractions_in(text);
  return std::any_of(all.begin(), all.end(),
                     [&](const Fraction& one) { return bar_elapsed(text, one) || keras_bar(text, one); });
}

std::string bar_name(std::string_view text, const Fraction& fraction) {
  const size_t percent = text.substr(0, fraction.begin).find('%');
  if (percent == text.npos) return "";
  size_t end = percent;
  while (end > 0 && (is_digit(text[end - 1]) || text[end - 1] == '.')) --end;
  while (end > 0 && (is_blank(text[end - 1]) || text[end - 1] == ':')) --end;
  return std::string(text.substr(0, end));
}

std::optional<double> epoch_named(std::string_view text) {
  const std::string small = lower_case(text);
  const size_t at = small.find("epoch");
  if (at == small.npos) return std::nullopt;
  size_t from = at + 5;
  while (from < small.size() && std::string_view(" :#=[").find(small[from]) != std::string_view::npos) ++from;
  return number_after(text, from);
}

bool stands_alone(std::string_view text, const Fraction& fraction) {
  const auto content = [](char c) { return is_letter(c) || is_digit(c); };
  const std::string_view behind = text.substr(fraction.end);
  if (std::any_of(behind.begin(), behind.end(), content)) return false;
  std::string_view before = text.substr(0, fraction.begin);
  if (const size_t at = lower_case(before).rfind(fraction.word); !fraction.word.empty() && at != before.npos)
    before = before.substr(0, at);
  return std::none_of(before.begin(), before.end(), content);
}

}  // namespace radl::program
