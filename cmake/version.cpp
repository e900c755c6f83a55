// SPDX-License-Identifier: Apache-2.0
#include "afterbay/version.h"

const char* afterbay_version(void) { return AFTERBAY_VERSION; }
