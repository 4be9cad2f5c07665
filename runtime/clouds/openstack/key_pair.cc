// The key with which radlc logs in: made on this computer, of which Nova gets the public half. Key pairs are
// a user's, not a project's, and have no metadata: token and infrastructure are in the name, which is the id.
#include "common/http/url.h"
#include "runtime/clouds/naming.h"
#include "runtime/clouds/openstack/kind.h"
#include "runtime/net/ssh/keys.h"

namespace radl::openstack {
namespace {

constexpr const char* kKeyName = "node_key";

class KeyPair : public Kind {
 public:
  const char* type() const override { return "key_pair"; }
  bool is_marked_by_name() const override { return true; }

  Asked create(Asking& call, const Order& order) const override {
    auto key = ssh::make_key(call.context.work_directory, kKeyName);
    if (!key.ok()) return Asked::refused(key.status());
    const std::string name = to_name(mark_of(call.context, order));
    Posted posted = post(call.services.compute, call.context, "/os-keypairs",
                         {{"keypair", {{"name", name}, {"public_key", key->public_line}}}}, false);
    // The name contains the token: an existing key pair was created by an earlier request.
    if (posted.http_status == 409 && posted.asked.status.code() != Code::Quota) return Asked::accepted(name);
    return with_id(std::move(posted), name);
  }

  Asked destroy(Asking& call, const Order& order) const override {
    return remove(call.services.compute, call.context, "/os-keypairs/" + http::percent_encode(order.id))
        .asked;
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    return call.services.compute.each(
        "/os-keypairs", "keypairs", {}, waits(call.context), [&](const Json& item) {
          const std::string name = text_of(member(item, "keypair"), "name");
          const Mark mark{call.context.infrastructure, key_address(call.cloud),
                          token_in_name(name, call.context.infrastructure)};
          if (name.empty() || !wish.wants(call.context, name, mark)) return;
          Seen one;
          take_mark(call.context, mark, one);
          one.type = type();
          one.id = name;
          one.phase = ResourcePhase::Ready;
          one.attributes = {{"name", name}};
          auto print = ssh::fingerprint_of_line(text_of(member(item, "keypair"), "public_key"));
          if (print.ok()) one.attributes["key"] = *print;
          seen.push_back(std::move(one));
        });
  }
};

}  // namespace

std::unique_ptr<Kind> make_key_pair() { return std::make_unique<KeyPair>(); }

}  // namespace radl::openstack
