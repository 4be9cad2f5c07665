// Detects that a followed node has gone silent. The node's side writes a sign of life every few seconds,
// independently of its processes. Pure: the caller supplies the time.
//
// A cut network does not end a connection: SSH gives up after 45 s (Target::answer_within), because a busy
// node may be silent for that long. The report need not wait so long.
#pragma once

#include <chrono>
#include <utility>

namespace radl::jobs {

inline constexpr int kSignEverySeconds = 2;
inline constexpr std::chrono::seconds kSilentAfter{6};

class Silence {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Call for a new connection, which has not been silent yet.
  void begin(Time now) { heard_ = looked_ = now; }
  // Returns true if it was silent until now.
  bool heard(Time now) {
    heard_ = now;
    return std::exchange(silent_, false);
  }
  // Call several times a second. Returns true when the silence begins.
  bool begins(Time now) {
    // If this process slept or could not listen, nothing can have been received.
    if (now - looked_ > kPause) heard_ = now;
    looked_ = now;
    return now - heard_ > kSilentAfter && !std::exchange(silent_, true);
  }

 private:
  static constexpr std::chrono::seconds kPause{2};
  Time heard_{}, looked_{};
  bool silent_ = false;
};

// The text of the report.
inline const char* silence_text(bool silent) {
  return silent ? "has sent nothing for 6 s: its network is cut, or it is very busy" : "is heard again";
}

}  // namespace radl::jobs
