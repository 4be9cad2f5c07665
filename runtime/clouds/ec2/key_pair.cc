// The key with which radlc logs in: made on this computer, of which EC2 gets the public half.
#include "common/digest.h"
#include "runtime/clouds/ec2/kind.h"
#include "runtime/net/ssh/keys.h"

namespace radl::ec2 {
namespace {

constexpr const char* kKeyName = "node_key";

class KeyPair : public Kind {
 public:
  const char* type() const override { return "key_pair"; }
  const char* id_prefix() const override { return "key-"; }

  Asked create(Call& call, const Order& order) const override {
    auto key = ssh::make_key(call.context.work_directory, kKeyName);
    if (!key.ok()) return Asked::refused(key.status());
    auto tags = own_tags(call.context, order);
    tags[kKeyTag] = key->fingerprint;
    Parameters parameters = {{"KeyName", name_for(call.context, order)},
                             {"PublicKeyMaterial", base64_encode(key->public_line)}};
    add_tags(parameters, "key-pair", tags);
    Posted posted = call.api.post(call.context, "ImportKeyPair", parameters, false);
    if (posted.accepted()) posted.asked.id = text_of(posted.root(), "keyPairId");
    return posted.asked;
  }

  Asked update(Call&, const Order&) const override {
    return Asked::refused(invalid("a key pair is never changed"));
  }

  Asked destroy(Call& call, const Order& order) const override {
    // By name: servers other than Amazon's support nothing else.
    std::string name;
    Status asked = call.api.each(call.context, "DescribeKeyPairs",
                                 selected({Selection::By::Ids, {order.id}}, "key-pair-id"), "keySet",
                                 [&](pugi::xml_node item) { name = text_of(item, "keyName"); });
    if (!asked.ok()) return Asked::refused(asked);
    if (name.empty()) return Asked::refused(not_found("key pair " + order.id + " does not show"));
    return call.api.post(call.context, "DeleteKeyPair", {{"KeyName", name}}, true).asked;
  }

  Status look(Call& call, const Selection& selection, std::vector<Seen>& seen) const override {
    return call.api.each(call.context, "DescribeKeyPairs", selected(selection, "key-pair-id"), "keySet",
                         [&](pugi::xml_node item) {
                           Seen one;
                           const auto tags = tags_of(item);
                           take_tags(call.context, tags, one);
                           one.type = type();
                           one.id = text_of(item, "keyPairId");
                           one.phase = ResourcePhase::Ready;
                           one.attributes = {{"name", text_of(item, "keyName")}};
                           if (std::string key = tag_of(tags, kKeyTag); !key.empty())
                             one.attributes["key"] = key;
                           seen.push_back(std::move(one));
                         });
  }

  Impact impact(const Json&, const Json&) const override { return replace("a key pair is never changed"); }
};

}  // namespace

std::unique_ptr<Kind> make_key_pair() { return std::make_unique<KeyPair>(); }

}  // namespace radl::ec2
