# Copy the log files of a folder into the sandbox and find all lines with an IP address by rg.
mkdir -p /scratch/logs23
for host in alpha beta; do
  mcp call filesystem.write_file path=DATA/files/$host-23.log content="$host up
login from 10.0.0.$((RANDOM % 9 + 1))
login from 192.168.1.7
down" >/dev/null
  mcp call filesystem.read_text_file path=DATA/files/$host-23.log | jq -r .content > /scratch/logs23/$host.log
done
rg -No '\d+\.\d+\.\d+\.\d+' /scratch/logs23 | sort
echo "addresses: $(rg -INo '\d+\.\d+\.\d+\.\d+' /scratch/logs23 | sort -u | wc -l)"
