// Where the farms of an infrastructure tell each other what they use and want: files in one folder, as their
// runs may be threads of one process or processes of several users.
//
// Each run holds a lock of its file, so a run that was killed is known by its file alone.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/status.h"
#include "runtime/farm/shares.h"

namespace radl::farm {

class ShareBoard {
 public:
  ShareBoard() = default;
  ~ShareBoard();
  ShareBoard(const ShareBoard&) = delete;
  ShareBoard& operator=(const ShareBoard&) = delete;

  Status join(const std::string& folder, const std::string& farm);
  // No other farm runs now.
  bool alone() const;
  // Tells the others what `own` is now. Waits for the turn of another farm, so not during a Turn.
  void tell(const Claim& own);

  // While this exists, no other farm decides what it starts.
  class Turn {
   public:
    Turn(ShareBoard& board, Claim own, double now, double reserve_after);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Resources taken_by_others(const std::string& node) const;
    bool may_start(const Resources& needs, const std::string& node);
    void tell(const Claim& own);

   private:
    ShareBoard& board_;
    std::string farm_;
    Fd lock_;
    std::optional<Shares> shares_;
  };

 private:
  using SteadyClock = std::chrono::steady_clock;
  // A farm whose turn it is and that starts nothing is passed over until it uses something else.
  struct Held {
    std::map<std::string, Resources> uses;
    SteadyClock::time_point since;
  };
  // The lock of all farms: its holder alone reads or writes claims.
  void take_lock_of_all(Fd& lock) const;
  void write(const Claim& own);
  std::vector<Claim> others();
  std::vector<std::string> passes(const std::vector<Claim>& others);

  std::string folder_, farm_, told_;
  Fd own_;
  std::map<std::string, Held> held_up_by_;
  std::map<std::string, std::map<std::string, Resources>> uses_;  // of the others, when they were read last
};

}  // namespace radl::farm
