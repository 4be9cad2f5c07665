// Numbers in a line of a program's output. These forms are read:
//
//   {"loss": 0.5, "test": {"accuracy": 0.9}}    a JSON object, or a Python dictionary as Hugging Face's
//   Trainer prints it Epoch 3  train loss: 0.41, lr=1e-4          `name: number` and `name=number`, anywhere
//   in the line Epoch 4: 100%|####| 10/10 [.., v_num=0, val_loss=0.2]   Lightning's progress bar | test_acc |
//   0.98 |  or  test_acc    0.98   a row of Lightning's table of results
//
// A number ends at a space, a comma, a bracket, a quote, `|`, `;` or `%`: `10/100`, `3it/s` and `12:30` are
// not metrics.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace radl::program {

using Metrics = std::map<std::string, double>;

// Keeps finite numbers of at most 10,000 names; later values replace earlier ones.
void take_number(const std::string& name, double value, Metrics& into);
void take_line(std::string_view line, Metrics& into);

}  // namespace radl::program
