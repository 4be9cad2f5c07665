#include "runtime/clouds/user_data.h"

#include <fmt/format.h>

namespace radl {

std::string user_data(const std::string& host_name, const std::optional<AutoStop>& stop) {
  constexpr const char* kBoundary = "==radlc==";
  std::string data =
      fmt::format("Content-Type: multipart/mixed; boundary=\"{}\"\nMIME-Version: 1.0\n\n", kBoundary);
  auto add = [&](const char* type, const std::string& part) {
    data += fmt::format("--{}\nContent-Type: {}; charset=\"utf-8\"\n\n{}\n", kBoundary, type, part);
  };
  add("text/cloud-config", fmt::format("#cloud-config\npreserve_hostname: false\nhostname: {}\nfqdn: {}\n"
                                       "manage_etc_hosts: false\n",
                                       host_name.substr(0, host_name.find('.')), host_name));
  if (stop) add("text/x-shellscript", auto_stop_user_data(*stop));
  return data + fmt::format("--{}--\n", kBoundary);
}

std::string user_data_of(const Json& spec) {
  std::optional<AutoStop> stop;
  if (spec.contains("stop")) stop = auto_stop_from_json(spec["stop"]);
  return user_data(spec.value("hostname", ""), stop);
}

}  // namespace radl
