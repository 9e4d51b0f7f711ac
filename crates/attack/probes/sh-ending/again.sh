echo 'next_run: allowed'
