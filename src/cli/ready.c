/* Before a device's first op. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/live_line.h"

pt_status pt_get_ready(pt_device *device, bool quiet, pt_error *err)
{
    pt_live_line line = pt_live_line_begin();
    char text[80];
    pt_status s;
    while ((s = pt_device_ready(device, err)) == PT_PENDING) {
        if (quiet || !line.terminal || !pt_live_line_is_due(&line, pt_clock_seconds())) continue;
        pt_format(text, sizeof text, "preparing the GPU: %d of %d kernels", device->readied,
                  device->to_ready);
        pt_live_line_show(&line, text);
    }
    pt_live_line_clear(&line);
    return s;
}
