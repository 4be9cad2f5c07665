// Where a profile is measured: with the engine on this computer, or on a node of the infrastructure over SSH.
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

// The machine type of a node in a state. Queries the machine unless the node is on this computer.
Result<foresight::MachineFacts> machine_of_node(const ResourceRecord& node, Remote& remote, const Stop& stop);

class ProfilePlace {
 public:
  virtual ~ProfilePlace() = default;
  virtual const foresight::MachineFacts& machine() const = 0;
  virtual std::string shown_name() const = 0;  // "this computer", "worker[0]"
  // The disk folder to measure datasets on, as an argument for radl-train; "": the user's cache.
  virtual std::string data_directory() const { return ""; }
  // True if this computer's credentials work for a dataset's source.
  virtual bool fetches() const { return false; }
  // Runs radl-train with these arguments and returns its JSON line. Invalid: it rejected them, with its
  // message. Quota: not enough memory. Other system errors unchanged. Cancelled: the engine has been ended.
  virtual Result<Json> ask(const std::vector<std::string>& arguments, double seconds) = 0;
};

// All its operations end at `stop`.
Result<std::unique_ptr<ProfilePlace>> local_place(const Host& host, const Stop& stop);
// Copies the engine to the node if missing. NotFound: no such node.
Result<std::unique_ptr<ProfilePlace>> node_place(const Host& host, const ProjectOptions& project,
                                                 const std::string& node, const Stop& stop);

}  // namespace radl::driver
