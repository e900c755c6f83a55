/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   What the library exports. */
#ifndef AFTERBAY_EXPORT_H
#define AFTERBAY_EXPORT_H

/** Marks what the library exports. Everything else in it is hidden. */
#if defined(__GNUC__)
#define AFTERBAY_API __attribute__((visibility("default")))
#else
#define AFTERBAY_API
#endif

#endif
