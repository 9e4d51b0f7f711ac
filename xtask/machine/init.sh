#!/bin/busybox sh
# First process of `cargo xtask machine`: mounts the host's files read-only below a layer in memory and continues there.
set -e
/bin/busybox mkdir -p /proc /sys /dev /host /layer /root /tmp
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
modprobe -a virtio_pci virtio_blk virtio_console 9p 9pnet_virtio overlay

mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /host
mount -t tmpfs -o mode=755,size=512m layer /layer
mkdir /layer/upper /layer/work
mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work root /root
ip link set lo up

for place in proc sys dev; do mount --move "/$place" "/root/$place"; done
# The task wrote the paths of the checkout and of the machine's own files.
{ read -r checkout && read -r place && read -r data && read -r user; } </settings
exec switch_root /root /bin/bash "$checkout/xtask/machine/inside.sh" "$checkout" "$place" "$data" "$user"
