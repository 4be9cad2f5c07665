// The model text: lines into words, repeat blocks unrolled. A text may come from a stranger's file: nothing
// here recurses, and nothing is kept of the unrolled lines.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "engine/model/parse.h"

namespace radl::engine {

namespace {

constexpr size_t kLargestText = size_t{16} << 20, kLongestWord = 4096;
constexpr size_t kMostLines = 20000;  // after unrolling
constexpr size_t kMostSteps = 20 * kMostLines, kDeepest = 32;

struct RawLine {
  int number;
  std::vector<std::string_view> words;  // of the text
};

Status wrong_at(int line, std::string message) { return invalid(fmt::format("line {}: {}", line, message)); }

Result<std::vector<RawLine>> split_lines(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  std::vector<RawLine> lines;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    RawLine raw{number, {}};
    for (size_t at = line.find_first_not_of(kBlanks); at != line.npos;
         at = line.find_first_not_of(kBlanks, at)) {
      const size_t stop = std::min(line.find_first_of(kBlanks, at), line.size());
      if (stop - at > kLongestWord)
        return wrong_at(number, fmt::format("a word of more than {} characters", kLongestWord));
      raw.words.push_back(line.substr(at, stop - at));
      at = stop;
    }
    if (!raw.words.empty()) lines.push_back(std::move(raw));
  }
  return lines;
}

bool integer(std::string_view text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// For each repeat the index of the `end` that closes it.
Result<std::vector<size_t>> match_ends(const std::vector<RawLine>& lines) {
  std::vector<size_t> ends(lines.size()), open;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].words[0] == "repeat") {
      if (open.size() == kDeepest)
        return wrong_at(lines[i].number, fmt::format("repeats lie in each other at most {} deep", kDeepest));
      open.push_back(i);
    } else if (lines[i].words[0] == "end") {
      if (open.empty()) return wrong_at(lines[i].number, "end without repeat");
      ends[open.back()] = i;
      open.pop_back();
    }
  }
  if (!open.empty()) return wrong_at(lines[open.front()].number, "repeat without end");
  return ends;
}

struct Loop {
  size_t begin, end;  // lines of `repeat` and `end`
  std::string key;    // "$VARIABLE"
  int value, last;
};

// repeat VARIABLE FIRST..LAST
Result<Loop> read_repeat(int number, const std::vector<std::string>& words) {
  const std::string wrong = "repeat is written: repeat VARIABLE FIRST..LAST";
  if (words.size() != 3) return wrong_at(number, wrong);
  const std::string_view span = words[2];
  const size_t dots = span.find("..");
  Loop loop{0, 0, "$" + words[1], 0, 0};
  if (dots == span.npos || !integer(span.substr(0, dots), loop.value) ||
      !integer(span.substr(dots + 2), loop.last))
    return wrong_at(number, wrong);
  return loop;
}

Result<ModelLine> to_model_line(int number, std::vector<std::string> words) {
  ModelLine line;
  line.number = number;
  size_t i = 0;
  if (words[0].back() == ':') {
    line.name = words[0].substr(0, words[0].size() - 1);
    if (!valid_name(line.name))
      return wrong_at(number, fmt::format("a name has letters, digits and . _ - (at most {}), not \"{}\"",
                                          kLongestName, line.name));
    i = 1;
  }
  if (i == words.size()) return wrong_at(number, fmt::format("\"{}\" names no layer", line.name));
  line.kind = words[i++];
  for (; i < words.size(); ++i) {
    std::string& word = words[i];
    if (word == "from") {
      line.from.assign(words.begin() + static_cast<ptrdiff_t>(i) + 1, words.end());
      if (line.from.empty()) return wrong_at(number, "from needs the name of a layer");
      break;
    }
    const size_t equals = word.find('=');
    if (equals == word.npos) {
      line.args.push_back(std::move(word));
    } else if (!line.options.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
      return wrong_at(number, fmt::format("{} is given more than once", word.substr(0, equals)));
    }
  }
  return line;
}

// Goes through the lines as a program counter does.
class Unroller {
 public:
  Unroller(std::vector<RawLine> lines, std::vector<size_t> ends)
      : lines_(std::move(lines)), ends_(std::move(ends)) {}

  Status run(const std::function<Status(const ModelLine&)>& f) {
    size_t emitted = 0, steps = 0;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const RawLine& raw = lines_[i];
      const int place = loops_.empty() ? raw.number : lines_[loops_.back().begin].number;
      if (raw.words[0] == "end") {
        i = close(i);
      } else {
        auto words = substituted(raw);
        if (!words) return words.status();
        if (raw.words[0] == "repeat") {
          auto loop = read_repeat(raw.number, *words);
          if (!loop) return loop.status();
          i = open(i, std::move(*loop));
        } else {
          if (++emitted > kMostLines)
            return wrong_at(place, fmt::format("more than {} lines after repeats", kMostLines));
          auto line = to_model_line(raw.number, std::move(*words));
          if (!line) return line.status();
          if (Status s = f(*line); !s.ok()) return s;
        }
      }
      if (++steps > kMostSteps) return wrong_at(place, "the repeats take too many steps");
    }
    return ok_status();
  }

 private:
  // The line after which parsing continues.
  size_t open(size_t at, Loop loop) {
    if (loop.value > loop.last) return ends_[at];
    loop.begin = at, loop.end = ends_[at];
    loops_.push_back(std::move(loop));
    return at;
  }
  size_t close(size_t at) {
    Loop& loop = loops_.back();
    if (loop.value < loop.last) {
      ++loop.value;
      return loop.begin;
    }
    loops_.pop_back();
    return at;
  }

  // The words with the loops' values, the outermost loop's first.
  Result<std::vector<std::string>> substituted(const RawLine& raw) const {
    std::vector<std::string> words(raw.words.begin(), raw.words.end());
    for (std::string& word : words) {
      if (word.find('$') == word.npos) continue;
      for (const Loop& loop : loops_) {
        const std::string value = std::to_string(loop.value);
        for (size_t at = word.find(loop.key); at != word.npos; at = word.find(loop.key, at + value.size()))
          word.replace(at, loop.key.size(), value);
      }
      if (word.size() > kLongestWord)
        return wrong_at(raw.number, fmt::format("a word of more than {} characters", kLongestWord));
    }
    return words;
  }

  std::vector<RawLine> lines_;
  std::vector<size_t> ends_;
  std::vector<Loop> loops_;
};

}  // namespace

bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.' || c == '-'; });
}

Status for_each_line(std::string_view text, const std::function<Status(const ModelLine&)>& f) {
  if (text.size() > kLargestText)
    return invalid(
        fmt::format("the model's text has {} bytes, at most {} are read", text.size(), kLargestText));
  auto lines = split_lines(text);
  if (!lines) return lines.status();
  auto ends = match_ends(*lines);
  if (!ends) return ends.status();
  return Unroller(std::move(*lines), std::move(*ends)).run(f);
}

}  // namespace radl::engine
