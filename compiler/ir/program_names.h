// The variables passed to each member of a program (docs/programs.md). Arguments, the launcher and
// environment values may contain them as `$NAME`; the runtime substitutes them.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace radl::ir {

inline constexpr std::array<std::string_view, 23> kProgramNames = {
    "RADL_JOB",      // the program's name; the same for all members and attempts
    "RADL_ATTEMPT",  // starts at 1; incremented at each restart of all members
    "RADL_MEMBER",   // 0 .. RADL_MEMBERS - 1; 0 is the chief
    "RADL_MEMBERS",
    "RADL_IS_CHIEF",  // 1 or 0
    "RADL_HOST",      // this member's address, as other members reach it
    "RADL_PORT",      // a free port of this member
    "RADL_CHIEF",     // the chief's address
    "RADL_CHIEF_PORT",
    "RADL_HOSTS",      // all addresses, separated by commas
    "RADL_ADDRESSES",  // all as HOST:PORT, separated by commas
    "RADL_SUBNET",  // the smallest IPv4 network with all of them: for launchers that must choose an interface
    "RADL_WORKERS",   // processes that a launcher starts per node
    "RADL_GPUS",      // GPUs of this node
    "RADL_THREADS",   // this node's processors per worker
    "RADL_HOSTFILE",  // of the chief, where it has `ssh`: "ADDRESS slots=WORKERS" for each member
    "RADL_ENTER",     // there too: a script below the login's home on every node, which runs its arguments
                      // as that node's member
    "RADL_PYTHON",    // the Python that the program asks for
    "RADL_SOURCE",    // the folder of the program's files in which it runs
    "RADL_RESULTS",   // a folder whose content is fetched at the end
    "RADL_CHECKPOINTS", "RADL_INPUTS",
    "RADL_HOME",  // the login's home folder on this node
};

// Calls `replace` for each name after a `$` that begins with RADL_, and inserts the result. "$$" before such
// a name becomes one "$".
template <class Replace>
std::string replace_program_names(std::string_view text, const Replace& replace) {
  constexpr std::string_view kBegin = "$RADL_";
  std::string made;
  while (true) {
    const size_t at = text.find(kBegin);
    if (at == text.npos) return made.append(text);
    size_t end = at + 1;
    while (end < text.size() && (text[end] == '_' || (text[end] >= 'A' && text[end] <= 'Z'))) ++end;
    const bool escaped = at > 0 && text[at - 1] == '$';
    made.append(text.substr(0, at));
    if (escaped)
      made.append(text.substr(at + 1, end - at - 1));
    else
      made.append(replace(text.substr(at + 1, end - at - 1)));
    text.remove_prefix(end);
  }
}

}  // namespace radl::ir
