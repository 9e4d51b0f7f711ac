# Filters of jq that jaq has not, or has elsewhere.

def toarray: if isarray then . else [.] end;
def ascii: [.] | implode;
def date: todate;
def leaf_paths: paths(scalars);

def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);
def INDEX(f): INDEX(.[]; f);
def IN(stream): . as $x | any(stream; . == $x);
def IN(source; stream): any(source; IN(stream));

def cell_or_error(form):
    if . == null then ""
  elif isstring then form
  elif isnumber or isboolean then tostring
  else error("\(type) (\(tojson[:20])) is not valid in a row") end;

def @csv: [.[] | cell_or_error("\"" + gsub("\""; "\"\"") + "\"")] | join(",");
def @tsv:
  def escaped: gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n") | gsub("\r"; "\\r");
  [.[] | cell_or_error(escaped)] | join("\t");
