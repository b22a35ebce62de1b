/* The command line. */
int main(void) { return 0; }
