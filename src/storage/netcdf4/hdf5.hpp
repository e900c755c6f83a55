// SPDX-License-Identifier: Apache-2.0
// HDF5's C interface with owners for identifiers, and with errors of this library.
#pragma once

#include <hdf5.h>

#include <string>

#include "base/result.hpp"

namespace afterbay::storage {

/// Owns an identifier of any kind.
class Hdf5Id {
 public:
  Hdf5Id() = default;
  explicit Hdf5Id(hid_t id) noexcept : id_(id) {}
  Hdf5Id(Hdf5Id&& other) noexcept : id_(other.release()) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = other.release();
    }
    return *this;
  }
  ~Hdf5Id() { reset(); }

  [[nodiscard]] hid_t get() const noexcept { return id_; }
  [[nodiscard]] bool valid() const noexcept { return id_ >= 0; }
  hid_t release() noexcept {
    const hid_t id = id_;
    id_ = H5I_INVALID_HID;
    return id;
  }
  void reset() noexcept {
    if (id_ >= 0) H5Idec_ref(id_);
    id_ = H5I_INVALID_HID;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

/// The name under which netCDF-C stores a variable in the root group of a file: with a prefix if it
/// has the name of a dimension without being its coordinate variable.
std::string dataset_name(hid_t file, const std::string& variable);

/// "cannot <doing>: <HDF5's innermost message>". Call it directly after the failed call.
Error hdf5_error(const std::string& doing);

}  // namespace afterbay::storage
