#include "runtime/steps/program/starting.h"

#include <algorithm>
#include <atomic>

#include "common/json_values.h"
#include "runtime/net/node_path.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/network.h"
#include "runtime/steps/program/results.h"
#include "runtime/steps/program/short_run.h"

namespace radl::program {
namespace {

// For a run that joins: a member that it starts again must find the others.
constexpr const char* kPlaces = "run-places.json";
// A short run ends with radlc, also when that is killed before it follows.
constexpr std::chrono::seconds kMostUnfollowed{30};

}  // namespace

std::string job_folder(const jobs::Member::Look& look, const jobs::Member& member) {
  return look.home + "/" + sftp_path(member.folder());
}

std::string Starting::process(size_t node) const {
  return node < running_ ? process_name(node) : "watch-" + std::to_string(node);
}

Status Starting::begin(const Looks& looks, const std::string& run, int attempt) {
  looks_ = looks;
  attempt_ = attempt;
  choose_places();
  members_[0]->put_soon(places_text(), kPlaces, 0600);
  if (Status s = look_for_checkpoints(); !s.ok()) return s;
  // The chief's launcher may be at work before the other nodes have been started.
  if (program_.value("ssh", false)) {
    Status put = jobs::for_all(nodes_.size(), [&](size_t i) { return put_for_launchers(i); });
    if (!put.ok()) return put;
  }
  return jobs::for_all(nodes_.size(), [&](size_t i) -> Status {
    // Before the start: a run that is killed here finds a program whose members are gone, and starts it
    // again with its checkpoints.
    members_[i]->put_soon(run, "run.json", 0600);
    if (i < running_) members_[i]->put_soon(script(i), script_file(i), 0600);
    return start(i);
  });
}

// Local nodes share one network: a port is given once.
Place Starting::choose_place(size_t node) const {
  std::vector<int> used = looks_[node].ports;
  for (const Place& place : places_) used.push_back(place.port);
  return {jobs::address_of(nodes_[node]), jobs::choose_port(used)};
}

void Starting::choose_places() {
  places_.clear();
  for (size_t i = 0; i < nodes_.size(); ++i) places_.push_back(choose_place(i));
}

std::string Starting::places_text() const {
  Json all = Json::array();
  for (const Place& place : places_) all.push_back({{"host", place.host}, {"port", place.port}});
  return all.dump();
}

Status Starting::join(const Looks& looks, const std::set<size_t>& arriving) {
  looks_ = looks;
  auto text = members_[0]->read(kPlaces, size_t{1} << 20);
  if (!text) return text.status();
  const Json all = Json::parse(*text, nullptr, false);
  if (!all.is_array() || all.size() != nodes_.size())
    return {Code::Corrupt, nodes_[0].address + ": does not say where its members listen"};
  for (const Json& place : all)
    places_.push_back({json::text_of(place, "host"),
                       static_cast<int>(std::clamp(json::number_of(place, "port"), 0.0, 65535.0))});
  if (arriving.empty()) return {};
  for (size_t node : arriving) places_[node] = choose_place(node);
  return members_[0]->put_bytes(places_text(), kPlaces, context_.stop, 0600);
}

MemberSetting Starting::setting_of(size_t node) const {
  MemberSetting setting;
  setting.index = node;
  setting.home = looks_[node].home;
  setting.folder = job_folder(looks_[node], *members_[node]);
  setting.folder_below = sftp_path(members_[node]->folder());
  setting.resumes = resumes_;
  setting.facts = preparing_.facts(node);
  const std::string environment = preparing_.environment(node);
  if (!environment.empty()) setting.environment = setting.home + "/" + sftp_path(environment);
  setting.on_this_computer =
      jobs::is_local(nodes_[node])
          ? static_cast<int>(std::count_if(nodes_.begin(), nodes_.end(), jobs::is_local))
          : 1;
  return setting;
}

Status Starting::look_for_checkpoints() {
  if (!program_.contains("resume_arguments")) return {};
  std::atomic<bool> any{false};
  Status looked = jobs::for_all(running_, [&](size_t i) -> Status {
    auto has = has_checkpoints(i);
    if (has && *has) any = true;
    return has.status();
  });
  resumes_ = any.load();
  return looked;
}

Result<bool> Starting::has_checkpoints(size_t node) const {
  const auto variables = member_variables(program_, places_, setting_of(node), attempt_);
  auto empty = members_[node]->is_empty(variables.at("RADL_CHECKPOINTS"));
  return empty ? Result<bool>(!*empty) : empty;
}

Status Starting::again(size_t node) {
  if (node < running_) {
    if (program_.contains("resume_arguments")) {
      auto has = has_checkpoints(node);
      if (!has) return has.status();
      if (*has) resumes_ = true;
    }
    // Not by put_soon(): another thread's command might take it, and end after the start.
    Status put = members_[node]->put_bytes(script(node), script_file(node), context_.stop, 0600);
    if (!put.ok()) return put;
  }
  return start(node);
}

std::string Starting::script(size_t node) const {
  const MemberSetting setting = setting_of(node);
  // Its variables may be secrets.
  return "rm -f \"$0\"\n" +
         member_script(program_, member_variables(program_, places_, setting, attempt_), setting);
}

Status Starting::start(size_t node) {
  const bool runs = node < running_;
  const std::string command =
      runs ? "/bin/sh ./" + script_file(node) : "/bin/sh -c 'while :; do sleep 3600; done'";
  return members_[node]->start({{process(node), command}},
                               ShortRun::is_wanted(program_) ? std::optional(kMostUnfollowed) : std::nullopt);
}

Status Starting::put_for_launchers(size_t node) {
  const MemberSetting setting = setting_of(node);
  const auto variables = member_variables(program_, places_, setting, attempt_);
  std::vector<int> workers;
  for (size_t i = 0; i < nodes_.size(); ++i) workers.push_back(workers_on(program_, preparing_.facts(i)));
  jobs::Member& member = *members_[node];
  Status put = member.put_bytes(enter_script(program_, variables, setting), "enter", context_.stop, 0600);
  if (put.ok() && node == 0)
    put = member.put_bytes(host_file(places_, workers), "hostfile", context_.stop, 0600);
  return put.ok() ? put : std::move(put).at(nodes_[node].address);
}

}  // namespace radl::program
