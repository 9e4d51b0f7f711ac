\builtin echo 'next_run: allowed'
