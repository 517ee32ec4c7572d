#!/bin/sh
# Installs Debian's programs that some tests need, where they are missing and it may:
#     tests/install_programs.sh slurm|browser
PATH=$PATH:/usr/sbin:/sbin
case $1 in
slurm) programs="slurmd slurmctld sbatch munged" packages="slurmd slurmctld slurm-client munge" ;;
browser)
    programs="chromium" packages="chromium"
    for program in chromium-browser chrome; do
        command -v $program > /dev/null && exit 0
    done
    ;;
*) echo "usage: $0 slurm|browser" >&2 && exit 2 ;;
esac

lacking=
for program in $programs; do
    command -v "$program" > /dev/null || lacking="$lacking $program"
done
[ -n "$lacking" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as="env"
elif sudo -n true 2> /dev/null; then
    as="sudo -n env"
fi
if [ -z "$as" ] || ! command -v apt-get > /dev/null; then
    echo "Not installed, and cannot be from here:$lacking. On Debian, as root:" >&2
    echo "    apt-get install --no-install-recommends $packages" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as apt-get update -qq && $as apt-get install -qq -y --no-install-recommends $packages
