// Which host key a server shows.
#include <fmt/format.h>

#include <string_view>

#include "common/process/process.h"
#include "common/text.h"
#include "runtime/net/ssh/keys.h"
#include "runtime/net/ssh/target.h"

namespace radl::ssh {

Result<std::string> shown_host_key(const Target& endpoint, const Stop& stop) {
  constexpr const char* kPreferred[] = {"ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa"};
  ProcessRequest request;
  request.argv = {"ssh-keyscan",       "-T", "5",          "-p", std::to_string(endpoint.port), "-t",
                  "ed25519,ecdsa,rsa", "--", endpoint.host};
  request.deadline = std::chrono::seconds(20);
  request.stop = stop;
  Result<ProcessResult> ran = run_process(endpoint.environment, request);
  if (ran.status().code() == Code::Timeout)
    return Status(Code::Timeout, fmt::format("{}:{}: the port has not answered with SSH in the time allowed",
                                             endpoint.host, endpoint.port));
  if (!ran.ok()) return ran.status();
  std::string best;
  size_t rank = std::size(kPreferred);
  for (std::string_view line : split(ran->out, '\n')) {
    size_t blank = line.find(' ');
    if (line.starts_with('#') || blank == line.npos) continue;
    std::string key(line.substr(blank + 1));
    for (size_t i = 0; i < rank; ++i) {
      if (key_type(key) != kPreferred[i]) continue;
      best = key;
      rank = i;
    }
  }
  if (best.empty())
    return Status(Code::Retry, fmt::format("{}:{}: the port does not answer with SSH (yet)", endpoint.host,
                                           endpoint.port));
  return best;
}

}  // namespace radl::ssh
