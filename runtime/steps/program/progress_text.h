// Extracts progress (progress.h) from a line of a program's output: counters with a total, bars.
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
// Removes colors and the backspaces of bars that overwrite themselves.
std::string without_controls(std::string_view text);

// `12/100`, `12 of 100`: its position, and the word before it.
struct Fraction {
  double done = 0, total = 0;
  size_t begin = 0, end = 0;
  std::string word;  // lower case; "": none
};

std::vector<Fraction> fractions_in(std::string_view text);
// The lower-case word before a position; brackets and signs may be in between.
std::string word_before(std::string_view text, size_t at);
// The elapsed seconds that a tqdm bar shows after its fraction: ` [00:10<00:19, ..]`, or Lightning's `
// 0:00:10 • 0:00:19`.
std::optional<double> bar_elapsed(std::string_view text, const Fraction& fraction);
// Keras: the line begins with the fraction, and a bar or the time of a step follows.
bool keras_bar(std::string_view text, const Fraction& fraction);
// Lightning's bar with rich: a bar with a clock followed by ` •`.
bool rich_bar(std::string_view text, const Fraction& fraction);
bool has_bar(std::string_view text);
// The name of a bar: the text before its percentage.
std::string bar_name(std::string_view text, const Fraction& fraction);
// `Epoch 4` without a total, Lightning's name for its bars.
std::optional<double> epoch_named(std::string_view text);
// True if the line contains nothing but the counter: then it is printed at the beginning, as by Keras.
bool stands_alone(std::string_view text, const Fraction& fraction);

}  // namespace radl::program
