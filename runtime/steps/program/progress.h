// How far a program is, by what it prints, and how long it takes by that.
//
// Read are, in any line:
//   Epoch 3/10   epoch 3 of 10   Step [120/1000]   iter: 5/100      a counter and its total
//   {"epoch": 3, "epochs": 10}   step=120 total=1000                as metrics (metric_lines.h), in one line
//   Num Epochs = 3   Total optimization steps = 375                 a total that is printed once
//   Epoch 2:  35%|###  | 35/100 [00:10<00:19, 3.4it/s]              bars of tqdm, Lightning and the Trainer
//   of
//                                                                   Hugging Face, by the time that they show
//   35/100 ━━━━━ 2s 23ms/step                                       bars of Keras
//   progress: 35%   35% done
// An argument such as `--epochs 10` or `--max_steps=500` is a total, too.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace radl::program {

struct ProgressEstimate {
  double seconds = 0;        // of the whole program
  double low = 0, high = 0;  // the band at 80%, a prior
  std::string what;          // "epoch 3 of 10"
};

class ProgressReader {
 public:
  explicit ProgressReader(const std::vector<std::string>& arguments = {});
  // A line that came `seconds` after the program began. It may hold states of a bar, parted by carriage
  // returns.
  void take(double seconds, std::string_view line);
  // nullopt: it printed no progress against a total, or too little of it. `now`: seconds since it began; the
  // program still runs.
  std::optional<ProgressEstimate> estimate(double now) const;

 private:
  struct Point {
    double seconds = 0, done = 0;
  };
  // A counter that goes up to its total.
  struct Series {
    std::vector<Point> points;  // rising in both
    double total = 0;           // 0: not known
    size_t resets = 0;          // how often it started over
  };
  struct Epochs {
    std::vector<Point> points;  // epochs that are over
    double total = 0;
    bool from_zero = false;
    double index = -1;   // as printed last
    bool begun = false;  // the last one was printed as it began
  };
  void observe(double seconds, std::string_view piece);
  void take_fractions(double seconds, std::string_view piece);
  void take_pairs(double seconds, std::string_view piece);
  void take_percent(double seconds, std::string_view piece);
  void epoch(double seconds, double index, double total, bool begins);
  void take_part(double seconds, double share);  // of the current epoch
  void count(double seconds, const std::string& name, double done, double total);
  static std::vector<Point> without_bursts(const std::vector<Point>& all, double now);
  std::optional<ProgressEstimate> of(const std::string& what, const std::vector<Point>& all, double total,
                                     double now) const;

  double epochs_given_ = 0, steps_given_ = 0;  // by arguments
  Epochs epochs_;
  std::map<std::string, Series> series_;
  std::vector<Point> within_;  // completed epochs, and the part of the current one
};

}  // namespace radl::program
