#include "runtime/clouds/user_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/digest.h"
#include "common/shorten.h"
#include "common/text.h"

namespace radl {

namespace {

// Of the kinds that cloud-init tells by their first line; a comment is none, and cloud-config is what is
// left.
bool has_kind_of_its_own(std::string_view text) {
  constexpr const char* kBegins[] = {
      "#!", "#cloud-config-archive", "#include", "#cloud-boothook", "#part-handler", "## template:"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](const char* known) { return text.starts_with(known); });
}

// The first line that says something, of YAML that is well-formed.
std::string_view first_line_of(std::string_view yaml) {
  for (std::string_view line : split(yaml, '\n')) {
    const std::string_view text = trim(line);
    if (!text.empty() && text.front() != '#' && text.front() != '%' && text != "---") return text;
  }
  return {};
}

// cloud-init passes over cloud-config that is a list or a text, and says that all went well.
bool may_be_a_mapping(std::string_view yaml) {
  const std::string_view line = first_line_of(yaml);
  if (line.empty() || line.front() == '{' || line.front() == '?') return true;
  if (line.front() == '[' || line == "-" || line.starts_with("- ")) return false;
  return line.ends_with(':') || line.find(": ") != line.npos || line.find(":\t") != line.npos;
}

class Archive {
 public:
  explicit Archive(const std::vector<std::string>& recipes) {
    const auto holds = [&](const std::string& text) { return text.find("--" + boundary_) != text.npos; };
    while (std::any_of(recipes.begin(), recipes.end(), holds)) boundary_ += '=';
    text_ = fmt::format("Content-Type: multipart/mixed; boundary=\"{}\"\nMIME-Version: 1.0\n\n", boundary_);
  }
  // `headers` end in a line break each.
  void add(const char* type, const std::string& part, std::string headers = "") {
    // cloud-init's own reader of mail takes what is beyond ASCII for Latin-1 otherwise.
    const bool ascii = std::all_of(part.begin(), part.end(), [](char c) { return (c & 0x80) == 0; });
    if (!ascii) headers += "Content-Transfer-Encoding: base64\n";
    text_ += fmt::format("--{}\nContent-Type: {}; charset=\"utf-8\"\n{}\n{}\n", boundary_, type, headers,
                         ascii ? part : base64_encode(part));
  }
  void add_recipe(const std::string& recipe) {
    // Merged with the parts before it, whose keys stay: cloud-init would take the last list of packages
    // alone.
    const std::string merged = "Merge-Type: list(append)+dict(no_replace,recurse_list)+str()\n";
    const size_t begin = std::min(recipe.find_first_not_of(" \t\r\n"), recipe.size());
    const std::string_view text = std::string_view(recipe).substr(begin);
    if (has_kind_of_its_own(text)) return add("text/plain", std::string(text), merged);
    if (text.starts_with("#cloud-config")) return add("text/cloud-config", std::string(text), merged);
    // From the beginning of its first line: YAML counts spaces.
    const size_t line = begin == 0 ? 0 : recipe.rfind('\n', begin - 1) + 1;
    add("text/cloud-config", "#cloud-config\n" + recipe.substr(line), merged);
  }
  std::string end() && { return text_ + fmt::format("--{}--\n", boundary_); }

 private:
  std::string boundary_ = "==radlc==", text_;
};

}  // namespace

std::string user_data(const std::string& host_name, const std::optional<AutoStop>& stop,
                      const std::vector<std::string>& recipes) {
  Archive archive(recipes);
  archive.add("text/cloud-config", fmt::format("#cloud-config\npreserve_hostname: false\nhostname: {}\nfqdn: "
                                               "{}\nmanage_etc_hosts: false\n",
                                               host_name.substr(0, host_name.find('.')), host_name));
  if (stop) archive.add("text/x-shellscript", auto_stop_user_data(*stop));
  for (const std::string& recipe : recipes) archive.add_recipe(recipe);
  return std::move(archive).end();
}

std::string user_data_of(const Json& spec) {
  std::optional<AutoStop> stop;
  if (spec.contains("stop")) stop = auto_stop_from_json(spec["stop"]);
  return user_data(spec.value("hostname", ""), stop, spec.value("cloud_init", std::vector<std::string>()));
}

std::map<std::string, std::vector<std::string>> cloud_init_recipes(const ir::Program& program) {
  std::map<std::string, std::vector<std::string>> recipes;
  for (const ir::Step& step : program.steps) {
    if (step.kind != ir::StepKind::CloudInit) continue;
    for (const std::string& node : step.nodes) recipes[node].push_back(step.body);
  }
  return recipes;
}

Status check_user_data(const ir::Node& node, const Json& spec, size_t largest, const char* cloud) {
  for (const std::string& recipe : spec.value("cloud_init", std::vector<std::string>())) {
    if (has_kind_of_its_own(trim(recipe)) || may_be_a_mapping(recipe)) continue;
    return Status(Code::Invalid,
                  fmt::format("{}: a recipe for cloud_init begins with '{}': cloud-init would ignore it",
                              node.address, shorten(first_line_of(recipe), 60)))
        .with_hint("a script begins with #!, and cloud-config is a mapping: `runcmd:` and what to run");
  }
  const size_t bytes = user_data_of(spec).size();
  if (bytes <= largest) return {};
  return Status(Code::Invalid,
                fmt::format("{}: its recipes for cloud_init need {} bytes of user data, but {} allows {}",
                            node.address, bytes, cloud, largest))
      .with_hint("write the larger ones as Ansible or native recipes, or download a script in one");
}

}  // namespace radl
