// Whether a node that is followed says nothing any more. Its side of following writes a sign of life every
// few seconds, beside whatever its processes do. Pure: the time is given.
//
// A cut network ends no connection: SSH gives one up after 45 s (Target::answer_within), since a node that is
// merely busy may be as silent as that. What is said of it need not wait so long.
#pragma once

#include <chrono>
#include <utility>

namespace radl::jobs {

inline constexpr int kSignEverySeconds = 2;
inline constexpr std::chrono::seconds kSilentAfter{6};

class Silence {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // A connection that was made just now has not been silent yet.
  void begin(Time now) { heard_ = looked_ = now; }
  // True: it was silent until now.
  bool heard(Time now) {
    heard_ = now;
    return std::exchange(silent_, false);
  }
  // Asked several times a second; true: from now on it counts as silent.
  bool begins(Time now) {
    // Where this process has slept, or could not listen, nothing can have been heard.
    if (now - looked_ > kPause) heard_ = now;
    looked_ = now;
    return now - heard_ > kSilentAfter && !std::exchange(silent_, true);
  }

 private:
  static constexpr std::chrono::seconds kPause{2};
  Time heard_{}, looked_{};
  bool silent_ = false;
};

// What is said of it.
inline const char* silence_text(bool silent) {
  return silent ? "has sent nothing for 6 s: its network is cut, or it is very busy" : "is heard again";
}

}  // namespace radl::jobs
