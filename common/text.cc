#include "common/text.h"

#include <algorithm>

namespace radl {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

template <class Candidates>
const auto* nearest_of(std::string_view name, const Candidates& candidates) {
  std::string wanted = to_lower(name);
  decltype(&*candidates.begin()) best = nullptr;
  // A name of one letter gets no suggestion: every other letter is equally near.
  int best_distance = name.size() == 1 ? 1 : std::max(1, static_cast<int>(name.size()) / 3) + 1;
  for (const auto& candidate : candidates) {
    int distance = edit_distance(wanted, to_lower(candidate), best_distance - 1);
    if (distance >= best_distance) continue;
    best = &candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace

std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string join(std::span<const std::string> pieces, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i != 0) out += separator;
    out += pieces[i];
  }
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

int edit_distance(std::string_view a, std::string_view b, int limit) {
  int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  if (std::abs(n - m) > limit) return limit + 1;
  std::vector<int> before2(b.size() + 1), before(b.size() + 1), row(b.size() + 1);
  for (int j = 0; j <= m; ++j) before[static_cast<size_t>(j)] = j;
  for (int i = 1; i <= n; ++i) {
    row[0] = i;
    int least = i;
    for (int j = 1; j <= m; ++j) {
      size_t at = static_cast<size_t>(j);
      char x = a[static_cast<size_t>(i) - 1], y = b[at - 1];
      int cost = std::min({before[at] + 1, row[at - 1] + 1, before[at - 1] + (x != y)});
      if (i > 1 && j > 1 && x == b[at - 2] && a[static_cast<size_t>(i) - 2] == y)
        cost = std::min(cost, before2[at - 2] + 1);
      row[at] = cost;
      least = std::min(least, cost);
    }
    if (least > limit) return limit + 1;
    std::swap(before2, before);
    std::swap(before, row);
  }
  return std::min(before[static_cast<size_t>(m)], limit + 1);
}

std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> candidates) {
  const std::string_view* best = nearest_of(name, candidates);
  return best ? std::optional(*best) : std::nullopt;
}

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string* best = nearest_of(name, candidates);
  return best ? std::optional(*best) : std::nullopt;
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  return nearest_name(word, names).value_or("");
}

std::string one_of(std::span<const std::string_view> words, size_t most) {
  std::string out;
  size_t shown = std::min(words.size(), most);
  for (size_t i = 0; i < shown; ++i) {
    if (i != 0) out += i + 1 == shown && shown == words.size() ? " or " : ", ";
    out += "'" + std::string(words[i]) + "'";
  }
  return shown < words.size() ? out + ", ..." : out;
}

bool matches_pattern(std::string_view text, std::string_view pattern) {
  const std::string one = to_lower(text), other = to_lower(pattern);
  // The last star takes one character more each time that what follows it does not fit.
  size_t at = 0, in = 0, star = std::string::npos, taken = 0;
  while (at < one.size()) {
    if (in < other.size() && other[in] == '*') {
      star = in++;
      taken = at;
    } else if (in < other.size() && other[in] == one[at]) {
      ++at, ++in;
    } else if (star != std::string::npos) {
      in = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  return other.find_first_not_of('*', in) == std::string::npos;
}

}  // namespace radl
