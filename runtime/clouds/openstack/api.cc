#include "runtime/clouds/openstack/api.h"

namespace radl::openstack {
namespace {

// The newest that we know how to ask with.
constexpr const char *kCompute = "2.90", *kVolume = "3.59";

// What stands in the way passes: a machine that is being changed, a network that still has ports.
Status in_our_codes(const Failure& failure) {
  if (failure.status.code() != Code::Conflict) return failure.status;
  const bool there = failure.message.find("already exists") != std::string::npos;
  return {there ? Code::Exists : Code::Retry, failure.status.message()};
}

}  // namespace

Services::Services(Session& given)
    : session(given),
      compute(given, "compute", kCompute),
      network(given, "network"),
      image(given, "image"),
      volume(given, "volume", kVolume) {}

Posted post(Service& service, const Context& context, const std::string& path, Json body,
            bool again_is_harmless, const std::string& method) {
  Call call{.method = method, .path = path, .query = {}, .body = std::move(body)};
  call.effect = again_is_harmless ? Effect::Repeatable : Effect::Once;
  Answer answer = service.call(call, waits(context));
  Posted posted;
  if (answer.ok()) {
    posted.asked = Asked::accepted();
    posted.answer = answer.json();
    return posted;
  }
  const Failure& failure = answer.failure();
  posted.http_status = failure.http_status;
  posted.message = failure.message;
  Status why = in_our_codes(failure);
  switch (failure.kind) {
    case Failure::Kind::Unknown:
      posted.asked = Asked::unknown(std::move(why));
      break;
    case Failure::Kind::Throttled:
      posted.asked = Asked::refused({Code::Retry, why.message()}, failure.retry_after);
      break;
    case Failure::Kind::NotSent:
    case Failure::Kind::Refused:
      posted.asked = Asked::refused(std::move(why));
      break;
  }
  return posted;
}

Posted remove(Service& service, const Context& context, const std::string& path) {
  return post(service, context, path, nullptr, true, "DELETE");
}

Result<Json> read(Service& service, const Context& context, const std::string& path,
                  const Parameters& query) {
  Answer answer = service.call({.method = "GET", .path = path, .query = query}, waits(context));
  if (!answer.ok()) return answer.failure().status;
  return answer.json();
}

Asked gone_or(Posted posted) {
  const bool gone = posted.asked.status.code() == Code::NotFound;
  return gone ? Asked::accepted() : std::move(posted.asked);
}

Asked with_id(Posted posted, const std::string& id) {
  if (posted.accepted()) posted.asked.id = id;
  return std::move(posted.asked);
}

}  // namespace radl::openstack
