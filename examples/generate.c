/* Lets a model write, after telling how well it knows the prompt.
 * Usage: generate MODEL.tinygpt PROMPT
 * SPDX-License-Identifier: MIT */
#include <posttrain.h>
#include <stdio.h>
#include <string.h>

static int print(void *ctx, const char *bytes, size_t n)
{
    (void)ctx;
    return fwrite(bytes, 1, n, stdout) != n;
}

static int fail(void)
{
    fprintf(stderr, "generate: %s\n", posttrain_error());
    return 1;
}

int main(int argc, char **argv)
{
    posttrain_options *options = NULL;
    posttrain_model *model = NULL;
    double perplexity = 0;
    if (argc != 3) return fputs("usage: generate MODEL.tinygpt PROMPT\n", stderr), 2;
    if (posttrain_options_new(&options) || posttrain_set_integer(options, "max-tokens", 100) ||
        posttrain_set_real(options, "temperature", 0.7))
        return fail();
    if (posttrain_model_open(&model, argv[1], options)) return fail();
    if (strlen(argv[2]) > 1) {
        if (posttrain_score(model, argv[2], strlen(argv[2]), NULL, &perplexity)) return fail();
        printf("%lld parameters; perplexity of the prompt: %.2f\n",
               (long long)posttrain_model_fact(model, POSTTRAIN_PARAMETERS), perplexity);
    }
    if (posttrain_generate(model, argv[2], strlen(argv[2]), options, print, NULL)) return fail();
    putchar('\n');
    posttrain_model_close(model);
    posttrain_options_free(options);
    return 0;
}
