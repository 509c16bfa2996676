"""Sample outputs of linters (eslint 9, biome 2)."""

from __future__ import annotations

ESLINT = """#!/bin/sh
cat <<EOF
[{"filePath":"$PWD/a.js","messages":[
 {"ruleId":"no-undef","severity":2,"message":"'y' is not defined.","line":2,"column":49},
 {"ruleId":"no-unused-vars","severity":1,"message":"'x' is never used.","line":1,"column":5},
 {"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error: Unexpected token","line":2,"column":3}]}]
EOF
exit 1
"""

BIOME = """#!/bin/sh
case "$*" in *--write*) printf 'fixed = 1;\\n' > a.js; exit 0;; esac
f="$PWD/a.js"
echo "::warning title=lint/style/useConst,file=$f,line=1,endLine=1,col=1,endColumn=4::This let is assigned%0Aonce."
echo "::error title=lint/suspicious/noDebugger,file=$f,line=2,endLine=2,col=31,endColumn=39::Unexpected debugger."
echo "::error title=format,file=$f,line=2,endLine=2,col=2,endColumn=2::Formatter would have printed:"
exit 1
"""
