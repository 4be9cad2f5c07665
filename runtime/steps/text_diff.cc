#include "runtime/steps/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace radl {
namespace {

constexpr size_t kMostLines = 5000;
constexpr int kContext = 3;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    end = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

enum class Edit { Keep, Remove, Add };

// Myers' O(ND) algorithm (1986): the shortest script that turns a into b.
std::vector<Edit> shortest_edit(const std::vector<std::string_view>& a,
                                const std::vector<std::string_view>& b) {
  int n = static_cast<int>(a.size()), m = static_cast<int>(b.size()), most = n + m;
  std::vector<int> furthest(static_cast<size_t>(2 * most + 2), 0);
  std::vector<std::vector<int>> history;
  auto at = [&](std::vector<int>& v, int k) -> int& { return v[static_cast<size_t>(k + most)]; };
  for (int d = 0; d <= most; ++d) {
    history.push_back(furthest);
    for (int k = -d; k <= d; k += 2) {
      bool down = k == -d || (k != d && at(furthest, k - 1) < at(furthest, k + 1));
      int x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      int y = x - k;
      while (x < n && y < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(y)]) ++x, ++y;
      at(furthest, k) = x;
      if (x >= n && y >= m) d = most + 1, k = d;  // found: leave both loops
    }
  }
  std::vector<Edit> edits;
  int x = n, y = m;
  for (int d = static_cast<int>(history.size()) - 1; d >= 0; --d) {
    auto& v = history[static_cast<size_t>(d)];
    int k = x - y;
    bool down = k == -d || (k != d && at(v, k - 1) < at(v, k + 1));
    int from_k = down ? k + 1 : k - 1;
    int from_x = d == 0 ? 0 : at(v, from_k), from_y = d == 0 ? 0 : from_x - from_k;
    while (x > from_x && y > from_y) edits.push_back(Edit::Keep), --x, --y;
    if (d > 0) edits.push_back(down ? Edit::Add : Edit::Remove);
    x = from_x, y = from_y;
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

std::string line_text(char mark, std::string_view line) {
  std::string out(1, mark);
  out += line;
  if (!out.ends_with('\n')) out += "\n\\ No newline at end of file\n";
  return out;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after) {
  if (before == after) return "";
  bool binary = before.find('\0') != std::string_view::npos || after.find('\0') != std::string_view::npos;
  auto a = lines_of(before), b = lines_of(after);
  if (binary || a.size() + b.size() > kMostLines) {
    return fmt::format("({} content differs: {} -> {} bytes)\n", binary ? "binary" : "large", before.size(),
                       after.size());
  }
  auto edits = shortest_edit(a, b);
  std::string out;
  size_t i = 0, x = 0, y = 0;
  while (i < edits.size()) {
    if (edits[i] == Edit::Keep) {
      ++i, ++x, ++y;
      continue;
    }
    size_t lead = std::min<size_t>(kContext, x), begin_x = x - lead, begin_y = y - lead;
    std::string body;
    for (size_t l = begin_x; l < x; ++l) body += line_text(' ', a[l]);
    for (int quiet = 0; i < edits.size(); ++i) {  // until more unchanged lines come than two contexts
      if (edits[i] == Edit::Keep) {
        if (++quiet > 2 * kContext) break;
        body += line_text(' ', a[x]);
        ++x, ++y;
        continue;
      }
      quiet = 0;
      if (edits[i] == Edit::Remove)
        body += line_text('-', a[x++]);
      else
        body += line_text('+', b[y++]);
    }
    // Unchanged lines after the last change: only the context is kept.
    size_t tail = 0;
    while (tail < i && edits[i - 1 - tail] == Edit::Keep) ++tail;
    for (size_t drop = tail > kContext ? tail - kContext : 0; drop > 0; --drop) {
      size_t cut = body.rfind('\n', body.size() - 2);
      body.erase(cut == std::string::npos ? 0 : cut + 1);
      --x, --y, --i;
    }
    auto range = [](size_t from, size_t count) {
      return count == 1 ? fmt::format("{}", from + 1)
                        : fmt::format("{},{}", count == 0 ? from : from + 1, count);
    };
    out += fmt::format("@@ -{} +{} @@\n{}", range(begin_x, x - begin_x), range(begin_y, y - begin_y), body);
  }
  return out;
}

}  // namespace radl
