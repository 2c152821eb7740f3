#pragma once

#include <exception>

namespace medley::python {

/// Makes an exception of C++ the current one of Python: InvalidArgument is ValueError, IoError
/// OSError, other errors of Medley RuntimeError. Passes others on, as pybind11 wants its
/// translators to.
void translate(std::exception_ptr error);

/// The same for every exception, those of Python and of pybind11 too. Does not throw.
void set_python_error(const std::exception_ptr& error) noexcept;

}  // namespace medley::python
