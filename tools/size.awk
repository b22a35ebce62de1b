# Measures files and functions in the output of tools/c_code.awk; see tools/size.

BEGIN {
    warn["lines"] = 60;  limit["lines"] = 100
    warn["file"] = 600;  limit["file"] = 800
    warn["header"] = 300; limit["header"] = 1000000
    warn["nesting"] = 4; limit["nesting"] = 4
    warn["parameters"] = 6; limit["parameters"] = 6
    allow_max = 0 # entries in tools/size.allow; lower it when one goes, never raise it
    while ((getline line < allow) > 0) {
        if (line ~ /^[ \t]*(#|$)/) continue
        split(line, field, /[ \t]+/)
        allowed[field[1] " " field[2]] = field[3]
        n_allowed++
    }
    if (n_allowed > allow_max) {
        printf "tools/size.allow has %d entries, at most %d: it may only shrink\n", n_allowed, allow_max
        failed = 1
    }
}

# thing: "src/a.c" or "src/a.c:function"; place: file:line for the message
function measure(thing, place, kind, value,    key)
{
    key = thing " " kind
    if (key in allowed) {
        used[key] = 1
        if (value > allowed[key] + 0)
            fail(place, sprintf("%s %d, allowed %d", kind, value, allowed[key]))
        else if (value < allowed[key] + 0 || value <= limit[kind])
            fail(place, sprintf("%s is down to %d: lower or remove its line in tools/size.allow", kind, value))
    } else if (value > limit[kind]) {
        fail(place, sprintf("%s %d, limit %d", kind, value, limit[kind]))
    } else if (value > warn[kind]) {
        n_warnings++
        if (verbose) printf "%s: warning: %s %d, budget %d\n", place, kind, value, warn[kind]
    }
}
function fail(place, message) { printf "%s: %s\n", place, message; failed = 1 }

function end_file(    folder, part)
{
    if (file == "") return
    measure(file, file, file ~ /\.h$/ ? "header" : "file", lines)
    split(file, part, "/")
    folder = part[1] == "src" ? part[1] "/" part[2] : part[1]
    if (!(folder in folder_files)) order[++n_folders] = folder
    folder_files[folder]++
    if (file ~ /_test\.c$/) folder_tests[folder] += lines
    else folder_lines[folder] += lines
    if (lines > folder_max[folder]) folder_max[folder] = lines
}
function start_file(name)
{
    end_file()
    file = name
    depth = n_open = parens = in_macro = in_function = 0
    head = ""
}

$1 != file { start_file($1) }
{
    lines = $2
    code = $3
    # Preprocessor lines, with their continuations, are not code with braces that match.
    if (in_macro || code ~ /^[ \t]*#/) {
        in_macro = code ~ /\\[ \t]*$/
        next
    }
    while (match(code, /[A-Za-z_][A-Za-z0-9_]*|\.\.\.|[^ \t]/)) {
        token = substr(code, RSTART, RLENGTH)
        code = substr(code, RSTART + RLENGTH)
        if (in_function) inside(token)
        else outside(token)
    }
}
END {
    end_file()
    for (key in allowed)
        if (!(key in used)) fail("tools/size.allow", "nothing needs \"" key "\" any more: remove the line")
    printf "%-12s %6s %8s %8s %9s\n", "folder", "files", "lines", "tests", "longest"
    for (i = 1; i <= n_folders; i++) {
        f = order[i]
        printf "%-12s %6d %8d %8d %9d\n", f, folder_files[f], folder_lines[f], folder_tests[f], folder_max[f]
        files += folder_files[f]; code_lines += folder_lines[f]; test_lines += folder_tests[f]
        if (folder_max[f] > longest) longest = folder_max[f]
    }
    printf "%-12s %6d %8d %8d %9d\n", "all", files, code_lines, test_lines, longest
    printf "%d functions, longest %d lines (%s); %d over a budget%s\n", n_functions, longest_function,
           longest_function_name, n_warnings, n_warnings && !verbose ? " (tools/size -v lists them)" : ""
    exit failed
}

# ---- outside a function: look for its opening brace ----

function outside(token)
{
    if (token == "{") {
        if (depth == 0 && head ~ /\)$/ && head !~ /=/) { begin_function(); return }
        if (head == "extern \" \"" || head == "extern \"\"") { head = ""; return }
        depth++
    } else if (token == "}") {
        if (depth > 0) depth--
    } else if (depth == 0) {
        if (token == ";") head = ""
        else {
            if (head == "") head_line = lines
            head = head == "" ? token : head " " token
        }
        return
    }
    if (depth == 0 && token == "}") head = ""
}
function begin_function()
{
    in_function = 1
    n_open = parens = max_nesting = nesting = 0
    function_line = head_line
    function_name = head
    sub(/ \(.*/, "", function_name)
    sub(/.* /, "", function_name)
    measure(file ":" function_name, file ":" function_line ": " function_name, "parameters",
            count_parameters(head))
    head = ""
    pending = 0
    fresh = 0
}
# Parameters between the last outermost parentheses of "static int f ( int a , … )".
function count_parameters(text,    n, word, i, level, count, body)
{
    n = split(text, word, " ")
    for (i = 1; i <= n; i++) {
        if (word[i] == "(") { if (level++ == 0) { count = 0; body = "" } }
        else if (word[i] == ")") level--
        else if (level == 1 && word[i] == ",") count++
        else if (level >= 1) body = body word[i]
    }
    if (body == "" || body == "void") return 0
    return count + 1 - (body ~ /\.\.\.$/)
}

# ---- inside a function: count nested control statements, with or without braces ----
# open[]: "S" a control statement whose single statement follows, "B" one with braces,
#         "{" any other brace

function inside(token)
{
    if (token == "(") { parens++; return }
    if (token == ")") {
        if (--parens == 0 && pending) { pending = 0; push("S"); fresh = 1 }
        return
    }
    if (token == "{") {
        if (fresh && n_open && open[n_open] == "S") open[n_open] = "B"
        else push("{")
        fresh = 0
        return
    }
    if (token == "}") {
        if (n_open == 0) { end_function(); return }
        close_statements()
        pop()
        if (parens == 0 && code !~ /^[ \t]*else/) close_statements()
        fresh = 0
        return
    }
    if (parens) return
    if (token == ";") { close_statements(); fresh = 0; return }
    if (token ~ /^(if|for|while|switch)$/) {
        if (after_else) pop()
        after_else = 0
        pending = 1
        fresh = 0
        return
    }
    after_else = token == "else"
    fresh = 0
    if (token == "else" || token == "do") { push("S"); fresh = 1 }
}
function push(kind)
{
    open[++n_open] = kind
    if (kind == "S" && ++nesting > max_nesting) max_nesting = nesting
}
function pop()
{
    if (n_open == 0) return
    if (open[n_open] != "{") nesting--
    n_open--
}
function close_statements() { while (n_open && open[n_open] == "S") pop() }
function end_function(    length_lines, thing, place)
{
    in_function = 0
    length_lines = lines - function_line + 1
    thing = file ":" function_name
    place = file ":" function_line ": " function_name
    measure(thing, place, "lines", length_lines)
    measure(thing, place, "nesting", max_nesting)
    n_functions++
    if (length_lines > longest_function) {
        longest_function = length_lines
        longest_function_name = thing
    }
}
