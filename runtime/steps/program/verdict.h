// Decides whether a program has ended, from its members' ends. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/steps/jobs/following.h"

namespace radl::program {

struct EndRules {
  bool alone = false;     // a lost member is tolerated while enough others remain
  bool chief = false;     // the chief's end is the program's
  bool may_fail = false;  // a nonzero exit status of its own is not a failure
  size_t least = 1;       // minimum number of members with `alone`
};

EndRules end_rules(const nlohmann::json& program);

enum class Verdict { GoesOn, Well, Failed };
// `processes`: the first is the chief's.
Verdict judge(const EndRules& rules, const std::vector<jobs::Process>& processes, const jobs::Ends& ends);

// What an earlier radlc left of a program on its nodes.
struct Left {
  bool same = true;      // belongs to exactly this run
  bool running = false;  // a member is running
  bool whole = true;     // all members run, or have ended as intended
  // With `alone`: nodes whose members never ran, such as replacement machines, including unreachable nodes.
  // The program is `whole` without them.
  std::set<size_t> without;
};
Left what_is_left(const EndRules& rules, const std::vector<jobs::Process>& processes,
                  const std::vector<jobs::Member::Look>& looks, const std::string& run);

// True if the end had an external cause: a signal, or a lost node.
inline bool was_killed(int exit) { return exit < 0 || exit >= 128; }

// The remedy if the shell could not start it and reported so in `said`; empty: none known.
std::string start_hint(const nlohmann::json& program, int exit, std::string_view said);

}  // namespace radl::program
