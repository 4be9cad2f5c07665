// What each member of a program is started with: its variables, its words, the script that holds both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/steps/program/facts.h"

namespace radl::program {

// A member as the others see it.
struct Place {
  std::string host;  // its address
  int port = 0;
};

struct MemberSetting {
  size_t index = 0;
  std::string home;         // of the login on its node, absolute
  std::string folder;       // of the job there, absolute
  std::string environment;  // folder of its Python packages, absolute; empty: none
  NodeFacts facts;
  int on_this_computer = 1;  // so many members share the processors
  bool resumes = false;      // there are checkpoints of an earlier attempt
  std::string folder_below;  // of the job below the login's home, the same on all nodes
};

// Processes that a launcher starts on a node.
int workers_on(const Json& program, const NodeFacts& facts);

// RADL_... of one member (compiler/ir/program_names.h).
std::map<std::string, std::string> member_variables(const Json& program, const std::vector<Place>& places,
                                                    const MemberSetting& member, int attempt);

// The file that the member's shell runs: it takes itself away, for its environment may hold secrets, and
// becomes the program.
std::string member_script(const Json& program, const std::map<std::string, std::string>& variables,
                          const MemberSetting& member);

// Where launchers reach the nodes by SSH: a script of each node that runs its arguments as that node's
// member, with the variables but the user's own.
std::string enter_script(const Json& program, const std::map<std::string, std::string>& variables,
                         const MemberSetting& member);
// A line for each member, as Open MPI, DeepSpeed and others read it: "ADDRESS slots=WORKERS".
std::string host_file(const std::vector<Place>& places, const std::vector<int>& workers);

}  // namespace radl::program
