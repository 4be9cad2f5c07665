#include "engine/export/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/html.h"

namespace radl::engine::exporter {
namespace {

constexpr double kWidth = 560, kHeight = 260, kLeft = 56, kRight = 12, kTop = 28, kBottom = 40;

struct Scale {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void take(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  double at(double v, double from, double to) const { return from + (v - low) / (high - low) * (to - from); }
};

// 1, 2 or 5 times a power of ten, so that about `count` steps fit.
double tick_step(double range, int count) {
  const double raw = range / count, power = std::pow(10, std::floor(std::log10(raw)));
  for (double m : {1.0, 2.0, 5.0}) {
    if (power * m >= raw) return power * m;
  }
  return power * 10;
}

std::string axes(const Scale& x, const Scale& y) {
  std::string out;
  for (double step = tick_step(y.high - y.low, 5), v = std::ceil(y.low / step) * step;
       v <= y.high + step * 1e-6; v += step) {
    const double at = y.at(v, kHeight - kBottom, kTop);
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text x=\"{3}\" "
        "y=\"{4:.1f}\" text-anchor=\"end\">{5:g}</text>\n",
        kLeft, kWidth - kRight, at, kLeft - 6, at + 4, std::abs(v) < step * 1e-6 ? 0 : v);
  }
  for (double step = tick_step(x.high - x.low, 8), v = std::ceil(x.low / step) * step;
       v <= x.high + step * 1e-6; v += step) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n",
                       x.at(v, kLeft, kWidth - kRight), kHeight - kBottom + 16, v);
  }
  return out;
}

std::string path_of(const Series& s, const Scale& x, const Scale& y, size_t index) {
  std::string d;
  bool gap = true;
  for (const auto& [px, py] : s.points) {
    if (!std::isfinite(px) || !std::isfinite(py)) {
      gap = true;
      continue;
    }
    d += fmt::format("{}{:.1f} {:.1f} ", gap ? "M" : "L", x.at(px, kLeft, kWidth - kRight),
                     y.at(py, kHeight - kBottom, kTop));
    gap = false;
  }
  return fmt::format("<path class=\"s{}\" d=\"{}\"><title>{}</title></path>\n", index % 4, d,
                     escape_html(s.name));
}

}  // namespace

std::string svg_chart(const Chart& chart) {
  Scale x, y;
  size_t longest = 0;
  for (const auto& s : chart.series) {
    size_t finite = 0;
    for (const auto& [px, py] : s.points) {
      if (!std::isfinite(px) || !std::isfinite(py)) continue;
      x.take(px);
      y.take(py);
      ++finite;
    }
    longest = std::max(longest, finite);
  }
  if (longest < 2 || !(x.high > x.low)) return "";
  if (chart.from_zero) y.take(0);
  if (!(y.high > y.low)) y.high = y.low + 1;
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth,
                                kHeight, escape_html(chart.title));
  out += fmt::format("<text class=\"title\" x=\"{}\" y=\"16\">{}</text>\n", kLeft, escape_html(chart.title));
  out += axes(x, y);
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (kLeft + kWidth - kRight) / 2, kHeight - 6, escape_html(chart.x_label));
  for (size_t i = 0; i < chart.series.size(); ++i) {
    out += path_of(chart.series[i], x, y, i);
    out += fmt::format("<text class=\"l{}\" x=\"{}\" y=\"16\" text-anchor=\"end\">{}</text>\n", i % 4,
                       kWidth - kRight - 80.0 * double(chart.series.size() - 1 - i),
                       escape_html(chart.series[i].name));
  }
  return out + "</svg>\n";
}

}  // namespace radl::engine::exporter
