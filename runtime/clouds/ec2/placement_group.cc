// Machines close to each other in one zone, or far apart. Its name is its id: instances name it so.
#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {
namespace {

class PlacementGroup : public Kind {
 public:
  const char* type() const override { return "placement_group"; }
  const char* id_prefix() const override { return "radlc-pg-"; }
  bool may_be_missing() const override { return true; }

  Asked create(Call& call, const Order& order) const override {
    const std::string name = id_prefix() + name_for(call.context, order);
    Parameters parameters = {{"GroupName", name}, {"Strategy", order.spec.value("strategy", "cluster")}};
    add_tags(parameters, "placement-group", own_tags(call.context, order));
    Posted posted = call.api.post(call.context, "CreatePlacementGroup", parameters, false);
    if (posted.accepted()) posted.asked.id = name;
    return posted.asked;
  }

  Asked update(Call&, const Order&) const override {
    return Asked::refused(invalid("a placement group is never changed"));  // its tags: write_marks()
  }

  Asked destroy(Call& call, const Order& order) const override {
    return call.api.post(call.context, "DeletePlacementGroup", {{"GroupName", order.id}}, true).asked;
  }

  Status look(Call& call, const Selection& selection, std::vector<Seen>& seen) const override {
    return call.api.each(
        call.context, "DescribePlacementGroups", selected(selection, "group-name"), "placementGroupSet",
        [&](pugi::xml_node item) {
          Seen one;
          take_tags(call.context, tags_of(item), one);
          one.type = type();
          one.id = text_of(item, "groupName");
          one.phase = phase_of(text_of(item, "state"));
          if (text_of(item, "state") == "deleted") return;
          one.spec = {{"strategy", text_of(item, "strategy")}};
          one.attributes = {{"name", one.id}, {"group_id", text_of(item, "groupId")}};
          seen.push_back(std::move(one));
        },
        selection.by != Selection::By::Ids);
  }

  Impact impact(const Json&, const Json&) const override {
    return replace("a placement group is never changed");
  }

 private:
  static ResourcePhase phase_of(const std::string& state) {
    if (state == "pending") return ResourcePhase::Pending;
    return state == "deleting" ? ResourcePhase::Leaving : ResourcePhase::Ready;
  }
};

}  // namespace

std::unique_ptr<Kind> make_placement_group() { return std::make_unique<PlacementGroup>(); }

}  // namespace radl::ec2
