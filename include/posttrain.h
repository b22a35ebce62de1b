/* posttrain: the public C API.
 * SPDX-License-Identifier: MIT */
#ifndef POSTTRAIN_H
#define POSTTRAIN_H



#endif
