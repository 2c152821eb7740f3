#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <vector>

#include "methods/own_method.h"
#include "plan/inverse_transform.h"

namespace medley {
namespace {

/// Thresholded low-frequency noise: complex normals divided by frequency^decay, transformed back;
/// the lam * pixels brightest pixels are the own image's.
///   paper  normals on the whole spectrum, of which the real part is taken: isotropic
///   code   normals on the half spectrum of a real image, whose first and last column then have
///          half the power of the others
/// (The published code also mixes up two axes of its spectrum and so leaves all but two frequencies
/// of one direction out; neither form does.)
struct FMix {
  static constexpr std::string_view name = "fmix";
  static constexpr std::string_view title = "FMix";
  static constexpr std::string_view summary = "cuts along the contours of low-frequency noise";
  static constexpr std::string_view source =
      "Harris, Marcu, Painter, Niranjan, Prugel-Bennett, Hare: FMix: Enhancing Mixed Sample Data "
      "Augmentation, 2020";

  LambdaDistribution lambda;
  Form form = Form::paper;
  double decay = 3;
  double soft = 0;

  static std::vector<OptionSpec> options() {
    return OptionTable<FMix>()
        .with(&FMix::lambda, LambdaDistribution::options())
        .add(&FMix::form, "form",
             "noise on the whole spectrum as in the paper, or on half of it as in the published "
             "code, whose masks reach further along rows than along columns")
        .add(&FMix::decay, "decay", "spectral decay, greater is smoother", {.range = at_least(0)})
        .add(&FMix::soft, "soft",
             "share of the pixels on either side of the edge that are soft; at most lam and 1-lam",
             {.range = between(0, 1)});
  }

  std::unique_ptr<MaskSampler> bind(ImageSize size, LabelRule label) const;
};

class FMixMasks final : public MaskSampler {
 public:
  FMixMasks(const FMix& options, ImageSize size)
      : lambda_(options.lambda),
        soft_(options.soft),
        size_(size),
        along_columns_(size.height),
        along_rows_(size.width) {
    const bool half_power = options.form == Form::code;
    const double lowest = 1.0 / std::max(size.height, size.width);
    for (std::int32_t ky = 0; ky < size.height; ++ky) {
      const double fy = static_cast<double>(std::min(ky, size.height - ky)) / size.height;
      for (std::int32_t kx = 0; kx <= size.width / 2; ++kx) {
        const double fx = static_cast<double>(kx) / size.width;
        const double frequency = std::max(std::sqrt(fx * fx + fy * fy), lowest);
        // Of a column that is its own mirror image the real part is left.
        const bool own_mirror = kx == 0 || 2 * kx == size.width;
        amplitude_.push_back(std::pow(frequency / lowest, -options.decay) *
                             (own_mirror && !half_power ? std::numbers::sqrt2 : 1));
      }
    }
  }

  MaskDraw draw(const UnitRandom& random, std::span<float> field,
                std::span<double> /*weights*/) const override {
    const double lam = lambda_.draw(random);
    RandomStream stream = random.stream(Purpose::mask);
    const std::vector<double> noise = low_frequency_noise(stream);

    const auto pixels = static_cast<double>(noise.size());
    const bool up = stream.uniform() < 0.5;
    const auto ones =
        static_cast<std::int64_t>(up ? std::ceil(lam * pixels) : std::floor(lam * pixels));
    // Ranks on both sides of the edge fall from 1 to 0 evenly.
    const auto edge = static_cast<std::int64_t>(pixels * std::min({soft_, lam, 1 - lam}));
    const std::int64_t begin = std::max<std::int64_t>(ones - edge, 0);
    const std::int64_t end = std::min<std::int64_t>(ones + edge, std::ssize(noise));

    std::vector<std::uint32_t> order(noise.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto brighter = [&](std::uint32_t a, std::uint32_t b) {
      return noise[a] != noise[b] ? noise[a] > noise[b] : a < b;
    };
    std::nth_element(order.begin(), order.begin() + begin, order.end(), brighter);
    if (end > begin) {
      std::nth_element(order.begin() + begin, order.begin() + end, order.end(), brighter);
      std::sort(order.begin() + begin, order.begin() + end, brighter);
    }
    for (std::int64_t rank = 0; rank < std::ssize(order); ++rank) {
      float value = rank < begin ? 1.0f : 0.0f;
      if (rank >= begin && rank < end) {
        value = static_cast<float>(1.0 - static_cast<double>(rank - begin) /
                                             static_cast<double>(end - begin - 1));
      }
      field[order[static_cast<std::size_t>(rank)]] = value;
    }
    return {lam, FieldMask{}, field_mean(field)};
  }
  bool makes_field() const override { return true; }

 private:
  /// Real part of the inverse transform of the colored spectrum; the scale does not matter.
  [[nodiscard]] std::vector<double> low_frequency_noise(RandomStream& stream) const {
    const auto height = static_cast<std::size_t>(size_.height);
    const auto width = static_cast<std::size_t>(size_.width);
    const std::size_t half = width / 2 + 1;
    std::vector<std::complex<double>> spectrum(height * half);
    for (std::size_t i = 0; i < spectrum.size(); ++i) {
      const double re = stream.normal();
      spectrum[i] = amplitude_[i] * std::complex<double>(re, stream.normal());
    }
    std::vector<std::complex<double>> line(height), image(height);
    for (std::size_t x = 0; x < half; ++x) {
      for (std::size_t y = 0; y < height; ++y) line[y] = spectrum[y * half + x];
      along_columns_(line, image);
      for (std::size_t y = 0; y < height; ++y) spectrum[y * half + x] = image[y];
    }
    // A row of the half spectrum stands for a whole one with mirrored conjugates, whose transform
    // is real: two rows are transformed as real and imaginary part of one.
    std::vector<double> noise(height * width);
    line.resize(width);
    image.resize(width);
    for (std::size_t y = 0; y < height; y += 2) {
      const std::complex<double>* upper = &spectrum[y * half];
      const std::complex<double>* lower = y + 1 < height ? upper + half : nullptr;
      for (std::size_t x = 0; x < half; ++x) {
        std::complex<double> a = upper[x];
        std::complex<double> b = lower != nullptr ? lower[x] : 0;
        if (x == 0 || 2 * x == width) {  // its own mirror image
          a = a.real();
          b = b.real();
        } else {
          line[width - x] = {a.real() + b.imag(), b.real() - a.imag()};
        }
        line[x] = {a.real() - b.imag(), a.imag() + b.real()};
      }
      along_rows_(line, image);
      for (std::size_t x = 0; x < width; ++x) noise[y * width + x] = image[x].real();
      if (lower == nullptr) break;
      for (std::size_t x = 0; x < width; ++x) noise[(y + 1) * width + x] = image[x].imag();
    }
    return noise;
  }

  LambdaDistribution lambda_;
  double soft_;
  ImageSize size_;
  InverseTransform along_columns_;
  InverseTransform along_rows_;
  std::vector<double> amplitude_;  // height x (width/2 + 1)
};

std::unique_ptr<MaskSampler> FMix::bind(ImageSize size, LabelRule /*label*/) const {
  return std::make_unique<FMixMasks>(*this, size);
}

}  // namespace

std::shared_ptr<const MethodBase> fmix_method() { return make_method<FMix>(); }

}  // namespace medley
