# Runs the hook for the plugin, or with `mcp` its server. The plugin is installed apart from siftd and has to find it:
# as `mem install --plugin` has recorded it, in the usual places (a client started from a desktop has no shell's PATH),
# and on the PATH at last. No program is believed for its name, which is another project's on the package index: what is
# run is a package whose two first files begin with our mark, by the interpreter of the environment that it is in.
# All of it is read, nothing is tried out; without a package of ours a hook does nothing. Ends with status 0 for hooks.
folder=${0%/*}
what=$1
mark='# siftd-memory c1898e8df9a0f4c43493b3bd11c94a14'
test "$what" = mcp || test -r "$folder/hook.py" || exit 0

# take INTERPRETER PACKAGE: run the package, if it is ours
take() {
  case $1 in /*) test -x "$1" || return ;; *) return ;; esac
  case $2 in /*) ;; *) return ;; esac
  for file in __init__.py __main__.py; do
    test -f "$2/$file" && IFS= read -r line <"$2/$file" && test "$line" = "$mark" || return
  done
  test "$what" = mcp && exec "$1" -I "$2/__main__.py" mcp
  exec "$1" -I -S "$folder/hook.py" claude-code "$2"
}

# in_prefix INTERPRETER PREFIX: take what is installed there, or is a checkout that was installed to be edited
in_prefix() {
  for found in "$2"/lib/python3*/site-packages/siftd "$2"/lib/python3*/dist-packages/siftd; do
    take "$1" "$found"
  done
  for found in "$2"/lib/python3*/site-packages/_editable_impl_siftd_memory.pth; do
    test -f "$found" && { IFS= read -r line <"$found" || test -n "$line"; } && take "$1" "$line/siftd"
  done
}

# by_script FILE: an installer has made it; its first line names the interpreter
by_script() {
  test -f "$1" && IFS= read -r line <"$1" || return
  python=${line#'#!'}
  test "$python" != "$line" || return
  case ${python##*/} in python*) ;; *) return ;; esac
  bin=${python%/*}
  in_prefix "$python" "${bin%/*}"
  case $1 in
    /usr/local/bin/* | /opt/homebrew/bin/*) bin=${1%/*} && in_prefix "$python" "${bin%/*}" ;;
  esac
}

record=$HOME/.siftd/default/installation
if test -f "$record" && test -O "$record"; then
  { IFS= read -r line && IFS= read -r python && IFS= read -r package; } <"$record"
  test "$line" = "$mark" && take "$python" "$package"
fi
in_prefix "$HOME/.siftd-env/bin/python" "$HOME/.siftd-env"
for script in "$HOME/.local/bin/siftd" /opt/homebrew/bin/siftd /usr/local/bin/siftd; do
  by_script "$script"
done
set -f
IFS=:
for entry in $PATH; do # a relative one, or one in the project, may be a cloned repository's
  set +f
  case $entry/ in
    "$PWD"/* | "${CLAUDE_PROJECT_DIR:-$PWD}"/*) ;;
    /?*) by_script "$entry/siftd" ;;
  esac
done

if test "$what" = mcp; then
  echo "siftd is not installed where the plugin looks: \`uv tool install siftd-memory\`, then \`mem install --plugin\`" >&2
  exit 1
fi
exit 0
