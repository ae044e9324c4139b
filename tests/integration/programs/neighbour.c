__attribute__((visibility("default"))) int neighbour_answer(void)
{
    return 42;
}
