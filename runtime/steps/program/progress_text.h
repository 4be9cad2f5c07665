// What of a line of a program's output tells its progress (progress.h): counters with a total, bars.
#pragma once

#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::program {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
std::string lower_case(std::string_view text);
// Without colours and backspaces of bars that draw over themselves.
std::string without_controls(std::string_view text);

// `12/100`, `12 of 100`: where it stands, and the word before it.
struct Fraction {
  double done = 0, total = 0;
  size_t begin = 0, end = 0;
  std::string word;  // lower case; "": none
};

std::vector<Fraction> fractions_in(std::string_view text);
// The word before a position, in lower case; brackets and signs may stand between.
std::string word_before(std::string_view text, size_t at);
// The seconds that a bar of tqdm's kind shows after its fraction: ` [00:10<00:19, ..]`, or Lightning's
// ` 0:00:10 • 0:00:19`.
std::optional<double> bar_elapsed(std::string_view text, const Fraction& fraction);
// Keras: the line begins with the fraction, and a bar or the time of a step follows.
bool keras_bar(std::string_view text, const Fraction& fraction);
// Lightning's with rich: a bar with a clock that ` •` follows.
bool rich_bar(std::string_view text, const Fraction& fraction);
bool has_bar(std::string_view text);
// What a bar is called: the text before its percentage.
std::string bar_name(std::string_view text, const Fraction& fraction);
// `Epoch 4` without a total, as Lightning calls its bars.
std::optional<double> epoch_named(std::string_view text);
// Whether nothing but the counter is in the line: then it is printed as it begins, as Keras does it.
bool stands_alone(std::string_view text, const Fraction& fraction);

}  // namespace radl::program
