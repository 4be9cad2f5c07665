#include "runtime/plan/line_diff.h"

#include <algorithm>
#include <cstdint>

namespace radl {

namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Marks of the middle part by the longest common subsequence; quadratic, so bounded by the caller.
void diff_middle(const Lines& a, const Lines& b, std::vector<std::string>& out) {
  size_t n = a.size(), m = b.size();
  std::vector<uint32_t> length((n + 1) * (m + 1), 0);
  auto at = [&](size_t i, size_t j) -> uint32_t& { return length[i * (m + 1) + j]; };
  for (size_t i = n; i-- > 0;) {
    for (size_t j = m; j-- > 0;)
      at(i, j) = a[i] == b[j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
  }
  size_t i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && a[i] == b[j]) {
      out.push_back(" " + std::string(a[i]));
      ++i, ++j;
    } else if (i < n && (j == m || at(i + 1, j) >= at(i, j + 1))) {
      out.push_back("-" + std::string(a[i++]));
    } else {
      out.push_back("+" + std::string(b[j++]));
    }
  }
}

std::vector<std::string> keep_context(const std::vector<std::string>& all, size_t context) {
  std::vector<bool> shown(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i][0] == ' ') continue;
    size_t from = i < context ? 0 : i - context, to = std::min(all.size(), i + context + 1);
    std::fill(shown.begin() + static_cast<std::ptrdiff_t>(from),
              shown.begin() + static_cast<std::ptrdiff_t>(to), true);
  }
  std::vector<std::string> out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (shown[i]) {
      out.push_back(all[i]);
    } else if (i == 0 || shown[i - 1]) {
      out.emplace_back("...");
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> line_diff(std::string_view before, std::string_view after, size_t context) {
  constexpr size_t kLargest = size_t{4} << 20;  // cells of the table
  if (before == after) return {};
  Lines a = lines_of(before), b = lines_of(after);
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  std::vector<std::string> all;
  for (size_t i = 0; i < head; ++i) all.push_back(" " + std::string(a[i]));
  auto middle = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head),
                 lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  Lines old_middle = middle(a), new_middle = middle(b);
  if ((old_middle.size() + 1) * (new_middle.size() + 1) <= kLargest) {
    diff_middle(old_middle, new_middle, all);
  } else {
    for (std::string_view line : old_middle) all.push_back("-" + std::string(line));
    for (std::string_view line : new_middle) all.push_back("+" + std::string(line));
  }
  for (size_t i = a.size() - tail; i < a.size(); ++i) all.push_back(" " + std::string(a[i]));
  return keep_context(all, context);
}

}  // namespace radl
