#include "runtime/exec/names.h"

#include <set>

#include "common/shell_quote.h"

namespace radl {

namespace {

constexpr const char* kBegin = "# BEGIN radlc";
constexpr const char* kEnd = "# END radlc";

// In place, since /etc/hosts may be a mount; only where something differs.
constexpr const char* kScript = R"(set -e
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -v b="# BEGIN radlc" -v e="# END radlc" '$0 == b {skip = 1} !skip {print} $0 == e {skip = 0}' /etc/hosts > "$new"
printf '%s' "$1" >> "$new"
cmp -s "$new" /etc/hosts || cat "$new" > /etc/hosts
)";

std::vector<std::string> names_of(const Json& spec) {
  std::vector<std::string> names;
  auto add = [&](const std::string& name) {
    if (name.empty()) return;
    names.push_back(name);
    if (size_t dot = name.find('.'); dot != name.npos) names.push_back(name.substr(0, dot));
  };
  add(spec.value("hostname", ""));
  if (spec.contains("names")) {
    for (const Json& name : spec["names"]) add(name.get<std::string>());
  }
  return names;
}

}  // namespace

std::string names_block(const Snapshot& snapshot) {
  std::string block = std::string(kBegin) + "\n";
  for (const auto& [address, record] : snapshot.resources) {
    const Json ip = record.attributes.value("private_ip", Json());
    if (!record.is_node() || !ip.is_string()) continue;
    std::set<std::string> said;
    std::string line = ip.get<std::string>();
    for (const std::string& name : names_of(record.spec))
      if (said.insert(name).second) line += " " + name;
    if (!said.empty()) block += line + "\n";
  }
  return block + kEnd + "\n";
}

Status publish_names(Execution& execution, const std::string& address, const Context& context) {
  std::optional<ResourceRecord> record = execution.resource(address);
  Cloud* cloud = record ? execution.run.clouds->find(record->cloud) : nullptr;
  if (!cloud || cloud->resolves_names()) return {};
  const std::string block = execution.read([](const Snapshot& snapshot) { return names_block(snapshot); });
  if (!execution.news_for(address, block)) return {};
  Result<Remote*> remote = execution.handle(address, context.stop).connect();
  if (!remote.ok()) return remote.status();
  const std::string command = "sh -c " + shell_quote(kScript) + " sh " + shell_quote(block);
  ExecOptions options;
  options.stop = context.stop;
  Result<ExecResult> ran = (*remote)->exec(
      "if [ \"$(id -u)\" = 0 ]; then " + command + "; else sudo -n " + command + "; fi", options);
  if (!ran.ok()) return ran.status();
  if (ran->exit_status != 0)
    context.log(address + " does not get the names of the other machines into its /etc/hosts: " +
                (ran->err.empty() ? "exit status " + std::to_string(ran->exit_status) : ran->err));
  return {};
}

}  // namespace radl
