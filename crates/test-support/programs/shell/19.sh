# Is the PATH set in the environment of the server, and how long is its environment? Do not print the values.
env=$(mcp call everything.get_env)
if grep -q '"PATH"' <<<"$env"; then echo "PATH is set"; else echo "PATH is not set"; fi
echo "$env" | grep -oE '"[A-Za-z_][A-Za-z0-9_]*": ?"' | tr -d '": ' | sort -u > /scratch/names19.txt
echo "variables: $(wc -l < /scratch/names19.txt)"
