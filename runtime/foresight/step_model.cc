#include "runtime/foresight/step_model.h"

#include <algorithm>
#include <cmath>

namespace radl::foresight {
namespace {

constexpr double kBits = 8;

// The quantile of the standard normal distribution (Acklam's rational approximation, 1.15e-9).
double normal_quantile(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                          6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                          3.754408661907416e+00};
  constexpr double kLow = 0.02425;
  if (p < kLow || p > 1 - kLow) {
    const double q = std::sqrt(-2 * std::log(p < kLow ? p : 1 - p)), sign = p < kLow ? 1 : -1;
    return sign * (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  }
  const double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

double line_through(const StepLine::Point& a, const StepLine::Point& b, double batch) {
  if (b.batch <= a.batch) return a.seconds;
  return a.seconds + (b.seconds - a.seconds) * (batch - a.batch) / (b.batch - a.batch);
}

struct Talk {
  double bandwidth = 0, latency = 0, server = 0;
  double seconds() const { return bandwidth + latency + server; }
};

// docs/model.md, "Exchange". Bytes a second and seconds.
Talk talk_of(const NodeProfile& profile, const StepQuestion& question) {
  const Fabric& fabric = question.fabric;
  const double size = profile.parameter_bytes * question.exchanged_share,
               link = fabric.bits_per_second / kBits, rtt = fabric.round_trip_seconds, n = question.workers,
               server_latency = question.server_round_trips * rtt;
  switch (question.exchange) {
    case Exchange::Alone:
      return {};
    case Exchange::Ring:
      return {2 * (n - 1) / n * size / link, 2 * (n - 1) * rtt / 2, 0};
    case Exchange::HalvingDoubling:
      return {2 * (n - 1) / n * size / link, 2 * std::ceil(std::log2(n)) * rtt / 2, 0};
    case Exchange::SyncServer: {
      const double server = fabric.server_bits_per_second > 0 ? fabric.server_bits_per_second / kBits : link;
      const double shared = std::min(link, fabric.servers * server / n),
                   back = question.staggered ? std::min(link, fabric.servers * server) : shared;
      return {2 * size / link, server_latency, size / shared + size / back - 2 * size / link};
    }
    case Exchange::AsyncServer:
      return {2 * size / link, server_latency, 0};
  }
  return {};
}

// What the servers' links let through, updates a second: weights one way, gradients the other.
double server_steps_per_second(const NodeProfile& profile, const StepQuestion& question) {
  const Fabric& fabric = question.fabric;
  const double server =
      fabric.server_bits_per_second > 0 ? fabric.server_bits_per_second : fabric.bits_per_second;
  return fabric.share * fabric.servers * server / kBits /
         std::max(profile.parameter_bytes * question.exchanged_share, 1.0);
}

StepBound largest(const StepAnatomy& step) {
  const std::pair<double, StepBound> parts[] = {
      {step.compute + step.fixed + step.straggler, StepBound::Compute},
      {step.bandwidth, StepBound::Bandwidth},
      {step.latency, StepBound::Latency},
      {step.server, StepBound::Server}};
  return std::max_element(std::begin(parts), std::end(parts),
                          [](const auto& a, const auto& b) { return a.first < b.first; })
      ->second;
}

bool answerable(const NodeProfile& profile, const StepQuestion& question) {
  const bool alone = question.exchange == Exchange::Alone;
  if (profile.steps.points.empty() || question.batch < 1 || question.workers < 1 || question.local_steps < 1)
    return false;
  if (alone != (question.workers == 1) && question.exchange != Exchange::SyncServer &&
      question.exchange != Exchange::AsyncServer)
    return false;
  if (profile.largest_batch > 0 && question.batch > profile.largest_batch) return false;
  return alone || (question.fabric.bits_per_second > 0 && question.fabric.servers >= 1);
}

}  // namespace

std::string_view exchange_name(Exchange exchange) {
  switch (exchange) {
    case Exchange::Alone:
      return "alone";
    case Exchange::Ring:
      return "ring";
    case Exchange::HalvingDoubling:
      return "halving-doubling";
    case Exchange::SyncServer:
      return "sync server";
    case Exchange::AsyncServer:
      return "async server";
  }
  return "unknown";
}

bool has_server(Exchange exchange) {
  return exchange == Exchange::SyncServer || exchange == Exchange::AsyncServer;
}

std::optional<Exchange> exchange_named(std::string_view name) {
  for (int i = 0; i < kExchanges; ++i)
    if (exchange_name(static_cast<Exchange>(i)) == name) return static_cast<Exchange>(i);
  return std::nullopt;
}

std::string_view step_bound_name(StepBound bound) {
  switch (bound) {
    case StepBound::Compute:
      return "compute";
    case StepBound::Bandwidth:
      return "bandwidth";
    case StepBound::Latency:
      return "latency";
    case StepBound::Server:
      return "server";
  }
  return "unknown";
}

double StepLine::seconds(double batch) const {
  if (points.size() == 1) return points[0].seconds * batch / points[0].batch;
  size_t after = 1;
  while (after + 1 < points.size() && points[after].batch < batch) ++after;
  return std::max(line_through(points[after - 1], points[after], batch), 0.0);
}

double StepLine::fixed() const {
  return points.size() < 2 ? 0 : std::max(line_through(points[0], points[1], 0), 0.0);
}

double expected_maximum(int n) { return n < 2 ? 0 : normal_quantile((n - 0.375) / (n + 0.25)); }

std::optional<StepAnatomy> step_anatomy(const NodeProfile& profile, const StepQuestion& question) {
  if (!answerable(profile, question)) return std::nullopt;
  StepAnatomy step;
  const double whole = profile.steps.seconds(question.batch);
  step.fixed = std::min(profile.steps.fixed(), whole);
  step.compute = whole - step.fixed;
  // Asynchronous workers do not wait for the slowest one.
  if (question.exchange != Exchange::AsyncServer)
    step.straggler = whole * profile.spread * expected_maximum(question.workers);
  const Talk talk = talk_of(profile, question);
  const double k = question.local_steps;
  step.bandwidth = talk.bandwidth / k;
  step.latency = talk.latency / k;
  step.server = talk.server / k;
  step.hidden = question.delay > 0
                    ? std::min(talk.seconds(), question.delay * whole) / k
                    : std::min(talk.seconds() / k, question.overlap * profile.backward_share * whole);
  step.seconds = whole + step.straggler + talk.seconds() / k - step.hidden;
  if (question.exchange == Exchange::AsyncServer) {
    // Updates a second of all, as far as the servers let them through.
    const double wanted = question.workers / step.seconds,
                 let = server_steps_per_second(profile, question) * k;
    if (let < wanted) {
      step.server = question.workers / let - step.seconds;
      step.seconds = question.workers / let;
    }
  }
  step.images_per_second = question.workers * question.batch / step.seconds;
  step.bound = largest(step);
  return step;
}

}  // namespace radl::foresight
