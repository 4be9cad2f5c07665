#include "runtime/steps/program/preparing.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/human.h"
#include "common/shell_quote.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/jobs/tree.h"
#include "runtime/steps/program/artifact.h"

namespace radl::program {
namespace {

using jobs::Tree;
using nlohmann::json_literals::operator""_json_pointer;

// In the folder of the job, as a shell writes them.
constexpr const char* kOfARun = "run-* *.log.* enter hostfile ssh inputs results";
constexpr const char* kAll =
    "run-* *.log.* enter hostfile ssh inputs results source source.whole checkpoints";

Result<Tree> tree_of_input(const Json& input) {
  if (input.contains("files")) return artifact_tree(input["files"]);
  std::error_code error;
  const std::string path = input.at("path");
  return Tree{std::filesystem::is_directory(path, error) ? Tree::Kind::Folder : Tree::Kind::File, path,
              input.at("sha256")};
}

}  // namespace

Result<Tree> source_tree(const Json& source) {
  const std::string kind = source.value("kind", "");
  if (kind == "git") return Tree{Tree::Kind::Git, source.at("url"), source.at("commit")};
  auto ignored = IgnoreRules::of(source.value("/sent/exclude"_json_pointer, std::vector<std::string>()));
  if (!ignored) return ignored.status();
  const Tree::Kind what = kind == "folder" ? Tree::Kind::Folder
                          : kind == "file" ? Tree::Kind::File
                                           : Tree::Kind::Archive;
  return Tree{what, source.at("path"), source.at("sha256"), {Holding::Sources, std::move(*ignored)}};
}

Preparing::Preparing(const Json& program, const std::vector<NodeHandle>& nodes,
                     const std::vector<std::unique_ptr<jobs::Member>>& members, const Context& context,
                     Tell tell)
    : program_(program),
      nodes_(nodes),
      members_(members),
      context_(context),
      tell_(std::move(tell)),
      python_(program.at("python"), context, [this](const std::string& line) { tell_("", line); }),
      facts_(nodes.size()) {}

bool Preparing::needs_python() const {
  const std::string main = program_.value("main", "");
  return main.ends_with(".py") || main.starts_with("-m ") || python_.wanted();
}

std::string Preparing::looking_script() const {
  const std::string python = program_.at("python").value("program", "python3");
  return node_facts_script(needs_python() ? python : "", program_.contains("image"));
}

Status Preparing::look(const std::vector<jobs::Member::Look>& looks) {
  const std::string python = program_.at("python").value("program", "python3");
  return jobs::for_all(nodes_.size(), [&](size_t i) -> Status {
    if (looks[i].home.empty()) return {};
    auto facts = read_node_facts(looks[i].also, nodes_[i].address);
    if (!facts) return facts.status();
    facts_[i] = std::move(*facts);
    if (Status s = check_needs(program_.value("needs", Json::object()), facts_[i], nodes_[i].address);
        !s.ok())
      return s;
    // A program that requests no GPUs uses the available ones: without them it would be slow for no visible
    // reason.
    if (facts_[i].has_nvidia_smi && !facts_[i].gpu_trouble.empty())
      tell_(nodes_[i].address,
            fmt::format("{} GPUs, nvidia-smi says: {}", facts_[i].gpus, facts_[i].gpu_trouble));
    if (program_.contains("image")) {
      if (!facts_[i].container.empty()) return {};
      return Status(Code::Unsupported,
                    fmt::format("{}: '{}' needs podman or apptainer, and neither runs there",
                                nodes_[i].address, program_["image"].get<std::string>()))
          .with_hint("install the package podman there");
    }
    if (!needs_python() || !facts_[i].python.empty()) return {};
    return Status(Code::Unsupported, fmt::format("{}: '{}' does not run there: {}", nodes_[i].address, python,
                                                 facts_[i].python_trouble))
        .with_hint("install the package python3 there, or name another with `python`");
  });
}

Status Preparing::bring(bool fresh) {
  return jobs::for_all(nodes_.size(), [&](size_t i) { return bring(i, fresh); });
}

// The program runs in a copy: what it writes beside its files must not become part of the next program.
Result<uint64_t> Preparing::bring_source(size_t node, std::string& script) {
  if (!program_.contains("source")) {
    script += "mkdir -p source\n";
    return uint64_t{0};
  }
  const auto tree = source_tree(program_["source"]);
  if (!tree) return tree.status();
  auto sent = jobs::place_tree(nodes_[node], context_, *tree, members_[node]->take_soon());
  if (!sent) return sent;
  script += fmt::format(
      "if [ ! -e source.whole ]; then\n  rm -rf source\n  mkdir source\n  cp -a {}/. source/\n"
      "  : > source.whole\nfi\n",
      shell_path(jobs::tree_folder(*tree)));
  return sent;
}

Result<uint64_t> Preparing::bring_inputs(size_t node, std::string& script) {
  script += "rm -rf inputs\nmkdir inputs\n";
  uint64_t sent = 0;
  for (const Json& input : program_.value("inputs", Json::array())) {
    const auto tree = tree_of_input(input);
    if (!tree) return tree.status();
    auto placed = jobs::place_tree(nodes_[node], context_, *tree, members_[node]->take_soon());
    if (!placed) return placed;
    sent += *placed;
    const std::string inside =
        tree->kind == Tree::Kind::File ? "/" + std::filesystem::path(tree->path).filename().string() : "";
    script += fmt::format("ln -s {}{} inputs/{}\n", shell_path(jobs::tree_folder(*tree)), shell_quote(inside),
                          shell_quote(input.at("name").get<std::string>()));
  }
  return sent;
}

Result<std::vector<std::string>> Preparing::trees_of(size_t node) const {
  std::vector<std::string> folders;
  if (program_.contains("source")) {
    auto tree = source_tree(program_["source"]);
    if (!tree) return tree.status();
    folders.push_back(jobs::tree_folder(*tree));
  }
  for (const Json& input : program_.value("inputs", Json::array())) {
    auto tree = tree_of_input(input);
    if (!tree) return tree.status();
    folders.push_back(jobs::tree_folder(*tree));
  }
  if (python_.wanted()) folders.push_back(environment(node));
  return folders;
}

// Outputs of other programs are not part of the program's identity: with other files it starts over.
std::string Preparing::other_files_script() const {
  std::string files;
  for (const Json& input : program_.value("inputs", Json::array())) {
    if (input.contains("files"))
      files += input.at("name").get<std::string>() + "=" + input["files"].value("sha256", "") + " ";
  }
  if (files.empty()) return "";
  return fmt::format(
      "if [ \"$(cat given 2>/dev/null)\" != {0} ]; then rm -rf source source.whole checkpoints; fi\n"
      "echo {0} > given\n",
      shell_quote(files));
}

Status Preparing::bring(size_t node, bool fresh) {
  jobs::Member& member = *members_[node];
  // The trees that it needs are named before they come, and the others go when they are there.
  auto uses = trees_of(node);
  if (!uses) return uses.status();
  std::string keys;
  for (const std::string& folder : *uses) keys += folder.substr(folder.rfind('/') + 1) + " ";
  member.clear_soon(fresh ? kAll : kOfARun,
                    other_files_script() + fmt::format("printf '%s\\n' {}> uses", keys));
  if (python_.wanted()) {  // its packages come by other ways
    if (Status cleared = member.exec(":").status(); !cleared.ok()) return cleared;
  }
  std::string script = fmt::format("set -e\ncd {}\nmkdir -p results\n", shell_path(member.folder()));
  auto source = bring_source(node, script);
  if (!source) return source.status();
  auto inputs = bring_inputs(node, script);
  if (!inputs) return inputs.status();
  auto python = python_.bring(nodes_[node], member, facts_[node]);
  if (!python) return python.status();
  if (const uint64_t sent = *source + *inputs; sent > 0)
    tell_(member.address(), fmt::format("program's files ({})", bytes_text(static_cast<double>(sent))));
  if (*python) tell_(member.address(), "Python packages");
  member.soon(script + jobs::remove_unused_trees_script());
  return {};
}

}  // namespace radl::program
