#pragma once

#include <stdexcept>
#include <string>

namespace medley {

/// Base of everything the library throws. `what()` is one sentence with the expectation and the
/// fact: "alpha must be > 0, got -0.2".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A wrong call: a parameter out of range, shapes that do not fit, a broken plan.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written, or whose content is broken.
class IoError : public Error {
 public:
  using Error::Error;
};

/// A CUDA call that failed: no device, too little memory, or a fault.
class CudaError : public Error {
 public:
  using Error::Error;
};

/// A device with too little free memory for what was asked of it.
class DeviceMemoryError : public CudaError {
 public:
  using CudaError::CudaError;
};

}  // namespace medley
