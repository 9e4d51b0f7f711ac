# Bash opens connections by itself, without a program.
attempt tcp_loopback bash -c 'exec 3<>/dev/tcp/127.0.0.1/22'
attempt tcp_metadata bash -c 'exec 3<>/dev/tcp/169.254.169.254/80'
attempt udp bash -c 'exec 3<>/dev/udp/1.1.1.1/53 && echo x >&3'
attempt control_redirection bash -c 'exec 3<>/dev/null'
