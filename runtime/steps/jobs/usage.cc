#include "runtime/steps/jobs/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/human.h"

namespace radl::jobs {
namespace {

constexpr double kTicksPerSecond = 100;  // USER_HZ, the same on all architectures that Linux runs on here
constexpr const char* kBegin = "usage";

double rate(double first, double second, double seconds) {
  return seconds > 0 ? std::max(0.0, second - first) / seconds
                     : 0;  // what has ended takes its counters along
}

}  // namespace

// A GPU that does not answer must not hold up the look at the processes.
const char* const kUsageScript = R"sh(page=$(getconf PAGESIZE 2>/dev/null) || page=4096
usage() {
  what=$1 ticks=0 pages=0 in=0 out=0 gpu=- stopped=0
  for p in $(marked "$what"); do
    IFS= read -r line < "/proc/$p/stat" || continue
    set -- ${line##*) }
    ticks=$((ticks + ${12} + ${13} + ${14} + ${15})) pages=$((pages + ${22}))
    case $1 in T | t) stopped=$((stopped + 1)) ;; esac
  done 2>/dev/null
  while IFS=' :' read -r name i a b c d e f g o rest; do
    case $name in lo|Inter-*|face*) continue ;; esac
    in=$((in + i)) out=$((out + o))
  done < /proc/net/dev
  if command -v nvidia-smi > /dev/null 2>&1; then
    gpu=$(timeout 2 nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits 2>/dev/null |
      awk '/^[0-9]/ { n++; s += $1 } END { if (n) printf "%.1f", s / n; else printf "-" }')
  fi
  read -r up rest < /proc/uptime
  echo "usage $what $up $ticks $((pages * (page / 1024))) $in $out ${gpu:--} $stopped"
}
)sh";

std::optional<UsageReading> read_usage(const std::string& line) {
  std::istringstream words(line);
  std::string begin, gpu;
  UsageReading reading;
  double kibibytes = 0;
  if (!(words >> begin >> reading.process >> reading.uptime >> reading.ticks >> kibibytes >>
        reading.received >> reading.sent >> gpu >> reading.stopped) ||
      begin != kBegin)
    return std::nullopt;
  reading.memory_bytes = kibibytes * 1024;
  double share = 0;
  if (std::istringstream(gpu) >> share) reading.gpu = share / 100;
  return reading;
}

Usage usage_between(const UsageReading& first, const UsageReading& second) {
  const double seconds = second.uptime - first.uptime;
  Usage usage;
  usage.processors = rate(first.ticks, second.ticks, seconds) / kTicksPerSecond;
  usage.memory_bytes = second.memory_bytes;
  usage.received = rate(first.received, second.received, seconds);
  usage.sent = rate(first.sent, second.sent, seconds);
  usage.gpu = second.gpu;
  usage.stopped = second.stopped;
  return usage;
}

std::string usage_text(const Usage& usage) {
  std::string text = usage.stopped > 0 ? "stopped, " : "";
  text += fmt::format("{:.1f} CPUs, {}", usage.processors, bytes_text(usage.memory_bytes));
  if (usage.gpu) text += fmt::format(", GPU {:.0f}%", *usage.gpu * 100);
  if (usage.received + usage.sent >= 1024)
    text += fmt::format(", in {}/s, out {}/s", bytes_text(usage.received), bytes_text(usage.sent));
  return text;
}

}  // namespace radl::jobs
