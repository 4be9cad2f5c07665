#include "runtime/serve/service.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

#include "common/files.h"
#include "common/http/loopback.h"
#include "common/program_folder.h"
#include "common/shorten.h"
#include "common/text.h"
#include "runtime/serve/account_api.h"
#include "runtime/serve/hidden_paths.h"
#include "runtime/serve/im_api.h"
#include "runtime/serve/own_api.h"
#include "runtime/serve/page.h"
#include "runtime/serve/rate.h"
#include "runtime/serve/run_events.h"
#include "runtime/state/place.h"
#include "runtime/state/store.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr double kLinkSeconds = 600;
constexpr size_t kMostHeld = size_t{256} << 20;  // of bodies in memory
constexpr size_t kLongestWhy = 4096;             // of a webhook: the findings of a program may be megabytes

// Of each stream a connection and a log, of all other connections and files the rest.
constexpr rlim_t kDescriptors = 2 * EventStreams::kMostOfAll + 4096;

// As many as the system lets this process have.
void allow_descriptors(rlim_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, wanted);
  (void)::setrlimit(RLIMIT_NOFILE, &limit);  // with fewer, new connections wait
}

std::string authority(const std::string& address, uint16_t port) {
  const bool six = address.find(':') != std::string::npos;
  return (six ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

// IM's export of an infrastructure: /infrastructures/ID/data.
bool exports(const httpd::RequestHead& head) {
  auto path = head.segments();
  return path.ok() && path->size() == 3 && (*path)[0] == "infrastructures" && (*path)[2] == "data";
}

// With ?delete=yes, a GET of it ends the management of the infrastructure.
bool deletes(const httpd::RequestHead& head) {
  auto parameters = head.parameters();
  return exports(head) && parameters.ok() &&
         std::ranges::any_of(*parameters, [](const auto& one) { return one.first == "delete"; });
}

Answer refusal_of(const httpd::RequestHead& head, const Refusal& of) {
  return refusal(head, of.status, of.why,
                 of.status == 401 ? "Run `radlc serve --open` for a link that opens the page." : "");
}

}  // namespace

class Service::Requests : public httpd::Handler {
 public:
  Requests(Access& access, Users& users, Audit& audit, const std::vector<std::unique_ptr<Part>>& parts,
           const ServiceLimits& limits, Clock& clock)
      : paths_(users.folder()),
        access_(access),
        users_(users),
        audit_(audit),
        parts_(parts),
        rate_(limits.requests_per_second, 10 * limits.requests_per_second, clock) {}

  // It listens before its parts are there, so that what was cut off is continued by a service that has its
  // port. `counts` is told of each answer.
  void open(OwnApi& counts) {
    counts_ = &counts;
    open_ = true;
  }

  Begun begin(const httpd::RequestHead& head) override {
    if (!open_) return refuse(503, "The service is starting.");
    if (head.path == kOpenPath) return open_session(head);
    const auto admitted = access_.admit(head);
    if (const auto* refusal = std::get_if<Refusal>(&admitted)) return refused(head, *refusal);
    const Caller& caller = std::get<Caller>(admitted);
    if (!rate_.take(caller.user)) return refused(head, {429, "You send too many requests."}, &caller);
    const auto part = std::ranges::find_if(parts_, [&](const auto& one) { return one->takes(head); });
    if (part == parts_.end()) return refused(head, {404, "Not Found"}, &caller);
    const bool changes = (head.method != "GET" && head.method != "HEAD") || deletes(head);
    // An export has the keys of machines.
    const bool audited = changes || exports(head);
    if (changes && (*part)->runs_programs() && !users_.trusts(caller.user))
      return refused(head,
                     {403,
                      "Programs run on the computer of this service, which does not trust its users "
                      "with that. Ask its administrator to start it with --trust-users."},
                     &caller);
    // A link that is opened in a browser, from wherever, deletes nothing.
    if (caller.in_browser && deletes(head))
      return refused(head, {403, "This request deletes: send it with a token, not with a session."}, &caller);
    Begun begun = (*part)->begin(head, caller);
    if (auto* answer = std::get_if<Answer>(&begun)) {
      if (audited) audit_.note(head, &caller, answer->status);
      return shown(head, std::move(*answer));
    }
    if (audited) audit_.note(head, &caller, {});
    return std::make_unique<Admitted>(*this, std::move(std::get<std::unique_ptr<httpd::Exchange>>(begun)),
                                      head, caller, audited ? &audit_ : nullptr);
  }
  Answer refuse(int status, const std::string& why) override {
    return secured(error_answer(status,
                                status == 429 || status == 503 ? "retry"
                                : status == 500                ? "internal"
                                                               : "invalid",
                                why));
  }
  void answered(const httpd::RequestHead&, int status, double) override {
    if (open_) counts_->count(status);
  }

 private:
  Begun open_session(const httpd::RequestHead& head) {
    const auto code = access_.opening(head);
    if (const auto* refusal = std::get_if<Refusal>(&code)) return refused(head, *refusal);
    return with_body(head, 0, [this, head, code = std::get<std::string>(code)](const std::string&) {
      auto session = access_.opened(code);
      if (const auto* refusal = std::get_if<Refusal>(&session)) return refused(head, *refusal);
      return secured(std::move(std::get<Answer>(session)));
    });
  }

  Answer refused(const httpd::RequestHead& head, const Refusal& refusal, const Caller* caller = nullptr) {
    audit_.note(head, caller, refusal.status);
    Answer answer = refusal_of(head, refusal);
    if (refusal.status == 401) answer.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"radlc\"");
    return secured(std::move(answer));
  }

  // A browser runs nothing of an answer that does not say what it may run.
  static Answer secured(Answer answer) {
    const auto unless_set = [&](const char* name, const char* value) {
      if (std::ranges::find(answer.headers, name, &std::pair<std::string, std::string>::first) ==
          answer.headers.end())
        answer.headers.emplace_back(name, value);
    };
    unless_set("X-Content-Type-Options", "nosniff");
    unless_set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    unless_set("Cache-Control", "no-store");
    return answer;
  }

  // Events, without paths of the service.
  struct ShownStream : httpd::StreamSource {
    ShownStream(const HiddenPaths& p, std::unique_ptr<httpd::StreamSource> s)
        : paths(p), stream(std::move(s)) {}
    std::optional<std::string> next() override {
      auto text = stream->next();
      return text ? std::optional(paths.hide(std::move(*text))) : text;
    }
    void on_more(std::function<void()> more) override { stream->on_more(std::move(more)); }

    const HiddenPaths& paths;
    const std::unique_ptr<httpd::StreamSource> stream;
  };

  // An export is for another service, which needs everything.
  Answer shown(const httpd::RequestHead& head, Answer answer) const {
    if (!exports(head)) answer.body = paths_.hide(std::move(answer.body));
    if (answer.stream) answer.stream = std::make_unique<ShownStream>(paths_, std::move(answer.stream));
    return secured(std::move(answer));
  }

  struct Admitted : httpd::Exchange {
    Admitted(const Requests& r, std::unique_ptr<httpd::Exchange> e, const httpd::RequestHead& h,
             const Caller& c, Audit* a)
        : requests(r), exchange(std::move(e)), head(h), caller(c), audit(a) {}
    // Its connection broke, or it found no room in the queue: 499 as proxies write it.
    ~Admitted() override {
      requests.held_ -= held;
      if (audit) audit->note(head, &caller, 499);
    }
    std::optional<Answer> receive(std::string_view part) override {
      if (exchange->keeps_body()) {
        held += part.size();
        if ((requests.held_ += part.size()) > kMostHeld)
          return noted(refusal(head, 503, "The bodies of other requests fill the memory of the service."));
      }
      auto answer = exchange->receive(part);
      if (answer) return noted(std::move(*answer));
      return {};
    }
    Answer finish() override { return noted(exchange->finish()); }
    Answer noted(Answer answer) {
      if (audit) std::exchange(audit, nullptr)->note(head, &caller, answer.status);
      return requests.shown(head, std::move(answer));
    }

    const Requests& requests;
    const std::unique_ptr<httpd::Exchange> exchange;
    const httpd::RequestHead head;
    const Caller caller;
    Audit* audit;     // nullptr: it changes nothing, or was noted
    size_t held = 0;  // bytes of its body in memory
  };

  const HiddenPaths paths_;
  Access& access_;
  Users& users_;
  Audit& audit_;
  const std::vector<std::unique_ptr<Part>>& parts_;
  Rate rate_;
  OwnApi* counts_ = nullptr;
  mutable std::atomic<size_t> held_ = 0;  // bytes of all bodies in memory
  std::atomic<bool> open_{false};
};

Service::Service(FileTurn turn) : turn_(std::move(turn)) {}

Result<std::unique_ptr<Service>> Service::start(const ServiceOptions& o) {
  if (!http::is_loopback(o.address) && o.certificate.empty())
    return Status(Code::Invalid,
                  o.address + " can be reached by others, and their requests would not be encrypted")
        .with_hint("pass --tls-cert and --tls-key, or listen on 127.0.0.1");
  if (Status made = make_directories(o.folder, 0700); !made.ok()) return made;
  if (!o.settings.states.empty()) {  // a place that cannot be reached is known before anything is created
    const Stop soon = Stop().within(std::chrono::seconds(30));
    auto reached = list_states(o.settings.states, o.settings.host->environment(), soon);
    if (!reached.ok()) return std::move(reached).status().at("--state " + o.settings.states);
  }
  auto turn = FileTurn::take(o.folder + "/lock", Stop().within(std::chrono::milliseconds(200)));
  if (turn.status().code() == Code::Timeout)
    return Status(Code::Conflict, o.folder + ": another service uses this folder");
  if (!turn.ok()) return turn.status();
  std::unique_ptr<Service> service(new Service(std::move(*turn)));
  service->folder_ = o.folder;
  service->scheme_ = o.certificate.empty() ? "http" : "https";

  httpd::ServerOptions http{.address = o.address, .port = o.port};
  for (const auto& [file, text] :
       {std::pair(&o.certificate, &http.certificate), std::pair(&o.key, &http.key)}) {
    if (file->empty()) continue;
    auto read = read_file(*file, size_t{1} << 20);
    if (!read.ok()) return read.status();
    *text = std::move(*read);
  }
  World& world = *o.settings.host->world;
  (void)world.files.remove_tree(o.folder + "/programs");  // of requests that a killed service had begun
  Settings settings = o.settings;
  if (is_bucket_place(settings.states)) {
    auto records = Records::open(o.folder, settings.states, world, service->notes_);
    if (!records.ok()) return std::move(records).status().at("--state " + settings.states);
    service->records_ = std::move(*records);
    settings.records = service->records_.get();
  }
  auto access = Access::open(o.folder, o.owner, world);
  if (!access.ok()) return access.status();
  service->access_ = std::move(*access);
  service->audit_ = std::make_unique<Audit>(o.folder, world.clock);
  service->users_ = std::make_unique<Users>(settings, o.folder, o.owner, o.trust_users);
  service->requests_ = std::make_unique<Requests>(*service->access_, *service->users_, *service->audit_,
                                                  service->parts_, o.limits, world.clock);
  // More than all RequestSlots together (48): a read always finds a worker.
  http.workers = 64;
  http.connections.body_step = size_t{64} << 10;  // uploads are large
  http.streams = EventStreams::kMostOfAll;
  allow_descriptors(kDescriptors);
  auto server = httpd::Server::start(*service->requests_, http);
  if (!server.ok()) return server.status();
  service->server_ = std::move(*server);
  // A certificate is of a name.
  service->host_ = o.certificate.empty() || o.host_names.empty()
                       ? authority(o.address, service->server_->port())
                       : o.host_names.front();
  std::vector<std::string> hosts = {authority(o.address, service->server_->port())};
  if (http::is_loopback(o.address)) hosts.push_back(authority("localhost", service->server_->port()));
  hosts.insert(hosts.end(), o.host_names.begin(), o.host_names.end());
  service->access_->set_hosts(std::move(hosts));
  service->access_->set_secure(!o.certificate.empty());
  auto registry = Registry::open(*service->users_, o.folder, service->notes_);
  if (!registry.ok()) return registry.status();
  service->registry_ = std::move(*registry);
  // In the order in which they are asked for a request.
  auto workspaces = Workspaces::open(*service->users_, o.folder, o.limits.infrastructures, service->notes_);
  if (!workspaces.ok()) return workspaces.status();
  service->workspaces_ = std::move(*workspaces);
  auto webhooks = Webhooks::open(*service->users_, o.folder, service->notes_);
  if (!webhooks.ok()) return webhooks.status();
  service->webhooks_ = std::move(*webhooks);
  service->workspaces_->listen(
      [&hooks = *service->webhooks_](const Workspace& of, const WorkspaceRun& run, const std::string& event) {
        Json short_run = to_json(run);
        for (const char* long_part : {"notes", "logs"}) short_run.erase(long_part);
        short_run["why"] = shorten(run.why, kLongestWhy);
        hooks.tell(of.owner(), event, run.id,
                   {{"infrastructure", {{"id", of.id()}, {"name", of.name()}, {"owner", of.owner()}}},
                    {"run", std::move(short_run)}});
      });
  service->parts_.push_back(
      std::make_unique<AccountApi>(*service->access_, *service->users_, *service->audit_));
  auto own = std::make_unique<OwnApi>(*service->users_, *service->access_, *service->workspaces_,
                                      *service->webhooks_);
  OwnApi& counts = *own;
  service->parts_.push_back(std::move(own));
  service->parts_.push_back(std::make_unique<Page>(program_folder() + "/../share/radlc/page"));
  service->parts_.push_back(std::make_unique<ImApi>(*service->access_, *service->registry_, service->scheme_,
                                                    ImLimits{.infrastructures = o.limits.infrastructures}));
  if (Status kept = write_file_atomic(o.folder + "/url", service->url() + "\n", 0600); !kept.ok())
    return kept;
  service->workspaces_->recover();
  service->requests_->open(counts);
  return service;
}

Service::~Service() {
  if (workspaces_) workspaces_->stop();
  if (registry_) registry_->stop();  // requests that wait for machines are answered
  server_.reset();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove(folder_ + "/url", ignored);
}

namespace {

Result<std::string> link_to(const std::string& url, Access& access, const std::string& user, Scope scope) {
  auto code = access.tokens().add(access.owner(), {.user = user,
                                                   .scope = scope,
                                                   .label = "radlc serve --open",
                                                   .lifetime = kLinkSeconds,
                                                   .kind = Token::Kind::OneTime});
  if (!code.ok()) return code.status();
  return url + std::string(kOpenPath) + "?code=" + code->secret;
}

}  // namespace

Result<std::string> Service::one_time_link() { return link_to(url(), *access_, {}, Scope::Admin); }

Result<std::string> one_time_link(const std::string& folder, const std::string& owner, World& world,
                                  const std::string& user, Scope scope) {
  auto turn = FileTurn::take(folder + "/lock", Stop().within(std::chrono::milliseconds(50)));
  auto url = read_file(folder + "/url", 4096);
  if (turn.ok() || !url.ok())
    return Status(Code::NotFound, folder + ": no service runs on this folder")
        .with_hint("start `radlc serve`");
  auto access = Access::open(folder, owner, world);
  if (!access.ok()) return access.status();
  return link_to(std::string(trim(*url)), **access, user, scope);
}

std::string Service::url() const { return scheme_ + "://" + host_; }

}  // namespace radl::serve
