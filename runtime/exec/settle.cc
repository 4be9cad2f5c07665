#include "runtime/exec/settle.h"

#include <algorithm>

#include "runtime/exec/retry.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFindDeadline = std::chrono::minutes(5);
constexpr milliseconds kFirstWait{500}, kLongestWait{10000};  // between looks, doubled

void tell_waiting(Session& session, const Intent& intent, milliseconds left) {
  Event event;
  event.id = intent.address;
  event.message = "whether it was made is not known yet; looking for it for up to " +
                  std::to_string((left.count() + 999) / 1000) + " s";
  session.events.emit(std::move(event));
}

}  // namespace

bool is_refusal(Code code) {
  switch (code) {
    case Code::Invalid:
    case Code::NotFound:
    case Code::Exists:
    case Code::Conflict:
    case Code::Auth:
    case Code::Quota:
    case Code::Unsupported:
      return true;
    default:
      return false;
  }
}

Result<std::optional<Made>> find_settled(Session& session, Provider& provider, const Intent& intent,
                                         std::chrono::steady_clock::time_point settled_at) {
  milliseconds wait = kFirstWait;
  for (bool told = false;; told = true) {
    auto asked_at = session.world().clock.now();
    Context context = session.context(intent.address, session.in(kFindDeadline));
    Result<std::optional<Made>> found = provider.find(context, intent.resource.kind, intent.token);
    if (!found.ok() || found->has_value() || asked_at >= settled_at) return found;
    auto left = std::chrono::ceil<milliseconds>(settled_at - asked_at);
    if (!told) tell_waiting(session, intent, left);
    if (!sleep_unless(session.world().clock, std::min(wait, left), [&] { return session.stop_starting(); })) {
      return Status(Code::Cancelled, "stopped before it was known whether " + intent.address +
                                         " was made; the next run looks again");
    }
    wait = std::min(wait * 2, kLongestWait);
  }
}

}  // namespace radl
