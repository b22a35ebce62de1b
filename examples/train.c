/* Trains a tiny model on a text in memory and saves it.
 * Usage: train TEXT OUT.tinygpt STEPS
 * SPDX-License-Identifier: MIT */
#include <posttrain.h>
#include <stdio.h>
#include <stdlib.h>

static int report(void *ctx, int64_t step, double loss)
{
    (void)ctx;
    printf("step %lld  loss %.4f\n", (long long)step, loss);
    return 0; /* go on */
}

static int fail(void)
{
    fprintf(stderr, "train: %s\n", posttrain_error());
    return 1;
}

int main(int argc, char **argv)
{
    static char text[1 << 20];
    posttrain_options *options = NULL;
    posttrain_trainer *trainer = NULL;
    FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
    if (!file) return fputs("usage: train TEXT OUT.tinygpt STEPS\n", stderr), 2;
    size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    if (posttrain_options_new(&options) || posttrain_set_text(options, "preset", "tiny") ||
        posttrain_set_integer(options, "steps", strtol(argv[3], NULL, 10)) ||
        posttrain_set_real(options, "lr", 3e-3))
        return fail();
    if (posttrain_trainer_new(&trainer, text, n, argv[2], options)) return fail();
    posttrain_trainer_on_step(trainer, report, NULL);
    if (posttrain_trainer_run(trainer)) return fail();
    printf("validation loss %.4f\n", posttrain_trainer_validation_loss(trainer));
    posttrain_trainer_free(trainer);
    posttrain_options_free(options);
    return 0;
}
