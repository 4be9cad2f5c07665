#include "runtime/steps/program/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "runtime/steps/program/metric_lines.h"
#include "runtime/steps/program/progress_text.h"

namespace radl::program {
namespace {

constexpr size_t kMostSeries = 100, kMostPoints = 4096;
constexpr size_t kLongestPiece = 4096;
constexpr double kLargestTotal = 1e12;

const char* const kEpochNames[] = {"epoch", "epochs"};
const char* const kEpochTotals[] = {"epochs",       "num_epochs", "max_epochs",
                                    "total_epochs", "n_epochs",   "num_train_epochs"};
const char* const kStepTotals[] = {"steps",     "num_steps",  "max_steps",        "total_steps", "max_iters",
                                   "num_iters", "iterations", "total_iterations", "train_steps"};
// What a counter with a total may count.
const char* const kUnits[] = {
    "epoch",      "epochs",  "step",     "steps", "iteration", "iterations", "iter",    "batch",
    "batches",    "round",   "rounds",   "task",  "tasks",     "trial",      "trials",  "file",
    "files",      "chunk",   "chunks",   "shard", "shards",    "sample",     "samples", "example",
    "examples",   "frame",   "frames",   "item",  "items",     "part",       "parts",   "progress",
    "generation", "episode", "episodes", "fold",  "done",      "processed"};

template <typename List>
bool among(std::string_view name, const List& list) {
  return std::any_of(std::begin(list), std::end(list), [&](const char* one) { return name == one; });
}

// "Train/Global Step" -> "global_step".
std::string plain_name(std::string_view name) {
  if (const size_t slash = name.rfind('/'); slash != name.npos) name.remove_prefix(slash + 1);
  std::string plain = lower_case(name);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return plain;
}

std::optional<double> whole_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 1) || value > kLargestTotal)
    return std::nullopt;
  return value;
}

}  // namespace

ProgressReader::ProgressReader(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view name = arguments[i];
    std::string_view value = i + 1 < arguments.size() ? std::string_view(arguments[i + 1]) : "";
    const size_t equals = name.find('=');
    if (equals != name.npos) value = name.substr(equals + 1), name = name.substr(0, equals);
    const size_t dashes = std::min(name.find_first_not_of("-+"), name.size());
    if (dashes == 0 && equals == name.npos) continue;
    name.remove_prefix(dashes);
    if (const size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
    const std::string plain = plain_name(name);
    const auto number = whole_number(value);
    if (!number) continue;
    if (among(plain, kEpochTotals) || plain == "epoch") epochs_given_ = *number;
    if (among(plain, kStepTotals)) steps_given_ = *number;
  }
}

void ProgressReader::take(double seconds, std::string_view line) {
  if (line.find_first_of("0123456789") == line.npos) return;
  std::vector<std::string> pieces;
  for (size_t from = 0; from <= line.size();) {
    const size_t end = std::min(line.find('\r', from), line.size());
    if (end > from && end - from <= kLongestPiece)
      pieces.push_back(without_controls(line.substr(from, end - from)));
    from = end + 1;
  }
  // Several states of a bar may arrive at once: each was written at the time that its own clock shows.
  const auto elapsed_of = [](const std::string& piece) -> std::optional<double> {
    for (const Fraction& fraction : fractions_in(piece))
      if (const auto elapsed = bar_elapsed(piece, fraction)) return elapsed;
    return std::nullopt;
  };
  std::vector<double> times(pieces.size(), seconds);
  std::optional<double> later;  // the clock of the state after this one
  for (size_t i = pieces.size(); i-- > 0;) {
    if (i + 1 < pieces.size()) times[i] = times[i + 1];
    const auto elapsed = elapsed_of(pieces[i]);
    if (!elapsed) continue;
    // A clock that shows more than later on is of a bar before: it ended when the later one began.
    if (later) times[i] = std::max(times[i] - (*elapsed <= *later ? *later - *elapsed : *later), 0.0);
    later = elapsed;
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    // When a state without a clock was drawn is known of the last one alone.
    const bool drawn_over = i + 1 < pieces.size() && has_bar(pieces[i]) && !elapsed_of(pieces[i]);
    if (!drawn_over) observe(times[i], pieces[i]);
  }
}

void ProgressReader::observe(double seconds, std::string_view piece) {
  if (piece.find_first_of("0123456789") == piece.npos) return;
  take_pairs(seconds, piece);
  take_fractions(seconds, piece);
  take_percent(seconds, piece);
}

void ProgressReader::take_fractions(double seconds, std::string_view piece) {
  const std::vector<Fraction> fractions = fractions_in(piece);
  const Fraction* bar = nullptr;
  for (const Fraction& one : fractions)
    if (bar_elapsed(piece, one) || keras_bar(piece, one)) bar = &one;
  const bool rich =
      bar != nullptr && rich_bar(piece, *bar);  // Lightning's, which counts epochs from 0 to the last
  const Fraction* outer = nullptr;
  for (const Fraction& one : fractions)
    if (&one != bar && among(one.word, kEpochNames)) outer = &one;
  const double clock = bar == nullptr ? 0.0 : bar_elapsed(piece, *bar).value_or(0);
  const bool goes_on = bar != nullptr && bar->done < bar->total;
  const bool of_keras = bar != nullptr && keras_bar(piece, *bar);
  const std::string name = bar == nullptr ? "" : of_keras ? "" : bar_name(piece, *bar);
  if (outer != nullptr) {
    epochs_.from_zero |= rich;
    epoch(goes_on ? seconds - clock : seconds, outer->done, outer->total + (rich ? 1 : 0),
          goes_on || stands_alone(piece, *outer));
  } else if (bar != nullptr && !of_keras) {
    if (const auto index = epoch_named(name)) epoch(goes_on ? seconds - clock : seconds, *index, 0, goes_on);
  }
  if (bar != nullptr) {
    std::string plain = lower_case(name);
    std::erase_if(plain, is_digit);  // "Epoch 2" and "Epoch 3" are one bar
    const bool of_epoch = outer != nullptr || epoch_named(name) || of_keras || epochs_.begun;
    if (of_epoch && (epochs_.begun || !goes_on)) take_part(seconds, bar->done / bar->total);
    count(seconds, fmt::format("bar {} of {}", plain, bar->total), bar->done, bar->total);
  }
  for (const Fraction& one : fractions) {
    if (&one == bar || &one == outer || !among(one.word, kUnits)) continue;
    count(seconds, one.word, one.done, one.total);
    if (bar == nullptr && epochs_.begun) take_part(seconds, one.done / one.total);
  }
}

void ProgressReader::take_pairs(double seconds, std::string_view piece) {
  Metrics metrics;
  take_line(piece, metrics);
  double epochs = 0, steps = 0, any = 0;
  for (const auto& [name, value] : metrics) {
    const std::string plain = plain_name(name);
    if (!(value >= 1) || value > kLargestTotal) continue;
    if (among(plain, kEpochTotals)) epochs = value;
    if (among(plain, kStepTotals)) steps = value;
    if (plain == "total" || plain == "of" || plain == "max") any = value;
  }
  if (epochs > 0) epochs_.total = epochs;
  if (steps > 0 && steps_given_ <= 0) steps_given_ = steps;
  if (piece.find("%|") != piece.npos) return;  // a bar counts for itself
  std::optional<double> step, epoch_index;
  for (const auto& [name, value] : metrics) {
    const std::string plain = plain_name(name);
    if (value < 0) continue;
    if (plain == "epoch") epoch_index = value;
    if (plain == "step" || plain == "global_step" || plain == "iteration" || plain == "iter") step = value;
  }
  if (epoch_index) epoch(seconds, *epoch_index, step ? 0 : any, false);
  if (step) count(seconds, "step", *step, any > 0 ? any : steps);
}

void ProgressReader::take_percent(double seconds, std::string_view piece) {
  const std::string small = lower_case(piece);
  for (size_t at = small.find('%'); at != small.npos; at = small.find('%', at + 1)) {
    size_t begin = at;
    while (begin > 0 && (is_digit(small[begin - 1]) || small[begin - 1] == '.')) --begin;
    double value = 0;
    const auto [end, error] = std::from_chars(small.data() + begin, small.data() + at, value);
    if (error != std::errc() || end != small.data() + at || value > 100) continue;
    const std::string_view behind = std::string_view(small).substr(at + 1);
    const bool named = word_before(small, begin) == "progress" || behind.starts_with(" done") ||
                       behind.starts_with(" complete");
    if (named) count(seconds, "percent", value, 100);
  }
}

void ProgressReader::epoch(double seconds, double index, double total, bool begins) {
  const bool whole = index == std::floor(index);
  if (epochs_.index < 0 && index == 0 && whole) epochs_.from_zero = true;
  if (total > 0) epochs_.total = total;
  epochs_.index = index;
  epochs_.begun = begins;
  const double one = epochs_.from_zero && whole ? 1 : 0;
  const double over = begins ? std::max(index + one - 1, 0.0) : index + one;
  // The current one starts where the last one ended.
  if (begins && whole && (within_.empty() || over > within_.back().done)) within_.push_back({seconds, over});
  if (begins && over <= 0) return;
  if (epochs_.points.size() < kMostPoints && (epochs_.points.empty() || over > epochs_.points.back().done))
    epochs_.points.push_back({seconds, over});
}

void ProgressReader::take_part(double seconds, double share) {
  if (epochs_.index < 0) return;
  const Point point{seconds, epochs_.index - (epochs_.from_zero ? 0 : 1) + share};
  if (within_.size() < kMostPoints && (within_.empty() || point.done > within_.back().done))
    within_.push_back(point);
}

void ProgressReader::count(double seconds, const std::string& name, double done, double total) {
  if (series_.size() >= kMostSeries && !series_.contains(name)) return;
  Series& series = series_[name];
  if (total > 0) series.total = total;
  if (!series.points.empty() && done < series.points.back().done) {
    ++series.resets;
    series.points.clear();
  }
  if (series.points.size() >= kMostPoints) {  // every other one stays
    size_t kept = 0;
    for (size_t i = 0; i < series.points.size(); i += 2) series.points[kept++] = series.points[i];
    series.points.resize(kept);
  }
  if (series.points.empty() || done > series.points.back().done) series.points.push_back({seconds, done});
}

// By the pace from the first quarter of what was seen to its end: what is loaded and compiled at first does
// not come again.
// A program that buffers its output prints many lines at once: of those the last one alone tells a time.
std::vector<ProgressReader::Point> ProgressReader::without_bursts(const std::vector<Point>& all, double now) {
  std::vector<Point> points;
  double begun = 0;
  for (const Point& point : all) {
    if (points.empty() || point.seconds - begun >= 0.01 * now) {
      points.push_back(point);
      begun = point.seconds;
    } else {
      points.back() = point;
    }
  }
  return points;
}

std::optional<ProgressEstimate> ProgressReader::of(const std::string& what, const std::vector<Point>& all,
                                                   double total, double now) const {
  const std::vector<Point> points = without_bursts(all, now);
  if (points.empty() || !(total > 0) || points.back().done <= 0) return std::nullopt;
  const Point& last = points.back();
  ProgressEstimate estimate;
  estimate.what = fmt::format("{} of {:g}", what, total);
  const double left = std::max(total - last.done, 0.0);
  const size_t from = points.size() > 3 ? points.size() / 4 : 0;
  if (points.size() < 2 || points.back().seconds <= points[from].seconds) {
    // What came before the count began is in it.
    estimate.seconds = std::max(last.seconds / last.done * total, now);
    estimate.low = std::max(now, estimate.seconds / 2);
    estimate.high = estimate.seconds * 2;
    return estimate;
  }
  const Point& first = points[from];
  const double pace = (last.seconds - first.seconds) / (last.done - first.done);
  // How far the pace of each half is from that of the whole.
  const Point& middle = points[from + (points.size() - from) / 2];
  double apart = 0.3;  // of two points nothing is known
  if (points.size() - from > 2 && pace > 0) {
    const double early = (middle.seconds - first.seconds) / (middle.done - first.done),
                 late = (last.seconds - middle.seconds) / std::max(last.done - middle.done, 1e-9);
    apart = std::max(std::fabs(early - pace), std::fabs(late - pace)) / pace;
  }
  double off = 0.15 + apart;
  if (last.done / total < 0.1) off += 0.25;
  const double gap = (last.seconds - first.seconds) / static_cast<double>(points.size() - 1 - from);
  const double still = now - last.seconds;  // since it counted last
  if (still > 3 * gap) off += still / std::max(now - points.front().seconds, 1e-3);
  const double rest = left * pace;
  // What is late has not become less.
  const double from_then = std::max(last.seconds, now - gap);
  estimate.seconds = std::max(from_then + rest, now);
  estimate.low = std::max(from_then + rest / (1 + off), now);
  // At the end something may be evaluated and saved.
  estimate.high =
      std::max(from_then + rest * (1 + off) + std::max(gap, 0.05 * estimate.seconds), estimate.seconds);
  return estimate;
}

std::optional<ProgressEstimate> ProgressReader::estimate(double now) const {
  double total = epochs_.total > 0 ? epochs_.total : epochs_given_;
  // `Epoch 0/9` to `Epoch 9/9` are ten.
  const double reached = epochs_.points.empty() ? 0 : epochs_.points.back().done;
  total = total > 0 ? std::max(total, reached) : 0;
  // Progress bars, one per epoch.
  if (total > 0 && within_.size() > 1)
    return of(fmt::format("epoch {:.4g}", within_.back().done), within_, total, now);
  if (total > 0 && epochs_.points.size() > 1)
    return of(fmt::format("epoch {:.4g}", reached), epochs_.points, total, now);
  const bool within = !within_.empty() && within_.back().done > reached;
  const Series* best = nullptr;
  std::string name;
  for (const auto& [its, series] : series_) {
    const double most = series.total > 0 ? series.total : its == "step" ? steps_given_ : 0;
    if (series.resets > 0 || most <= 0 || series.points.empty() || series.points.back().done >= most)
      continue;
    if (best != nullptr && series.points.back().seconds <= best->points.back().seconds) continue;
    best = &series;
    name = its;
  }
  if (best != nullptr && best->points.size() > 1) {
    const double most = best->total > 0 ? best->total : steps_given_;
    const std::string counted = name.starts_with("bar ") ? "step" : name;
    return of(fmt::format("{} {:g}", counted, best->points.back().done), best->points, most, now);
  }
  if (total > 0 && within) return of(fmt::format("epoch {:.4g}", within_.back().done), within_, total, now);
  if (total > 0 && epochs_.points.size() == 1)
    return of(fmt::format("epoch {:.4g}", reached), epochs_.points, total, now);
  return std::nullopt;
}

}  // namespace radl::program
