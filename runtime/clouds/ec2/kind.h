// A type of resource of EC2: how it is asked for, how it is seen, and what a change of it takes. One file
// each; ec2_cloud.cc puts them together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/ec2/api.h"
#include "runtime/clouds/ec2/memory.h"
#include "runtime/clouds/impact.h"

namespace radl::ec2 {

// What every call of a kind is given.
struct Call {
  const Context& context;
  const Api& api;
  Memory& memory;
  const CloudId& cloud;
  // The address that this computer is seen under from outside, as a CIDR.
  const std::function<Result<std::string>(const Stop&)>& caller;
};

class Kind {
 public:
  virtual ~Kind() = default;
  virtual const char* type() const = 0;
  // What its ids begin with: "i-".
  virtual const char* id_prefix() const = 0;

  // Servers other than Amazon's may not know it; it costs nothing by itself.
  virtual bool may_be_missing() const { return false; }

  virtual Asked create(Call& call, const Order& order) const = 0;
  virtual Asked update(Call& call, const Order& order) const = 0;
  virtual Asked destroy(Call& call, const Order& order) const = 0;
  virtual Asked power(Call& call, const Order& order, Power power) const;  // Refused: it is not a machine
  virtual Asked image(Call& call, const Order& order, const std::string& name) const;  // likewise
  virtual Status look(Call& call, const Selection& selection, std::vector<Seen>& seen) const = 0;
  virtual Impact impact(const Json& before, const Json& after) const = 0;
};

// A VPC by its id, or by that of one of its subnets, or the region's default one (""), with its subnets.
Result<Vpc> find_vpc(Call& call, const std::string& id);

std::unique_ptr<Kind> make_key_pair();
std::unique_ptr<Kind> make_security_group();
std::unique_ptr<Kind> make_elastic_ip();
std::unique_ptr<Kind> make_placement_group();
std::unique_ptr<Kind> make_instance();

// What EC2 is to call it: the spec's own name, or one that no other infrastructure has.
std::string name_for(const Context& context, const Order& order);

}  // namespace radl::ec2
