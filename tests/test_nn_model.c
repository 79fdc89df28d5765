/* Models: presets, short forms and model files, and what is wrong with bad ones. */
#include "nn_fixture.h"

static const Shape image = {3, {1, 28, 28}};

TestSuite(model, .init = fixture_open, .fini = fixture_close);

Test(model, mlp_fits_itself_to_the_data) {
    Model model;
    EXPECT_OK(model_load(&model, "mlp", image, 10));
    cr_assert_eq(model.layer_count, 3);
    cr_assert_eq(model.layers[0].units, 128);
    cr_assert_eq(model_param_count(&model), 784 * 128 + 128 + 128 * 10 + 10);
    EXPECT_OK(model_load(&model, "mlp", (Shape){3, {1, 8, 8}}, 7));
    cr_assert_eq(model_param_count(&model), 64 * 128 + 128 + 128 * 7 + 7);
}

Test(model, a_short_form_is_layers_with_relu_between) {
    Model model;
    EXPECT_OK(model_load(&model, "mlp:784-512-256-10", image, 10));
    cr_assert_eq(model.layer_count, 5);
    cr_assert_str_eq(model.layers[0].name, "fc1");
    cr_assert_str_eq(model.layers[3].kind->name, "relu");
    cr_assert_str_eq(model.layers[4].name, "fc3");
    cr_assert_eq(model_param_count(&model), 784 * 512 + 512 + 512 * 256 + 256 + 256 * 10 + 10);
}

Test(model, a_model_files_text_gives_the_same_model_again) {
    static const char text[] = "# a comment\n\n  input 1 28 28\r\nlinear first 30 # thirty\n"
                               "tanh bend\nlinear out 10\nloss softmax_cross_entropy";
    char written[512], again[512];
    Model model, twin;
    EXPECT_OK(model_parse(&model, "a.model", text, image, 10));
    model_text(written, sizeof written, &model);
    EXPECT_OK(model_parse(&twin, "b.model", written, image, 10));
    cr_assert_str_eq(written, model_text(again, sizeof again, &twin));
    cr_assert_eq(twin.layer_count, 3);
    cr_assert_str_eq(twin.layers[1].kind->name, "tanh");
    cr_assert_eq(model_param_count(&twin), 784 * 30 + 30 + 30 * 10 + 10);
}

Test(model, the_example_files_load) {
    Model model;
    EXPECT_OK(model_load(&model, "models/mlp.model", image, 10));
    EXPECT_OK(model_load(&model, "models/mlp-wide.model", image, 10));
    EXPECT_OK(model_load(&model, "models/mlp-tanh.model", (Shape){3, {1, 8, 8}}, 10));
}

typedef struct BadText {
    const char *text, *where, *what;
} BadText;

#define LOSS "loss softmax_cross_entropy\n"

Test(model, a_bad_file_is_named_with_line_and_cure) {
    static const BadText cases[] = {
        {"linaer fc1 10\n" LOSS, "m:1:", "did you mean 'linear'"},
        {"linear fc1 128\nrelu fc1\nlinear fc2 10\n" LOSS, "m:2:", "already on line 1"},
        {"linear fc1 10\n", "m:", "no loss"},
        {LOSS, "m:", "no layers"},
        {"", "m:", "no layers"},
        {"linear fc1 10\nloss mse\n", "m:2:", "softmax_cross_entropy"},
        {"linear fc1 10\nloss\n", "m:2:", "softmax_cross_entropy"},
        {"linear fc1 10\n" LOSS LOSS, "m:3:", "second loss"},
        {"linear fc1 10\n" LOSS "relu a\n", "m:3:", "the loss comes last"},
        {"linear fc1 12\n" LOSS, "m:1:", "layer fc1 has 12 outputs, but the data has 10 classes"},
        {"linear fc1 0\n" LOSS, "m:1:", "whole number from 1"},
        {"linear fc1 -5\n" LOSS, "m:1:", "whole number from 1"},
        {"linear fc1 10x\n" LOSS, "m:1:", "whole number from 1"},
        {"linear fc1 99999999999999999999\n" LOSS, "m:1:", "whole number from 1"},
        {"linear fc1\n" LOSS, "m:1:", "linear NAME UNITS"},
        {"linear fc1 10 20\n" LOSS, "m:1:", "linear NAME UNITS"},
        {"relu\n" LOSS, "m:1:", "relu NAME"},
        {"linear fc/1 10\n" LOSS, "m:1:", "letters, digits"},
        {"linear a_name_that_is_much_longer_than_thirty_one_characters 10\n" LOSS,
         "m:1:", "at most 31"},
        {"input 1 28\nlinear fc1 10\n" LOSS, "m:1:", "input C H W"},
        {"input 1 8 8\nlinear fc1 10\n" LOSS, "m:1:", "64 numbers, the data has 784"},
        {"input 2147483647 2147483647 2147483647\nlinear fc1 10\n" LOSS, "input",
         "make it smaller"},
        {"linear fc1 10\ninput 784\n" LOSS, "m:2:", "before the layers"},
        {"a b c d e f g h i j\n", "m:1:", "at most 8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Model model;
        Status status = model_parse(&model, "m", cases[i].text, image, 10);
        expect_failure(status, STATUS_BAD, cases[i].where, cases[i].what, NULL);
    }
}

Test(model, names_that_are_no_model_say_what_there_is) {
    Model model;
    expect_failure(model_load(&model, "mlpp", image, 10), STATUS_BAD, "did you mean 'mlp'", NULL);
    expect_failure(model_load(&model, "no/such.model", image, 10), STATUS_BAD, "no/such.model",
                   "No such file", NULL);
    expect_failure(model_load(&model, "cnn", image, 10), STATUS_MISSING, "later version", NULL);
    expect_failure(model_load(&model, "gpt", image, 10), STATUS_MISSING, "later version", NULL);
    expect_failure(model_load(&model, fixture_folder, image, 10), STATUS_BAD, "cannot be read",
                   NULL);
    static const char *const forms[] = {
        "mlp:",        "mlp:784",      "mlp:784-",     "mlp:-784-10",
        "mlp:784--10", "mlp:784-x-10", "mlp:784-0-10", "mlp:784-99999999999-10",
        "mlp:784 10"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        expect_failure(model_load(&model, forms[i], image, 10), STATUS_BAD, forms[i], NULL);
    }
    expect_failure(model_load(&model, "mlp:64-10", image, 10), STATUS_BAD, "64 numbers", "784",
                   NULL);
    expect_failure(model_load(&model, "mlp:784-128-12", image, 10), STATUS_BAD, "fc2", "12 outputs",
                   "10 classes", NULL);
}

Test(model, a_file_that_is_no_text_is_refused) {
    Model model;
    write_file(in_folder("zero.model"), "linear fc1 10\0\n", 15);
    expect_failure(model_load(&model, in_folder("zero.model"), image, 10), STATUS_BAD, "zero byte",
                   NULL);
    char *large = calloc(1, 70000);
    memset(large, '#', 70000);
    write_file(in_folder("large.model"), large, 70000);
    free(large);
    expect_failure(model_load(&model, in_folder("large.model"), image, 10), STATUS_BAD, "too long",
                   NULL);
}

Test(model, a_run_that_cannot_fit_is_refused_before_anything_is_allocated) {
    Dataset data = small_data();
    TrainOptions options = train_default_options;
    Model model;
    Backend backend;
    Run *run;
    EXPECT_OK(backend_get(&backend, "serial"));
    EXPECT_OK(model_load(&model, "mlp:12-2000000000-2000000000-3", (Shape){3, {1, NN_H, NN_W}},
                         NN_CLASSES));
    expect_failure(run_create(&run, &model, &data, &backend, &options), STATUS_BAD, "fc", NULL);
    EXPECT_OK(
        model_load(&model, "mlp:12-2000000-2000000-3", (Shape){3, {1, NN_H, NN_W}}, NN_CLASSES));
    expect_failure(run_create(&run, &model, &data, &backend, &options), STATUS_BAD, "fc2.weight",
                   NULL);
    options.batch = 0;
    expect_failure(run_create(&run, &model, &data, &backend, &options), STATUS_BAD, "--batch 0",
                   NULL);
}
