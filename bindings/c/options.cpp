// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

int afterbay_options_create(afterbay_options** options) {
  return guarded([&] {
    afterbay_options*& result = need(options, "options");
    result = new afterbay_options;
  });
}

void afterbay_options_free(afterbay_options* options) { delete options; }

int afterbay_options_set(afterbay_options* options, const char* setting, const char* value) {
  return guarded([&] {
    need(options, "options")
        .options.set(std::string(text(setting, "setting")), std::string(text(value, "value")));
  });
}

int afterbay_options_set_name(afterbay_options* options, const char* name) {
  return guarded([&] { need(options, "options").options.name = text(name, "name"); });
}

int afterbay_options_set_role(afterbay_options* options, int role) {
  return guarded([&] {
    switch (role) {
      case AFTERBAY_ROLE_AUTOMATIC: need(options, "options").options.role = Role::automatic; return;
      case AFTERBAY_ROLE_MODEL: need(options, "options").options.role = Role::model; return;
      case AFTERBAY_ROLE_SERVER: need(options, "options").options.role = Role::server; return;
      default:
        refuse(ErrorCode::invalid_argument,
               "there is no role number " + std::to_string(role) + "; use one of enum afterbay_role");
    }
  });
}

int afterbay_options_set_config_file(afterbay_options* options, const char* path) {
  return guarded([&] { need(options, "options").options.config_file = text(path, "path"); });
}

int afterbay_options_set_output_text(afterbay_options* options, const char* yaml) {
  return guarded([&] { need(options, "options").options.output_text = text(yaml, "text"); });
}

int afterbay_options_set_arguments(afterbay_options* options, int argc, const char* const* argv) {
  return guarded([&] {
    if (argc > 0) need(argv, "argv");
    need(options, "options").options.with_arguments(argc, argv);
  });
}
