/* posttrain: the public C API.
 * SPDX-License-Identifier: MIT */
#ifndef POSTTRAIN_H
#define POSTTRAIN_H

#define PT_VERSION "0.1.0"

#endif
