/* Facts about the values of a weight. SPDX-License-Identifier: MIT */
#include "model/facts.h"

#include "base/maths.h"

pt_facts pt_facts_of(const float *values, int64_t n)
{
    pt_facts facts = {0};
    double squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = (double)values[i];
        if (!pt_is_finite(x)) {
            facts.bad++;
            continue;
        }
        squares += x * x;
        if (pt_fabs(x) > facts.largest) facts.largest = pt_fabs(x);
    }
    facts.l2 = pt_sqrt(squares);
    return facts;
}
