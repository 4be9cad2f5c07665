#include "runtime/steps/program/facts.h"

#include <fmt/format.h>

#include <sstream>

#include "common/shell_quote.h"
#include "runtime/net/ssh/remote.h"

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

Result<NodeFacts> look_at_node(jobs::Member& member, const std::string& python) {
  // "whole" comes last: without it the answer is none.
  auto result = member.exec(fmt::format(R"sh(n=$(nproc 2>/dev/null) || n=$(grep -c ^processor /proc/cpuinfo)
echo "processors $n"
while read -r name value rest; do
  [ "$name" = MemTotal: ] && echo "memory $value"
done < /proc/meminfo
if g=$(nvidia-smi -L 2>&1); then
  echo "gpus $(printf '%s\n' "$g" | grep -c '^GPU ')"
else
  echo "trouble $(printf '%s' "$g" | tr '\n' ' ')"
fi
for c in podman apptainer singularity; do
  if command -v $c > /dev/null 2>&1; then echo "container $c"; break; fi
done
if p=$({} 2>&1); then echo "python $p"; else echo "lacks $(printf '%s' "$p" | tr '\n' ' ')"; fi
echo whole)sh",
                                        python_kind_script(python)));
  if (!result) return result.status();
  if (!result->out.ends_with("whole\n")) return ssh::command_failure(*result, member.address());
  NodeFacts facts;
  std::istringstream lines(result->out);
  for (std::string line; std::getline(lines, line);) {
    const size_t blank = line.find(' ');
    const std::string name = line.substr(0, blank), rest = blank == line.npos ? "" : line.substr(blank + 1);
    if (name == "processors") facts.processors = std::atoi(rest.c_str());
    if (name == "memory") facts.memory_bytes = std::strtoull(rest.c_str(), nullptr, 10) * 1024;
    if (name == "gpus") facts.gpus = std::atoi(rest.c_str());
    if (name == "trouble") facts.gpu_trouble = rest;
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
  if (facts.gpu_trouble.empty())
    return lacks(fmt::format("the program needs {} GPUs, and nvidia-smi shows {}", gpu, facts.gpus));
  return lacks(fmt::format("the program needs {} GPU{}, and nvidia-smi does not work: {}", gpu,
                           gpu == 1 ? "" : "s", facts.gpu_trouble))
      .with_hint("is the driver installed, and does the instance type have a GPU?");
}

}  // namespace radl::program
