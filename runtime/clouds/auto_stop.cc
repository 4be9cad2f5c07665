#include "runtime/clouds/auto_stop.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "common/human.h"
#include "common/shell_quote.h"
#include "common/text.h"
#include "runtime/clouds/fitting.h"

namespace radl {
namespace {

constexpr double kLeast = 60, kMost = 366.0 * 86400;  // seconds

// "90s", "30m", "8h", "2d".
std::optional<double> duration_in(std::string_view text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit = to_lower(trim(text.substr(static_cast<size_t>(end - text.data()))));
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  if (unit == "s") return value;
  if (unit == "m" || unit == "min") return value * 60;
  if (unit == "h") return value * 3600;
  if (unit == "d") return value * 86400;
  return std::nullopt;
}

// In the largest unit that divides it: "8 h", "90 min".
std::string time_words(double seconds) {
  constexpr std::pair<double, const char*> kUnits[] = {{86400, "d"}, {3600, "h"}, {60, "min"}};
  for (const auto& [size, unit] : kUnits)
    if (seconds >= size && std::fmod(seconds, size) == 0) return plain_number(seconds / size) + " " + unit;
  return plain_number(seconds) + " s";
}

Result<double> duration_wanted(const ir::Node& node, const char* feature) {
  const std::string text = text_wanted(node, feature);
  if (text.empty()) {
    if (node.requirements.count(feature) == 0) return 0.0;
    return invalid(fmt::format("{}: {} is a string such as '8h'", node.address, feature));
  }
  const std::optional<double> seconds = duration_in(text);
  if (!seconds || *seconds < kLeast || *seconds > kMost) {
    return invalid(
        fmt::format("{}: {} = '{}': must be a time from one minute to a year, such as '30m', '8h' or '2d'",
                    node.address, feature, text));
  }
  return *seconds;
}

// What changes from machine to machine; the rest of the script is fixed.
constexpr const char* kSettings = R"(#!/bin/sh
# Made by radlc: ends this machine after {after} s of life, or {idle} s without work (0: never). docs/costs.md
after={after} idle={idle} load={load} every={every} by={by} product={product}
)";

// No command but `sleep`, `mkdir` and the one that ends the machine: /proc is read by the shell.
constexpr const char* kScript = R"SCRIPT(
kept=/var/lib/radl-auto-stop
mkdir -p "$kept" 2>/dev/null

uptime() { read -r now rest < /proc/uptime; now=${now%%.*}; }

# The process of a file "PID START BOOT" (runtime/steps/jobs/process_script.h) lives.
lives() {
  read -r pid start boot < "$1" && read -r this < /proc/sys/kernel/random/boot_id || return 1
  [ "$boot" = "$this" ] && read -r stat < "/proc/$pid/stat" || return 1
  set -- ${stat##*) }
  [ "${20}" = "$start" ]
}

# A step of radlc (runtime/net/lease.h), a program, a task of a farm or a training runs, or radlc follows a farm
# here (runtime/steps/farm/agent.h).
works() {
  while IFS=: read -r name password uid gid about home shell; do
    for entry in "$home"/.radl/lease/[0-9]*; do
      [ -e "$entry" ] && [ -d "/proc/${entry##*/}" ] && return 0
    done
    for entry in "$home"/.radl/jobs/*/*.pid; do
      [ -e "$entry" ] && lives "$entry" && return 0
    done 2>/dev/null
    for entry in "$home"/.radl/jobs/*/farm/heard; do
      [ -e "$entry" ] && read -r heard < "$entry" || continue
      [ "$heard" -le "$now" ] && [ "$((now - heard))" -lt 120 ] && return 0
    done 2>/dev/null
  done < /etc/passwd
  for process in /proc/[0-9]*; do
    read -r name < "$process/comm" || continue
    [ "$name" = radl-train ] && return 0
    # Somebody is logged in: a process has a pseudo terminal (major 136 to 143).
    read -r stat < "$process/stat" || continue
    set -- ${stat##*) }
    [ "${5:-0}" -ge 34816 ] && [ "$5" -lt 36864 ] && return 0
  done 2>/dev/null
  read -r average rest < /proc/loadavg
  [ "${average%.*}${average#*.}" -ge "$load" ]
}

end() {
  printf 'radl auto-stop: %s\n' "$1" > /dev/console 2>/dev/null
  printf '%s\n' "$1" > "$kept/why"
  if [ "$by" = init ]; then
    kill -TERM 1
    sleep 5
    kill -KILL 1
    return
  fi
  # Only a machine that a cloud has made is switched off.
  if [ -n "$product" ]; then read -r found < /sys/class/dmi/id/product_name && [ "$found" = "$product" ]
  else [ -s /var/lib/cloud/data/instance-id ]
  fi || { printf 'radl auto-stop: no machine of a cloud\n' >&2; exit 1; }
  shutdown -h now || systemctl poweroff || poweroff
}

# Its life goes on where the last boot ended.
lived=0
[ -s "$kept/lived" ] && read -r lived < "$kept/lived"
uptime
begun=$((now - lived))
busy=$now
while :; do
  uptime
  printf '%s\n' "$((now - begun))" > "$kept/lived.new" && mv -f "$kept/lived.new" "$kept/lived"
  if [ "$after" -gt 0 ] && [ "$((now - begun))" -ge "$after" ]; then end "its $after s have passed"; fi
  if [ "$idle" -gt 0 ]; then
    if works; then busy=$now; fi
    if [ "$((now - busy))" -ge "$idle" ]; then end "it was idle for $idle s"; fi
  fi
  sleep "$every"
done
)SCRIPT";

constexpr const char* kUserData = R"(#!/bin/sh
# Made by radlc: auto-stop (docs/costs.md).
mkdir -p /usr/local/lib/radl
cat > /usr/local/lib/radl/auto-stop <<'RADL_AUTO_STOP'
{script}RADL_AUTO_STOP
chmod 755 /usr/local/lib/radl/auto-stop
if [ -d /run/systemd/system ]; then
  cat > /etc/systemd/system/radl-auto-stop.service <<'RADL_AUTO_STOP'
[Unit]
Description=Ends this machine when its time is over or nothing is done on it
[Service]
ExecStart=/usr/local/lib/radl/auto-stop
Restart=always
[Install]
WantedBy=multi-user.target
RADL_AUTO_STOP
  systemctl daemon-reload
  systemctl enable --now radl-auto-stop.service
else
  nohup /usr/local/lib/radl/auto-stop > /dev/null 2>&1 < /dev/null &
fi
)";

}  // namespace

Result<std::optional<AutoStop>> auto_stop_wanted(const ir::Node& node) {
  AutoStop stop;
  auto after = duration_wanted(node, "stop.after"), idle = duration_wanted(node, "stop.idle");
  if (!after.ok()) return std::move(after).status();
  if (!idle.ok()) return std::move(idle).status();
  stop.after_seconds = *after;
  stop.idle_seconds = *idle;
  if (auto load = node.requirements.find("stop.load"); load != node.requirements.end()) {
    const std::optional<double> value = load->second.min;
    if (!value || *value <= 0 || *value > 10000)
      return invalid(node.address + ": stop.load is the load that counts as work, such as 0.5");
    stop.load = *value;
  }
  const std::string action = text_wanted(node, "stop.action");
  if (!action.empty() && action != "terminate" && action != "stop")
    return invalid(
        fmt::format("{}: stop.action = '{}': must be 'terminate' or 'stop'", node.address, action));
  stop.terminate = action != "stop";
  if (stop.after_seconds > 0 || stop.idle_seconds > 0) return std::optional(stop);
  if (!action.empty() || node.requirements.count("stop.load") > 0)
    return invalid(node.address + ": stop.action and stop.load need a stop.after or a stop.idle");
  return std::optional<AutoStop>();
}

Json to_json(const AutoStop& stop) {
  return {{"after_seconds", stop.after_seconds},
          {"idle_seconds", stop.idle_seconds},
          {"load", stop.load},
          {"action", stop.terminate ? "terminate" : "stop"}};
}

AutoStop auto_stop_from_json(const Json& json) {
  AutoStop stop;
  stop.after_seconds = json.value("after_seconds", 0.0);
  stop.idle_seconds = json.value("idle_seconds", 0.0);
  stop.load = json.value("load", stop.load);
  stop.terminate = json.value("action", "terminate") != "stop";
  return stop;
}

std::string auto_stop_text(const AutoStop& stop) {
  std::string text = stop.terminate ? "terminates itself after " : "stops itself after ";
  if (stop.after_seconds > 0) text += time_words(stop.after_seconds);
  if (stop.idle_seconds > 0)
    text += (stop.after_seconds > 0 ? ", or " : "") + time_words(stop.idle_seconds) + " without work";
  return text;
}

std::string auto_stop_script(const AutoStop& stop, StopsBy by, double every_seconds,
                             const std::string& product) {
  return fmt::format(kSettings, fmt::arg("after", std::llround(stop.after_seconds)),
                     fmt::arg("idle", std::llround(stop.idle_seconds)),
                     fmt::arg("load", std::llround(stop.load * 100)),
                     fmt::arg("every", std::max<long long>(std::llround(every_seconds), 1)),
                     fmt::arg("by", by == StopsBy::Init ? "init" : "shutdown"),
                     fmt::arg("product", product.empty() ? "" : shell_quote(product))) +
         kScript;
}

std::string auto_stop_user_data(const AutoStop& stop, const std::string& product) {
  return fmt::format(kUserData, fmt::arg("script", auto_stop_script(stop, StopsBy::Shutdown, 60, product)));
}

}  // namespace radl
