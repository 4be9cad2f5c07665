#include "runtime/cli/im_service.h"

#include <algorithm>
#include <charconv>

#include "common/http/loopback.h"
#include "common/json_values.h"
#include "common/text.h"

namespace radl::cli {
namespace {

constexpr std::string_view kInfrastructures = "/infrastructures/";
constexpr double kLongestAnswer = 300;  // seconds; the IM asks the clouds before it answers

// A value of an auth line in the IM's header: a line break is `\\n` there.
// With quotes of both kinds it cannot be written.
Result<std::string> header_value(const std::string& value) {
  if (value.find('\'') != value.npos && value.find('"') != value.npos)
    return invalid("a value has both ' and \", which the IM cannot read");
  const char quote = value.find('\'') == value.npos ? '\'' : '"';
  std::string out(1, quote);
  for (char c : value) c == '\n' ? out += "\\\\n" : out += c;
  return out + quote;
}

Result<std::string> authorization_of(const AuthFile& auth) {
  if (auth.of_type("InfrastructureManager").empty())
    return invalid(auth.path + ": no line has the type InfrastructureManager")
        .with_hint("pass the auth file that you use with the IM's client: --auth FILE");
  std::string header;
  for (const AuthLine& line : auth.lines) {
    if (!line.missing.empty())
      return Status(Code::Auth, auth.path + ": " + line.id + ": " + line.missing.begin()->second);
    header += (header.empty() ? "" : "\\n") + ("id = " + line.id) + "; type = " + line.type;
    for (const auto& [key, value] : line.values) {
      auto quoted = header_value(value);
      if (!quoted.ok())
        return Status(quoted.status().code(),
                      auth.path + ": " + line.id + ": " + key + ": " + quoted.status().message());
      header += "; " + key + " = " + *quoted;
    }
  }
  return header;
}

// The system in the answer for a machine.
const Json* system_of(const Json& answer) {
  for (const Json& one : json::list_of(answer, "radl"))
    if (json::text_of(one, "class") == "system" && !json::text_of(one, "id").empty()) return &one;
  return nullptr;
}

// "7" from ".../vms/7"; "" if it is not such a URL.
std::string machine_number(const Json& one) {
  const std::string text = json::text_of(one, "uri");
  const std::string number = text.substr(text.rfind('/') + 1);
  const bool digits =
      !number.empty() && number.size() < 10 && number.find_first_not_of("0123456789") == number.npos;
  return digits ? number : "";
}

}  // namespace

Result<ImAddress> im_address(const std::string& uri) {
  auto url = http::parse_http_url(uri, "the infrastructure");
  if (!url.ok()) return url.status();
  const size_t at = url->path.rfind(kInfrastructures);
  const std::string id = at == std::string::npos ? "" : url->path.substr(at + kInfrastructures.size());
  const bool plain = !id.empty() && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
  if (!plain || !url->query.empty() || !url->user.empty())
    return invalid(http::printable_url(uri) + " is not the address of an infrastructure")
        .with_hint("write it as the IM's client prints it: https://HOST:8800/infrastructures/ID");
  if (!http::keeps_secrets(*url))
    return invalid(http::printable_url(uri) + ": your credentials would be sent without encryption")
        .with_hint("use https");
  return ImAddress{url->scheme + "://" + url->authority() + url->path.substr(0, at), id};
}

Result<ImService> ImService::make(const Environment& environment, const ImAddress& at, const AuthFile& auth,
                                  const Stop& stop) {
  auto authorization = authorization_of(auth);
  if (!authorization.ok()) return authorization.status();
  return ImService(environment, at, std::move(*authorization), stop);
}

Result<Json> ImService::get(const std::string& below) {
  http::Request request;
  request.url = at_.server + std::string(kInfrastructures) + at_.infrastructure + below;
  request.headers = {{"Authorization", authorization_}, {"Accept", "application/json"}};
  request.follow_redirects = false;  // another server must not get the credentials
  request.direct = !at_.server.starts_with("https:");
  request.stall_seconds = kLongestAnswer;
  request.stop = stop_;
  auto response = http_->send(request, http::Retries());
  if (!response.ok()) return response.status();
  Json answer = json::parse_json(response->body);
  if (!response->ok()) {
    const std::string said = json::text_of(answer, "message");
    if (said.empty()) return http::status_of(*response, at_.server);
    return Status(http::code_of_status(response->status), at_.server + ": " + said);
  }
  if (!answer.is_object())
    return Status(Code::Corrupt, at_.server + ": the answer is not JSON; is this an Infrastructure Manager?");
  return answer;
}

Result<ImInfrastructure> ImService::read() {
  ImInfrastructure all;
  all.id = at_.infrastructure;
  auto radl = get("/radl");
  if (!radl.ok()) return radl.status();
  if (!json::member(*radl, "radl").is_string())
    return Status(Code::Corrupt, at_.server + ": the infrastructure has no RADL");
  all.radl = json::text_of(*radl, "radl");
  auto list = get("");
  if (!list.ok()) return list.status();
  for (const Json& one : json::list_of(*list, "uri-list")) {
    const std::string number = machine_number(one);
    if (number.empty())
      return Status(Code::Corrupt, at_.server + ": the list of machines has an unknown form");
    auto machine = get("/vms/" + number);
    if (!machine.ok()) return machine.status();
    const Json* system = system_of(*machine);
    if (!system) return Status(Code::Corrupt, at_.server + ": VM " + number + " has no system");
    all.machines.push_back({number, *system});
  }
  std::sort(all.machines.begin(), all.machines.end(), [](const ImMachine& a, const ImMachine& b) {
    return std::pair(a.number.size(), a.number) < std::pair(b.number.size(), b.number);
  });
  return all;
}

Status ImService::forget() { return get("/data?delete=1").status(); }

}  // namespace radl::cli
