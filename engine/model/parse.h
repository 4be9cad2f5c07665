// Internal interface of the model parser: a line of text as words, and the graph being built.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/graph.h"

namespace radl::engine {

// NAME: KIND ARG... KEY=VALUE... from INPUT...
struct ModelLine {
  int number = 0;
  std::string name;  // may be empty
  std::string kind;
  std::vector<std::string> args;               // words without '='
  std::map<std::string, std::string> options;  // KEY=VALUE
  std::vector<std::string> from;
};

constexpr size_t kLongestName = 256;
// A name of a layer, a saved position or the model.
bool valid_name(std::string_view name);

// Calls f for every line in order, with repeats unrolled. Errors name the line. Memory and time are bounded
// by the text's size and 20000 lines for any text.
Status for_each_line(std::string_view text, const std::function<Status(const ModelLine&)>& f);

class GraphBuilder {
 public:
  GraphBuilder(Shape input, int classes);
  // `model NAME`, `save NAME` and layers.
  Status add_line(const ModelLine& line);
  Result<Graph> finish();

 private:
  Status add_layer(const ModelLine& line);
  Status resolve_inputs(const ModelLine& line, Layer& layer);
  int parameter(const std::string& name, std::vector<int> shape, bool decays, bool frozen = false);
  int statistic(const std::string& name, int channels);
  void add_parameters(Layer& layer, const Shape& in);

  Graph graph_;
  std::map<std::string, int> names_;  // layers
  std::map<std::string, int> saved_;  // save NAME
};

// Sets a layer's attributes and output shape from the line. Errors have no line number.
Status read_layer(const ModelLine& line, const std::vector<Shape>& inputs, int classes, Layer& layer);

}  // namespace radl::engine
