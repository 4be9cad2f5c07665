#include "engine/train/mistakes.h"

#include <fmt/format.h>

#include "engine/data/image.h"

namespace radl::engine {
namespace {

// A cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '|' || c == '\\' || c == '<' || c == '`') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string class_name(const data::Dataset& dataset, int32_t label) {
  const auto& names = dataset.class_names();
  return cell(static_cast<size_t>(label) < names.size() ? names[static_cast<size_t>(label)]
                                                        : fmt::format("class {}", label));
}

}  // namespace

Status write_mistakes(exporter::EventWriter& events, int64_t step, const data::Dataset& dataset,
                      std::span<const Mistake> mistakes) {
  if (mistakes.empty()) return {};
  const InputShape shape = dataset.shape();
  const bool drawable = shape.channels == 1 || shape.channels == 3;
  std::vector<uint8_t> pixels(data::pixel_count(shape));
  std::string table = "| image | is | taken for | probability | from |\n|---|---|---|---|---|\n";
  for (size_t k = 0; k < mistakes.size(); ++k) {
    const Mistake& m = mistakes[k];
    table +=
        fmt::format("| {:02} | {} | {} | {:.1f}% | {} |\n", k, class_name(dataset, m.label),
                    class_name(dataset, m.predicted), 100 * m.probability, cell(dataset.origin(m.index)));
    if (!drawable) continue;
    if (Status read = dataset.read(m.index, pixels); !read.ok()) return read;
    Result<std::string> png = data::encode_png(shape.height, shape.width, shape.channels, pixels);
    if (!png) return std::move(png).status();
    if (Status written = events.image(fmt::format("misclassified/{:02}", k), step, shape.height, shape.width,
                                      shape.channels, *png);
        !written.ok())
      return written;
  }
  return events.text("misclassified", step, table);
}

}  // namespace radl::engine
