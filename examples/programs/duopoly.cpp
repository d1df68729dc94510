// The duopoly in C++: g++ -O2 -o duopoly duopoly.cpp
// Requests have their fields in this order and no spaces, so that `sscanf` can read them.
#include <cstdio>

int main() {
    char line[4096], level[8];
    unsigned long long id;
    double x, y;
    while (std::fgets(line, sizeof line, stdin)) {
        std::sscanf(line, "{\"id\":%llu,\"level\":\"%5[a-z]\",\"x\":[%lf],\"y\":[%lf]}", &id, level, &x, &y);
        double own = level[0] == 'u' ? x : y;
        std::printf("{\"id\":%llu,\"value\":%.17g}\n", id, own * (12 - x - y));
        std::fflush(stdout);
    }
}
