#include "runtime/driver/autoscale.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "common/shell_quote.h"
#include "runtime/driver/nodes.h"
#include "runtime/net/node_path.h"
#include "runtime/plan/autoscaling.h"
#include "runtime/plan/scaling.h"
#include "runtime/plan/values.h"

namespace radl::driver {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kOneLook{20}, kAfterFailure{10}, kLongestPause{30};
// A look of so long is followed by a pause of so many times that: what asks a scheduler may be a whole
// program.
constexpr int kPause = 4;

// A resource `elastic` and its known state.
struct Watched {
  ElasticRules rules;
  std::unique_ptr<Remote> remote;
  std::optional<SteadyClock::time_point> fewer_since;  // fewer nodes are wanted than there are
  SteadyClock::time_point not_before;                  // after a failure
  std::string said;                                    // last, so that it is not said again and again
};

std::string folder_of(const ElasticRules& rules) {
  return shell_path((rules.directory.empty() ? kElasticFolder : rules.directory) + "/" + rules.name);
}

// "" if there is none. Invalid: one of its values is unknown.
Result<std::string> wanted_command(const ElasticRules& rules, const Snapshot& state,
                                   const ir::Secrets& secrets) {
  std::string missing;
  auto unknown_value = [&](const std::string& name) {
    std::optional<Json> value = known_value(state, name);
    if (!value) missing = name;
    return value;
  };
  auto secret_value = [&](const std::string& name) -> std::optional<Json> {
    if (auto found = secrets.find(name); found != secrets.end()) return Json(found->second);
    missing = "the secret " + name;
    return std::nullopt;
  };
  const Json command = ir::substitute(rules.wanted, unknown_value, secret_value);
  if (!missing.empty())
    return invalid(fmt::format("`wanted` needs {}, which is not known yet", missing))
        .with_hint("run `radlc apply` first");
  return command.is_string() ? command.get<std::string>() : std::string();
}

// The command may contain secrets, so it is not passed as an argument. The file `served` tells `radlc submit`
// that the requests are being read.
std::string look_script(const ElasticRules& rules, const std::string& wanted) {
  std::string script = fmt::format(
      "cd {} || exit 1\n[ ! -f wishes ] || sed 's/^/wish /' wishes || exit 1\n: > served || exit 1\n",
      folder_of(rules));
  if (!wanted.empty())
    script += fmt::format("w={}\nn=$(cd && (eval \"$w\") </dev/null) || exit 1\necho wanted $n\n",
                          shell_quote(wanted));
  return script;
}

// Removes the wishes that are fulfilled; a wish that changed meanwhile stays. A node to be recreated is gone
// now and becomes a wish for a new node.
std::string done_script(const ElasticRules& rules, const std::vector<std::string>& lines) {
  std::string script = fmt::format("set -e\ncd {}\nexec 9>> lock\nflock 9\n", folder_of(rules));
  for (const std::string& line : lines) {
    script += line.ends_with(" renew")
                  ? fmt::format("sed {} wishes > wishes.new\n",
                                shell_quote("s/^" + line + "$/" + line.substr(0, line.find(' ')) + " add/"))
                  // 1: no line is left.
                  : fmt::format("grep -vx {} wishes > wishes.new || [ $? = 1 ]\n", shell_quote(line));
    script += "mv wishes.new wishes\n";
  }
  return script;
}

Result<std::string> run_on(Watched& watched, const Nodes& nodes, const std::string& script,
                           const Stop& stop) {
  if (!watched.remote) {
    auto node = node_called(nodes.state, watched.rules.node);
    if (!node.ok()) return std::move(node).status();
    auto remote = connect_to(nodes, **node);
    if (!remote.ok()) return std::move(remote).status();
    watched.remote = std::move(*remote);
  }
  ExecOptions options;
  options.stdin_bytes = script;
  options.stop = stop;
  options.deadline = kOneLook;
  // The folder may belong to the scheduler.
  auto ran = watched.remote->exec(
      "if [ \"$(id -u)\" = 0 ] || ! sudo -n true 2>/dev/null; then /bin/sh -s; "
      "else sudo -n env HOME=\"$HOME\" /bin/sh -s; fi",
      options);
  if (!ran.ok()) {
    watched.remote.reset();
    return std::move(ran).status().at(watched.rules.node);
  }
  if (ran->exit_status != 0)
    return invalid(fmt::format("{}: exit status {}: {}", watched.rules.node, ran->exit_status, ran->err));
  return ran->out;
}

std::vector<int> nodes_now(const Project& project, const Snapshot& state, const std::string& system) {
  const Scalings scaled = still_chosen(state.scaled, project.deployed);
  if (auto chosen = scaled.find(system); chosen != scaled.end()) return chosen->second.ordinals;
  std::vector<int> ordinals;
  auto deployed = project.deployed.find(system);
  for (int i = 0; deployed != project.deployed.end() && i < deployed->second; ++i) ordinals.push_back(i);
  return ordinals;
}

// True if exactly these nodes exist and are configured; otherwise the last change must be completed.
bool is_done(const Snapshot& state, const std::string& system, const std::vector<int>& nodes) {
  size_t there = 0;
  for (const auto& [address, record] : state.resources) {
    if (record.system != system) continue;
    if (record.status != ResourceStatus::Ready) return false;
    if (!std::binary_search(nodes.begin(), nodes.end(), record.ordinal)) return false;
    ++there;
  }
  const std::string prefix = system + "[";
  for (const auto& [id, record] : state.steps) {
    if (record.status != StepStatus::Done && id.starts_with(prefix)) return false;
  }
  return there == nodes.size() && state.open_intents == 0;
}

double idle_seconds(Watched& watched, bool fewer) {
  if (!fewer) watched.fewer_since.reset();
  if (fewer && !watched.fewer_since) watched.fewer_since = SteadyClock::now();
  return fewer ? std::chrono::duration<double>(SteadyClock::now() - *watched.fewer_since).count() : 0;
}

}  // namespace

struct Autoscale::Parts {
  const Project& project;
  const ProjectOptions& options;
  const Tell tell;
  std::vector<Watched> watched;
  std::map<Watched*, ElasticChoice> choices;

  void say(Watched& one, const std::string& line) const {
    if (line == one.said) return;
    one.said = line;
    if (line.empty()) return;
    tell({Notice::Kind::Progress, fmt::format("elastic '{}': {}", one.rules.name, line)});
  }

  // Determines the requests; the result is in `choices` until done().
  void look(Watched& watched, const Stop& stop) {
    choices.erase(&watched);
    if (SteadyClock::now() < watched.not_before) return;
    auto looked = try_look(watched, stop);
    if (!looked.ok()) {
      say(watched, looked.status().text());
      watched.not_before = SteadyClock::now() + std::chrono::seconds(1);
    }
  }

  Result<bool> try_look(Watched& watched, const Stop& stop) {
    auto nodes = load_nodes(*project.host, options, stop);
    if (!nodes.ok()) return std::move(nodes).status();
    auto wanted = wanted_command(watched.rules, nodes->state, project.compiled.secrets);
    if (!wanted.ok()) return std::move(wanted).status().at(watched.rules.node);
    const SteadyClock::time_point begin = SteadyClock::now();
    auto text = run_on(watched, *nodes, look_script(watched.rules, *wanted), stop);
    if (!text.ok()) return std::move(text).status();
    if (!wanted->empty()) {
      const SteadyClock::time_point end = SteadyClock::now();
      watched.not_before = end + std::min<SteadyClock::duration>(kPause * (end - begin), kLongestPause);
    }
    auto look = read_elastic_look(*text);
    if (!look.ok()) return std::move(look).status();
    const std::vector<int> now = nodes_now(project, nodes->state, watched.rules.system);
    const bool fewer = look->wanted && *look->wanted < static_cast<int>(now.size());
    ElasticChoice choice = choose_elastic(watched.rules, now, *look, idle_seconds(watched, fewer));
    say(watched, choice.left_out);
    if (choice.nodes == now && is_done(nodes->state, watched.rules.system, now))
      return settle(watched, *nodes, choice, stop);
    choices[&watched] = std::move(choice);
    return true;
  }

  // Removes the fulfilled wishes from the node's list; nothing has to be created or removed.
  Result<bool> settle(Watched& watched, const Nodes& nodes, const ElasticChoice& choice, const Stop& stop) {
    if (choice.fulfilled.empty()) return true;
    auto ran = run_on(watched, nodes, done_script(watched.rules, choice.fulfilled), stop);
    return ran.ok() ? Result<bool>(true) : Result<bool>(std::move(ran).status());
  }
};

Autoscale::Autoscale(const Project& project, const ProjectOptions& options, Tell tell)
    : parts_(new Parts{project, options, std::move(tell), {}, {}}) {}

Autoscale::~Autoscale() = default;

Status Autoscale::begin() {
  for (ElasticRules& rules : elastic_rules(parts_->project.compiled.program)) {
    Watched watched;
    watched.rules = std::move(rules);
    parts_->watched.push_back(std::move(watched));
  }
  if (parts_->watched.empty())
    return Status(Code::Invalid, "the file has no resource `elastic`, which defines how to scale")
        .with_hint("docs/scaling.md");
  for (const Watched& watched : parts_->watched)
    parts_->tell(
        {Notice::Kind::Progress, fmt::format("watching elastic '{}' on {} for {}", watched.rules.name,
                                             watched.rules.node, watched.rules.system)});
  return {};
}

void Autoscale::look(const Stop& stop) {
  for (Watched& watched : parts_->watched) parts_->look(watched, stop);
}

std::vector<AutoscaleStep> Autoscale::steps() const {
  std::vector<AutoscaleStep> steps;
  for (size_t i = 0; i < parts_->watched.size(); ++i) {
    const auto found = parts_->choices.find(&parts_->watched[i]);
    if (found == parts_->choices.end()) continue;
    ScaleRequest scale;
    scale.system = parts_->watched[i].rules.system;
    scale.exactly = found->second.nodes;
    steps.push_back({i, std::move(scale)});
  }
  return steps;
}

void Autoscale::done(const AutoscaleStep& step, bool ok) {
  Watched& watched = parts_->watched[step.which];
  parts_->choices.erase(&watched);
  if (!ok) watched.not_before = SteadyClock::now() + kAfterFailure;
}

}  // namespace radl::driver
