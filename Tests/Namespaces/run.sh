#!/usr/bin/env bash
# Runs a server of PostgreSQL and two programs in three network namespaces, as on three machines: one program commits, and the other follows with a live list.
# Fails if the list misses a commit. Prints how long after the return of a commit the list shows it.
# usage: run.sh [COMMITS [PAUSE in milliseconds]]
set -euo pipefail
cd "$(dirname "$0")/../.."
count=${1:-200}
pause=${2:-20}

skip() { echo "skipped: $*"; exit 0; }
[ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
command -v ip >/dev/null 2>&1 || skip "the program ip is missing (apt-get install iproute2)"
programs=${POLYSTORE_POSTGRESQL:-$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -1)}
[ -x "$programs/initdb" ] || skip "there is no server of PostgreSQL"
child=.build/debug/namespaces-child
[ -x "$child" ] || { echo "build the package first: swift build" >&2; exit 1; }

prefix="polystore$$"
folder=$(mktemp -d)
owner=postgres
id "$owner" >/dev/null 2>&1 || owner=nobody
finish() {
    [ -z "${follower:-}" ] || kill "$follower" 2>/dev/null || true
    [ ! -e "$folder/data/postmaster.pid" ] || kill -INT "$(head -1 "$folder/data/postmaster.pid")" 2>/dev/null || true
    for name in server writer reader; do ip netns del "$prefix-$name" 2>/dev/null || true; done
    ip link del "b$$" 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT

# A bridge with a cable to each of the three machines.
ip netns add "$prefix-server" 2>/dev/null || skip "network namespaces are not permitted here"
ip netns add "$prefix-writer"
ip netns add "$prefix-reader"
ip link add "b$$" type bridge 2>/dev/null || skip "network bridges are not permitted here"
ip link set "b$$" up
number=1
for name in server writer reader; do
    ip link add "v$number-$$" type veth peer name eth0 netns "$prefix-$name"
    ip link set "v$number-$$" master "b$$" up
    ip -n "$prefix-$name" address add "10.211.55.$number/24" dev eth0
    ip -n "$prefix-$name" link set eth0 up
    ip -n "$prefix-$name" link set lo up
    number=$((number + 1))
done

chown "$owner" "$folder"
as_owner() { setpriv --reuid "$owner" --regid "$(id -g "$owner")" --clear-groups "$@"; }
as_owner "$programs/initdb" -D "$folder/data" -U polystore -A trust -E UTF8 --locale=C --no-sync >/dev/null
echo "host all all 10.211.55.0/24 trust" >>"$folder/data/pg_hba.conf"
ip netns exec "$prefix-server" setpriv --reuid "$owner" --regid "$(id -g "$owner")" --clear-groups \
    "$programs/pg_ctl" -D "$folder/data" -w -l "$folder/log" -o "-c listen_addresses=10.211.55.1 -c unix_socket_directories=$folder" start >/dev/null

url="postgresql://polystore@10.211.55.1/postgres"
# The store exists before the list follows it.
ip netns exec "$prefix-writer" "$child" write "$url" 1 0 >"$folder/first"
total=$((count + 1))
ip netns exec "$prefix-reader" "$child" follow "$url" "$total" >"$folder/seen" &
follower=$!
until grep -q ready "$folder/seen" 2>/dev/null; do
    kill -0 "$follower" 2>/dev/null || { echo "the program that follows has ended" >&2; exit 1; }
    sleep 0.1
done
ip netns exec "$prefix-writer" "$child" write "$url" "$count" "$pause" >"$folder/made"
wait "$follower"
follower=
python3 - "$folder/made" "$folder/seen" <<'P'
import statistics, sys

made = [tuple(map(int, line.split())) for line in open(sys.argv[1])]
seen = [tuple(map(int, line.split())) for line in open(sys.argv[2]) if line[0].isdigit()]
# A state shows every commit up to its number of people; the first person was there before.
delays = [next(time for people, time in seen if people >= number + 1) - returned for number, returned in made]
late = sorted(max(0, delay) / 1e6 for delay in delays)
print(f"{len(late)} commits over two namespaces: shown after {statistics.median(late):.1f} ms (median), {late[int(len(late) * 0.99)]:.1f} ms (99 %), {late[-1]:.1f} ms (most)")
P
