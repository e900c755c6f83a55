/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   AFTERBAY_API: marks what the library exports. Everything else in it is hidden. */
#ifndef AFTERBAY_EXPORT_H
#define AFTERBAY_EXPORT_H

#if defined(__GNUC__)
#define AFTERBAY_API __attribute__((visibility("default")))
#else
#define AFTERBAY_API
#endif

#endif
