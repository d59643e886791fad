#!/usr/bin/env bash
# Tries `make demo` and `make test` in bare Debian releases: scripts/try_debian.sh [trixie sid].
# An ordinary user of a fresh system runs them on a clone of HEAD. What pip, uv and TLS are told by
# the environment, and the certificates of this machine, hold there too.
set -euo pipefail
cd "${BASH_SOURCE[0]%/*}/.."

if ((EUID != 0)) || ! command -v debootstrap >/dev/null; then
  echo "SKIPPED: only root can try it, and with debootstrap (apt install debootstrap)." >&2
  exit 77
fi

passed_on=()
while IFS= read -r -d '' variable; do
  if [[ $variable =~ ^(PIP_|UV_|SSL_CERT|REQUESTS_CA|[A-Za-z]*_(proxy|PROXY)=) ]]; then
    passed_on+=("$variable")
  fi
done < <(env -0)

build() { # release, folder
  debootstrap --variant=minbase --include=ca-certificates,make,python3,python3-venv "$1" "$2" \
    ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$2.log" || { tail "$2.log" >&2; return 1; }
  # Links there lead out of the folder, to the files that are copied.
  cp --dereference --recursive --remove-destination /etc/ssl/certs/. "$2/etc/ssl/certs/"
  cp --dereference /etc/resolv.conf /etc/hosts "$2/etc/"
  git clone --quiet --no-hardlinks . "$2/srv/somebody/video-research"
  chroot "$2" useradd --home-dir /srv/somebody somebody
  chroot "$2" chown --recursive somebody: /srv/somebody
}

try() { # folder, target
  # The mounts and processes end with the name spaces.
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
    exec chroot --userspec=somebody: "$1" env -i "${@:3}" make -C /srv/somebody/video-research "$2"
  ' try "$1" "$2" HOME=/srv/somebody PATH=/usr/bin:/bin LANG=C.UTF-8 "${passed_on[@]}"
}

if (($# == 0)); then set -- trixie sid; fi
failed=()
for release in "$@"; do
  folder=$(mktemp --directory)
  trap 'rm -rf --one-file-system "$folder" "$folder.log"' EXIT
  chmod 755 "$folder"
  echo "== Debian $release"
  if ! build "$release" "$folder"; then failed+=("$release"); continue; fi
  chroot "$folder" python3 --version
  for target in demo test; do
    try "$folder" "$target" || failed+=("$release: make $target")
  done
  rm -rf --one-file-system "$folder" "$folder.log"
done
if ((${#failed[@]})); then printf 'FAILED: %s\n' "${failed[@]}"; exit 1; fi
