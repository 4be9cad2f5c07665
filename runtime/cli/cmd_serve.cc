#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/serve_token.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/project_state.h"
#include "runtime/serve/service.h"

namespace radl::cli::serve_command {
namespace {

// "127.0.0.1:8899", "[::1]:0", "8899".
Status read_address(const std::string& text, serve::ServiceOptions& options) {
  const size_t colon = text.rfind(':');
  std::string port = text.substr(colon == std::string::npos ? 0 : colon + 1);
  std::string address = colon == std::string::npos ? options.address : text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  const bool digits =
      !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || std::stoi(port) > 65535)
    return Status(Code::Invalid,
                  "--listen " + text + ": an address and a port are required, for example 127.0.0.1:8899");
  options.address = std::move(address);
  options.port = uint16_t(std::stoi(port));
  return {};
}

int run(const Session& session, const std::string& listen, serve::ServiceOptions options, bool open) {
  if (Status read = read_address(listen, options); !read.ok()) return report(session, read);
  if (Status found = set_service_folder(session, options.folder); !found.ok()) return report(session, found);
  options.settings.host = &session.host;
  if (std::string& states = options.settings.states; !states.empty()) {
    states = driver::state_place(session.host, states);
    while (states.ends_with('/')) states.pop_back();
  }
  options.owner = service_owner(session);
  if (open) {
    const auto link = serve::one_time_link(options.folder, options.owner, *session.host.world);
    if (link.ok() || link.status().code() != Code::NotFound) return show_link(session, link);
  }
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  auto service = serve::Service::start(options);
  if (!service.ok()) return report(session, service.status());
  for (const std::string& note : (*service)->notes())
    std::fprintf(stderr, "warning: %s\n", shown(note).c_str());
  std::printf("The service is on %s; its token is in %s\n", (*service)->url().c_str(),
              shown((*service)->token_file()).c_str());
  std::fflush(stdout);
  if (open) show_link(session, (*service)->one_time_link());
  while (cancellation.finishing().sleep(std::chrono::hours(1))) {
  }
  std::fprintf(stderr, "Stopping after the current requests\n");
  service->reset();
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "serve", "Serve a web page, its REST API, and the REST API of the Infrastructure Manager");
  auto open = std::make_shared<bool>(false);
  auto chosen = std::make_shared<std::function<int()>>();
  auto options = std::make_shared<serve::ServiceOptions>();
  auto listen = std::make_shared<std::string>("127.0.0.1:8899");
  command->add_option("--listen", *listen, "address and port; port 0: any free one, printed")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  command
      ->add_option("--folder", options->folder, "folder of the service; default: ~/.local/share/radlc/serve")
      ->type_name("DIR");
  command
      ->add_option(
          "--state", options->settings.states,
          "place of the states of infrastructures: a folder, or s3://BUCKET/PREFIX; default: below the "
          "service's folder")
      ->type_name("PLACE");
  command
      ->add_option("--tls-cert", options->certificate,
                   "certificate chain, PEM; required unless --listen is loopback")
      ->type_name("FILE");
  command->add_option("--tls-key", options->key, "its private key, PEM")->type_name("FILE");
  command->get_option("--tls-cert")->needs("--tls-key");
  command->get_option("--tls-key")->needs("--tls-cert");
  command
      ->add_option(
          "--host-name", options->host_names,
          "HOST:PORT by which clients call the service, for example that of a proxy; may be repeated")
      ->type_name("HOST:PORT");
  command->add_option("--cloud", options->settings.cloud,
                      "cloud of nodes that name none, where a client sends no accounts");
  command->add_option("--auth", options->settings.auth, "auth file used where a client sends no accounts")
      ->type_name("FILE");
  command->add_flag("--open", *open,
                    "print a one-time link that opens the page in a browser; of the service that runs on the "
                    "folder, or of a new one");
  command->add_flag(
      "--trust-users", options->trust_users,
      "run recipes of Ansible and `radl 2` programs of all users, with the rights of this user");
  command
      ->add_option("--max-infrastructures", options->limits.infrastructures,
                   "infrastructures of each user at most")
      ->capture_default_str();
  command
      ->add_option("--max-requests", options->limits.requests_per_second,
                   "requests a second of each user at most, on average")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_token_commands(*command, session, options->folder, *chosen);
  return [=, &session] { return *chosen ? (*chosen)() : run(session, *listen, *options, *open); };
}

}  // namespace radl::cli::serve_command
