#!/bin/bash
# A worker of `labkit cluster`: an ssh server that runs as this user, for this user, and takes one set of keys only.
# usage: LABKIT_AUTHORIZED_KEY='ssh-ed25519 AAAA... head' start-node.sh
# LABKIT_AUTHORIZED_KEY: the head's public key; without it ~/.cluster/key.pub is read. LABKIT_SSH_PORT: 2222 by default.
set -euo pipefail

port=${LABKIT_SSH_PORT:-2222}
folder=$HOME/.node
file=$HOME/.cluster/key.pub

if [ -z "${LABKIT_AUTHORIZED_KEY:-}" ] && ! [ -s "$file" ]; then
  echo "start-node.sh: nobody could log in: LABKIT_AUTHORIZED_KEY is not set, and $file is not there" >&2
  echo "hint: give it the public half of the head's key: -e LABKIT_AUTHORIZED_KEY=\"\$(cat key.pub)\"" >&2
  exit 1
fi
if ! user=$(id -un 2>/dev/null); then
  echo "start-node.sh: user $(id -u) has no name here, and ssh logs in by name" >&2
  echo "hint: start with --user root -e NB_UID=$(id -u) -e NB_GID=$(id -g)" >&2
  exit 1
fi

mkdir -p "$folder"
chmod 700 "$folder"
if [ -n "${LABKIT_AUTHORIZED_KEY:-}" ]; then
  printf '%s\n' "$LABKIT_AUTHORIZED_KEY" > "$folder/authorized_keys"
else
  cp "$file" "$folder/authorized_keys"
fi
if ! ssh-keygen -l -f "$folder/authorized_keys" >/dev/null 2>&1; then
  echo "start-node.sh: this is no public key: $(head -c 60 "$folder/authorized_keys")" >&2
  echo "hint: it begins with ssh-ed25519 or another type; ssh-keygen -t ed25519 -f key makes one, in key.pub" >&2
  exit 1
fi
# The same key after a restart, where the home is kept: the head remembers it.
[ -s "$folder/host_key" ] || ssh-keygen -q -t ed25519 -N '' -C "$(hostname)" -f "$folder/host_key"

cat > "$folder/sshd_config" <<END
Port $port
HostKey $folder/host_key
AuthorizedKeysFile $folder/authorized_keys
AuthenticationMethods publickey
PasswordAuthentication no
KbdInteractiveAuthentication no
AllowUsers $user
# The home may be a volume of the host that others can write to; the keys lie in a folder that only this user can read.
StrictModes no
UsePAM no
DisableForwarding yes
PermitUserEnvironment no
PermitUserRC no
PrintMotd no
PidFile none
# A head that has gone: its sessions, and what they run, end.
ClientAliveInterval 5
ClientAliveCountMax 3
LoginGraceTime 20
MaxStartups 64
Subsystem sftp internal-sftp
END
# A session starts with an empty environment: give it the container's Python and settings.
{
  printf 'SetEnv'
  for name in $(compgen -e); do
    case $name in
      LABKIT_AUTHORIZED_KEY) ;;
      PATH | LANG | TMPDIR | TZ | LD_LIBRARY_PATH | KERAS_BACKEND | LABKIT_* | CUDA_* | NVIDIA_* | NCCL_* | GLOO_* | FI_* | OMP_*)
        value=${!name//\\/\\\\}
        printf ' "%s=%s"' "$name" "${value//\"/\\\"}"
        ;;
    esac
  done
  printf '\n'
} >> "$folder/sshd_config"

echo "start-node.sh: $user@$(hostname) listens on port $port for $(ssh-keygen -l -f "$folder/authorized_keys" | cut -d ' ' -f 2- | paste -sd ';')"
exec /usr/sbin/sshd -D -e -f "$folder/sshd_config"
