// SPDX-License-Identifier: Apache-2.0
// afterbay plan: determines settings by measurement.
#include "plan_storage.hpp"

namespace afterbay::app {

namespace {

Action prepare_plan(CLI::App& app) {
  app.require_subcommand(1);
  return prepare_plan_storage(*app.add_subcommand(
      "storage", "measures a directory and prints suitable settings, with the measurements"));
}

const Registration plan_registration({.name = "plan",
                                      .summary = "finds settings by measuring",
                                      .prepare = prepare_plan});

}  // namespace

}  // namespace afterbay::app
