// What a process of a job uses of its node: processors, memory, network, GPUs.
//
// A reading holds counters as Linux has them (/proc/PID/stat, /proc/net/dev: proc(5)); two of them give
// rates.
#pragma once

#include <optional>
#include <string>

namespace radl::jobs {

struct Usage {
  double processors = 0;          // 1.5: one and a half of them
  double memory_bytes = 0;        // resident, of all its processes
  double received = 0, sent = 0;  // bytes a second, of the whole node without its loopback
  std::optional<double> gpu;      // 0..1, the mean of the node's GPUs
  int stopped = 0;                // of its processes, by SIGSTOP and the like
};

struct UsageReading {
  std::string process;
  double uptime = 0, ticks = 0, memory_bytes = 0, received = 0, sent = 0;
  std::optional<double> gpu;
  int stopped = 0;
};

// Shell text with the function `usage NAME`, which prints the reading of a process and of all that carries
// its mark. Stands behind kProcessScript.
extern const char* const kUsageScript;
// A line of `usage`; nullopt: it is none.
std::optional<UsageReading> read_usage(const std::string& line);
Usage usage_between(const UsageReading& first, const UsageReading& second);
// "stopped, 1.9 CPUs, 512 MiB, in 1.2 MiB/s, out 0.3 MiB/s, GPU 87%".
std::string usage_text(const Usage& usage);

}  // namespace radl::jobs
