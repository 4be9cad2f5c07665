#include "runtime/steps/program/facts.h"

#include <fmt/format.h>

#include <sstream>

#include "common/shell_quote.h"
#include "common/text.h"

namespace radl::program {
namespace {

double gib(double bytes) { return bytes / (1 << 30); }

}  // namespace

std::string python_kind_script(const std::string& python) {
  constexpr std::string_view kAsk =
      "import platform, sys; print(platform.system(), platform.machine(), "
      "sys.implementation.cache_tag, ''.join(platform.libc_ver()))";
  return fmt::format("{} -c {}", shell_quote(python), shell_quote(kAsk));
}

std::string node_facts_script(const std::string& python, bool containers) {
  std::string script = R"sh(n=$(nproc 2>/dev/null) || n=$(grep -c ^processor /proc/cpuinfo)
echo "processors $n"
while read -r name value rest; do
  [ "$name" = MemTotal: ] && echo "memory $value"
done < /proc/meminfo
if command -v nvidia-smi > /dev/null 2>&1; then
  echo nvidia-smi
  r=0
  g=$(timeout 60 nvidia-smi -L 2>&1) || r=$?
  w=$(printf '%s\n' "$g" | grep -v -e '^GPU [0-9]*: ' -e '^ ' -e '^$' | tr '\n' ' ')
  case $r in
    0) ;;
    124) w="no answer within 60 seconds $w" ;;
    *) w=${w:-exit status $r} ;;
  esac
  echo "gpus $(printf '%s\n' "$g" | grep -c '^GPU [0-9]*: ')"
  echo "trouble $w"
fi
)sh";
  if (containers)
    script += R"sh(for c in podman apptainer singularity; do
  if $c --version > /dev/null 2>&1; then echo "container $c"; break; fi
done
)sh";
  if (!python.empty())
    script += fmt::format(
        "if p=$({} 2>&1); then echo \"python $p\"; else echo \"lacks $(printf '%s' \"$p\" | tr '\\n' ' ')\"; "
        "fi\n",
        python_kind_script(python));
  return script + "echo whole";
}

Result<NodeFacts> read_node_facts(const std::string& text, const std::string& address) {
  // "whole" comes last: without it the answer is none.
  if (!text.ends_with("whole\n"))
    return Status(Code::Retry, address + ": the node check printed unexpected output: " + text);
  NodeFacts facts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t blank = line.find(' ');
    const std::string name = line.substr(0, blank), rest = blank == line.npos ? "" : line.substr(blank + 1);
    if (name == "processors") facts.processors = std::atoi(rest.c_str());
    if (name == "memory") facts.memory_bytes = std::strtoull(rest.c_str(), nullptr, 10) * 1024;
    if (name == "gpus") facts.gpus = std::atoi(rest.c_str());
    if (name == "nvidia-smi") facts.has_nvidia_smi = true;
    if (name == "trouble") facts.gpu_trouble = trim(rest);
    if (name == "python") facts.python = rest;
    if (name == "lacks") facts.python_trouble = rest;
    if (name == "container") facts.container = rest;
  }
  return facts;
}

Status check_needs(const Json& needs, const NodeFacts& facts, const std::string& address) {
  auto lacks = [&](std::string what) { return Status(Code::Unsupported, address + ": " + std::move(what)); };
  const int cpu = needs.value("cpu", 0), gpu = needs.value("gpu", 0);
  const double memory = needs.value("memory", 0.0);
  if (facts.processors < cpu)
    return lacks(fmt::format("the program needs {} processors, and it has {}", cpu, facts.processors));
  if (static_cast<double>(facts.memory_bytes) < memory)
    return lacks(fmt::format("the program needs {:.1f} GiB of memory, and it has {:.1f}", gib(memory),
                             gib(static_cast<double>(facts.memory_bytes))));
  if (facts.gpus >= gpu) return {};
  const std::string needs_gpus = fmt::format("the program needs {} GPU{}, and ", gpu, gpu == 1 ? "" : "s");
  if (!facts.has_nvidia_smi)
    return lacks(needs_gpus + "nvidia-smi is missing, which comes with the driver")
        .with_hint(gpu_hint(facts));
  if (facts.gpu_trouble.empty())
    return lacks(fmt::format("{}nvidia-smi shows {}", needs_gpus, facts.gpus))
        .with_hint("an instance type with as many, or a smaller `gpu`");
  const std::string shows = facts.gpus > 0 ? fmt::format("shows {} and says", facts.gpus) : "does not work";
  return lacks(fmt::format("{}nvidia-smi {}: {}", needs_gpus, shows, facts.gpu_trouble))
      .with_hint(gpu_hint(facts));
}

std::string gpu_hint(const NodeFacts& facts) {
  if (!facts.has_nvidia_smi)
    return "an image with NVIDIA's driver, or a step that installs it, on an instance type with GPUs";
  // Texts of nvidia-smi 470 to 580.
  struct Answer {
    std::string_view says, hint;
  };
  static constexpr Answer kAnswers[] = {
      {"version mismatch",
       "the driver was replaced while its old module was loaded: restart the node, or load the new "
       "module"},
      {"couldn't communicate with the NVIDIA driver",
       "the driver's kernel module is not loaded: `modprobe nvidia` there says why (a kernel without its "
       "headers "
       "or its module?)"},
      {"Driver Not Loaded", "the driver's kernel module is not loaded: `modprobe nvidia` there says why"},
      {"No devices", "the driver works and finds no GPU: does the instance type have one?"},
      {"is lost", "the GPU has failed: `dmesg` there says why (Xid); restart the node, or replace it"},
      {"fallen off the bus", "the GPU has failed: restart the node, or replace it"},
      {"device handle", "the GPU has failed: `dmesg` there says why (Xid); restart the node, or replace it"},
      {"nsufficient Permissions", "the login may not use /dev/nvidia*: add it to the group that may"},
      {"no answer", "the driver hangs: `dmesg` there says why; restart the node"},
  };
  for (const Answer& answer : kAnswers)
    if (facts.gpu_trouble.find(answer.says) != std::string::npos) return std::string(answer.hint);
  return "`nvidia-smi` on the node says more";
}

}  // namespace radl::program
