// The start of each member of a program: its variables, arguments, and the script that contains both.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/steps/program/facts.h"

namespace radl::program {

// A member as seen by the others.
struct Place {
  std::string host;  // its address
  int port = 0;
};

struct MemberSetting {
  size_t index = 0;
  std::string home;         // of the login on its node, absolute
  std::string folder;       // of the job on the node, absolute
  std::string environment;  // folder of its Python packages, absolute; empty: none
  NodeFacts facts;
  int on_this_computer = 1;  // number of members that share the processors
  bool resumes = false;      // checkpoints of an earlier attempt exist
  std::string folder_below;  // the job's, relative to the login's home; equal on all nodes
};

// Number of processes that a launcher starts on a node.
int workers_on(const Json& program, const NodeFacts& facts);

// The RADL_... variables of a member (compiler/ir/program_names.h).
std::map<std::string, std::string> member_variables(const Json& program, const std::vector<Place>& places,
                                                    const MemberSetting& member, int attempt);

// What the member's shell executes: it becomes the program. Its environment may contain secrets, so whoever
// writes it to a file deletes that at its start.
std::string member_script(const Json& program, const std::map<std::string, std::string>& variables,
                          const MemberSetting& member);

// For launchers that reach nodes by SSH: a script per node that runs its arguments as that node's member,
// with all variables except the user's own.
std::string enter_script(const Json& program, const std::map<std::string, std::string>& variables,
                         const MemberSetting& member);
// One line per member in the format of Open MPI, DeepSpeed and others: "ADDRESS slots=WORKERS".
std::string host_file(const std::vector<Place>& places, const std::vector<int>& workers);

}  // namespace radl::program
