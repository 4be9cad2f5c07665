// A public address that stays when its machine is stopped or replaced.
#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {
namespace {

class ElasticIp : public Kind {
 public:
  const char* type() const override { return "elastic_ip"; }
  const char* id_prefix() const override { return "eipalloc-"; }

  Asked create(Call& call, const Order& order) const override {
    Parameters parameters = {{"Domain", "vpc"}};
    add_tags(parameters, "elastic-ip", own_tags(call.context, order));
    Posted posted = call.api.post(call.context, "AllocateAddress", parameters, false);
    if (posted.accepted()) {
      posted.asked.id = text_of(posted.root(), "allocationId");
      call.memory.note_name(text_of(posted.root(), "publicIp"), order.address);
    }
    return posted.asked;
  }

  Asked update(Call&, const Order&) const override {
    return Asked::refused(invalid("an elastic address is never changed"));
  }

  Asked destroy(Call& call, const Order& order) const override {
    return call.api.post(call.context, "ReleaseAddress", {{"AllocationId", order.id}}, true).asked;
  }

  Status look(Call& call, const Selection& selection, std::vector<Seen>& seen) const override {
    return call.api.each(call.context, "DescribeAddresses", selected(selection, "allocation-id"),
                         "addressesSet", [&](pugi::xml_node item) {
                           Seen one;
                           take_tags(call.context, tags_of(item), one);
                           one.type = type();
                           one.id = text_of(item, "allocationId");
                           one.phase = ResourcePhase::Ready;
                           one.attributes = {{"public_ip", text_of(item, "publicIp")}};
                           call.memory.note_name(text_of(item, "publicIp"),
                                                 call.memory.name_of(one.id).value_or(one.address));
                           seen.push_back(std::move(one));
                         });
  }

  Impact impact(const Json&, const Json&) const override { return {Impact::Kind::InPlace, ""}; }
};

}  // namespace

std::unique_ptr<Kind> make_elastic_ip() { return std::make_unique<ElasticIp>(); }

}  // namespace radl::ec2
