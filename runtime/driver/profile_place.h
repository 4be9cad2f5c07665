// Where a profile is taken: the engine on this computer, or on a node of the infrastructure over SSH.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/stop.h"
#include "runtime/driver/project.h"
#include "runtime/foresight/forecast.h"
#include "runtime/net/remote.h"
#include "runtime/state/records.h"

namespace radl::driver {

// The kind of machine that a node of a state is; of one that is not of this computer, asked for what it has.
Result<foresight::MachineFacts> machine_of_node(const ResourceRecord& node, Remote& remote, const Stop& stop);

class ProfilePlace {
 public:
  virtual ~ProfilePlace() = default;
  virtual const foresight::MachineFacts& machine() const = 0;
  virtual std::string shown_name() const = 0;  // "this computer", "worker[0]"
  // Whose disk datasets go through, as radl-train takes it; "": the user's cache.
  virtual std::string data_directory() const { return ""; }
  // This computer's credentials are good for a dataset's source.
  virtual bool fetches() const { return false; }
  // One line of JSON of radl-train with these arguments. Invalid: it refused them, with its words; Quota:
  // there is too little memory; the world's faults as they are. Cancelled: the engine has been ended.
  virtual Result<Json> ask(const std::vector<std::string>& arguments, double seconds) = 0;
};

// Whatever a place does ends at `stop`.
Result<std::unique_ptr<ProfilePlace>> local_place(const Host& host, const Stop& stop);
// Brings the engine to the node where it is not there. NotFound: there is no such node.
Result<std::unique_ptr<ProfilePlace>> node_place(const Host& host, const ProjectOptions& project,
                                                 const std::string& node, const Stop& stop);

}  // namespace radl::driver
