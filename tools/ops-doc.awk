# Makes docs/ops.md from src/tensor/ops.def. Usage: awk -f tools/ops-doc.awk src/tensor/ops.def
BEGIN {
    print "# The ops"
    print ""
    print "Made from `src/tensor/ops.def` by `make docs/ops.md`; do not edit. The contract of an op (shapes, aliasing,"
    print "tolerance, source) is its header `src/ops/NAME/NAME.h`; every op has a reference in `NAME_ref.c`."
    print ""
    print "| op | computes | tensors | backward | cpu kernel |"
    print "|---|---|---|---|---|"
}
/^PT_OP\(/ {
    rest = $0
    sub(/^PT_OP\(/, "", rest)
    quote = index(rest, "\"")
    formula = substr(rest, quote + 1)
    sub(/"\)[ \t]*$/, "", formula)
    gsub(/\|/, "\\|", formula)
    n = split(substr(rest, 1, quote - 1), field, /, */)
    printf "| [%s](../src/ops/%s/%s.h) | `%s` | %s | %s | %s |\n", field[1], field[1], field[1], formula,
           field[2], field[3] + 0 ? "yes" : "no", field[4] + 0 ? "yes" : "uses the reference"
    count++
}
END {
    if (!count) { print "no PT_OP line found" > "/dev/stderr"; exit 1 }
}
