// Machines: what Compute Engine is given for a spec, and what it tells of one. Internal to this folder;
// instance.cc asks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/gce/kind.h"

namespace radl::gce {

// Keys of a machine's metadata.
inline constexpr const char* kKeyItem = "radlc-key";    // SHA256 fingerprint of the login's key
inline constexpr const char* kUserItem = "radlc-user";  // of the login

// A machine type with its graphics processors, as files and the catalogue name it: "n2-standard-4",
// "n1-standard-4+1xnvidia-tesla-t4".
struct MachineType {
  std::string name, accelerator;
  int count = 0;
  std::string text() const;
};
MachineType parse_type(const std::string& text);
// Whether its machines have graphics processors of their own: a2, a3, g2, ..
bool has_own_gpus(const std::string& type);
// Whether its machines are arm64: t2a, c4a, ..
bool is_arm(const std::string& type);
// Whether its machines take Hyperdisks alone and no persistent disks: of the fourth generation on.
bool needs_hyperdisk(const std::string& type);
inline constexpr const char* kHyperdisk = "hyperdisk-balanced";

// The body of instances.insert. Asks for the image where it is not known. Invalid and NotFound name what
// cannot be had.
Result<Json> launch_of(Asking& call, const Order& order);

// An element of a list of machines.
struct InstanceNow {
  std::string id, name, status, message, zone;
  MachineType type;
  bool spot = false;
  std::string network, nic, access, private_ip, public_ip;
  std::vector<std::string> tags;
  std::string tags_print, labels_print, metadata_print;  // fingerprints: of what a change is meant for
  Json labels = Json::object(), metadata = Json::object(), volumes = Json::object();
  Exposed exposed;
};
InstanceNow instance_in(const Json& item);
ResourcePhase phase_of_instance(const InstanceNow& now);
// What of radlc's own a machine carries: its labels, and in its metadata what a login needs.
Json instance_marks(const Context& context, const Order& order);
// Phase, spec, marks and attributes.
void show_instance(Asking& call, const InstanceNow& now, Seen& seen);
// `eviction_notice` of a spot machine: how it asks itself whether it is taken back (docs/job.md).
Json spot_notice();

}  // namespace radl::gce
