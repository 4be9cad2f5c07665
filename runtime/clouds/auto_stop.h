// Auto-stop: a machine ends itself after a time, or when nothing is done on it, also while the computer that
// made it is off. What the file asks for (docs/costs.md), and the script that does it on the machine.
#pragma once

#include <optional>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl {

struct AutoStop {
  double after_seconds = 0;  // of life, over all its boots; 0: no limit
  // Without work: no step, no job, nobody logged in, load below `load`; 0: never.
  double idle_seconds = 0;
  double load = 0.3;      // average of one minute that counts as work
  bool terminate = true;  // else it is stopped, and its disks stay and are paid for
};

// `stop.after`, `stop.idle`, `stop.load`, `stop.action` of the node; nullopt: none. Invalid: a value that is
// none.
Result<std::optional<AutoStop>> auto_stop_wanted(const ir::Node& node);

// For Wanted::spec["stop"]: {"after_seconds","idle_seconds","load","action"}.
Json to_json(const AutoStop& stop);
AutoStop auto_stop_from_json(const Json& json);
// "terminates itself after 8 h, or 30 min without work".
std::string auto_stop_text(const AutoStop& stop);

enum class StopsBy {
  Shutdown,  // a machine of a cloud: powered off. Refuses where cloud-init has made no instance of it, so
             // that no computer that only looks like a machine of ours is ever switched off
  Init,      // a process tree of its own: its first process is ended
};

// The script that runs on the machine as long as it does. It needs a POSIX shell and /proc, no network and no
// radlc. `every_seconds`: how often it looks.
// `product`: Shutdown takes a machine whose firmware names this product for one of the cloud's, whether it
// has cloud-init or not.
std::string auto_stop_script(const AutoStop& stop, StopsBy by, double every_seconds = 60,
                             const std::string& product = "");

// A shell script for user data: puts the script into place and keeps it running, by systemd where it is
// there.
std::string auto_stop_user_data(const AutoStop& stop, const std::string& product = "");

}  // namespace radl
