// The geometry of a two-dimensional convolution over NHWC images.
#pragma once

namespace radl::engine {

struct ConvGeometry {
  int n = 1;                   // the largest batch
  int h = 1, w = 1, c = 1;     // input
  int oh = 1, ow = 1, oc = 1;  // output
  int kh = 1, kw = 1, sh = 1, sw = 1;
  int pt = 0, pl = 0, pb = 0, pr = 0;  // padding: top, left, bottom, right
  int dh = 1, dw = 1;                  // dilation, 1 is dense
  int groups = 1;

  bool pointwise() const { return kh == 1 && kw == 1 && sh == 1 && sw == 1 && pt + pl + pb + pr == 0; }
  bool operator==(const ConvGeometry&) const = default;
  double flop(int batch) const { return 2.0 * batch * oh * ow * oc * (c / groups) * kh * kw; }
};

}  // namespace radl::engine
