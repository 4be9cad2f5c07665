#include "runtime/steps/dataset_direct.h"

#include <fmt/format.h>

#include "common/digest.h"
#include "common/store_address.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"

namespace radl {
namespace {

constexpr int kGoodFor = 3600;  // seconds, of a URL
constexpr int kLacksCurl = 44;

// As curl reads it in a configuration.
std::string for_curl(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::optional<DatasetStore> DatasetStore::open(const Environment& environment, const std::string& address,
                                               const std::string& name, uintmax_t bytes, const Stop& stop) {
  if (!is_store_address(address)) return std::nullopt;
  DatasetStore made;
  made.http_ = std::make_unique<http::Client>(environment);
  auto opened = transfer::open_object_store(*made.http_, address);
  if (!opened) return std::nullopt;
  made.store_ = std::move(opened->store);
  made.address_ = address;
  made.prefix_ = opened->key;
  if (!made.prefix_.empty() && !made.prefix_.ends_with('/')) made.prefix_ += '/';
  auto head = made.store_->head(made.prefix_ + name, stop);
  if (!head || head->size != bytes) return std::nullopt;
  if (!made.store_->presign("GET", made.prefix_ + name, kGoodFor, stop)) return std::nullopt;
  return made;
}

Status DatasetStore::fetch(const NodeHandle& node, const Fetched& what, const Stop& stop) {
  std::string urls;
  for (const std::string& name : names_of(what.list)) {
    auto url = store_->presign("GET", prefix_ + name, kGoodFor, stop);
    if (!url) return url.status();
    urls += fmt::format("url = {}\noutput = {}\n", for_curl(*url), for_curl("./" + name));
  }
  auto remote = node.connect();
  if (!remote) return remote.status();
  const std::string list = "~/.radl/stage/" + to_hex(random_bytes(8)) + ".list";
  ExecOptions options;
  options.deadline = std::chrono::seconds(kGoodFor);
  options.stop = stop;
  auto made = (*remote)->exec("mkdir -p -m 700 ~/.radl/stage", options);
  if (!made) return made.status();
  if (Status s = (*remote)->put_bytes(what.list, list, 0600, stop).status(); !s.ok()) return s;
  options.stdin_bytes = std::move(urls);
  auto ran = (*remote)->exec(
      fmt::format(
          "l={0}\ntrap 'rm -f \"$l\"' EXIT\ncommand -v curl > /dev/null 2>&1 || exit {2}\n"
          "mkdir -p {1} && cd {1} || exit 1\n"
          "curl -q --fail --path-as-is --no-progress-meter --create-dirs --retry 3 --connect-timeout 5 "
          "--speed-limit 1000 --speed-time 30 --parallel --parallel-max 16 -K - || exit\n"
          "sha256sum -c --quiet \"$l\" >&2",
          shell_path(list), shell_path(what.directory), kLacksCurl),
      options);
  if (!ran) return ran.status();
  if (ran->exit_status == kLacksCurl) return {Code::Unsupported, "curl is missing"};
  return ran->exit_status == 0 ? Status() : ssh::command_failure(*ran, "curl");
}

}  // namespace radl
