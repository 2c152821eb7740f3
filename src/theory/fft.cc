#include "theory/fft.h"

#include <complex>

#include <unsupported/Eigen/FFT>

namespace medley::theory {
namespace {

using Complex = std::complex<double>;

}  // namespace

void add_power_spectrum(std::span<const double> image, ImageSize size, std::int32_t height,
                        std::int32_t width, std::vector<double>& power) {
  thread_local Eigen::FFT<double> fft;
  const auto half = static_cast<std::size_t>(width) / 2 + 1;
  const auto rows = static_cast<std::size_t>(size.height);
  std::vector<double> padded(static_cast<std::size_t>(width));
  std::vector<Complex> row(static_cast<std::size_t>(width));
  std::vector<Complex> spectrum(rows * half);
  for (std::size_t y = 0; y < rows; ++y) {
    const auto from = image.subspan(y * static_cast<std::size_t>(size.width),
                                    static_cast<std::size_t>(size.width));
    std::copy(from.begin(), from.end(), padded.begin());
    fft.fwd(row.data(), padded.data(), width);
    std::copy_n(row.begin(), half, spectrum.begin() + static_cast<std::ptrdiff_t>(y * half));
  }
  std::vector<Complex> column(static_cast<std::size_t>(height));
  std::vector<Complex> transformed(static_cast<std::size_t>(height));
  for (std::size_t x = 0; x < half; ++x) {
    for (std::size_t y = 0; y < rows; ++y) column[y] = spectrum[y * half + x];
    fft.fwd(transformed.data(), column.data(), height);
    for (std::size_t y = 0; y < transformed.size(); ++y) {
      power[y * half + x] += std::norm(transformed[y]);
    }
  }
}

std::vector<double> autocorrelation(std::span<const double> power, ImageSize size,
                                    std::int32_t height, std::int32_t width) {
  Eigen::FFT<double> fft;
  const auto half = static_cast<std::size_t>(width) / 2 + 1;
  const auto rows = static_cast<std::size_t>(height);
  std::vector<Complex> spectrum(rows * half);
  std::vector<Complex> column(rows);
  std::vector<Complex> transformed(rows);
  for (std::size_t x = 0; x < half; ++x) {
    for (std::size_t y = 0; y < rows; ++y) column[y] = power[y * half + x];
    fft.inv(transformed.data(), column.data(), height);
    for (std::size_t y = 0; y < rows; ++y) spectrum[y * half + x] = transformed[y];
  }
  std::vector<double> result;
  std::vector<Complex> row(static_cast<std::size_t>(width));
  std::vector<Complex> values(static_cast<std::size_t>(width));
  for (std::size_t y = 0; y < static_cast<std::size_t>(size.height); ++y) {
    for (std::size_t x = 0; x < half; ++x) row[x] = spectrum[y * half + x];
    for (std::size_t x = half; x < row.size(); ++x) row[x] = std::conj(row[row.size() - x]);
    fft.inv(values.data(), row.data(), width);
    for (std::int32_t x = 0; x < size.width; ++x) {
      result.push_back(values[static_cast<std::size_t>(x)].real());
    }
  }
  return result;
}

}  // namespace medley::theory
