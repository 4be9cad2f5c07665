// Machines: builds Compute Engine's request from a spec and parses its description. Internal to this folder;
// instance.cc sends the requests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/gce/kind.h"

namespace radl::gce {

// Keys of a machine's metadata.
inline constexpr const char* kKeyItem = "radlc-key";    // SHA256 fingerprint of the login's key
inline constexpr const char* kUserItem = "radlc-user";  // of the login

// A machine type with its GPUs, as named in files and the catalogue: "n2-standard-4",
// "n1-standard-4+1xnvidia-tesla-t4".
struct MachineType {
  std::string name, accelerator;
  int count = 0;
  std::string text() const;
};
MachineType parse_type(const std::string& text);
// True if its machines have built-in GPUs: a2, a3, g2, ..
bool has_own_gpus(const std::string& type);
// True for arm64: t2a, c4a, ..
bool is_arm(const std::string& type);
// True if its machines support only Hyperdisks and no persistent disks: from the fourth generation on.
bool needs_hyperdisk(const std::string& type);
inline constexpr const char* kHyperdisk = "hyperdisk-balanced";

// The body of instances.insert. Looks up the image unless cached. Invalid and NotFound name what is
// unavailable.
Result<Json> launch_of(Asking& call, const Order& order);

// An element of a list of machines.
struct InstanceNow {
  std::string id, name, status, message, zone;
  MachineType type;
  bool spot = false;
  std::string network, nic, access, private_ip, public_ip;
  std::vector<std::string> tags;
  std::string tags_print, labels_print, metadata_print;  // fingerprints: the version that a change applies to
  Json labels = Json::object(), metadata = Json::object(), volumes = Json::object();
  Exposed exposed;
};
InstanceNow instance_in(const Json& item);
ResourcePhase phase_of_instance(const InstanceNow& now);
// radlc's data on a machine: its labels and, in its metadata, the login data.
Json instance_marks(const Context& context, const Order& order);
// Phase, spec, marks and attributes.
void show_instance(Asking& call, const InstanceNow& now, Seen& seen);
// `eviction_notice` of a spot machine: how it detects its own interruption (docs/job.md).
Json spot_notice();

}  // namespace radl::gce
