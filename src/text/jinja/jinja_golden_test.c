/* Golden pairs: small templates with the constructs that chat templates use, and what Jinja 3.1.6 makes of them (sandboxed,
 * trim_blocks, lstrip_blocks, loop controls, and tojson as json.dumps with ensure_ascii off).
 * SPDX-License-Identifier: MIT */
#include "base/test.h"
#include "text/jinja/jinja.h"

static const char values[] =
    "{\"messages\": [{\"role\": \"system\", \"content\": \"Be brief.\"}, {\"role\": \"user\", "
    "\"content\": \" Hi 'there' \"}, {\"role\": \"assistant\", \"content\": "
    "\"<think>\\nhm\\n</think>\\n\\nHello\", \"tool_calls\": [{\"type\": \"function\", "
    "\"function\": {\"name\": \"f\", \"arguments\": {\"x\": 1, \"y\": [1.5, null, true, "
    "\"\303\251\\n\\\"\"]}}}]}, {\"role\": \"tool\", \"content\": \"42\"}, {\"role\": \"user\", "
    "\"content\": null}], \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", "
    "\"parameters\": {\"properties\": {\"b\": {\"type\": \"string\"}, \"a\": {\"type\": "
    "[\"integer\", \"null\"], \"default\": 2.0}}}}}], \"add_generation_prompt\": true, "
    "\"bos_token\": \"<s>\", \"n\": 7, \"f\": 2.5, \"big\": 1e+20, \"small\": 1e-05, \"neg\": -3, "
    "\"empty\": \"\", \"none\": null, \"u\": \"\303\234n\303\257 \303\237\", \"l\": [3, 1, 2], "
    "\"d\": {\"b\": 1, \"a\": \"x\"}, \"s\": \"hello World foo-bar\", \"ws\": \"\302\240 "
    "x\343\200\200\\n\", \"lines\": \"a\\n\\nb\\n c\", \"names\": [\"b\", \"A\", \"a\", \"C\"], "
    "\"hundred\": 100000000000000000000, \"t\": 1e+16, \"t15\": 123456789012345.0}";

static const struct golden {
    const char *source, *want;
} goldens[] = {
    {"{{ n }} {{ f }} {{ big }} {{ small }} {{ neg }} {{ empty }}|{{ none }}|{{ u }}|{{ l }}|{{ d "
     "}}|{{ nope }}|{{ true }}{{ False }}",
     "7 2.5 1e+20 1e-05 -3 |None|\303\234n\303\257 \303\237|[3, 1, 2]|{'b': 1, 'a': "
     "'x'}||TrueFalse"},
    {"{{ messages }}",
     "[{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': \" Hi 'there' \"}, "
     "{'role': 'assistant', 'content': '<think>\\nhm\\n</think>\\n\\nHello', 'tool_calls': "
     "[{'type': 'function', 'function': {'name': 'f', 'arguments': {'x': 1, 'y': [1.5, None, True, "
     "'\303\251\\n\"']}}}]}, {'role': 'tool', 'content': '42'}, {'role': 'user', 'content': "
     "None}]"},
    {"{{ hundred }} {{ t }} {{ t15 }} {{ 0.1 + 0.2 }} {{ 1.0 }} {{ 100.0 }} {{ -0.0 }} {{ 1e3 }} "
     "{{ 12345.678 }} {{ 0.0001 }} {{ 1e-5 }} {{ 1.5e300 }}",
     "100000000000000000000 1e+16 123456789012345.0 0.30000000000000004 1.0 100.0 -0.0 1000.0 "
     "12345.678 0.0001 1e-05 1.5e+300"},
    {"{{ messages|tojson }}",
     "[{\"role\": \"system\", \"content\": \"Be brief.\"}, {\"role\": \"user\", \"content\": \" Hi "
     "'there' \"}, {\"role\": \"assistant\", \"content\": \"<think>\\nhm\\n</think>\\n\\nHello\", "
     "\"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": "
     "{\"x\": 1, \"y\": [1.5, null, true, \"\303\251\\n\\\"\"]}}}]}, {\"role\": \"tool\", "
     "\"content\": \"42\"}, {\"role\": \"user\", \"content\": null}]"},
    {"{{ messages[2]|tojson(indent=2) }}",
     "{\n  \"role\": \"assistant\",\n  \"content\": \"<think>\\nhm\\n</think>\\n\\nHello\",\n  "
     "\"tool_calls\": [\n    {\n      \"type\": \"function\",\n      \"function\": {\n        "
     "\"name\": \"f\",\n        \"arguments\": {\n          \"x\": 1,\n          \"y\": [\n        "
     "    1.5,\n            null,\n            true,\n            \"\303\251\\n\\\"\"\n          "
     "]\n        }\n      }\n    }\n  ]\n}"},
    {"{{ tools|tojson(indent=4) }}",
     "[\n    {\n        \"type\": \"function\",\n        \"function\": {\n            \"name\": "
     "\"f\",\n            \"parameters\": {\n                \"properties\": {\n                   "
     " \"b\": {\n                        \"type\": \"string\"\n                    },\n            "
     "        \"a\": {\n                        \"type\": [\n                            "
     "\"integer\",\n                            \"null\"\n                        ],\n             "
     "           \"default\": 2.0\n                    }\n                }\n            }\n       "
     " }\n    }\n]"},
    {"{{ [[],{}]|tojson(indent=2) }}", "[\n  [],\n  {}\n]"},
    {"{{ u|tojson(ensure_ascii=True) }} {{ '\360\237\230\200\177'|tojson(ensure_ascii=true) }}",
     "\"\\u00dcn\\u00ef \\u00df\" \"\\ud83d\\ude00\\u007f\""},
    {"{{ d|tojson(sort_keys=True) }}", "{\"a\": \"x\", \"b\": 1}"},
    {"{{ d|tojson(separators=(',',':')) }}", "{\"b\":1,\"a\":\"x\"}"},
    {"{{ {1:2,none:3,true:4}|tojson }}", "{\"1\": 4, \"null\": 3}"},
    {"{{ '\\u00e9\\x41\\n\\'\\q\\\\' 'two' }}", "\303\251A\n'\\q\\two"},
    {"{{ [\"it's\", 'a\"b', 'both\\'\"', '\\n\\t\\x01'] }}",
     "[\"it's\", 'a\"b', 'both\\'\"', '\\n\\t\\x01']"},
    {"a\n{% if true %}\nb\n{% endif %}\nc\n", "a\nb\nc"},
    {"a\n  {% if true %}  \n  b\n  {% endif %}\nc\n\n", "a\n  \n  b\nc\n"},
    {"x {%- if true -%} \n y \n {%- endif -%} \n z", "xyz"},
    {"  {{ n }}  \n", "  7  "},
    {"{{- n -}}  \n  {{ n }}", "77"},
    {"a  {#- c -#}  b", "ab"},
    {"a\n  {# c #}\n b", "a\n b"},
    {"{# c #}\nx", "x"},
    {"  {%+ if true %}\nx{% endif +%}\n y", "  x\n y"},
    {"a {% raw %}{{ x }}{% if %}{% endraw %} b", "a {{ x }}{% if %} b"},
    {"a\n {%- raw -%} \n {{x}} \n {%- endraw -%} \n b", "a{{x}}b"},
    {"a\r\nb{% if true %}\r\nc{% endif %}\r\n", "a\nbc"},
    {"x\n  {% raw %}\n y\n  {% endraw %}\n z", "x\n\n y\n z"},
    {"   {% if true %}x{% endif %}   {% if true %}\ny{% endif %}", "x   y"},
    {"{% if true %}\n   {% if true %}\n x\n   {% endif %}\n{% endif %}\n", " x\n"},
    {"{{ n }}   {% if true %}z{% endif %}", "7   z"},
    {"{{ n }}\n   {% if true %}z{% endif %}", "7\nz"},
    {"\n\n{% set x = 1 %}\n\n{{ x }}\n\n", "\n\n\n1\n"},
    {"a{% set x %}\n  q \n{% endset %}\n[{{ x }}]", "a[  q \n]"},
    {"\302\240{%- if true -%}\343\200\200 a{% endif %}", "a"},
    {"{{ 1 + 2 * 3 - 4 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ "
     "2 ** 10 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1 / 4 }}",
     "5.0 3 -4 1 2 -2 1024 3.0 0.5 0.25"},
    {"{{ -n|abs }} {{ - 3 + 5 }} {{ +4 }} {{ 1 - -1 }}", "7 2 4 2"},
    {"{{ 'ab' * 3 }} {{ [1] * 2 + [3] }} {{ 3 * 'x' }}|{{ 'x' * -1 }}", "ababab [1, 1, 3] xxx|"},
    {"{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 'a' < 'b' }} {{ 1 == 1.0 }} {{ '1' == 1 }} {{ true == 1 "
     "}} {{ [1,2] < [1,3] }} {{ none == nope }} {{ nope == nope2 }}",
     "True False True True False True True False True"},
    {"{{ 'a' in 'cat' }} {{ 'role' in messages[0] }} {{ 3 in l }} {{ 9 not in l }} {{ '' in '' }} "
     "{{ 1 in nope }} {{ not 1 in l }}",
     "True True True True True False False"},
    {"{{ 'x' if n > 5 else 'y' }} {{ 'x' if n > 50 }}| {{ 1 if 0 else 2 if 0 else 3 }}", "x | 3"},
    {"{{ n and f }} {{ 0 or 'z' }} {{ not n }} {{ none or nope or 'q' }} {{ '' and 1 }}|",
     "2.5 z False q |"},
    {"{{ l[0] }} {{ l[-1] }} {{ l[9] }}| {{ u[1] }} {{ s[-3] }} {{ l[1:] }} {{ l[::-1] }} {{ s[:5] "
     "}} {{ s[-3:] }} {{ s[::2] }} {{ s[1:-1:3] }} {{ l[5:] }} {{ l[:-1] }} {{ u[::-1] }} {{ "
     "l[-100:100] }} {{ l[2:0:-1] }}",
     "3 2 | n b [1, 2] [2, 1, 3] hello bar hloWrdfobr eoodob [] [3, 1] \303\237 \303\257n\303\234 "
     "[3, 1, 2] [2, 1]"},
    {"{{ messages[0].role }} {{ messages[0]['content'] }} {{ messages[0].nope }}| {{ d.a.x }}| {{ "
     "none.x }}| {{ messages.0.role }}",
     "system Be brief. | | | system"},
    {"{{ (1, 2) | length }} {{ (1,) | first }} {{ () | length }} {{ (3) }}", "2 1 0 3"},
    {"{{ {'a': 1, 'b': [1,2]}.b[1] }} {{ {'a': {}} }}{{ {} }}", "2 {'a': {}}{}"},
    {"{{ n is defined and n is not none }} {{ nope is defined }} {{ nope is not defined }} {{ not "
     "n is defined }} {{ n is divisibleby 7 }} {{ n is odd }} {{ n is even }} {{ 4 is even }}",
     "True False True False True True False True"},
    {"{{ 'a' is string }} {{ n is number }} {{ f is float }} {{ n is integer }} {{ true is integer "
     "}} {{ true is number }} {{ d is mapping }} {{ l is sequence }} {{ s is iterable }} {{ d is "
     "sequence }} {{ true is true }} {{ 1 is true }} {{ false is false }} {{ none is none }} {{ "
     "true is boolean }} {{ 5 is iterable }} {{ nope is string }}",
     "True True True True False True True True True True True False True True True False False"},
    {"{{ n is equalto 7 }} {{ n is eq(7) }} {{ n is in [7] }} {{ n is gt 3 }} {{ n is ne 7 }} {{ "
     "'a' is in 'abc' }} {{ n is lessthan 9 }} {{ none is sameas none }}",
     "True True True True False True True True"},
    {"{{ 1 + n is odd }} {{ 'A' is upper }} {{ 'a1' is lower }} {{ '1' is lower }}",
     "2 True True False"},
    {"{{ 1_000 }} {{ 'a''b' }}", "1000 ab"},
    {"{{ 10 is divisibleby(5) }} {{ range is callable }} {{ n is none }}", "True True False"},
    {"{{ 'a' 'b' ~ 'c' }}", "abc"},
    {"{{ [1, 2,] }} {{ {'a': 1,} }}", "[1, 2] {'a': 1}"},
    {"{{ n if n is defined and n else 'no' }}", "7"},
    {"{{ 1, 2 }}", "(1, 2)"},
    {"{{ (n > 3) and (n < 9) }}", "True"},
    {"{{ -2 ** 2 }} {{ 2 ** 3 ** 2 }} {{ 2 ** -1 }}", "4 64 0.5"},
    {"{{ true + 1 }} {{ true ~ '' }} {{ 1.0 == true }}", "2 True True"},
    {"{% for m in messages %}{{ loop.index }}/{{ loop.index0 }}/{{ loop.revindex }}/{{ "
     "loop.revindex0 }}/{{ loop.first }}/{{ loop.last }}/{{ loop.length }} {{ m.role }};{% endfor "
     "%}",
     "1/0/5/4/True/False/5 system;2/1/4/3/False/False/5 user;3/2/3/2/False/False/5 "
     "assistant;4/3/2/1/False/False/5 tool;5/4/1/0/False/True/5 user;"},
    {"{% for m in messages if m.role == 'user' %}{{ loop.index }}{{ loop.last }}{{ m.content }};{% "
     "else %}none{% endfor %}",
     "1False Hi 'there' ;2TrueNone;"},
    {"{% for x in [] %}a{% else %}empty{% endfor %}{% for x in nope %}a{% else %}empty{% endfor %}",
     "emptyempty"},
    {"{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}{% for k in d %}{{ k }}{% endfor %}{% "
     "for k, v in d|items %}{{ k }}{% endfor %}{% for (a, b) in [(1, 2)] %}{{ a + b }}{% endfor %}",
     "b=1;a=x;baba3"},
    {"{% for c in u %}[{{ c }}]{% endfor %}", "[\303\234][n][\303\257][ ][\303\237]"},
    {"{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }}{% if loop.previtem is "
     "defined and loop.previtem > x %}!{% endif %};{% endfor %}",
     "<3>1;3<1>2!;1<2>;"},
    {"{% for x in range(10) %}{% if x == 2 %}{% continue %}{% endif %}{% if x > 4 %}{% break %}{% "
     "endif %}{{ x }}{% endfor %} after",
     "0134 after"},
    {"{% for x in range(3) %}{% for y in range(3) %}{% if y == 1 %}{% break %}{% endif %}{{ x }}{{ "
     "y }} {% endfor %}{{ loop.index }}{% endfor %}",
     "00 110 220 3"},
    {"{% set x = 1 %}{% for i in l %}{% set x = i %}{{ x }}{% endfor %}{{ x }}", "3121"},
    {"{% set ns = namespace(a=1, found=false) %}{% for i in l %}{% set ns.a = ns.a + i %}{% set "
     "ns.found = true %}{% endfor %}{{ ns.a }}{{ ns.found }}",
     "7True"},
    {"{% for x in l %}{{ loop.cycle('a','b') }}{{ loop.changed(x > 1) }}{% endfor %}",
     "aTruebTrueaTrue"},
    {"{{ range(3) | list }} {{ range(2, 5)|list }} {{ range(5, 0, -2)|list }} {{ range(0)|list }}",
     "[0, 1, 2] [2, 3, 4] [5, 3, 1] []"},
    {"{% for x in l %}{% for y in l %}{{ loop.depth }}{% endfor %}{% endfor %}", "111111111"},
    {"{% for i in l %}{% if loop.first %}{% set q = i %}{% endif %}{{ q }}{% endfor %}{{ q }}",
     "3"},
    {"{% if true %}{% set z = 5 %}{% endif %}{{ z }}", "5"},
    {"{% for m in messages[1:] %}{{ m.role }}{{ ', ' if not loop.last }}{% endfor %}",
     "user, assistant, tool, user"},
    {"{% for m in messages %}{% if loop.index0 == 0 and m.role == 'system' %}S{% elif m.role == "
     "'user' %}U{% else %}-{% endif %}{% endfor %}",
     "SU--U"},
    {"{% for x in 'ab' if x != 'a' %}{{ x }}{% endfor %}", "b"},
    {"{% for message in messages[::-1] %}{% set index = (messages|length - 1) - loop.index0 %}{{ "
     "index }}{% endfor %}",
     "43210"},
    {"{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c|length }}", "122"},
    {"{% set x %}hello {{ n }}{% endset %}[{{ x }}]{{ x|length }}", "[hello 7]7"},
    {"{% set x | upper | trim %} hello {% endset %}[{{ x }}]", "[HELLO]"},
    {"{% filter upper %}abc {{ s }}{% endfilter %}", "ABC HELLO WORLD FOO-BAR"},
    {"{% macro m(a, b=2, c='z') %}<{{ a }}{{ b }}{{ c }}>{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ "
     "m(a=5, c=n) }}{{ m() }}",
     "<12z><13z><527><2z>"},
    {"{% macro fact(n) %}{% if n <= 1 %}1{% else %}{{ n * fact(n - 1)|int }}{% endif %}{% endmacro "
     "%}{{ fact(5) }}",
     "120"},
    {"{% set g = 'G' %}{% macro m() %}{{ g }}{{ later }}{% endmacro %}{% set later = 'L' %}{{ m() "
     "}}",
     "GL"},
    {"{%- macro render(x) -%}\n  {{ x }}\n{%- endmacro -%}\n{{ render('q') }}", "q"},
    {"{{ dict(a=1, b=2) }} {{ dict(d, z=1).z }}", "{'a': 1, 'b': 2} 1"},
    {"{% generation %}abc{{ n }}{% endgeneration %}", "abc7"},
    {"{% set ns = namespace() %}{% set ns.x = 5 %}{{ ns.x }}{{ ns.y }}|{% set ns.l = [] %}{% set "
     "ns.l = ns.l + [1] %}{{ ns.l }}",
     "5|[1]"},
    {"{% set n = n + 1 %}{{ n }}", "8"},
    {"{% set x = [] %}{% for i in l %}{% set x = x + [i] %}{% endfor %}{{ x }}", "[]"},
    {"{% macro a(x) %}{% for i in x %}{{ b(i) }}{% endfor %}{% endmacro %}{% macro b(y) %}({{ y "
     "}}){% endmacro %}{{ a(l) }}",
     "(3)(1)(2)"},
    {"{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d %H:%M:%S %A %a %B %j %y %I %p %%') "
     "}}",
     "26 Jul 2024 2024-07-26 09:05:03 Friday Fri July 208 24 09 AM %"},
    {"{{ s.upper() }} {{ s.lower() }} {{ s.title() }} {{ s.capitalize() }}",
     "HELLO WORLD FOO-BAR hello world foo-bar Hello World Foo-Bar Hello world foo-bar"},
    {"[{{ ws.strip() }}][{{ ws.lstrip() }}][{{ ws.rstrip() }}][{{ '\\n\\nxx\\n'.strip('\\n') "
     "}}][{{ 'xaxbx'.strip('x') }}][{{ 'abcb'.rstrip('bc') }}][{{ "
     "'\303\251\303\251a'.lstrip('\303\251') }}]",
     "[x][x\343\200\200\n][\302\240 x][xx][axb][a][a]"},
    {"{{ 'a,b,,c'.split(',') }} {{ ' a  b c '.split() }} {{ 'a b c'.split(' ', 1) }} {{ ' a  b c "
     "'.split(none, 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ''.split() }} {{ ''.split(',') }} {{ "
     "'x</think>y'.split('</think>')[-1] }} {{ ',a,,'.rsplit(',', 2) }} {{ 'a,b'.rsplit(',', 5) }}",
     "['a', 'b', '', 'c'] ['a', 'b', 'c'] ['a', 'b c'] ['a', 'b c '] ['a,b', 'c'] [] [''] y [',a', "
     "'', ''] ['a', 'b']"},
    {"{{ s.startswith('hell') }} {{ s.endswith('bar') }} {{ s.startswith(('x','h')) }} {{ "
     "''.startswith('') }}",
     "True True True True"},
    {"{{ s.replace('o', '0') }} {{ s.replace('o', '0', 1) }} {{ 'ab'.replace('', '-') }} {{ "
     "'aaa'.replace('aa', 'b') }} {{ ''.replace('', 'x') }}",
     "hell0 W0rld f00-bar hell0 World foo-bar -a-b- ba x"},
    {"{{ d.keys()|list }} {{ d.values()|list }} {{ d.get('a') }} {{ d.get('q') }} {{ d.get('q', 5) "
     "}} {{ d.items()|list|length }}",
     "['b', 'a'] [1, 'x'] x None 5 2"},
    {"{{ s.find('World') }} {{ s.find('zz') }} {{ u.find('\303\237') }} {{ s.count('o') }} {{ "
     "'12'.isdigit() }} {{ ''.isdigit() }} {{ ','.join(['a','b']) }}",
     "6 -1 4 4 True False a,b"},
    {"{{ 'a\\nb\\r\\nc'.splitlines() }} {{ 'a\\nb\\n'.splitlines(true) }}",
     "['a', 'b', 'c'] ['a\\n', 'b\\n']"},
    {"{{ messages[2].content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') "
     "}}",
     "hm"},
    {"[{{ ws|trim }}] {{ 'xxax'|trim('x') }} {{ none|trim }} {{ 5|trim }} {{ nope|trim }}|",
     "[x] a None 5 |"},
    {"{{ s|upper }} {{ s|lower }} {{ s|title }} {{ s|capitalize }} {{ \"it's a (foo) x\"|title }} "
     "{{ \"it's\".title() }}",
     "HELLO WORLD FOO-BAR hello world foo-bar Hello World Foo-Bar Hello world foo-bar It's A (Foo) "
     "X It'S"},
    {"{{ l|length }} {{ u|length }} {{ d|count }} {{ nope|length }}", "3 5 2 0"},
    {"{{ nope|default('x') }} {{ none|default('x') }} {{ ''|default('x', true) }} {{ n|d(1) }} {{ "
     "nope|default }}| {{ ''|default('y', boolean=true) }}",
     "x None x 7 | y"},
    {"{{ l|join(',') }} {{ messages|map(attribute='role')|join(' ') }} {{ messages|join('+', "
     "attribute='role') }} {{ l|join }} {{ 'abc'|join('-') }}",
     "3,1,2 system user assistant tool user system+user+assistant+tool+user 312 a-b-c"},
    {"{{ l|first }} {{ l|last }} {{ []|first }}| {{ s|first }} {{ d|first }} {{ s|last }}",
     "3 2 | h b r"},
    {"{{ messages|selectattr('role','equalto','user')|list|length }} {{ "
     "messages|rejectattr('role','eq','user')|map(attribute='role')|list }} {{ "
     "messages|selectattr('tool_calls','defined')|list|length }} {{ "
     "messages|selectattr('tool_calls')|list|length }} {{ l|select('gt', 1)|list }} {{ "
     "l|reject('odd')|list }} {{ [0,1,'']|select|list }} {{ "
     "messages|selectattr('role','in',['user','tool'])|list|length }}",
     "2 ['system', 'assistant', 'tool'] 1 1 [3, 2] [2] [1] 3"},
    {"{{ l|sort }} {{ l|sort(reverse=true) }} {{ names|sort }} {{ names|sort(case_sensitive=true) "
     "}} {{ messages|sort(attribute='role')|map(attribute='role')|list }} {{ names|unique|list }} "
     "{{ names|unique(true)|list }} {{ d|dictsort }} {{ {'b':1,'a':2}|dictsort(by='value') }}",
     "[1, 2, 3] [3, 2, 1] ['A', 'a', 'b', 'C'] ['A', 'C', 'a', 'b'] ['assistant', 'system', "
     "'tool', 'user', 'user'] ['b', 'A', 'C'] ['b', 'A', 'a', 'C'] [('a', 'x'), ('b', 1)] [('b', "
     "1), ('a', 2)]"},
    {"{{ l|reverse|list }} {{ s|reverse }} {{ d|list }} {{ 'abc'|list }}",
     "[2, 1, 3] rab-oof dlroW olleh ['b', 'a'] ['a', 'b', 'c']"},
    {"{{ '5'|int + 1 }} {{ 'x'|int }} {{ 'x'|int(9) }} {{ 3.9|int }} {{ '3.9'|int }} {{ "
     "'2.5'|float }} {{ 3|float }} {{ n|string + 'a' }} {{ -3.5|int }}",
     "6 0 9 3 3 2.5 3.0 7a -3"},
    {"{{ 2.5|round }} {{ 3.5|round }} {{ 2.567|round(2) }} {{ 2.1|round(0, 'ceil') }} {{ "
     "2.19|round(1, 'floor') }} {{ 7|round }} {{ -5|abs }} {{ 2.675|round(2) }}",
     "2.0 4.0 2.57 3.0 2.1 7 5 2.67"},
    {"{{ lines|indent }}|{{ lines|indent(2, true) }}|{{ lines|indent(2, first=true, blank=true) "
     "}}|{{ lines|indent('> ') }}|{{ 'a\\n'|indent(2) }}|",
     "a\n\n    b\n     c|  a\n\n  b\n   c|  a\n  \n  b\n   c|a\n\n> b\n>  c|a\n|"},
    {"{{ 'x'|safe }} {{ l|map('string')|list }} {{ ['a ',' b']|map('trim')|list }} {{ "
     "['a']|map('replace','a','b')|list }} {{ messages|map(attribute='name', default='?')|list }} "
     "{{ d|items|list }}",
     "x ['3', '1', '2'] ['a', 'b'] ['b'] ['?', '?', '?', '?', '?'] [('b', 1), ('a', 'x')]"},
    {"{{ l|sum }} {{ l|min }} {{ l|max }} {{ [1.5,2]|sum }} {{ "
     "messages|map(attribute='content')|select('string')|map('length')|sum }}",
     "6 1 3 3.5 49"},
    {"{{ messages|map('tojson')|join('\\n') }}",
     "{\"role\": \"system\", \"content\": \"Be brief.\"}\n{\"role\": \"user\", \"content\": \" Hi "
     "'there' \"}\n{\"role\": \"assistant\", \"content\": \"<think>\\nhm\\n</think>\\n\\nHello\", "
     "\"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": "
     "{\"x\": 1, \"y\": [1.5, null, true, \"\303\251\\n\\\"\"]}}}]}\n{\"role\": \"tool\", "
     "\"content\": \"42\"}\n{\"role\": \"user\", \"content\": null}"},
    {"{{ 'a'|replace('a','b') }} {{ s|replace('o','0',1) }}", "b hell0 World foo-bar"},
    {"{{ tools|map(attribute='function.name')|join }} {{ [[1,2]]|map(attribute=1)|list }} {{ "
     "[[1,2]]|map(attribute='0')|list }}",
     "f [2] [1]"},
    {"{{ [3,1]|sort|join(',')|upper ~ '!' }}", "1,3!"},
    {"{%- if tools %}\n    {{- '<|im_start|>system\\n' }}\n    {%- if messages[0].role == 'system' "
     "%}\n        {{- messages[0].content + '\\n\\n' }}\n    {%- endif %}\n    {{- \"# "
     "Tools\\n<tools>\" }}\n    {%- for tool in tools %}\n        {{- \"\\n\" }}\n        {{- tool "
     "| tojson }}\n    {%- endfor %}\n    {{- \"\\n</tools><|im_end|>\\n\" }}\n{%- endif %}\n{%- "
     "set ns = namespace(multi=true, last=messages|length - 1) %}\n{%- for message in "
     "messages[::-1] %}\n    {%- set index = (messages|length - 1) - loop.index0 %}\n    {%- if "
     "ns.multi and message.role == \"user\" and message.content is string and "
     "not(message.content.startswith('<tool>') and message.content.endswith('</tool>')) %}\n       "
     " {%- set ns.multi = false %}\n        {%- set ns.last = index %}\n    {%- endif %}\n{%- "
     "endfor %}\n{%- for message in messages %}\n    {%- set content = message.content if "
     "message.content is string else '' %}\n    {%- if message.role == \"user\" or (message.role "
     "== \"system\" and not loop.first) %}\n        {{- '<|im_start|>' + message.role + '\\n' + "
     "content + '<|im_end|>' + '\\n' }}\n    {%- elif message.role == \"assistant\" %}\n        "
     "{%- set reasoning = '' %}\n        {%- if message.reasoning_content is string %}\n           "
     " {%- set reasoning = message.reasoning_content %}\n        {%- elif '</think>' in content "
     "%}\n            {%- set reasoning = "
     "content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}\n           "
     " {%- set content = content.split('</think>')[-1].lstrip('\\n') %}\n        {%- endif %}\n    "
     "    {%- if loop.index0 > ns.last %}\n            {{- '<|im_start|>' + message.role + "
     "'\\n<think>\\n' + reasoning.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}\n  "
     "      {%- else %}\n            {{- '<|im_start|>' + message.role + '\\n' + content }}\n      "
     "  {%- endif %}\n        {%- for call in message.tool_calls %}\n            {%- if "
     "call.function %}{%- set call = call.function %}{%- endif %}\n            {{- "
     "'<tool_call>\\n{\"name\": \"' ~ call.name ~ '\", \"arguments\": ' }}\n            {{- "
     "call.arguments if call.arguments is string else call.arguments | tojson }}\n            {{- "
     "'}\\n</tool_call>' }}\n        {%- endfor %}\n        {{- '<|im_end|>\\n' }}\n    {%- elif "
     "message.role == \"tool\" %}\n        {%- if loop.first or (messages[loop.index0 - 1].role != "
     "\"tool\") %}{{- '<|im_start|>user' }}{%- endif %}\n        {{- '\\n<tool_response>\\n' + "
     "content + '\\n</tool_response>' }}\n        {%- if loop.last or (messages[loop.index0 + "
     "1].role != \"tool\") %}{{- '<|im_end|>\\n' }}{%- endif %}\n    {%- endif %}\n{%- endfor "
     "%}\n{%- if add_generation_prompt %}\n    {{- '<|im_start|>assistant\\n' }}\n    {%- if "
     "enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' "
     "}}{%- endif %}\n{%- endif %}\n",
     "<|im_start|>system\nBe brief.\n\n# Tools\n<tools>\n{\"type\": \"function\", \"function\": "
     "{\"name\": \"f\", \"parameters\": {\"properties\": {\"b\": {\"type\": \"string\"}, \"a\": "
     "{\"type\": [\"integer\", \"null\"], \"default\": "
     "2.0}}}}}\n</tools><|im_end|>\n<|im_start|>user\n Hi 'there' "
     "<|im_end|>\n<|im_start|>assistant\n<think>\nhm\n</think>\n\nHello<tool_call>\n{\"name\": "
     "\"f\", \"arguments\": {\"x\": 1, \"y\": [1.5, null, true, "
     "\"\303\251\\n\\\"\"]}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n42\n</"
     "tool_response><|im_end|>\n<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n"},
    {"{{ bos_token }}{%- if messages[0]['role'] == 'system' -%}\n    {%- if messages[0]['content'] "
     "is string -%}\n        {%- set first_user_prefix = messages[0]['content'] + '\\n\\n' -%}\n   "
     " {%- else -%}\n        {%- set first_user_prefix = messages[0]['content'][0]['text'] + "
     "'\\n\\n' -%}\n    {%- endif -%}\n    {%- set loop_messages = messages[1:] -%}\n{%- else "
     "-%}\n    {%- set first_user_prefix = \"\" -%}\n    {%- set loop_messages = messages -%}\n{%- "
     "endif -%}\n{%- for message in loop_messages if message.role in ['user','assistant'] -%}\n    "
     "{%- if (message['role'] == 'assistant') -%}{%- set role = \"model\" -%}{%- else -%}{%- set "
     "role = message['role'] -%}{%- endif -%}\n    {{ '<start_of_turn>' + role + '\\n' + "
     "(first_user_prefix if loop.first else \"\") }}\n    {%- if message['content'] is string "
     "-%}\n        {{ message['content'] | trim }}\n    {%- elif message['content'] is iterable "
     "-%}\n        {%- for item in message['content'] -%}{%- if item['type'] == 'text' -%}{{ "
     "item['text'] | trim }}{%- endif -%}{%- endfor -%}\n    {%- endif -%}\n    {{ "
     "'<end_of_turn>\\n' }}\n{%- endfor -%}\n{%- if add_generation_prompt "
     "-%}{{'<start_of_turn>model\\n'}}{%- endif -%}\n",
     "<s><start_of_turn>user\nBe brief.\n\nHi "
     "'there'<end_of_turn>\n<start_of_turn>model\n<think>\nhm\n</"
     "think>\n\nHello<end_of_turn>\n<start_of_turn>user\n<end_of_turn>\n<start_of_turn>model\n"},
    {"{{- bos_token }}\n{%- if not date_string is defined %}\n    {%- if strftime_now is defined "
     "%}\n        {%- set date_string = strftime_now(\"%d %b %Y\") %}\n    {%- else %}\n        "
     "{%- set date_string = \"26 Jul 2024\" %}\n    {%- endif %}\n{%- endif %}\n{%- macro "
     "json_type(spec) %}\n    {%- if spec.type is string %}{{- spec.type }}\n    {%- elif "
     "spec.type is iterable %}{{- spec.type | join(' | ') }}\n    {%- else %}any{%- endif %}\n{%- "
     "endmacro %}\nToday: {{ date_string }}\n{% for tool in tools %}\n{%- set fn = tool.function "
     "%}\nnamespace {{ fn.name }} {\n{%- for name, spec in fn.parameters.properties | dictsort "
     "%}\n  {{ name }}{{ '?' if name not in fn.parameters.get('required', []) }}: {{ "
     "json_type(spec) }}{% if spec.default is defined %} = {{ spec.default | tojson }}{% endif "
     "%},\n{%- endfor %}\n}\n{% endfor %}\n{%- for message in messages %}\n  {%- if not "
     "(message.role == 'tool' or 'tool_calls' in message) %}\n    {{- '<|start_header_id|>' + "
     "message['role'] + '<|end_header_id|>\\n\\n'+ (message['content'] or '') | trim + "
     "'<|eot_id|>' }}\n  {%- endif %}\n{%- endfor %}",
     "<s>Today: 26 Jul 2024\nnamespace f {  a?: integer | null = 2.0,  b?: "
     "string,}\n<|start_header_id|>system<|end_header_id|>\n\nBe "
     "brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi "
     "'there'<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n<|eot_id|>"},
};

TEST(renders_as_jinja_does)
{
    const pt_jinja_time now = {2024, 7, 26, 9, 5, 3};
    const pt_jinja_options options = {.now = &now};
    pt_arena arena = {0};
    pt_error err = {0};
    const pt_json *json;
    CHECK_OK(pt_json_parse(values, strlen(values), &arena, &json, &err), err);
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        pt_strbuf out = {0};
        pt_jinja *template;
        const char *source = goldens[i].source;
        CHECK_OK(pt_jinja_compile(&template, source, strlen(source), &err), err);
        CHECK_OK(pt_jinja_render(template, &out, json, &options, &err), err);
        if (strcmp(out.data ? out.data : "", goldens[i].want) != 0)
            printf("template: %s\n", source);
        CHECK_STR(out.data ? out.data : "", goldens[i].want);
        pt_strbuf_deinit(&out);
        pt_jinja_free(template);
    }
    pt_arena_deinit(&arena);
}

PT_TEST_MAIN
