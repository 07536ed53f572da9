/* Says that main returned: a program that leaves by exit(0) has not run to its end. The linker calls this for main. */
#include <stdlib.h>
#include <unistd.h>
extern int __real_main(int count, char **words, char **environment);
int __wrap_main(int count, char **words, char **environment);
int __wrap_main(int count, char **words, char **environment)
{
    static const char word[] = "STET_TOKEN returned\n";
    const char *side = getenv("BOX_SIDE_FD");
    int number = side ? atoi(side) : -1;
    int code = __real_main(count, words, environment);
    if (number >= 0 && write(number, word, sizeof word - 1) < 0)
        return code ? code : 70;
    return code;
}
