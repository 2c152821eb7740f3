#include "python/error.h"

#include <new>
#include <utility>

#include <pybind11/pybind11.h>

#include "medley/error.h"

namespace medley::python {

namespace py = pybind11;

void translate(std::exception_ptr error) {
  try {
    if (error) std::rethrow_exception(std::move(error));
  } catch (const InvalidArgument& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const IoError& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

void set_python_error(const std::exception_ptr& error) noexcept {
  try {
    translate(error);
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

}  // namespace medley::python
