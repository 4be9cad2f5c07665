// A resource type of EC2: how to create, inspect and change it. One file per type; ec2_cloud.cc combines
// them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/clouds/caller.h"
#include "runtime/clouds/cloud.h"
#include "runtime/clouds/ec2/api.h"
#include "runtime/clouds/ec2/memory.h"
#include "runtime/clouds/impact.h"

namespace radl::ec2 {

// The arguments of every call.
struct Call {
  const Context& context;
  const Api& api;
  Memory& memory;
  const CloudId& cloud;
  // This computer's public address, as a CIDR.
  const CallerSource& caller;
};

class Kind {
 public:
  virtual ~Kind() = default;
  virtual const char* type() const = 0;
  // Prefix of its IDs: "i-".
  virtual const char* id_prefix() const = 0;

  // True if servers other than Amazon's may lack it; such a type is free of charge.
  virtual bool may_be_missing() const { return false; }

  virtual Asked create(Call& call, const Order& order) const = 0;
  virtual Asked update(Call& call, const Order& order) const = 0;
  virtual Asked destroy(Call& call, const Order& order) const = 0;
  virtual Asked power(Call& call, const Order& order, Power power) const;  // Refused: not a machine
  virtual Asked image(Call& call, const Order& order, const std::string& name) const;  // same
  virtual Status look(Call& call, const Selection& selection, std::vector<Seen>& seen) const = 0;
  virtual Impact impact(const Json& before, const Json& after) const = 0;
};

// Finds a VPC by its ID, by the ID of a subnet, or the region's default ("") VPC, with its subnets.
Result<Vpc> find_vpc(Call& call, const std::string& id);

std::unique_ptr<Kind> make_key_pair();
std::unique_ptr<Kind> make_security_group();
std::unique_ptr<Kind> make_elastic_ip();
std::unique_ptr<Kind> make_placement_group();
std::unique_ptr<Kind> make_instance();

// Its name in EC2: the spec's own, or one that is unique among infrastructures.
std::string name_for(const Context& context, const Order& order);

}  // namespace radl::ec2
