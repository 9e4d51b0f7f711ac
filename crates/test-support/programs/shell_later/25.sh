# Compress a text with the gzip tool and list the resource links that the demo server offers.
data="data:text/plain;base64,$(printf 'hello hello hello' | base64 -w0)"
mcp call everything.gzip_file_as_resource name=hello.txt.gz data="$data" outputType=resourceLink | head -c 300
echo
mcp call everything.get_resource_links count=4 > /scratch/links25
grep -oE 'demo://[^" )]+' /scratch/links25 | sort -u || echo "no links in the text"
