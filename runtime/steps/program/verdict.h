// Whether a program has ended, from the ends of its members: pure.
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
  bool alone = false;     // a lost member is missed as long as there are enough others
  bool chief = false;     // the chief's end is the program's
  bool may_fail = false;  // an exit status of its own is no failure
  size_t least = 1;       // with `alone`
};

EndRules end_rules(const nlohmann::json& program);

enum class Verdict { GoesOn, Well, Failed };
// `processes`: the first is the chief's.
Verdict judge(const EndRules& rules, const std::vector<jobs::Process>& processes, const jobs::Ends& ends);

// What an earlier radlc has left of a program on its nodes.
struct Left {
  bool same = true;      // of this very run
  bool running = false;  // a member is
  bool whole = true;     // all members run, or have ended as they should
  // With `alone`: nodes whose members never ran, such as machines that replaced others; those of nodes that
  // cannot be reached are among them. The program is `whole` without them.
  std::set<size_t> without;
};
Left what_is_left(const EndRules& rules, const std::vector<jobs::Process>& processes,
                  const std::vector<jobs::Member::Look>& looks, const std::string& run);

// Whether this end came from outside: a signal, a lost node.
inline bool was_killed(int exit) { return exit < 0 || exit >= 128; }

// What to do where the shell could not start it and has `said` so; empty: nothing is known.
std::string start_hint(const nlohmann::json& program, int exit, std::string_view said);

}  // namespace radl::program
