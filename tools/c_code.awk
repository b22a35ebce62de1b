# C source without comments and without the insides of strings, for the other checks.
# Prints one line per source line: FILE <tab> LINE <tab> CODE. An #include line keeps its path.
# Usage: awk -f tools/c_code.awk FILE…

FNR == 1 { in_comment = 0 }

{
    line = $0
    out = ""
    is_include = !in_comment && line ~ /^[ \t]*#[ \t]*include/
    while (line != "") {
        if (in_comment) {
            end = index(line, "*/")
            if (!end) break
            line = substr(line, end + 2)
            in_comment = 0
            out = out " "
            continue
        }
        # The next comment, string or character constant, whichever comes first.
        if (!match(line, /\/\*|\/\/|"|'/)) {
            out = out line
            break
        }
        token = substr(line, RSTART, RLENGTH)
        out = out substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + RLENGTH)
        if (token == "/*") { in_comment = 1; continue }
        if (token == "//") break
        out = out token
        quote = token
        while (line != "") {
            c = substr(line, 1, 1)
            if (c == "\\") { line = substr(line, 3); continue }
            line = substr(line, 2)
            if (c == quote) break
            if (is_include) out = out c
        }
        out = out quote
    }
    printf "%s\t%d\t%s\n", FILENAME, FNR, out
}
