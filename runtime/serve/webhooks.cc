#include "runtime/serve/webhooks.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "common/digest.h"
#include "common/files.h"
#include "common/http/closed_address.h"
#include "common/http/http.h"
#include "common/http/loopback.h"
#include "runtime/base/world.h"
#include "runtime/serve/vault.h"

namespace radl::serve {
namespace {

constexpr double kFirstPause = 1, kLongestPause = 3600, kGiveUpAfter = 24 * 3600;  // seconds
constexpr double kAnswerSeconds = 10;
constexpr int kSenders = 4;  // threads
constexpr size_t kLongestUrl = 2000, kShownAttempts = 10;
constexpr size_t kLargestDelivery = size_t{1} << 20;
constexpr const char* kSealed = "/webhooks.sealed";
constexpr const char* kSecretPrefix = "whsec_";
constexpr const char* kEvents[] = {"run.queued", "run.started", "run.finished"};

// Throws Json::exception.
Webhook hook_from(const Json& json) {
  Webhook hook;
  hook.id = json.at("id");
  hook.user = json.at("user");
  hook.url = json.at("url");
  hook.secret = json.at("secret");
  hook.events = json.at("events").get<std::vector<std::string>>();
  hook.created = json.at("created");
  hook.given_up = json.at("given_up");
  return hook;
}

}  // namespace

Json to_json(const Webhook& hook, bool with_url) {
  const auto shown = [&](const std::string& error) {
    return with_url || error.empty() ? error : std::string("the delivery failed");
  };
  Json attempts = Json::array();
  for (const WebhookAttempt& one : hook.attempts)
    attempts.push_back({{"delivery", one.delivery},
                        {"time", one.time},
                        {"number", one.number},
                        {"error", shown(one.error)}});
  Json json = {{"id", hook.id},
               {"user", hook.user},
               {"events", hook.events},
               {"created", hook.created},
               {"pending", hook.pending},
               {"given_up", hook.given_up},
               {"last", hook.last},
               {"last_error", shown(hook.last_error)},
               {"attempts", std::move(attempts)}};
  if (with_url) json["url"] = hook.url;
  return json;
}

Result<std::string> webhook_signature(const std::string& secret, const std::string& id,
                                      const std::string& seconds, const std::string& body) {
  auto key = base64_decode(secret.substr(std::string(kSecretPrefix).size()));
  if (!key.ok()) return Status(Code::Corrupt, "the stored secret is not base64");
  return "v1," + base64_encode(hmac_sha256(*key, id + "." + seconds + "." + body));
}

Webhooks::Webhooks(Users& users, const std::string& folder)
    : users_(users), folder_(folder), paths_(folder) {}

Webhooks::~Webhooks() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.request();
  changed_.notify_all();
  threads_.join();
}

Result<std::unique_ptr<Webhooks>> Webhooks::open(Users& users, const std::string& folder,
                                                 std::vector<std::string>& notes) {
  std::unique_ptr<Webhooks> made(new Webhooks(users, folder));
  if (Status ready = make_directories(folder + "/deliveries", 0700); !ready.ok()) return ready;
  if (Status loaded = made->load(notes); !loaded.ok()) return std::move(loaded).at(folder + kSealed);
  for (int i = 0; i < kSenders; ++i)
    if (Status begun = made->threads_.start([its = made.get()] { its->work(); }); !begun.ok()) return begun;
  return made;
}

Status Webhooks::load(std::vector<std::string>& notes) {
  auto text = users_.vault().read_sealed(folder_ + kSealed, kSealed);
  if (!text.ok()) return text.status();
  if (Status read = guarded([&]() -> Status {
        if (!text->empty())
          for (const Json& one : Json::parse(*text)) {
            const Status hook = guarded([&]() -> Status {
              hooks_.push_back(hook_from(one));
              return {};
            });
            if (!hook.ok()) notes.push_back(folder_ + kSealed + ": a webhook cannot be read");
          }
        return {};
      });
      !read.ok())
    return read;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/deliveries", error)) {
    if (entry.path().extension() != ".json") continue;  // it was not completely written
    const Status read = guarded([&]() -> Status {
      auto kept = read_file(entry.path(), kLargestDelivery);
      if (!kept.ok()) return kept.status();
      const Json json = Json::parse(*kept);
      Delivery one;
      one.id = json.at("id");
      one.hook = json.at("hook");
      one.body = json.at("body");
      one.attempts = json.at("attempts");
      one.made = json.at("made");
      add_locked(std::move(one));
      return {};
    });
    if (!read.ok()) notes.push_back(entry.path().string() + ": " + read.message());
  }
  return {};
}

Status Webhooks::save_locked() const {
  Json all = Json::array();
  for (const Webhook& hook : hooks_) {
    Json json = to_json(hook, true);
    json.erase("attempts");
    json["secret"] = hook.secret;
    all.push_back(std::move(json));
  }
  return users_.vault().write_sealed(folder_ + kSealed, all.dump(), kSealed);
}

std::string Webhooks::path(const Delivery& delivery) const {
  return folder_ + "/deliveries/" + delivery.hook + "-" + delivery.id + ".json";
}

Status Webhooks::keep(const Delivery& delivery) const {
  const Json json = {{"id", delivery.id},
                     {"hook", delivery.hook},
                     {"body", delivery.body},
                     {"attempts", delivery.attempts},
                     {"made", delivery.made}};
  return write_file_atomic(path(delivery), json.dump(-1, ' ', false, Json::error_handler_t::replace), 0600);
}

void Webhooks::forget(const Delivery& delivery) const {
  std::error_code error;  // a file that stays is sent again by the next service
  std::filesystem::remove(path(delivery), error);
}

Webhook* Webhooks::find_locked(const std::string& id) {
  const auto found = std::ranges::find(hooks_, id, &Webhook::id);
  return found == hooks_.end() ? nullptr : &*found;
}

Result<Webhook> Webhooks::add(const std::string& user, const std::string& text,
                              const std::vector<std::string>& events) {
  if (text.size() > kLongestUrl)
    return invalid("'url' is longer than " + std::to_string(kLongestUrl) + " characters");
  auto url = http::parse_http_url(text, "url");
  if (!url.ok()) return url.status();
  if (!url->user.empty()) return invalid("'url' must not contain a user or a password");
  if (!http::keeps_secrets(*url)) return invalid("'url' is not encrypted").with_hint("use https");
  for (const std::string& event : events)
    if (std::ranges::find(kEvents, event) == std::end(kEvents))
      return invalid("'events': unknown event '" + event + "'")
          .with_hint("use run.queued, run.started or run.finished");
  // Services on this computer may trust everybody who reaches them.
  if (!http::is_loopback(url->host) || user != users_.owner())
    if (Status open = http::check_open_host(text); open.code() == Code::Auth) return open;
  World& world = *users_.own().host->world;
  Webhook hook;
  hook.id = random_token(world.random).substr(0, 12);
  hook.user = user;
  hook.url = text;
  hook.secret = kSecretPrefix + base64_encode(world.random.bytes(32));
  for (const char* event : kEvents)  // each once
    if (events.empty() || std::ranges::find(events, event) != events.end()) hook.events.emplace_back(event);
  hook.created = now();
  std::lock_guard lock(mutex_);
  if (size_t(std::ranges::count(hooks_, user, &Webhook::user)) >= kMostOfUser)
    return Status(Code::Quota, "you have " + std::to_string(kMostOfUser) + " webhooks, the limit");
  hooks_.push_back(hook);
  if (Status saved = save_locked(); !saved.ok()) {
    hooks_.pop_back();
    return saved;
  }
  return hook;
}

std::vector<Webhook> Webhooks::list(const Caller& caller) const {
  std::lock_guard lock(mutex_);
  std::vector<Webhook> all = hooks_;
  std::erase_if(all, [&](const Webhook& hook) { return !caller.may_touch(hook.user); });
  return all;
}

Status Webhooks::remove(const Caller& caller, const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(hooks_, id, &Webhook::id);
  if (found == hooks_.end() || !caller.may_touch(found->user)) return not_found("there is no webhook " + id);
  const Webhook removed = *found;
  hooks_.erase(found);
  if (Status saved = save_locked(); !saved.ok()) {
    hooks_.push_back(removed);
    return saved;
  }
  std::erase_if(deliveries_, [&](const Delivery& one) {
    if (one.hook == id) forget(one);
    return one.hook == id;
  });
  return {};
}

// ---- deliveries ----

void Webhooks::give_up_locked(const Delivery& delivery) {
  forget(delivery);
  Webhook* hook = find_locked(delivery.hook);
  if (!hook) return;
  --hook->pending;
  ++hook->given_up;
  (void)save_locked();  // a number for people
}

// Deliveries of removed hooks are removed too.
void Webhooks::add_locked(Delivery delivery) {
  Webhook* hook = find_locked(delivery.hook);
  if (!hook) return forget(delivery);
  delivery.user = hook->user;
  if (size_t(std::ranges::count(deliveries_, hook->user, &Delivery::user)) >= kMostPending) {
    auto oldest = deliveries_.end();
    for (auto one = deliveries_.begin(); one != deliveries_.end(); ++one)
      if (one->user == hook->user && (oldest == deliveries_.end() || one->made < oldest->made)) oldest = one;
    give_up_locked(*oldest);
    deliveries_.erase(oldest);
  }
  ++hook->pending;
  deliveries_.push_back(std::move(delivery));
}

void Webhooks::tell(const std::string& user, const std::string& event, const std::string& subject,
                    const Json& data) {
  std::lock_guard lock(mutex_);
  const std::string id = subject + "-" + event.substr(event.find('.') + 1);
  for (size_t i = 0; i < hooks_.size(); ++i) {
    const Webhook& hook = hooks_[i];
    if (hook.user != user || std::ranges::find(hook.events, event) == hook.events.end()) continue;
    // A run that is cut off between this and its record is reported twice.
    if (std::ranges::any_of(deliveries_,
                            [&](const Delivery& its) { return its.id == id && its.hook == hook.id; }))
      continue;
    Delivery one;
    one.id = id;
    one.hook = hook.id;
    one.made = one.next = now();
    const Json body = {{"type", event}, {"timestamp", utc_time(one.made)}, {"data", data}};
    one.body = paths_.hide(body.dump(-1, ' ', false, Json::error_handler_t::replace));
    (void)keep(one);  // without its file, it is lost if the service ends before it arrives
    add_locked(std::move(one));
  }
  changed_.notify_all();
}

Status Webhooks::send(const Webhook& hook, const Delivery& delivery) const {
  auto url = http::parse_http_url(hook.url, "url");
  if (!url.ok()) return url.status();
  const bool here = http::is_loopback(url->host);  // add() allows that only for the service's own user
  Environment environment = users_.of(hook.user).host->environment();
  if (!here || hook.user != users_.owner()) environment = environment.with(http::kConfined, "yes");
  // A client of its own: it keeps no connection, so each delivery checks the address again.
  http::Client client(environment);
  bool accepted = false;
  http::Request request;
  request.method = "POST";
  request.url = hook.url;
  request.body = delivery.body;
  request.idempotent = true;  // by its ID
  request.follow_redirects = false;
  request.direct = here;
  request.deadline_seconds = kAnswerSeconds;
  request.largest_answer = size_t{64} << 10;
  request.on_headers = [&](const http::Response&) {  // only of a 2xx answer
    accepted = true;
    return Status();
  };
  request.sink = [](std::string_view) { return Status(); };
  request.stop = stop_.token();
  const std::string seconds = std::to_string(static_cast<long long>(now()));
  auto signature = webhook_signature(hook.secret, delivery.id, seconds, delivery.body);
  if (!signature.ok()) return signature.status();
  request.headers = {{"Content-Type", "application/json"},
                     {"Webhook-Id", delivery.id},
                     {"Webhook-Timestamp", seconds},
                     {"Webhook-Signature", *signature}};
  auto answer = client.send(request);
  if (accepted) return {};  // whatever its body is
  if (!answer.ok()) return answer.status();
  return Status(Code::Retry, "the answer was " + std::to_string(answer->status));
}

void Webhooks::attempted_locked(Delivery delivery, const Status& sent) {
  Webhook* hook = find_locked(delivery.hook);
  if (!hook) return forget(delivery);  // removed meanwhile
  hook->last = now();
  hook->last_error = sent.message();
  hook->attempts.insert(hook->attempts.begin(),
                        {delivery.id, hook->last, delivery.attempts + 1, hook->last_error});
  if (hook->attempts.size() > kShownAttempts) hook->attempts.pop_back();
  if (sent.ok()) {
    --hook->pending;
    return forget(delivery);
  }
  if (hook->last - delivery.made > kGiveUpAfter) return give_up_locked(delivery);
  const int doublings = std::min(delivery.attempts++, 12);
  delivery.next = hook->last + std::min(kFirstPause * double(1 << doublings), kLongestPause);
  (void)keep(delivery);  // its older record does as well
  deliveries_.push_back(std::move(delivery));
}

void Webhooks::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const double time = now();
    double wait = kLongestPause;
    auto due = deliveries_.end();
    // Slow receivers of some users must not hold up others: the user who was served longest ago is the next.
    const auto turn = [&](const Delivery& one) { return std::pair(served_[one.user], one.next); };
    for (auto one = deliveries_.begin(); one != deliveries_.end(); ++one) {
      if (sending_.contains(one->user)) continue;
      if (one->next > time)
        wait = std::min(wait, one->next - time);
      else if (due == deliveries_.end() || turn(*one) < turn(*due))
        due = one;
    }
    if (due == deliveries_.end()) {
      changed_.wait_for(lock, std::chrono::duration<double>(wait));
      continue;
    }
    Delivery delivery = std::move(*due);
    deliveries_.erase(due);
    Webhook* found = find_locked(delivery.hook);
    if (!found) continue;
    const Webhook hook = *found;
    const std::string user = delivery.user;
    sending_.insert(user);
    served_[user] = ++turns_;
    lock.unlock();
    const Status sent = guarded([&] { return send(hook, delivery); });
    lock.lock();
    sending_.erase(user);
    if (stopping_) break;  // the next service sends it again
    (void)guarded([&]() -> Status {
      attempted_locked(std::move(delivery), sent);
      return {};
    });
    changed_.notify_all();
  }
}

}  // namespace radl::serve
