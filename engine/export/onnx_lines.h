// The lines of a model's text while an ONNX file is imported (onnx_import.h), with their weights.
#pragma once

#include <string>
#include <vector>

#include "engine/export/onnx_import.h"

namespace radl::engine::exporter {

// A value of the file: the output of a line.
struct Wire {
  static constexpr int kInput = -1, kNone = -2;
  int line = kNone;
  int channels = 0;     // 0: not known
  bool vector = false;  // one position: after a flatten or a global pool
  bool last = false;    // the file has it with the channels last
  int flat_of = kNone;  // a vector that was flattened with the channels last: the line of its map
  std::vector<float> factor, summand;  // of the input, per channel: what the file has made of it so far
  bool is_input() const { return line == kInput; }
};

class OnnxLines {
 public:
  InputShape input;

  // Whether the file turns its input from channels last to channels first.
  static bool is_last_in(const OnnxFile& file, const std::string& input);
  // Adds a layer. Unsupported: layers read the input in two different normalizations.
  Result<Wire> add(const std::string& kind, const std::string& options, const std::vector<Wire>& inputs);
  Result<Wire> add_linear(int64_t out, int64_t in, std::vector<float> values, const OnnxTensor* bias,
                          const Wire& x);
  // A parameter or a statistic of the layer. `rows`: its values are rows x features, in the order of the
  // wire that it reads; 0: they do not depend on it.
  void weight(const Wire& of, const char* name, std::vector<int64_t> shape, std::vector<float> values,
              size_t rows = 0);
  bool takes_bias(const Wire& of) const;  // a convolution or a linear layer that has none yet
  void bias(const Wire& of, const std::vector<float>& values);
  // The flattened map must have so many features.
  void expect(const Wire& flattened, int64_t features);
  // Writes text, weights, classes and normalization. Invalid: layers do not fit each other.
  Status finish(const Wire& logits, const std::vector<float>& mean, const std::vector<float>& deviation,
                ImportedModel& made);

 private:
  struct Line {
    std::string name, kind, options;
    std::vector<int> from;
    bool has_bias = false;
    int64_t features = 0;  // expect()
  };
  struct Turn {
    size_t tensor = 0, rows = 0;
    int map = Wire::kNone;
  };
  std::string text_of(const std::vector<bool>& used) const;
  std::vector<bool> used_by(int last) const;
  Status turn(const Turn& turn, const std::vector<int>& shape);
  Status normalise(const std::vector<float>& mean, const std::vector<float>& deviation,
                   ImportedModel& made) const;

  std::vector<Line> lines_;
  std::vector<StoredTensor> tensors_;
  std::vector<int> owners_;  // lines of the tensors
  std::vector<Turn> turns_;
  std::vector<float> factor_, summand_;  // of the input as the layers read it; empty: none has yet
};

}  // namespace radl::engine::exporter
