#include "runtime/serve/service.h"

#include <atomic>

#include "common/files.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr size_t kLargestBody = size_t{16} << 20;

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

std::string authority(const std::string& address, uint16_t port) {
  const bool six = address.find(':') != std::string::npos;
  return (six ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

}  // namespace

// Takes the whole body of whoever has the token.
class Service::Requests : public httpd::Handler {
 public:
  explicit Requests(ImApi& api) : api_(api) {}

  // The port, and with it the names of this service, are known once it listens.
  void open() { open_ = true; }

  std::variant<Answer, std::unique_ptr<httpd::Exchange>> begin(const httpd::RequestHead& head) override {
    if (!open_) return refuse(503, "The service begins.");
    if (auto refused = api_.refuse_stranger(head)) return secured(std::move(*refused));
    if (head.length().value_or(0) > kLargestBody)
      return secured(error_answer(head, 413, "The body is too large."));
    return std::make_unique<Whole>(api_, head);
  }
  Answer refuse(int status, const std::string& why) override {
    return secured({.status = status, .body = why, .type = "text/plain"});
  }

 private:
  // A browser shows nothing of it, whatever is in it.
  static Answer secured(Answer answer) {
    answer.headers.emplace_back("X-Content-Type-Options", "nosniff");
    answer.headers.emplace_back("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    answer.headers.emplace_back("Cache-Control", "no-store");
    return answer;
  }

  struct Whole : httpd::Exchange {
    Whole(ImApi& a, const httpd::RequestHead& h) : api(a), head(h) {}
    std::optional<Answer> receive(std::string_view part) override {
      if (body.size() + part.size() > kLargestBody)
        return secured(error_answer(head, 413, "The body is too large."));
      body += part;
      return {};
    }
    Answer finish() override { return secured(api.answer(head, body)); }
    ImApi& api;
    const httpd::RequestHead head;
    std::string body;
  };

  ImApi& api_;
  std::atomic<bool> open_{false};
};

Service::Service(FileTurn turn) : turn_(std::move(turn)) {}

Result<std::unique_ptr<Service>> Service::start(const ServiceOptions& o) {
  if (!is_loopback(o.address) && o.certificate.empty())
    return Status(Code::Invalid,
                  o.address + " can be reached by others, and their requests would not be encrypted")
        .with_hint("pass --tls-cert and --tls-key, or listen on 127.0.0.1");
  if (Status made = make_directories(o.folder, 0700); !made.ok()) return made;
  auto turn = FileTurn::take(o.folder + "/lock", Stop().within(std::chrono::milliseconds(200)));
  if (turn.status().code() == Code::Timeout)
    return Status(Code::Conflict, o.folder + ": another service has this folder");
  if (!turn.ok()) return turn.status();
  std::unique_ptr<Service> service(new Service(std::move(*turn)));
  service->folder_ = o.folder;
  service->address_ = o.address;
  service->scheme_ = o.certificate.empty() ? "http" : "https";

  httpd::ServerOptions http{.address = o.address, .port = o.port};
  for (const auto& [file, text] :
       {std::pair(&o.certificate, &http.certificate), std::pair(&o.key, &http.key)}) {
    if (file->empty()) continue;
    auto read = read_file(*file, size_t{1} << 20);
    if (!read.ok()) return read.status();
    *text = std::move(*read);
  }
  auto access = Access::open(o.folder, o.settings.host->world->random);
  if (!access.ok()) return access.status();
  service->access_ = std::move(*access);
  auto registry = Registry::open(o.settings, o.folder, service->notes_);
  if (!registry.ok()) return registry.status();
  service->registry_ = std::move(*registry);
  service->api_ = std::make_unique<ImApi>(service->access_, *service->registry_, service->scheme_);
  service->requests_ = std::make_unique<Requests>(*service->api_);
  // A request may wait for machines; those that only look find a worker all the same.
  http.workers = 32;
  auto server = httpd::Server::start(*service->requests_, http);
  if (!server.ok()) return server.status();
  service->server_ = std::move(*server);
  std::vector<std::string> hosts = {authority(o.address, service->server_->port())};
  if (is_loopback(o.address)) hosts.push_back(authority("localhost", service->server_->port()));
  hosts.insert(hosts.end(), o.host_names.begin(), o.host_names.end());
  service->access_.set_hosts(std::move(hosts));
  service->requests_->open();
  return service;
}

Service::~Service() {
  if (registry_) registry_->stop();  // requests that wait for machines are answered
  server_.reset();
}

std::string Service::url() const { return scheme_ + "://" + authority(address_, server_->port()); }

}  // namespace radl::serve
