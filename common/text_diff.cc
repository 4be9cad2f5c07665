#include "common/text_diff.h"

#include <algorithm>
#include <unordered_map>

namespace radl {
namespace {

constexpr int kMostSteps = 2000;  // of a search for a middle; then the two parts count as wholly changed

// Myers' algorithm with linear space, over line numbers that are equal for equal lines.
class Differ {
 public:
  Differ(std::vector<int> before, std::vector<int> after) : a_(std::move(before)), b_(std::move(after)) {
    size_t most = 2 * std::min<size_t>(a_.size() + b_.size() + 2, kMostSteps + 2) + 3;
    forward_.resize(most);
    backward_.resize(most);
  }

  std::vector<LineChange> run() {
    compare(0, static_cast<int>(a_.size()), 0, static_cast<int>(b_.size()));
    return std::move(changes_);
  }

 private:
  struct Snake {
    int x, y, u, v;  // from (x, y) to (u, v), equal lines; relative to the part searched
    bool found;
  };

  void compare(int a0, int a1, int b0, int b1) {
    while (a0 < a1 && b0 < b1 && same(a0, b0)) ++a0, ++b0;
    while (a0 < a1 && b0 < b1 && same(a1 - 1, b1 - 1)) --a1, --b1;
    if (a0 == a1 && b0 == b1) return;
    if (a0 == a1 || b0 == b1) return changed(a0, a1, b0, b1);
    Snake snake = middle(a0, a1, b0, b1);
    bool no_progress = (snake.x == 0 && snake.y == 0 && snake.u == 0 && snake.v == 0) ||
                       (snake.x == a1 - a0 && snake.y == b1 - b0);
    if (!snake.found || no_progress) return changed(a0, a1, b0, b1);
    compare(a0, a0 + snake.x, b0, b0 + snake.y);
    compare(a0 + snake.u, a1, b0 + snake.v, b1);
  }

  // The middle of a shortest path, searched from both corners in parallel.
  Snake middle(int a0, int a1, int b0, int b1) {
    const int n = a1 - a0, m = b1 - b0, delta = n - m;
    const bool odd = delta % 2 != 0;
    const int limit = std::min((n + m + 1) / 2, kMostSteps);
    const int offset = limit + 1;
    auto v = [&](std::vector<int>& list, int k) -> int& { return list[static_cast<size_t>(k + offset)]; };
    v(forward_, 1) = 0;
    v(backward_, 1) = 0;
    for (int d = 0; d <= limit; ++d) {
      for (int k = -d; k <= d; k += 2) {
        int x = k == -d || (k != d && v(forward_, k - 1) < v(forward_, k + 1)) ? v(forward_, k + 1)
                                                                               : v(forward_, k - 1) + 1;
        int y = x - k, x0 = x, y0 = y;
        while (x < n && y < m && y >= 0 && same(a0 + x, b0 + y)) ++x, ++y;
        v(forward_, k) = x;
        int other = delta - k;
        if (odd && other >= -(d - 1) && other <= d - 1 && x + v(backward_, other) >= n)
          return clip({x0, y0, x, y, true}, n, m);
      }
      for (int k = -d; k <= d; k += 2) {
        int x = k == -d || (k != d && v(backward_, k - 1) < v(backward_, k + 1)) ? v(backward_, k + 1)
                                                                                 : v(backward_, k - 1) + 1;
        int y = x - k, x0 = x, y0 = y;
        while (x < n && y < m && y >= 0 && same(a1 - 1 - x, b1 - 1 - y)) ++x, ++y;
        v(backward_, k) = x;
        int other = delta - k;
        if (!odd && other >= -d && other <= d && x + v(forward_, other) >= n) {
          return clip({n - x, m - y, n - x0, m - y0, true}, n, m);
        }
      }
    }
    return {0, 0, 0, 0, false};
  }

  static Snake clip(Snake snake, int n, int m) {
    bool inside = snake.x >= 0 && snake.y >= 0 && snake.u <= n && snake.v <= m && snake.x <= snake.u &&
                  snake.y <= snake.v;
    snake.found = inside;
    return snake;
  }

  void changed(int a0, int a1, int b0, int b1) {
    LineChange change{static_cast<size_t>(a0), static_cast<size_t>(a1), static_cast<size_t>(b0),
                      static_cast<size_t>(b1)};
    if (!changes_.empty() && changes_.back().old_end == change.old_begin &&
        changes_.back().new_end == change.new_begin) {
      changes_.back().old_end = change.old_end;
      changes_.back().new_end = change.new_end;
    } else {
      changes_.push_back(change);
    }
  }

  bool same(int i, int j) const { return a_[static_cast<size_t>(i)] == b_[static_cast<size_t>(j)]; }

  std::vector<int> a_, b_, forward_, backward_;
  std::vector<LineChange> changes_;
};

void hunk_lines(std::string& out, char mark, const std::vector<std::string_view>& lines, size_t begin,
                size_t end) {
  for (size_t i = begin; i < end; ++i) {
    out += mark;
    out += lines[i];
    if (lines[i].empty() || lines[i].back() != '\n') out += "\n\\ No newline at end of file\n";
  }
}

std::string hunk_range(size_t begin, size_t end) {
  size_t count = end - begin;
  std::string text = std::to_string(count == 0 ? begin : begin + 1);
  return count == 1 ? text : text + "," + std::to_string(count);
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t newline = text.find('\n');
    size_t length = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

std::vector<LineChange> diff_lines(const std::vector<std::string_view>& before,
                                   const std::vector<std::string_view>& after) {
  std::unordered_map<std::string_view, int> numbers;
  auto number = [&](const std::vector<std::string_view>& lines) {
    std::vector<int> out;
    out.reserve(lines.size());
    for (std::string_view line : lines)
      out.push_back(numbers.emplace(line, static_cast<int>(numbers.size())).first->second);
    return out;
  };
  std::vector<int> a = number(before), b = number(after);
  return Differ(std::move(a), std::move(b)).run();
}

std::string diff_hunks(std::string_view before, std::string_view after, size_t context) {
  auto a = split_lines(before), b = split_lines(after);
  auto changes = diff_lines(a, b);
  std::string out;
  for (size_t first = 0; first < changes.size();) {
    size_t last = first;  // changes near each other share a hunk
    while (last + 1 < changes.size() && changes[last + 1].old_begin - changes[last].old_end <= 2 * context)
      ++last;
    size_t lead = std::min(context, changes[first].old_begin);
    size_t tail = std::min(context, a.size() - changes[last].old_end);
    size_t old_begin = changes[first].old_begin - lead, old_end = changes[last].old_end + tail;
    size_t new_begin = changes[first].new_begin - lead, new_end = changes[last].new_end + tail;
    out += "@@ -" + hunk_range(old_begin, old_end) + " +" + hunk_range(new_begin, new_end) + " @@\n";
    size_t at = old_begin;
    for (size_t i = first; i <= last; ++i) {
      hunk_lines(out, ' ', a, at, changes[i].old_begin);
      hunk_lines(out, '-', a, changes[i].old_begin, changes[i].old_end);
      hunk_lines(out, '+', b, changes[i].new_begin, changes[i].new_end);
      at = changes[i].old_end;
    }
    hunk_lines(out, ' ', a, at, old_end);
    first = last + 1;
  }
  return out;
}

std::string unified_diff(std::string_view before, std::string_view after, std::string_view before_name,
                         std::string_view after_name) {
  std::string hunks = diff_hunks(before, after);
  if (hunks.empty()) return hunks;
  return "--- " + std::string(before_name) + "\n+++ " + std::string(after_name) + "\n" + hunks;
}

}  // namespace radl
